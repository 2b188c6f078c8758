"""Keep the responses of VLMEvalKit's runs whole, whatever the format of its prediction files does to them.

The kit saves predictions in tables and reads them back on `--reuse`: `N/A` comes back as missing, `007.50` as a number,
and a cell of a spreadsheet holds 32,767 characters. It also takes up what it saved by index alone, and other data have
the same indices. So a table's responses also go to `<model>_<data set>_responses.jsonl`, each with a hash of what was
asked, and come from there when the kit loads the table. In its pickles the hash stands beside the response.
"""

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.errors import DataError
from fin_tasks.judging.item import no_response
from fin_tasks.judging.saved import read_table

__all__ = ["Responses", "watch"]

_open: "dict[str, Responses]" = {}


class Responses:
    """The responses to one data set, in all files that the kit uses in this process."""

    def __init__(self, dataset: str, data: pd.DataFrame, asked: Iterable[str], provenance: Mapping[str, Any]) -> None:
        self.dataset, self.provenance = dataset, provenance
        self.indices = {str(index): index for index in data["index"]}
        self.questions = dict(zip(self.indices, map(_plain, data["question"]), strict=True))
        self.asked = dict(zip(self.indices, asked, strict=True))  # hashes of all that the model gets
        _open[dataset] = self

    def keep(self, file: Path, path: Path, table: pd.DataFrame) -> None:
        """Write the responses of a table beside the path that its file will have."""
        lines: list[dict[str, Any]] = [{"provenance": self.provenance, "file_sha256": _sha256(file)}]
        for index, said in zip(map(str, table["index"]), table["prediction"], strict=True):
            said = said if isinstance(said, str | list) else str(said)
            lines.append({"index": index, "asked": self.asked.get(index), "prediction": said})
        text = "".join(json.dumps(line) + "\n" for line in lines)
        path.with_name(f"{path.stem}_responses.jsonl").write_text(text, encoding="utf-8")

    def read(self, path: Path, *, strict: bool = True) -> dict[str, Any]:
        """Return the responses of a prediction file by index, whole if a run with fin-tasks wrote the file.

        Rows that do not belong to this data set are left out, or raise DataError if `strict`.
        """
        table, kept = read_table(path), self._kept(path)
        if missing := {"index", "prediction"} - table[0].keys():
            raise DataError(f"{path}: expected columns index and prediction, found no {' and no '.join(missing)}.")
        found: dict[str, Any] = {}
        for row in table:
            index = row["index"].removesuffix(".0")
            if index in kept:
                same = kept[index]["asked"] == self.asked.get(index)
            else:
                same = _plain(row.get("question")) == self.questions.get(index)
            if same and index not in found:
                found[index] = kept.get(index, row)["prediction"]
            elif strict:
                raise DataError(
                    f"{path}: expected each index of {self.dataset} once, with the question as it is loaded now, got "
                    f"index {index!r} twice or with another question. FIN_TASKS_METADATA and FIN_TASKS_DATA choose the "
                    "data; or let VLMEvalKit ask the model again."
                )
        return found

    def _kept(self, path: Path) -> dict[str, Any]:
        """Return what was written beside a table, or beside the original in another run, unless it was edited since."""
        digest = _sha256(path)
        for file in path.parent.parent.glob(f"*/{path.stem}_responses.jsonl"):
            first, *lines = map(json.loads, filter(None, file.read_text(encoding="utf-8").split("\n")))
            if first["file_sha256"] == digest:
                return {line["index"]: line for line in lines}
        return {}


def watch() -> None:
    """Make the kit keep what it saves of our data sets, and load what was kept."""
    theirs = sys.modules["vlmeval.smp.file"]
    load, dump = theirs.load, theirs.dump

    def load_whole(f: Any, fmt: Any = None) -> Any:
        ours, path = _responses_of(f)
        if ours is None or not path.is_file():
            return load(f, fmt)
        if path.suffix == ".pkl":
            pairs = {i: one for i, one in load(f, fmt).items() if isinstance(one, tuple)}
            return {i: said for i, (asked, said) in pairs.items() if asked == ours.asked.get(str(i))}
        found = ours.read(path, strict=False)
        return pd.DataFrame({"index": [ours.indices[i] for i in found], "prediction": list(found.values())})

    def dump_whole(data: Any, f: Any, **kwargs: Any) -> Any:
        ours, path = _responses_of(f)
        if ours is None or not isinstance(data, dict | pd.DataFrame):
            return dump(data, f, **kwargs)
        if isinstance(data, dict):
            data = {i: (ours.asked.get(str(i)), said) for i, said in data.items()}
        part = path.with_name(f"{path.stem}.part{path.suffix}")
        done = dump(data, str(part), **kwargs)
        if part.is_file():  # upstream writes a pickle instead of a table that it fails to write
            if isinstance(data, pd.DataFrame) and "prediction" in data:
                ours.keep(part, path, data)
            part.replace(path)  # at once, so that a killed run leaves no half of a file
        if path.suffix == ".tsv" and not hasattr(theirs, "prepare_reuse_files"):
            # the packaged kit reads no conversations back from its table, but goes on with such a pickle
            pairs = zip(data["index"], data["prediction"], strict=True)
            whole = {i: said for i, said in pairs if isinstance(said, list) and not any(map(no_response, said))}
            dump_whole(whole, str(path.with_name(f"{path.stem}_supp.pkl")))
        return done

    new = {load: load_whole, dump: dump_whole}
    for module in [module for name, module in sys.modules.items() if name.partition(".")[0] == "vlmeval"]:
        for name in ("load", "dump"):
            if (own := vars(module).get(name)) in (load, dump):
                setattr(module, name, new[own])


def _responses_of(f: Any) -> tuple[Responses | None, Path]:
    path = Path(str(f)).absolute()
    stem = re.sub("_(checkpoint|supp|PREV)$", "", path.stem)
    return next((one for name, one in _open.items() if stem.endswith(f"_{name}")), None), path


def _plain(question: Any) -> str:
    return " ".join(str(question).split())[:1000]  # a spreadsheet may cut it, or change its line ends


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
