"""Thousands of mutated files and replies: a sentence of ours, or a value; see `make test-thorough`."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from chat_server import completion
from forged_frames import forged_frames
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import ODD, mutate
from typer.testing import CliRunner

from fin_tasks.benchmarks.financemath import data as financemath_data
from fin_tasks.benchmarks.financemath import score as financemath
from fin_tasks.cli import app
from fin_tasks.endpoints.replies import Usage, read_reply
from fin_tasks.errors import FinTasksError
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.labels.filled import read_sheets
from fin_tasks.report import read
from fin_tasks.report.verify.items import Options
from fin_tasks.report.verify.verification import verify
from fin_tasks.sandbox import Ran
from fin_tasks.sandbox.process import decode_frame

pytestmark = pytest.mark.thorough
N_MUTATED = 5_000
N_TOGETHER = 10  # run folders that are read at a time
MANY = settings(
    max_examples=N_MUTATED,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    database=None,
)


@pytest.mark.parametrize("part", ["results_*.json", "samples_*.jsonl"])
@settings(MANY, max_examples=N_MUTATED // N_TOGETHER // 2)
@given(data=st.data())
def test_run_folders(
    honest: Path, tmp_path: Path, data: st.DataObject, part: str
) -> None:
    runs = tmp_path / "runs"
    shutil.rmtree(runs, ignore_errors=True)
    for number in range(N_TOGETHER):
        copy = runs / str(number)
        shutil.copytree(honest, copy)
        (file,) = copy.rglob(part)
        text = file.read_text()
        # A results file is one value over many lines.
        lines = [text] if part.startswith("results") else text.splitlines()
        values = [json.loads(line) for line in lines]
        mutate(values, data)
        file.write_text("".join(json.dumps(value) + "\n" for value in values))
    options = Options(metadata={"source": "sample"}, n_rows=3)
    try:
        read([runs], page=tmp_path / "page")
        json.dumps(asdict(verify([runs], options)))
    except FinTasksError as error:
        assert str(error)


@MANY
@given(data=st.data())
def test_replies_of_judges(data: st.DataObject) -> None:
    rubric = load_rubric("mme_finance_en")
    body = completion("Score: 4")[2]
    mutate(body, data)
    try:
        reply = read_reply(json.dumps(body).encode(), Usage(), "secret")
    except ValueError:
        return
    score = rubric.score_of(reply.text)
    assert score is None or 0 <= score <= 5


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """A question that asks for a program."""
    (documents,) = financemath_data.load(mode="pot", source="sample").values()
    first: dict[str, Any] = documents[0]
    return first


@MANY
@given(frame=forged_frames(), scoring=st.sampled_from(["paper", "robust"]))
def test_outcomes_of_programs(
    document: dict[str, Any], frame: bytes, scoring: str
) -> None:
    response = Ran("", (decode_frame(frame),))
    reading = financemath.read(document, response, scoring=scoring)
    assert financemath.metric_values(document, [reading])["acc"] in (0.0, 1.0, None)


@pytest.fixture(scope="module")
def sheet(honest: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sheet of three rows, with its draw."""
    folder = tmp_path_factory.mktemp("sheets")
    options = ["--source", "sample", "--n", "3", "--out", str(folder / "a.csv")]
    study = ["label", "draw", str(honest), "--study", "xfinbench_quality", *options]
    done = CliRunner().invoke(app, study)
    assert done.exit_code == 0, done.output
    return folder / "a_1.csv"


@MANY
@given(data=st.data())
def test_sheets(sheet: Path, tmp_path: Path, data: st.DataObject) -> None:
    draw = sheet.with_name("a.draw.json")
    shutil.copy(draw, tmp_path)
    table = pd.read_csv(sheet, dtype=str, na_filter=False)
    cell = st.sampled_from([str(value) for value in ODD if value != "\ud800"])
    for _ in range(data.draw(st.integers(1, 5))):
        row = data.draw(st.integers(0, len(table) - 1))
        column = data.draw(st.integers(0, len(table.columns) - 1))
        table.iloc[row, column] = data.draw(cell | st.text(max_size=5))
    text = table.to_csv(index=False)
    cut = data.draw(st.integers(0, len(text)) | st.just(len(text)))
    changed = tmp_path / "a_1.csv"
    changed.write_text(text[:cut], encoding="utf-8", errors="replace")
    values = json.loads(draw.read_text())
    if data.draw(st.booleans()):
        mutate(values, data)
    (tmp_path / "a.draw.json").write_text(json.dumps(values))
    try:
        read_sheets([changed])
    except FinTasksError as error:
        assert str(error)
