"""Honest runs over the packaged samples, for tests of `verify` and for `make attack`."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from chat_server import completion
from in_process import run, saved
from typer.testing import CliRunner

from fin_tasks.cli import app

TEXT_TASKS = (
    "xfinbench_bool",
    "xfinbench_text",
    "financemath_pot",
    "dynostock_recency_w4_text",
)
SAMPLE = ("--source", "sample")


def right_or_wrong(doc: Mapping[str, Any]) -> str:
    """Answer two rows in three right, and never twice in the same words."""
    row_id = str(doc.get("id", doc.get("question_id")))
    is_right = sum(map(ord, row_id)) % 3
    return f"About {row_id}: {doc['target'] if is_right else 'I cannot say.'}"


def points(body: Mapping[str, Any]) -> Any:
    """Judge as a response asks to be judged."""
    return completion(re.findall(r"give me (\S+?) points", json.dumps(body))[-1])


def save_run(task: str, folder: Path, **options: Any) -> Path:
    """Run a task with right and wrong answers, and save it."""
    return saved(run(task, answer=right_or_wrong, **options), folder / task)


def save_judged_run(folder: Path, base_url: str) -> Path:
    """Run MME-Finance with a judge that gives few points."""
    judge = {"judge_model": "judge", "judge_base_url": base_url}

    def answer(doc: Mapping[str, Any]) -> str:
        return f"give me {int(doc['id']) % 3} points"

    return saved(run("mme_finance_en", answer=answer, sees=True, **judge), folder)


def verify(*arguments: str | Path) -> tuple[int, dict[str, str], str]:
    """Return the exit status, the worst status of each item, and what was printed as JSON."""
    done = CliRunner().invoke(app, ["verify", *map(str, arguments), "--json"])
    assert done.exit_code in (0, 1, 2, 3), done.output
    order = ("verified", "warning", "not verified", "failed")
    worst: dict[str, str] = {}
    for task in json.loads(done.stdout)["tasks"] if done.stdout else []:
        for item in task["items"]:
            name = item["name"]
            worst[name] = max(
                worst.get(name, "verified"), item["status"], key=order.index
            )
    return done.exit_code, worst, done.output


Verify = Callable[..., tuple[int, dict[str, str], str]]
