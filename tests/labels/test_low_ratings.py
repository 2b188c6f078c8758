"""Questions that people rated low become a file of corrections."""

from pathlib import Path

import pandas as pd
import pytest
from test_rounds import fill, run

from fin_tasks.benchmarks.corrections import read_corrections
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.errors import ConfigError, DataError

SCALES = ("fluency", "completeness", "correctness", "helpfulness")


def quality_sheets(tmp_path: Path) -> list[Path]:
    out = tmp_path / "study" / "quality.csv"
    options = ("--study", "xfinbench_quality", "--source", "sample", "--n", "4")
    run("draw", *options, "--out", out)
    return sorted(out.parent.glob("quality_*.csv"))


def n_asked(**options: str) -> int:
    """Count the sample's questions."""
    n = 0
    for part in ("bool", "mcq", "mcq_visual", "calc"):
        docs, _ = TaskFile(f"xfinbench_{part}").load({"source": "sample", **options})
        n += len(docs)
    return n


def rate(sheets: list[Path], scores: list[tuple[int, int, int]]) -> None:
    """Fill sheets: each row gets the three people's scores for correctness, and 5 for all else."""
    for person, path in enumerate(sheets):
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
        for name in SCALES:
            table[name] = "5"
        table["correctness"] = [str(votes[person]) for votes in scores]
        table.to_csv(path, index=False)


def test_questions_below_four_on_one_scale_are_excluded(tmp_path: Path) -> None:
    sheets = quality_sheets(tmp_path)
    # Means of 5, 4, 3.67 and 1.
    rate(sheets, [(5, 5, 5), (4, 4, 4), (5, 3, 3), (1, 1, 1)])
    out = tmp_path / "low.yaml"
    run("corrections", *sheets, "--out", out)
    found = read_corrections(out).of("xfinbench")
    reasons = [correction.reason for correction in found.values()]
    assert reasons == ["rated correctness 3.7", "rated correctness 1.0"]
    assert all(correction.exclude for correction in found.values())
    assert found[next(iter(found))].by == "3 people, study xfinbench_quality"
    assert n_asked() - n_asked(corrections=str(out)) == 2
    with pytest.raises(DataError, match="found none"):
        run("corrections", *sheets, "--out", tmp_path / "none.yaml", "--below", 1)


def test_a_study_without_scores_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "study" / "codes.xlsx"
    options = ("--study", "xfinbench_capabilities", "--source", "sample", "--n", "2")
    run("draw", *options, "--out", out)
    sheets = sorted(out.parent.glob("codes_*.xlsx"))
    for sheet in sheets:
        fill(sheet)
    with pytest.raises(ConfigError, match="expected a study with scores"):
        run("corrections", *sheets, "--out", tmp_path / "low.yaml")
