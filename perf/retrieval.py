"""BM25 for every question of XFinBench: our index beside rank_bm25 as one would first use it.

    python perf/retrieval.py [--every N] [--runs N]

Both sides get the same synthetic bank of 3,032 terms, of about 220 words each, and 4,235 questions of about 60 words,
drawn from a vocabulary with Zipf's frequencies. Both split the texts, index them, score every question and keep its top
three with ties. rank_bm25 takes minutes, so it answers every N-th question and that time is multiplied (its index is
made once, whole); `--every 1` measures all. Scores and top terms of these questions must be the same on both sides.
Goal: rank_bm25 takes at least 50 times as long.
"""

import argparse
import resource
import statistics
import sys
import time

import numpy as np
from rank_bm25 import BM25Okapi

from fin_tasks.retrieval.bm25 import Bm25Index
from fin_tasks.retrieval.ranking import best

TERMS, WORDS_PER_TERM = 3032, 220
QUESTIONS, WORDS_PER_QUESTION = 4235, 60
VOCABULARY = 30_000
TOP_K, GOAL = 3, 50


def main() -> int:
    """Run both sides on one bank; status 1 when the goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=10, help="rank_bm25 answers every N-th question (default: 10)")
    parser.add_argument("--runs", type=int, default=3, help="runs of ours before rank_bm25, and again after it")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    texts, questions = synthetic(rng, TERMS, WORDS_PER_TERM), synthetic(rng, QUESTIONS, WORDS_PER_QUESTION)

    held = peak_megabytes()
    taken = [timed(texts, questions) for _ in range(options.runs)]
    needed = peak_megabytes() - held
    asked = range(0, QUESTIONS, options.every)
    theirs = rank_bm25_seconds(texts, questions, asked)
    taken += [timed(texts, questions) for _ in range(options.runs)]
    ours = statistics.median(taken)

    share = "all" if options.every == 1 else "multiplied by questions asked"
    print(f"{TERMS:,} terms, {QUESTIONS:,} questions, index and top {TOP_K} with ties included")
    print(f"rank_bm25  {theirs:8.2f} s (once, {len(asked):,} questions asked: {share})")
    print(
        f"Bm25Index  {ours:8.2f} s (median of {len(taken)}, {min(taken):.2f} to {max(taken):.2f}), all questions; "
        f"{needed:.0f} MB more memory than before"
    )
    print(f"rank_bm25 takes {theirs / ours:,.0f} times as long (goal {GOAL})")
    return 0 if theirs / ours >= GOAL else 1


def timed(texts: list[str], questions: list[str]) -> float:
    """Return the seconds our side takes from texts to the top terms of all questions."""
    started = time.perf_counter()
    index = Bm25Index(texts)
    for scores in index.scores(questions):
        best(scores, top_k=TOP_K, ties="paper", absent=index.absent)
    return time.perf_counter() - started


def rank_bm25_seconds(texts: list[str], questions: list[str], asked: range) -> float:
    """Return the seconds rank_bm25 takes for all questions, judged by those asked; compare its results with ours."""
    started = time.perf_counter()
    model = BM25Okapi([text.split() for text in texts])
    indexed = time.perf_counter()
    found = []
    for place in asked:
        scores = model.get_scores(questions[place].split())
        found.append((scores, np.flatnonzero(scores >= np.sort(scores)[-TOP_K])))
    answered = time.perf_counter()
    index = Bm25Index(texts)
    ours = index.scores([questions[place] for place in asked])
    for (scores, kept), vector in zip(found, ours, strict=True):
        assert np.array_equal(scores, vector), "the two sides score differently"
        hits = best(vector, top_k=TOP_K, ties="paper", absent=index.absent)
        assert sorted(hit.index for hit in hits) == kept.tolist(), "the two sides found different terms"
    print(f"same scores, bit for bit, and same top terms for the {len(asked):,} questions asked of both sides")
    return (indexed - started) + (answered - indexed) * len(questions) / len(asked)


def synthetic(rng: np.random.Generator, n: int, words: int) -> list[str]:
    """Make texts of about so many words, their r-th most frequent word r times rarer than the first."""
    chances = 1 / np.arange(1, VOCABULARY + 1)
    lengths = rng.poisson(words, n)
    drawn = rng.choice(VOCABULARY, size=lengths.sum(), p=chances / chances.sum())
    return [" ".join(f"w{word}" for word in text) for text in np.split(drawn, np.cumsum(lengths)[:-1])]


def peak_megabytes() -> float:
    """Peak memory of this process so far, in units of 1e6 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    sys.exit(main())
