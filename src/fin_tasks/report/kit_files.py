"""Which files below a folder are results of ours beside VLMEvalKit's predictions, and what they say."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.report.found_files import MAX_FILES, legible
from fin_tasks.report.json_fields import check_nesting, from_json, read_capped
from fin_tasks.report.runs import MAX_RESULTS, Problem

__all__ = ["TASKS", "KitRun", "find_kit_runs", "kit_run", "read_object"]

TASKS: Mapping[str, str] = {
    "MMEFinance": "mme_finance_en",
    "MMEFinance_NA": "mme_finance_en_na",
    "MMEFinance_CN": "mme_finance_zh",
    "MMEFinance_CN_NA": "mme_finance_zh_na",
    "XFinBench_MCQ_V": "xfinbench_mcq_visual",
    **{
        f"DynoStock_{bias.capitalize()}_W{window}": f"dynostock_{bias}_w{window}"
        for bias in ("recency", "authority")
        for window in (4, 8, 12, 16, 20)
    },
}
"""The kit's data set to the lm-eval task with the same documents, prompts and scores."""

_DEEPEST = 50
_SCORE, _ITEMS = "_score.json", "_items.jsonl"
_STARTED = re.compile(r"T(?P<day>\d{8})(?:[_-]?(?P<clock>\d{6}))?(?!\d)")


@dataclass(frozen=True, kw_only=True)
class KitRun:
    """A data set that a model was asked.

    Attributes:
        root: The path that was given, a folder.
        score: The file that is written last, with all totals.
        items: The file with a line per row; None where it is missing.
        model: As the files' names have it.
        dataset: One of `TASKS`.
        date: Of the kit's folder, in ISO form; empty where it has none.
        totals: What `score` holds.
    """

    root: Path
    score: Path
    items: Path | None
    model: str
    dataset: str
    date: str
    totals: Mapping[str, Any]

    def shown(self, path: Path) -> str:
        """Return a path as others may see it: from the folder that was given."""
        return path.relative_to(self.root).as_posix()


def find_kit_runs(root: Path, problems: list[Problem]) -> list[KitRun]:
    """Find results in a folder and below.

    The kit links each result file from the model's folder: what is there twice counts once, also where the folder was
    copied and its links still lead to where it was.

    Args:
        root: A folder; any of the kit's, or one with several of them.
        problems: Told of files that cannot be used, and of links that lead out of the folder.

    Raises:
        DataError: There are more files than anyone has results.
    """
    found: dict[Path, KitRun] = {}
    scored: set[Path] = set()
    items: list[Path] = []
    files = [file for file in _below(root) if legible(file, problems)]
    copied = {(folder, file.name) for file in files if not file.is_symlink() for folder in file.parent.parents}
    for file in files:
        if file.name.endswith(_ITEMS):
            items += [file] if _dataset_in(file.name) and not file.is_symlink() else []
            continue
        real = file.resolve()
        if not real.is_relative_to(root.resolve()):
            if (file.parent, file.name) not in copied:
                problems.append(Problem(str(file), f"{file}: a link out of {root}, which is not followed."))
            continue
        if real not in found:
            try:
                run = _run(root, file if file.is_symlink() is False else root / real.relative_to(root.resolve()))
            except (DataError, OSError) as error:
                problems.append(Problem(str(file), str(error)))
            else:
                if run is not None:
                    found[real] = run
        scored.add(file.with_name(file.name.removesuffix(_SCORE) + _ITEMS))
    problems += [_unfinished(file) for file in items if file not in scored]
    return list(found.values())


def kit_run(file: Path) -> KitRun | None:
    """Return the results that one of their files belongs to; None where it belongs to none.

    Raises:
        DataError: They cannot be used.
    """
    for ending in (_SCORE, _ITEMS):
        score = file.with_name(file.name.removesuffix(ending) + _SCORE)
        if file.name.endswith(ending) and score.is_file():
            return _run(file.parent, score)
    return None


def read_object(path: Path) -> dict[str, Any]:
    """Read a file with one JSON object.

    Raises:
        DataError: It cannot be read, is too large, or holds something else.
    """
    content = read_capped(path, most=MAX_RESULTS)
    try:
        value = from_json(content)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: expected JSON, got {error}. Was the run interrupted?") from error
    if not isinstance(value, dict):
        raise DataError(f"{path}: expected an object, got {type(value).__name__}.")
    check_nesting(str(path), value, deepest=_DEEPEST)
    return value


def _run(root: Path, score: Path) -> KitRun | None:
    """Read a score file; None where it is somebody else's."""
    named = _dataset_in(score.name)
    try:
        totals = read_object(score)
    except DataError:
        if not named:
            return None
        raise
    dataset = totals.get("dataset")
    if dataset is None and not named:
        return None
    if not isinstance(dataset, str) or dataset not in TASKS:
        raise DataError(f"{score}, dataset: expected one of {', '.join(TASKS)}, got {dataset!r:.80}.")
    model, mark, _ = score.name.rpartition(f"_{dataset}_")
    if not mark:
        raise DataError(f"{score}: expected a name that begins with <model>_{dataset}_, as in its field dataset.")
    items = score.with_name(score.name.removesuffix(_SCORE) + _ITEMS)
    there = items.is_file() and items.resolve().is_relative_to(root.resolve())
    return KitRun(
        root=root,
        score=score,
        items=items if there else None,
        model=model,
        dataset=dataset,
        date=_date(score),
        totals=totals,
    )


def _unfinished(items: Path) -> Problem:
    missing = f"{items.name.removesuffix(_ITEMS)}{_SCORE}"
    message = f"{items}: expected {missing} beside it, which a run writes last, found none. Run the kit again, which "
    return Problem(str(items), f"{message}goes on where it was.")


def _dataset_in(name: str) -> bool:
    return any(f"_{dataset}_" in name for dataset in TASKS)


def _date(score: Path) -> str:
    """Take the time that the kit's folder is named after, `T20260301_G` or `T20260301_101500`."""
    match = _STARTED.match(score.resolve().parent.name)
    if match is None:
        return ""
    day, clock = match["day"], match["clock"]
    date = f"{day[:4]}-{day[4:6]}-{day[6:]}"
    return f"{date}T{clock[:2]}:{clock[2:4]}:{clock[4:]}" if clock else date


def _below(root: Path) -> Iterator[Path]:
    count = 0
    for at, folders, names in os.walk(root):
        folders.sort()
        count += len(names)
        if count > MAX_FILES:
            raise DataError(f"{root}: expected at most {MAX_FILES:,} files, found more. Name a folder further down.")
        for name in sorted(names):
            file = Path(at) / name
            # what a link leads to may be gone with the folder that was copied
            if name.endswith((_SCORE, _ITEMS)) and (file.is_file() or (file.is_symlink() and not file.exists())):
                yield file
