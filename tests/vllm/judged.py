"""What must hold after a run of lm-eval whose responses a judge has scored, and a judge that is none."""

import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from result_checks import Check, Run

sys.path.append(str(Path(__file__).resolve().parents[1] / "endpoints"))
from chat_server import Served, completion, serve

__all__ = ["check_judge_requests", "check_judged_again", "graded", "stub_judge"]


@contextmanager
def stub_judge() -> Iterator[Served]:
    """Serve a judge that gives every response points by the hash of what it is shown, the same each time."""

    def score(body: Mapping[str, Any]) -> Any:
        return completion(str(hashlib.sha256(json.dumps(body["messages"]).encode()).digest()[0] % 6))

    with serve(score) as served:
        yield served


def graded(run: Run, task: str) -> list[Mapping[str, Any]]:
    """Return what became of each response of a task."""
    return [json.loads(row["filtered_resps"][0][0]) for row in run.docs(task).values()]


def check_judge_requests(run: Run, asked: float) -> Check:
    """Compare the judge's replies that lm-eval logged with the requests the judge was sent."""
    tries = sum(record["tries"] for task in run.samples for record in graded(run, task))
    return Check(what=f"the judge was asked {tries} times", ok=asked == tries > 0, found=f"{asked:.0f}")


def check_judged_again(run: Run, task: str, *, judge: str, base_url: str, cache: Path) -> Check:
    """Judge the saved samples with `fin-tasks judge`; the replies are on the disk, so nobody is asked."""
    command = ["judge", str(run.samples[task]), "--rubric", task, "--model", judge, "--base-url", base_url, "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "fin_tasks.cli", *command],
        capture_output=True,
        text=True,
        check=False,
        env=_with_cache(cache),
    )
    what = f"{task}: fin-tasks judge finds the same scores in the samples and asks nobody"
    if done.returncode:
        return Check(what=what, ok=False, found=f"status {done.returncode}: {done.stderr[-300:]}")
    again, written = json.loads(done.stdout), run.results["results"][task]
    pairs = {name: (again[key], written[f"score,{name}"]) for name, key in _OVERALL.items()}
    ok = again["requests"] == 0 and all(math.isclose(new, old, abs_tol=1e-9) for new, old in pairs.values())
    shown = ", ".join(f"{name} {new} against {old}" for name, (new, old) in pairs.items())
    return Check(what=what, ok=ok, found=f"{shown}, {again['requests']} requests")


_OVERALL = {"robust": "overall", "paper": "overall_paper"}


def _with_cache(cache: Path) -> dict[str, str]:
    return {**os.environ, "FIN_TASKS_CACHE": str(cache)}
