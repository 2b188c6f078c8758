"""What lies beside VLMEvalKit's prediction files: reading responses from them, and results in files of our own."""

import csv
import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from fin_tasks.adapters.vlmeval_table import read_kept
from fin_tasks.errors import DataError
from fin_tasks.judging.kept_responses import whole_response
from fin_tasks.judging.predictions_files import read_saved, saved_text
from fin_tasks.judging.predictions_tables import CELL_LIMIT
from fin_tasks.judging.saved_questions import check_questions, find_index
from fin_tasks.resources import task_yaml_dir

__all__ = ["ResultFiles", "Saved", "kit_version", "read_responses", "task_version"]

_log = logging.getLogger(__name__)
_PACKAGES = ("nvidia-vlmeval", "ms-vlmeval", "vlmeval")
_SUFFIXES = ("overall.csv", "category.csv", "type.csv", "style.csv", "items.jsonl", "score.json")


@dataclass(frozen=True, kw_only=True)
class Saved:
    """The responses of a prediction file.

    Attributes:
        responses: Index to what the model wrote, in the file's order.
        cut: Indices of responses that a spreadsheet cut and nobody kept whole.
    """

    responses: Mapping[str, str]
    cut: tuple[str, ...]


def read_responses(path: Path, known: Mapping[str, str]) -> Saved:
    """Read a prediction file. Nothing but index and prediction is taken from it: the rest may be spoilt.

    Args:
        path: `.xlsx`, `.tsv` or `.json`, with the whole predictions beside it where a table of ours was written.
        known: The data set's indices, each with its question.

    Raises:
        DataError: The file cannot be read, lacks a column, has a row twice or one the data set does not know, or its
            questions are others.
    """
    kept = read_kept(path)
    responses: dict[str, str] = {}
    cut = []
    saved = read_saved(path)
    rows = saved.rows
    for row in rows:
        if missing := {"index", "prediction"} - row.fields.keys():
            raise DataError(f"{row.where}: expected a column {' and '.join(sorted(missing))}, found none.")
        index = find_index(row.fields["index"], known)
        if index is None:
            raise DataError(
                f"{row.where}: expected an index of the data set, got {row.fields['index']!r}. Was the file made from "
                "other data? FIN_TASKS_METADATA and FIN_TASKS_DATA choose them."
            )
        if index in responses:
            raise DataError(f"{row.where}: expected each index once, got {index!r} again. Remove one of the rows.")
        whole = whole_response(saved_text(row.fields["prediction"]), kept.get(index), form=saved.form)
        if whole.is_cut:
            cut.append(index)
        responses[index] = whole.text
    check_questions(path, rows, known)
    if cut:
        _log.warning(
            "%s: %d responses fill a spreadsheet's cell (%d characters) and are cut, beginning with index %s. "
            "PRED_FORMAT=tsv keeps them where the kit knows it.",
            path.name,
            len(cut),
            CELL_LIMIT,
            cut[0],
        )
    if lacking := len(known) - len(responses):
        _log.warning("%s: %d of %d rows have no prediction and do not count.", path.name, lacking, len(known))
    return Saved(responses=responses, cut=tuple(cut))


@dataclass(frozen=True, kw_only=True)
class ResultFiles:
    """The result files of a prediction file.

    Attributes:
        predictions: The prediction file.
        label: What stands between its name and the result's: the judge and how it is asked, or nothing.
    """

    predictions: Path
    label: str = ""

    def path(self, suffix: str) -> Path:
        """Name one.

        Example:
            >>> ResultFiles(predictions=Path("m_MMEFinance.xlsx"), label="Qwen/Qwen2-VL").path("overall.csv").name
            'm_MMEFinance_Qwen_Qwen2-VL_overall.csv'
        """
        label = re.sub(r"[^\w.-]+", "_", self.label).strip("._")
        return self.predictions.with_name("_".join(filter(None, (self.predictions.stem, label, suffix))))

    def score_of(self, judge: str) -> Mapping[str, Any] | None:
        """Return the newest score by a judge, however it was asked; None where there is none."""
        here = self.path("score.json")
        start = here.name.removesuffix("score.json")
        written = [
            path for path in here.parent.iterdir() if path.name.startswith(start) and path.name.endswith("_score.json")
        ]
        for path in sorted(written, key=lambda path: path.stat().st_mtime_ns, reverse=True):
            try:
                score = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            if isinstance(score, dict) and score.get("judge") == judge:
                return score
        return None

    def remove(self) -> None:
        """Remove results of an earlier run, so that none is taken for those of a run that fails."""
        for suffix in _SUFFIXES:
            self.path(suffix).unlink(missing_ok=True)

    def write_table(self, suffix: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write a CSV file; nothing where there are no rows. None becomes an empty cell."""
        if not rows:
            return
        with _replacing(self.path(suffix)) as part, part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def write_items(self, items: Iterable[Mapping[str, Any]]) -> None:
        """Write a line of JSON per row."""
        with _replacing(self.path("items.jsonl")) as part:
            part.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items), encoding="utf-8")

    def write_score(self, score: Mapping[str, Any]) -> None:
        """Write everything there is to say of the run; the last file to be written."""
        with _replacing(self.path("score.json")) as part:
            kit = kit_version()
            said = {**score, **({"vlmeval_version": kit} if kit else {})}
            part.write_text(json.dumps(said, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


def kit_version() -> str | None:
    """Return which of the kit's packages is installed, and its version; None where it is not installed as one."""
    for package in _PACKAGES:
        try:
            return f"{package} {version(package)}"
        except PackageNotFoundError:
            continue
    return None


def task_version(benchmark: str) -> str:
    """Return the version of a benchmark's lm-eval tasks, whose scores these are.

    Example:
        >>> task_version("mme_finance").replace(".", "").isdigit()
        True
    """
    text = (task_yaml_dir() / benchmark / "_base.yaml").read_text(encoding="utf-8")
    found = re.search(r"^\s+version: *(\S+)", text, re.MULTILINE)
    return found[1] if found else ""


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """Give a file to write beside the target, which takes its place when all is written."""
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
