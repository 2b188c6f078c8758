"""Our rules against what a language model read out of six models' recorded chains of thought."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.financemath.extraction import as_written, read_answer
from fin_tasks.benchmarks.financemath.replay import replay_cot
from fin_tasks.benchmarks.financemath.scoring import paper_equal
from fin_tasks.errors import SandboxError
from fin_tasks.sandbox import open_runner

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "financemath"
PAGE = ROOT / "docs" / "financemath.md"
MODELS = (
    "Meta-Llama-3-8B-Instruct",
    "Mixtral-8x7B-Instruct-v0_1",
    "claude-3-5-sonnet-20240620",
    "deepseek-coder",
    "gemma-2b-it",
    "gpt-4o",
)
KINDS = (
    "comparison",
    "cut off, read nonetheless",
    "read from the working",
    "another number",
    "read where theirs is none",
)

pytestmark = pytest.mark.skipif(not (DATA / "cot").is_dir(), reason=f"the authors' recordings are not at {DATA}")


@cache
def _rows(model: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((DATA / "cot" / f"{model}.json").read_text(encoding="utf-8"))
    return rows


def _their_number(extracted: str) -> float | None:
    """The number in what the language model extracted, as their verdicts take it."""
    text = re.sub(r"(?<=\d),(?=\d)", "", extracted).split("=")[-1]
    if fraction := re.fullmatch(r"(\d+)/(\d+)", text):
        return int(fraction[1]) / int(fraction[2])
    found = re.findall(r"-?\d+(?:\.\d+)?|-?\.\d+", text)
    return float(found[-1]) if found else None


@cache
def _disagreements(model: str) -> tuple[tuple[str, str], ...]:
    """Rows whose verdict differs: id and kind."""
    found = []
    for row in _rows(model):
        number = read_answer(row["output"][0])
        ours = number is not None and paper_equal(as_written(number), row["ground_truth"])
        if ours == bool(row["result"]["acc"]):
            continue
        theirs = _their_number(row["extracted_pred_answer"])
        if theirs is None:
            kind = KINDS[4]
        elif paper_equal(theirs, row["ground_truth"]) != bool(row["result"]["acc"]):
            kind = KINDS[0]
        elif number is None:
            cut_off = row["output"][0].rstrip()[-1:] not in ".!?*`)]}"
            kind = KINDS[1] if cut_off else KINDS[2]
        else:
            kind = KINDS[3]
        found.append((row["question_id"], kind))
    return tuple(found)


def test_agreement_over_all_rows() -> None:
    rows = sum(len(_rows(model)) for model in MODELS)
    different = sum(len(_disagreements(model)) for model in MODELS)
    assert rows == 1200
    assert 1 - different / rows >= 0.98


@pytest.mark.parametrize("model", MODELS)
def test_agreement_per_file(model: str) -> None:
    assert len(_disagreements(model)) <= 5  # of 200


@pytest.mark.parametrize("model", MODELS)
def test_where_both_read_a_number_it_is_the_same(model: str) -> None:
    pairs = [(read_answer(row["output"][0]), _their_number(row["extracted_pred_answer"])) for row in _rows(model)]
    both = [(ours, theirs) for ours, theirs in pairs if ours is not None and theirs is not None]
    same = sum(any(paper_equal(reading, theirs) for reading in ours.readings) for ours, theirs in both)
    assert same / len(both) >= 0.95


@pytest.mark.parametrize("model", MODELS)
def test_their_verdicts_compare_with_the_rounded_truth(model: str) -> None:
    """Where the extraction is a number and nothing else, the comparison gives back every recorded verdict."""
    for row in _rows(model):
        text = row["extracted_pred_answer"].replace(",", "")
        if re.fullmatch(r"-?\d+(?:\.\d+)?%?", text):
            number = float(text.rstrip("%"))
            assert paper_equal(number, row["ground_truth"]) == bool(row["result"]["acc"]), row["question_id"]


@pytest.mark.parametrize("model", MODELS)
def test_rates_are_near_the_published_ones(model: str) -> None:
    published = json.loads((DATA / "validation_cot_results.json").read_text(encoding="utf-8"))
    (row,) = [row for row in published if row["model_name"] == model]
    summary = replay_cot(DATA / "cot" / f"{model}.json", runner=None).summary()
    assert summary["acc"] == pytest.approx(row["accuracy"] / 100, abs=0.02)
    assert summary["robust_acc"] <= summary["acc"]
    recorded = [row["extracted_pred_answer"] != "None" for row in _rows(model)]
    assert sum(recorded) / len(recorded) == pytest.approx(row["execution_rate"] / 100)
    # Theirs also counts numbers out of responses that were cut off before any answer.
    assert row["execution_rate"] / 100 - 0.13 <= summary["execution_rate"] <= row["execution_rate"] / 100 + 0.015


def test_the_page_states_where_only_the_strict_comparison_accepts() -> None:
    try:
        runner = open_runner()
    except SandboxError as error:
        pytest.skip(f"no sandbox can be used here: {error}")
    rounding = lost = 0
    with runner:
        for model in MODELS:
            path = DATA / "cot" / f"{model}.json"
            exact, rounded = replay_cot(path, runner=runner).results, replay_cot(path, runner=None).results
            for item, beside in zip(exact, rounded, strict=True):
                if item.robust_correct and not item.correct:
                    rounding, lost = rounding + bool(beside.robust_correct), lost + (not beside.robust_correct)
    told = f"{rounding + lost} are such rows, {rounding} by rounding and {lost} by lost digits"
    assert told in " ".join(PAGE.read_text(encoding="utf-8").split())


def test_the_page_states_the_disagreements() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for model in MODELS:
        kinds = Counter(kind for _, kind in _disagreements(model))
        cells = " | ".join(str(kinds[kind]) for kind in KINDS)
        line = f"| `{model}` | {len(_disagreements(model))} | {cells} |"
        assert line in text, f"docs/financemath.md: expected the line\n{line}"
