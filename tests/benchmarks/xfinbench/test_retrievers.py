"""How often a retriever finds a gold term, on a bank that is small enough to count by hand."""

import csv
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from fin_tasks.benchmarks.xfinbench.retrievers import (
    RetrieverResult,
    measure_retriever,
    read_gold_terms,
)
from fin_tasks.cli import app
from fin_tasks.errors import DataError

BANK = {
    "t1": ("Bond", "pays a coupon"),
    "t2": ("Stock", "is a share"),
    "t3": ("Option", "has a strike"),
    "t4": ("Swap", "has two legs"),
    "t5": ("Future", "has a margin"),
}
QUESTIONS = [
    # id, task, question, choice, figure, capabilities, gold terms
    ("q1", "bool", "coupon due", "", "", "TU", "t1"),
    ("q2", "bool", "strike due", "", "", "TU; TR", "t1"),
    ("q3", "mcq", "share ?", "A. up\nB. down", "", "FF", "t9;t2"),
    ("q4", "calcu", "nothing here", "", "", "NM", "t2"),
    ("q5", "mcq", "strike ?", "A. up\nB. down", "fig", "TR", "t3"),
    ("q6", "calcu", "coupon ?", "", "", "NM", ""),
    ("q7", "calcu", "legs ?", "", "", "SP", "t9"),
    ("q8", "mcq", "legs ?", "", "", "SP", "t4"),
]
COLUMNS = ("id", "task", "question", "choice", "figure", "fin_capability")


def write_table(
    file: Path, columns: Iterable[str], rows: Iterable[Iterable[str]]
) -> None:
    with file.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerows([columns, *rows])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [(*row, "1") for row in QUESTIONS]
    header = (*COLUMNS, "gold_fin_term_id", "ground_truth")
    write_table(tmp_path / "test_set.csv", header, rows)
    terms = [(term_id, *texts) for term_id, texts in BANK.items()]
    header = ("id", "term_name", "term_definition")
    write_table(tmp_path / "knowledge_bank.csv", header, terms)
    return tmp_path


def measured(result: RetrieverResult) -> dict[str, tuple[int, float]]:
    return {each.name: (each.n, each.accuracy) for each in result.accuracies}


def test_a_small_bank_by_hand(folder: Path) -> None:
    questions = read_gold_terms("test", data_dir=folder)
    assert questions.left_out == {"no-gold-term": 1, "mcq-without-choices": 1}
    assert questions.n_without_bank == 1
    result = measure_retriever(questions, "bm25", top_k=1)
    # q1 finds t1; q2 finds t3; q3 finds t2; q4 finds nothing; q5 finds t3; q7 finds t4.
    assert measured(result) == {
        "bool": (2, 50.0),
        "mcq": (1, 100.0),
        "calc": (2, 0.0),
        "all": (5, 40.0),
        "mcq_visual": (1, 100.0),
        "TU": (2, 50.0),
        "TR": (1, 0.0),
        "FF": (1, 100.0),
        "SP": (1, 0.0),
        "NM": (1, 0.0),
    }
    assert result.terms_per_question == pytest.approx(5 / 6)
    printed = {each.name: each.printed for each in result.accuracies if each.printed}
    assert printed == {"bool": 34.6, "mcq": 29.7, "calc": 26.8, "all": 30.6}


def test_a_bank_of_another_set_is_one_sentence(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    write_table(other, ("id", "term_name", "term_definition"), [("x1", "a", "b")])
    with pytest.raises(DataError, match="Take the bank of these questions"):
        read_gold_terms("test", data_dir=folder, bank=other)


def test_command(folder: Path) -> None:
    arguments = ["xfinbench", "retrieval", "--data-dir", str(folder), "--top-k", "1"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert "6 questions with gold terms" in result.output
    assert "40.0" in result.output
    assert "34.6" in result.output
    result = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    summary: dict[str, Any] = json.loads(result.stdout)
    assert (summary["split"], summary["questions"]) == ("test", 6)
    (retriever,) = summary["retrievers"]
    assert retriever["accuracies"][0]["accuracy"] == 50.0
