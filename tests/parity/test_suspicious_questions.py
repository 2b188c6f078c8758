"""Six models' recorded answers to FinanceMath, and the truths that the authors of FinanceReasoning revised."""

import gzip
import json
from pathlib import Path
from typing import Literal

import pytest
from typer.testing import CliRunner

from fin_tasks.benchmarks.corrections import read_corrections
from fin_tasks.cli import app
from fin_tasks.report import read
from fin_tasks.report.questions.table import question_table
from fin_tasks.saved.recordings import read_financemath, score_recording
from fin_tasks.saved.run_folder import write_run

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
MODES: tuple[Literal["cot", "pot"], ...] = ("cot", "pot")

pytestmark = [
    pytest.mark.skipif(
        not DATA.is_dir(), reason=f"the authors' recordings are not at {DATA}"
    ),
    pytest.mark.slow,
]


def revised_questions() -> set[str]:
    """Return the questions whose truth FinanceReasoning's row is more than 0.5 % away from."""
    published = json.loads((DATA / "financemath/validation.json").read_text("utf-8"))
    truths = {row["question_id"]: row["ground_truth"] for row in published}
    revised = set()
    for level in ("easy", "medium", "hard"):
        file = DATA / f"financereasoning/{level}.json.gz"
        for row in json.loads(gzip.decompress(file.read_bytes())):
            origin, _, name = row["source"].partition("-")
            if origin == "FinanceMath":
                truth = truths[name]
                if abs(row["ground_truth"] - truth) > 0.005 * abs(truth):
                    revised.add(name)
    return revised


def test_good_models_point_at_revised_truths(tmp_path: Path) -> None:
    for mode in MODES:
        for file in sorted((DATA / "financemath" / mode).glob("*.json")):
            run = score_recording(read_financemath(file, mode=mode), {})
            write_run(tmp_path, [run], model=file.stem, made_by="fin-tasks replay")
    table = question_table(read(tmp_path))
    revised = revised_questions()
    is_revised = table["question"].isin(revised)
    assert (len(table), len(revised)) == (200, 33)
    assert is_revised[:20].sum() >= 10
    assert is_revised[:30].sum() >= 14


def test_revised_truths_become_corrections(tmp_path: Path) -> None:
    copies = tmp_path / "financereasoning"
    copies.mkdir()
    for file in (DATA / "financereasoning").glob("*.json.gz"):
        (copies / file.stem).write_bytes(gzip.decompress(file.read_bytes()))
    out = tmp_path / "revised.yaml"
    arguments = ["--financemath", str(DATA / "financemath")]
    arguments += ["--financereasoning", str(copies), "--out", str(out)]
    result = CliRunner().invoke(app, ["build", "corrections", *arguments])
    assert "33 truths corrected" in result.output
    corrections = read_corrections(out).of("financemath")
    assert corrections.keys() == revised_questions()
    assert corrections["validation-68"].truth == 0.548
    assert corrections["validation-4"].truth == 38494.406
