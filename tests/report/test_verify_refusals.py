"""What `fin-tasks verify` must call failed, also without a board."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from board_cheats import call_task_a_group, drop_wrong_responses, no_texts, say_unscored
from cheats import FAILURE, edit_lines, edit_readings
from submissions import submit

from fin_tasks.report.verify.items import Options
from fin_tasks.report.verify.verification import verify

OPTIONS = Options(metadata={"source": "sample"})
Line = dict[str, Any]


def statuses(folder: Path) -> dict[str, str]:
    """Return the status of each item of the task."""
    tasks = verify([folder], OPTIONS).tasks
    return {item.name: item.status for task in tasks for item in task.items}


def number_as_response(folder: Path) -> None:
    edit_lines(folder, lambda lines: no_texts(lines[0]))


@pytest.mark.parametrize(
    ("change", "item"),
    [
        (say_unscored, "scores"),
        (drop_wrong_responses, "rows"),
        (number_as_response, "rows"),
        (call_task_a_group, "totals"),
    ],
)
def test_a_forgery_fails(
    change: Callable[[Path], None], item: str, tmp_path: Path
) -> None:
    folder = submit(tmp_path / "run")
    assert set(statuses(folder).values()) == {"verified"}
    change(folder)
    assert statuses(folder)[item] == "failed"


def test_a_response_that_was_lost_is_only_without_proof(tmp_path: Path) -> None:
    """An honest run may have lost a response, so that nobody can know its score."""
    folder = submit(tmp_path / "run", answer=lambda doc: FAILURE)

    def change(lines: list[Line]) -> None:
        for line in lines:
            if line["filter"] == "robust":
                line.update(acc=None, no_answer=None, unscored=1.0)
                edit_readings([line], answer=None, unscored=True)

    edit_lines(folder, change)
    assert statuses(folder)["scores"] == "not verified"
