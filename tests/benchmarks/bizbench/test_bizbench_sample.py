"""The packaged questions: every part, programs that give the answers, and our own words."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from fin_tasks.benchmarks.bizbench.defects import NEED_CONTEXT
from fin_tasks.benchmarks.bizbench.files import locate
from fin_tasks.benchmarks.bizbench.formulas import reference_of
from fin_tasks.benchmarks.bizbench.inspection import inspect
from fin_tasks.benchmarks.bizbench.row import PARTS, Row
from fin_tasks.benchmarks.bizbench.rows import read_rows
from fin_tasks.benchmarks.bizbench.truths import number_truth
from fin_tasks.errors import SandboxError
from fin_tasks.sandbox import Runner, open_runner
from fin_tasks.settings import Settings

FILES = locate(source="sample", settings=Settings.from_environ({}))
READ = read_rows(FILES)
ROWS = READ.rows
SHARED = Path(__file__).resolve().parents[4] / "shared"
RUN_OF_WORDS = 9


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    try:
        opened = open_runner(workers=1)
    except SandboxError as error:
        pytest.skip(f"no sandbox can be used here: {error}")
    with opened:
        yield opened


def test_every_part_is_there_and_nothing_is_odd() -> None:
    assert READ.defects == ()
    assert len(ROWS) >= 40
    parts = Counter(row.part for row in ROWS)
    assert set(parts) == set(PARTS)
    assert min(parts.values()) >= 5
    assert {row.kind for row in ROWS if row.part == "formulaeval"} == {"choice", "code"}
    assert [row.id for row in ROWS] == [f"sample_{place}" for place in range(len(ROWS))]


def test_contexts_hold_what_is_extracted_and_programs_only_use_what_is_given() -> None:
    for row in ROWS:
        assert bool(row.context) == (row.part in NEED_CONTEXT), row.id
    for row in (row for row in ROWS if row.part in ("convfinqa_e", "tatqa_e", "secnum")):
        digits = re.sub(r"\D", "", row.answer)
        assert digits in re.sub(r"[^\d\n|]", "", row.context), f"{row.id}: {row.answer} is not in its document"


def test_programs_run_to_their_answers(runner: Runner) -> None:
    rows = [row for row in ROWS if row.program and row.kind == "number"]
    assert {row.part for row in rows} == {"fincode", "codefinqa", "codetatqa"}
    outcomes = runner.run([row.program for row in rows])
    for row, outcome in zip(rows, outcomes, strict=True):
        truth = number_truth(row.answer).number
        assert truth is not None
        assert outcome.number is not None, f"{row.id}: {outcome}"
        assert math.isclose(outcome.number, truth.value, rel_tol=1e-3), (
            f"{row.id}: {outcome.number} is not {row.answer}"
        )


def test_functions_go_on_from_their_question() -> None:
    for row in (row for row in ROWS if row.kind == "code"):
        assert row.program.startswith(row.question)
        assert reference_of(row.question, (row.program,))


def test_options_are_different_and_the_answer_stands_once_among_them() -> None:
    choices = [row for row in ROWS if row.kind == "choice"]
    for row in choices:
        assert len({option.casefold() for option in row.options}) == len(row.options) == 4
        assert [place for place, option in enumerate(row.options) if option == row.answer] == [row.correct]
    assert {row.correct for row in choices} == {0, 1, 2, 3}, "no letter is always right"


def test_the_inspection_counts_them() -> None:
    found = inspect(FILES)
    (split,) = found.splits
    assert (found.origin, found.licence, split.rows) == ("sample", "Apache-2.0", len(ROWS))
    assert split.counts["FormulaEval"] == {
        **{"rows": 8, "number": 0, "choice": 3, "code": 5, "with program": 5},
        "longest context": 0,
    }
    assert sum(n["rows"] for n in split.counts.values()) == len(ROWS)
    assert found.to_dict()["splits"][0]["defects"] == {}


def _runs(text: str) -> Iterator[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9]+", text.lower())
    return zip(*(words[n:] for n in range(RUN_OF_WORDS)), strict=False)


def _texts(row: Row) -> tuple[str, ...]:
    return (row.question, row.context, *row.options)


@pytest.mark.skipif(not (SHARED / "papers").is_dir(), reason="the papers are not beside the checkout")
def test_no_sentence_comes_from_the_papers_or_the_other_benchmarks() -> None:
    theirs = [
        path for folder in ("papers", "data/financemath", "data/xfinbench") for path in (SHARED / folder).glob("*.*")
    ]
    texts = [path.read_text(encoding="utf-8") for path in theirs if path.suffix in (".txt", ".json", ".csv")]
    known = {run for text in texts for run in _runs(text)}
    assert len(known) > 50_000
    assert [
        (row.id, " ".join(run)) for row in ROWS for text in _texts(row) for run in _runs(text) if run in known
    ] == []
