"""Questions that people rated low become a file of corrections."""

from pathlib import Path

import pytest
from studies_at_work import draw, fill_all, fill_apart, run

from fin_tasks.benchmarks.corrections import read_corrections
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.errors import ConfigError, DataError


def n_asked(**options: str) -> int:
    """Count the sample's questions."""
    n = 0
    for part in ("bool", "mcq", "mcq_visual", "calc"):
        docs, _ = TaskFile(f"xfinbench_{part}").load({"source": "sample", **options})
        n += len(docs)
    return n


def test_questions_below_four_on_one_scale_are_excluded(tmp_path: Path) -> None:
    sheets = draw(tmp_path / "quality.csv", "xfinbench_quality", "--n", 4)
    fives = dict.fromkeys(("fluency", "completeness", "helpfulness"), [5] * 4)
    fill_all(sheets, **fives)
    # Means of 5, 4, 3.67 and 1.
    fill_apart(sheets, correctness=([5, 4, 5, 1], [5, 4, 3, 1], [5, 4, 3, 1]))
    out = tmp_path / "low.yaml"
    command = ("label", "corrections", *sheets, "--out")
    run(*command, out)
    corrections = list(read_corrections(out).of("xfinbench").values())
    reasons = [correction.reason for correction in corrections]
    assert reasons == ["rated correctness 3.7", "rated correctness 1.0"]
    assert all(correction.exclude for correction in corrections)
    assert corrections[0].by == "3 people, study xfinbench_quality"
    assert n_asked() - n_asked(corrections=str(out)) == 2
    with pytest.raises(DataError, match="found none"):
        run(*command, tmp_path / "none.yaml", "--below", 1)


def test_a_study_without_scores_is_refused(tmp_path: Path) -> None:
    sheets = draw(tmp_path / "codes.csv", "xfinbench_capabilities", "--n", 2)
    with pytest.raises(ConfigError, match="expected a study with scores"):
        run("label", "corrections", *sheets, "--out", tmp_path / "low.yaml")
