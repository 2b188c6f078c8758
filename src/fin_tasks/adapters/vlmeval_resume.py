"""Keeps answers to other questions out of VLMEvalKit's runs.

VLMEvalKit takes up saved predictions by index alone, and indices of different data are the same numbers. So what
was asked is written beside the predictions (`<model>_<data set>_asked.json`) before a model is asked, predictions of
something else are moved away, and nothing is scored that was made for something else.
"""

import filecmp
import functools
import json
import logging
import os
import re
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.judging.asked import Asked, asked_file
from fin_tasks.judging.predictions_files import read_saved
from fin_tasks.judging.saved_questions import check_questions

__all__ = ["check_asked", "make_room", "wrap_inference"]

_log = logging.getLogger(__name__)
_FORMATS = ("xlsx", "tsv", "json")


def check_asked(predictions: Path, asked: Asked) -> None:
    """See that predictions were made for what is asked now, where there is a file that says so.

    Raises:
        DataError: They were made for other data, prompts or options.
    """
    record = _read(asked_file(predictions))
    if record is None or record.get("sha256") == asked.sha256:
        return
    before = record.get("facts")
    before = before if isinstance(before, dict) else {}
    differ = sorted(name for name in {*before, *asked.facts} if before.get(name) != asked.facts.get(name))
    raise DataError(
        f"{asked_file(predictions)}: expected predictions for {asked.dataset} as it is loaded now, got some for other "
        f"{', '.join(differ) or 'texts'}. Choose what they were made for with FIN_TASKS_METADATA and FIN_TASKS_DATA, "
        "or run VLMEvalKit with its inference, which asks the model anew."
    )


def make_room(folder: Path, model: str, asked: Asked) -> Path | None:
    """Move away what is saved in a folder for something else, and write down what is asked now.

    Args:
        folder: VLMEvalKit's folder of a run.
        model: The model's name in it.
        asked: What is about to be asked.

    Returns:
        Where the old files are now; None where none had to go.
    """
    base = folder / f"{model}_{asked.dataset}"
    record = asked_file(_with_format(base, _FORMATS[0]))
    away = None
    if (reason := _why_not(folder, base, record, asked)) is not None:
        old = sorted({*_results(base, asked.dataset), *_pickles(folder, model, asked.dataset)})
        away = _move_away(folder, old)
        _log.warning(
            "%s: predictions were saved for other questions (%s); they are in %s now and the model is asked anew.",
            base.name,
            reason,
            away,
        )
    part = record.with_name(f"{record.name}.{os.getpid()}.part")
    told = {"dataset": asked.dataset, "sha256": asked.sha256, "facts": asked.facts}
    part.write_text(json.dumps(told, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    part.replace(record)
    return away


def wrap_inference(module: ModuleType) -> None:
    """Make VLMEvalKit's inference `make_room` for our data sets first; wrapping twice does nothing.

    Args:
        module: `vlmeval.inference`.
    """
    theirs = module.infer_data_job
    if getattr(theirs, "fin_tasks", False):
        return

    @functools.wraps(theirs)
    def infer_data_job(model: Any, work_dir: str, model_name: str, dataset: Any, *args: Any, **kwargs: Any) -> Any:
        asked = getattr(dataset, "asked", None)
        if isinstance(asked, Asked):
            # as in the kit: several processes share the folder, the first one writes
            if int(os.environ.get("RANK", "0")) == 0:
                make_room(Path(work_dir), model_name, asked)
            if int(os.environ.get("WORLD_SIZE", "1")) > 1:
                module.dist.barrier()
        return theirs(model, work_dir, model_name, dataset, *args, **kwargs)

    infer_data_job.fin_tasks = True  # type: ignore[attr-defined]
    module.infer_data_job = infer_data_job  # type: ignore[attr-defined]


def _why_not(folder: Path, base: Path, record: Path, asked: Asked) -> str | None:
    """Say why what is saved cannot be gone on with; None where it can, or nothing is saved."""
    model = base.name.removesuffix(f"_{asked.dataset}")
    predictions = [path for path in (_with_format(base, ending) for ending in _FORMATS) if path.is_file()]
    pickles = _pickles(folder, model, asked.dataset)
    if not predictions and not pickles:
        return None
    known = _read(record)
    if known is None and not predictions:
        known = _where_they_were_copied_from(pickles, record.name)
    if known is not None:
        return None if known.get("sha256") == asked.sha256 else "other data, prompts or options"
    if not predictions:
        return "nothing says what was asked"
    try:
        for path in predictions:
            check_questions(path, read_saved(path).rows, asked.questions)
    except DataError as error:
        return str(error)
    return None


def _where_they_were_copied_from(pickles: Iterable[Path], record: str) -> dict[str, Any] | None:
    """Find the record of a run that was killed: `--reuse` copies its pickles into the new run's folder, but no more."""
    for path in pickles:
        for other in sorted(path.parent.parent.glob(f"*/{_escaped(path.name)}")):
            if other.parent == path.parent or other.parent.is_symlink():
                continue
            if filecmp.cmp(path, other, shallow=False) and (known := _read(other.with_name(record))) is not None:
                return known
    return None


def _pickles(folder: Path, model: str, dataset: str) -> list[Path]:
    """List what the kit keeps of a run under way; it knows the answers of each process by their number."""
    name = re.escape(dataset)
    ours = re.compile(rf"\d+_{name}\.pkl|{re.escape(model)}_{name}_(PREV|supp|checkpoint)\.pkl")
    return [path for path in folder.glob("*.pkl") if ours.fullmatch(path.name)]


def _results(base: Path, dataset: str) -> list[Path]:
    """List a data set's predictions and results, but not those of data sets whose names begin with its name."""
    longer = re.compile(r"(_NA|_CN|_CN_NA)[_.]")
    found = [path for path in base.parent.glob(f"{_escaped(base.name)}[._]*") if path.is_file()]
    return [path for path in found if not longer.match(path.name[len(base.name) :])]


def _move_away(folder: Path, files: Iterable[Path]) -> Path:
    number = 1
    while (away := folder / "of_other_data" / str(number)).exists():
        number += 1
    away.mkdir(parents=True)
    for path in files:
        path.replace(away / path.name)
    return away


def _with_format(base: Path, ending: str) -> Path:
    return base.with_name(f"{base.name}.{ending}")  # names of models have dots


def _escaped(name: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", name)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {}  # it cannot be read, so nothing vouches for the predictions
    return value if isinstance(value, dict) else {}
