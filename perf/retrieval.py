"""BM25 for every question of XFinBench: ours beside rank_bm25, in one run.

    python perf/retrieval.py [--every N]

Both sides get the same synthetic bank of 3,032 terms of about 220 words and 4,235 questions of about 60 words, with
Zipf's word frequencies. Both split, index, score and keep the top three with ties. rank_bm25 takes minutes, so it
answers every N-th question and that time is multiplied. The texts found must be the same. Status 1 if rank_bm25 does
not take at least 50 times as long.
"""

import argparse
import statistics
import sys
import time

import numpy as np
from rank_bm25 import BM25Okapi

from fin_tasks.retrieval.search import retrieve
from fin_tasks.settings import Settings

TERMS, WORDS_PER_TERM = 3032, 220
QUESTIONS, WORDS_PER_QUESTION = 4235, 60
VOCABULARY, TOP_K, GOAL = 30_000, 3, 50


def main() -> int:
    """Run both sides and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=10, help="rank_bm25 answers every N-th question (default: 10)")
    every = parser.parse_args().every
    rng = np.random.default_rng(0)
    texts, questions = synthetic(rng, TERMS, WORDS_PER_TERM), synthetic(rng, QUESTIONS, WORDS_PER_QUESTION)

    taken = []
    for _ in range(3):
        started = time.perf_counter()
        found = retrieve(texts, questions, method="bm25", top_k=TOP_K, settings=Settings.from_environ({}))
        taken.append(time.perf_counter() - started)
    ours = statistics.median(taken)

    started = time.perf_counter()
    model = BM25Okapi([text.split(" ") for text in texts])
    indexed = time.perf_counter()
    all_scores = [model.get_scores(question.split(" ")) for question in questions[::every]]
    theirs = [np.flatnonzero(scores >= np.sort(scores)[-TOP_K]).tolist() for scores in all_scores]
    answered = time.perf_counter()
    assert theirs == [sorted(index for index, _ in hits) for hits in found[::every]], "the two sides found other texts"
    library = indexed - started + (answered - indexed) * len(questions) / len(theirs)

    print(f"the same top {TOP_K} for {len(theirs):,} questions")
    print(f"rank_bm25 {library:8.2f} s (multiplied from these questions)")
    print(f"ours      {ours:8.2f} s (median of {len(taken)}, {min(taken):.2f} to {max(taken):.2f}, all questions)")
    print(f"rank_bm25 takes {library / ours:,.0f} times as long (goal {GOAL})")
    return 0 if library / ours >= GOAL else 1


def synthetic(rng: np.random.Generator, n: int, words: int) -> list[str]:
    """Make texts of about so many words, the r-th most frequent word being r times rarer than the first."""
    chances = 1 / np.arange(1, VOCABULARY + 1)
    lengths = rng.poisson(words, n)
    drawn = rng.choice(VOCABULARY, size=lengths.sum(), p=chances / chances.sum())
    return [" ".join(f"w{word}" for word in text) for text in np.split(drawn, np.cumsum(lengths)[:-1])]


if __name__ == "__main__":
    sys.exit(main())
