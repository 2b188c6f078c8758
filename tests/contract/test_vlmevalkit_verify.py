"""What VLMEvalKit writes with our data sets verifies, and a change of it is found."""

import json
from pathlib import Path
from typing import Any

import pytest
from chat_server import completion
from test_verify import both, edit, set_in, verify
from test_vlmevalkit import Odd, Run, kit, points, pytestmark, run

from fin_tasks.judging.rubric import load_rubric

__all__ = ["kit", "pytestmark", "run"]  # its fixtures


@pytest.mark.parametrize(
    ("dataset", "task", "metric", "judge"),
    [
        ("XFinBench_MCQ_V", "xfinbench_mcq_visual", "acc", ""),
        ("DynoStock_Recency_W4", "dynostock_recency_w4", "acc", ""),
        ("MMEFinance", "mme_finance_en", "score", "judge"),
        ("MMEFinance_MT", "mme_finance_mt_zh", "score", "judge"),
    ],
)
def test_an_honest_run_passes(run: Run, dataset: str, task: str, metric: str, judge: str) -> None:
    if not run.kit.checkout and dataset != "XFinBench_MCQ_V":
        pytest.skip("the files are the same in both kits")
    odd = Odd()
    failed: set[str] = set()

    def model(body: dict[str, Any]) -> Any:
        text = str(body["messages"][-1])
        if text in failed or not failed:  # the request fails for one question
            failed.add(text)
            return 500, {}, {}
        return odd(body)

    run.model, run.judge = model, points
    if dataset == "MMEFinance_MT":
        run.model = lambda body: completion(f"answer to {len(str(body))}")
        names = load_rubric("mme_finance_mt_zh").dimensions.values()
        run.judge = lambda body: completion(json.dumps(dict.fromkeys(names, len(str(body)) % 11), ensure_ascii=False))
    assert run(dataset, judge=judge), run.log[-3000:]
    (folder,) = run.newest().glob(f"tested_{dataset}*_run")
    status, worst, told = verify(folder)
    assert (status, worst["scores"], worst["totals"]) == (0, "pass", "pass"), told
    assert (worst["documents"], worst["data"]) == ("pass", "warn")
    edit(folder, task, lambda rows: set_in(both(rows), **{metric: 0.0 if rows[0][metric] else 1.0}))
    assert verify(Path(folder))[1]["scores"] == "fail"
