"""What changed since the report before: new and removed models, and ranks that moved."""

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from fin_tasks.errors import DataError
from fin_tasks.limited_file import RESULTS_MB, read_limited

from .comparison_model import Changes, Moved
from .leaderboard_model import Leaderboard

_MAX_MOVED = 500


class _Run(BaseModel):
    id: str
    model: str
    source: str = ""


class _Place(BaseModel):
    run: str
    rank: int


class _Comparison(BaseModel):
    task: str
    is_corrected: bool = False
    ranks: list[_Place] = []


class _Earlier(BaseModel):
    """What is read of an earlier `leaderboard.json`, also of other versions."""

    generated: str = Field("", max_length=40)
    runs: list[_Run] = []
    comparisons: list[_Comparison] = []


def changes_since(path: Path, board: Leaderboard) -> Changes | None:
    """Compare a leaderboard with the earlier one in a file; None if there is none that can be read."""
    try:
        earlier = _Earlier.model_validate_json(read_limited(path, RESULTS_MB))
    except (OSError, ValidationError, DataError):
        return None
    now = _Earlier.model_validate(board.model_dump(include={"runs", "comparisons"}))
    old_models = _models_of(earlier)
    new_models = _models_of(now)
    old_ranks = _ranks_of(earlier)
    moved = []
    for key, rank in _ranks_of(now).items():
        task, model = key
        if key in old_ranks and old_ranks[key] != rank:
            moved.append(
                Moved(model=model, task=task, before=old_ranks[key], after=rank)
            )
    return Changes(
        since=earlier.generated,
        new=sorted(new_models - old_models),
        removed=sorted(old_models - new_models),
        moved=moved[:_MAX_MOVED],
    )


def _models_of(board: _Earlier) -> set[str]:
    return {run.model for run in board.runs if run.source != "published"}


def _ranks_of(board: _Earlier) -> Mapping[tuple[str, str], int]:
    """Return the ranks by task and model, under the settings of the reference, whose comparison is a task's first."""
    models = {run.id: run.model for run in board.runs}
    ranks: dict[tuple[str, str], int] = {}
    tasks = set()
    for comparison in board.comparisons:
        if comparison.is_corrected or comparison.task in tasks:
            continue
        tasks.add(comparison.task)
        for place in comparison.ranks:
            if place.run in models:
                ranks[comparison.task, models[place.run]] = place.rank
    return ranks
