"""Who made predictions: what a file, the results beside it, or its folder says."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fin_tasks.judging.model_names import model_of as model_named_in
from fin_tasks.judging.predictions_files import SavedRow

__all__ = ["model_of"]

_SAMPLES = re.compile(r"samples_.+_(?P<date>\d{4}-\d\d-\d\dT[\d.:-]+)\.jsonl")
_MAX_RESULTS = 64 * 2**20


def model_of(path: Path, form: str, rows: Sequence[SavedRow]) -> str | None:
    """Name the model that made predictions.

    Args:
        path: The file. lm-eval's results are looked for beside it; VLMEvalKit writes `MODEL/.../MODEL_DATA.xlsx`.
        form: As in `SavedRows`.
        rows: Its rows, which may say it in a field `model`.

    Returns:
        The name; None where nothing says it, or rows name several models.
    """
    named = {row.fields["model"] for row in rows if isinstance(row.fields.get("model"), str) and row.fields["model"]}
    if named:
        return named.pop() if len(named) == 1 else None
    if form == "samples":
        return _of_results(path)
    folders = [
        folder.name for folder in path.resolve().parents if folder.name and path.name.startswith(f"{folder.name}_")
    ]
    return folders[0] if folders else None


def _of_results(path: Path) -> str | None:
    match = _SAMPLES.fullmatch(path.name)
    results = _results(path.with_name(f"results_{match['date']}.json")) if match else {}
    return model_named_in(results, otherwise="") or None


def _results(path: Path) -> dict[str, Any]:
    try:
        if not path.is_file() or path.stat().st_size > _MAX_RESULTS:
            return {}
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):  # a broken file beside the one asked for is not our concern
        return {}
    return found if isinstance(found, dict) else {}
