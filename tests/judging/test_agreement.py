"""Judges beside people."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.errors import DataError
from fin_tasks.judging.agreement import agreement, combine, spearman

SCORES = st.integers(0, 5)


@given(
    st.lists(st.tuples(SCORES, SCORES), min_size=2).filter(
        lambda p: len({x for x, _ in p}) > 1 < len({y for _, y in p})
    )
)
def test_spearman_is_scipys(pairs: list[tuple[int, int]]) -> None:
    x, y = [x for x, _ in pairs], [y for _, y in pairs]
    assert spearman(x, y) == pytest.approx(spearmanr(x, y).statistic, abs=1e-12)


def test_an_interval_holds_the_value() -> None:
    found = agreement([0, 1, 2, 3, 4, 5] * 5, [0, 2, 1, 3, 5, 4] * 5)
    assert found.low is not None
    assert found.high is not None
    assert found.spearman is not None
    assert found.low < found.spearman < found.high
    assert (found.mean_absolute_difference, found.bias) == (pytest.approx(4 / 6), 0)
    assert agreement([3, 3], [1, 2]).spearman is None
    assert agreement([], []).bias is None


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([5, 5, 1], (5, True)), ([1, 2, 4], (7 / 3, False)), ([4], (4, False)), ([1, 1, 3, 3], (2, False))],
)
def test_people_are_combined(scores: list[float], expected: tuple[float, bool]) -> None:
    assert combine(scores) == (pytest.approx(expected[0]), expected[1])


def test_the_command(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("index,ann,bob,cy\n0,5,5,4\n1,0,1,0\n2,3,3,3\n3,0,5,2\n9,1,1,1\n")
    lines: list[dict[str, Any]] = []
    for index, (score, category) in enumerate([(5, "OCR"), (1, "OCR"), (2, "Image Caption"), (4, "Risk Warning")]):
        for name in ("paper", "robust"):
            reading = json.dumps({"answer": str(score), "unscored": False})
            line = {"doc": {"id": str(index), "task_category": category}, "filtered_resps": [[reading]]}
            lines.append({**line, "filter": name, "score": score if name == "robust" else 0})
    samples = tmp_path / "samples_a.jsonl"
    samples.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = CliRunner().invoke(app, ["agreement", str(people), str(samples), "--json"])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    groups = found["judges"][str(samples)]
    assert {name: one["n"] for name, one in groups.items()} == {"all": 4, "objective": 2, "subjective": 2}
    assert found["review"] == ["3"]
    assert groups["objective"]["mean_absolute_difference"] == 0.5
    assert groups["subjective"]["bias"] == pytest.approx((-1 + 4 - 7 / 3) / 2)
    shown = CliRunner().invoke(app, ["agreement", str(people), str(samples), "--annotators", "ann,no_such"])
    assert isinstance(shown.exception, DataError)
