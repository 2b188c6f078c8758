"""What the real VLMEvalKit writes with our data sets passes `fin-tasks verify`."""

import json
from pathlib import Path

import pytest
from chat_server import completion
from test_vlmevalkit import Run, kit, pytestmark, run  # noqa: F401 - fixtures, and the reason to skip

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
    report = verify(tmp_path / "outputs", settings=Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path / "cache")}))
    failed = [one for one in report.findings if one.status.value == "fail"]
    assert (failed, report.exit_code, report.tasks) == ([], status, 1)
