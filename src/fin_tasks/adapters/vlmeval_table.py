"""The table of questions that VLMEvalKit fills with predictions and writes, made so that nothing is lost on the way.

VLMEvalKit keeps predictions in a spreadsheet and reads them back when a run goes on. On the way `=1+1` becomes a
formula, `N/A` becomes `nan`, `007.50` may become 7.5, and all beyond 32,767 characters is cut. The kit writes the
table we hand it, so the table sees to it that cells hold text as it is, keeps the whole predictions in a file beside
(`<name>_responses.jsonl`), and takes what the kit read back for what it wrote.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.judging.predictions_tables import CELL_LIMIT

__all__ = ["PredictionTable", "read_kept", "responses_file"]

_PREDICTION = "prediction"
_AS_TEXT = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}


class PredictionTable(pd.DataFrame):  # type: ignore[misc]
    """A DataFrame that writes predictions as they are."""

    @property
    def _constructor(self) -> Any:
        return PredictionTable

    def to_excel(self, excel_writer: Any, *args: Any, **kwargs: Any) -> None:
        """As in pandas; text stays text."""
        if _PREDICTION not in self or not isinstance(excel_writer, str | Path) or kwargs.get("engine") != "xlsxwriter":
            pd.DataFrame(self).to_excel(excel_writer, *args, **kwargs)
            return
        table = self._kept(Path(excel_writer))
        table[_PREDICTION] = [str(text)[:CELL_LIMIT] for text in table[_PREDICTION]]
        table.to_excel(excel_writer, *args, **{"engine_kwargs": {"options": _AS_TEXT}, **kwargs})

    def to_csv(self, path_or_buf: Any = None, *args: Any, **kwargs: Any) -> Any:
        """As in pandas."""
        named = isinstance(path_or_buf, str | Path) and _PREDICTION in self
        table = self._kept(Path(path_or_buf)) if named else pd.DataFrame(self)
        return table.to_csv(path_or_buf, *args, **kwargs)

    def _kept(self, path: Path) -> Any:
        """Return the table with the predictions as the model gave them, which are now in the file beside."""
        table = pd.DataFrame(self).copy()
        before = read_kept(path)
        spoilt = _as_the_kit_reads(path) if before else {}
        exact = [
            before[index] if index in before and spoilt.get(index) == str(text) else str(text)
            for index, text in zip(map(str, table["index"]), table[_PREDICTION], strict=True)
        ]
        table[_PREDICTION] = exact
        _keep(path, dict(zip(map(str, table["index"]), exact, strict=True)))
        return table


def responses_file(path: Path) -> Path:
    """Name the file that keeps the whole predictions of a table at `path`."""
    return path.with_name(f"{path.stem}_responses.jsonl")


def read_kept(path: Path) -> dict[str, str]:
    """Return the predictions kept beside a table by index; none where there is no such file, or no readable one."""
    try:
        lines = responses_file(path).read_bytes().split(b"\n")
        rows = [json.loads(line) for line in lines if line.strip()]
        return {str(row["index"]): str(row[_PREDICTION]) for row in rows}
    except (OSError, ValueError, TypeError, KeyError):
        return {}


def _keep(path: Path, predictions: Mapping[str, str]) -> None:
    target = responses_file(path)
    part = target.with_name(f"{target.name}.{os.getpid()}.part")
    lines = [json.dumps({"index": index, _PREDICTION: text}) + "\n" for index, text in predictions.items()]
    part.write_text("".join(lines), encoding="utf-8")
    part.replace(target)


def _as_the_kit_reads(path: Path) -> dict[str, str]:
    """Read the table that is there in the way VLMEvalKit does when a run goes on, with what that does to the values."""
    try:
        table = pd.read_excel(path) if path.suffix == ".xlsx" else pd.read_csv(path, sep="\t")
        return dict(zip(map(str, table["index"]), map(str, table[_PREDICTION]), strict=True))
    except (OSError, ValueError, KeyError):
        return {}
