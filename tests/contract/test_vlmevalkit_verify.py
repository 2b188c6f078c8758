"""What the real VLMEvalKit writes with our data sets passes `fin-tasks verify`, and a report bears it out."""

import json
from pathlib import Path

import pytest
from chat_server import completion
from test_vlmevalkit import Run, kit, pytestmark, run  # noqa: F401 - fixtures, and the reason to skip

from fin_tasks.report.collect import collect
from fin_tasks.report.verify.submission import verify
from fin_tasks.settings import Settings


@pytest.mark.parametrize(
    ("dataset", "judge", "status"),
    [("MMEFinance_CN", "judge", 3), ("XFinBench_MCQ_V", None, 0), ("DynoStock_Recency_W4", None, 0)],
)
def test_a_run_of_the_kit_passes(run: Run, tmp_path: Path, dataset: str, judge: str | None, status: int) -> None:  # noqa: F811
    run.settings = {"FIN_TASKS_METADATA": json.dumps({"source": "sample"})}
    odd = ("=1+1", "N/A", "007.50", "Therefore, my answer is (A).", "Final prediction: 0.7")
    run.answers["tested"] = lambda body: completion(odd[len(json.dumps(body["messages"])) % len(odd)])
    assert run.evaluate(dataset, judge=judge) == 0
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path / "cache")})
    report = verify(tmp_path / "outputs", settings=settings)
    failed = [one for one in report.findings if one.status.value == "fail"]
    assert (failed, report.exit_code, report.tasks) == ([], status, 1)
    reported = collect([tmp_path / "outputs"], settings=settings, published=False)
    assert not reported.problems
    assert {one.metric for one in reported.entries} >= {"score" if judge else "acc"}
    assert not [mark for one in reported.entries for mark in one.marks if "rows give" in mark]


ODD = (
    *("", "x" * 40_000, "007.50", "=1+1", "  spaces  ", "line\r\nline\n", "N/A", "\ttab", "_x0041_", "a\u2028b", "1e5"),
    *("_x005F_x0041_", "a_x000D_b", "carriage\rreturn", "bell\x07", "fox005F_"),
)


@pytest.mark.parametrize("ending", ["xlsx", "tsv"])
def test_responses_are_those_that_were_judged_until_they_are_changed(run: Run, tmp_path: Path, ending: str) -> None:  # noqa: F811
    run.settings = {"FIN_TASKS_METADATA": json.dumps({"source": "sample"}), "PRED_FORMAT": ending}
    run.answers["tested"] = lambda body: completion(ODD[len(json.dumps(body["messages"])) % len(ODD)])
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path / "cache")})

    def graded() -> tuple[str, int, list[str]]:
        findings = verify(tmp_path / "outputs", settings=settings).findings
        (found,) = (one for one in findings if one.check == "graded")
        return found.status.value, found.count, [one.check for one in findings if one.status.value == "fail"]

    assert run.evaluate("MMEFinance_CN", judge="judge") == 0
    assert graded() == ("pass", 0, [])
    assert run.evaluate("MMEFinance_CN", judge="judge") == 0, "the kit reads its table and writes it again"
    assert graded() == ("pass", 0, [])
    for path in (tmp_path / "outputs").rglob("*_items.jsonl"):
        if not path.is_symlink():
            lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            lines[3]["response_sha256"] = "0" * 64
            path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert graded() == ("fail", 1, ["graded"])
