"""Keep the responses of VLMEvalKit's runs whole, whatever the format of its prediction files does to them.

The kit saves predictions in tables and reads them back on `--reuse`: `N/A` comes back as missing, `007.50` as a number,
and a cell of a spreadsheet holds 32,767 characters. It also takes up what it saved by index alone, and other data have
the same indices. So whenever the kit saves, the responses go to `<model>_<data set>_responses.jsonl` first, each with a
hash of what was asked, and whenever it loads, it gets these responses instead of its own.
"""

import hashlib
import json
import re
import sys
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.errors import DataError
from fin_tasks.judging.item import no_response
from fin_tasks.judging.saved import read_table

__all__ = ["Responses", "watch"]

_FILE = r"(?P<model>.+)_{}(?P<part>_checkpoint|_supp|_PREV)?\.(?P<ending>xlsx|tsv|csv|json|pkl)"
_open: "dict[str, Responses]" = {}


@dataclass
class _Kept:
    rows: dict[str, tuple[str, Any]] = field(default_factory=dict)  # index -> hash of what was asked, last response
    files: set[str] = field(default_factory=set)  # hashes of the prediction files that hold these responses

    def add(self, line: Mapping[str, Any]) -> None:
        if "asked" in line:
            self.rows[line["index"]] = line["asked"], line["prediction"]
        self.files.add(line.get("file_sha256", ""))


class Responses:
    """The responses to one data set, in all folders that the kit uses in this process."""

    def __init__(self, dataset: str, data: pd.DataFrame, asked: Iterable[str], provenance: Mapping[str, Any]) -> None:
        self.dataset, self.provenance = dataset, provenance
        self.indices = {str(index): index for index in data["index"]}
        self.questions = dict(zip(self.indices, map(_plain, data["question"]), strict=True))
        self.asked = dict(zip(self.indices, asked, strict=True))  # hashes of all that the model gets
        self._kept: dict[Path, _Kept] = {}
        self._written: set[Path] = set()
        _open[dataset] = self

    def keep(self, path: Path, data: Any) -> None:
        """Write down the responses that the kit is about to save in a file, those that are new."""
        if isinstance(data, pd.DataFrame):
            data = dict(zip(data["index"], data["prediction"], strict=True)) if "prediction" in data else {}
        pairs = {str(index): one if isinstance(one, str | list) else str(one) for index, one in data.items()}
        rows = self._read(self._beside(path)).rows
        new = sorted(i for i in self.asked.keys() & pairs.keys() if rows.get(i) != (self.asked[i], pairs[i]))
        self._write(path, [{"index": i, "asked": self.asked[i], "prediction": pairs[i]} for i in new])

    def seal(self, path: Path) -> None:
        """Write down that a table holds the responses kept beside it; once it is edited, it no longer does."""
        self._write(path, [{"file": path.name, "file_sha256": _sha256(path)}])

    def restore(self, path: Path, data: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return the responses of one of the kit's pickles, without those to something else than is asked now."""
        known = ChainMap(*(kept.rows for kept in self._near(path)))
        return {i: known[str(i)][1] for i in data if str(i) in known and known[str(i)][0] == self.asked.get(str(i))}

    def read(self, path: Path, *, strict: bool = True) -> dict[str, Any]:
        """Return the responses of a prediction file by index, whole if a run with fin-tasks wrote the file.

        Rows that do not belong to this data set are left out, or raise DataError if `strict`.
        """
        table, digest = read_table(path), _sha256(path)
        if missing := {"index", "prediction"} - table[0].keys():
            raise DataError(f"{path}: expected columns index and prediction, found no {' and no '.join(missing)}.")
        kept = next((kept.rows for kept in self._near(path) if digest in kept.files), {})
        found: dict[str, Any] = {}
        for row in table:
            index = row["index"].removesuffix(".0")
            asked, response = kept.get(index, ("", row["prediction"]))
            same = asked == self.asked.get(index) if asked else _plain(row.get("question")) == self.questions.get(index)
            if same and index not in found:
                found[index] = response
            elif strict:
                raise DataError(
                    f"{path}: expected each index of {self.dataset} once, with the question as it is loaded now, got "
                    f"index {index!r} twice or with another question. FIN_TASKS_METADATA and FIN_TASKS_DATA choose the "
                    "data; or let VLMEvalKit ask the model again."
                )
        return found

    def _beside(self, path: Path) -> Path:
        stem, named = path.stem, re.fullmatch(_FILE.format(re.escape(self.dataset)), path.name)
        if named:  # a pickle of several processes has their number where others have the model
            numbered = named["ending"] == "pkl" and not named["part"]
            stem = f"{path.parent.parent.name if numbered else named['model']}_{self.dataset}"
        return path.with_name(f"{stem}_responses.jsonl")

    def _near(self, path: Path) -> Iterator[_Kept]:
        """Read what is kept beside a file, then in the model's other runs, from which `--reuse` may have copied it."""
        here = self._beside(path)
        others = [
            one for one in here.parent.parent.glob("*/*_responses.jsonl") if one.name == here.name and one != here
        ]
        yield from map(self._read, [here, *sorted(others, key=lambda one: one.stat().st_mtime, reverse=True)])

    def _read(self, path: Path) -> _Kept:
        if path not in self._kept:
            self._kept[path] = _Kept()
            for line in path.read_bytes().split(b"\n") if path.is_file() else ():
                with suppress(ValueError):  # a killed run may leave half a line
                    self._kept[path].add(json.loads(line))
        return self._kept[path]

    def _write(self, path: Path, lines: list[dict[str, Any]]) -> None:
        beside, start = self._beside(path), ""
        if not lines:
            return
        if beside not in self._written:
            start = "\n" if beside.exists() else ""  # ends half a line of a killed run
            lines = [{"dataset": self.dataset, "provenance": self.provenance}, *lines]
        for line in lines:
            self._read(beside).add(line)
        with beside.open("ab", buffering=0) as file:  # in one call, as the processes of a run share the file
            file.write((start + "".join(json.dumps(line) + "\n" for line in lines)).encode())
        self._written.add(beside)


def watch() -> None:
    """Make the kit keep what it saves of our data sets, and load what was kept."""
    theirs = sys.modules["vlmeval.smp.file"]
    load, dump = theirs.load, theirs.dump

    def load_whole(f: Any, fmt: Any = None) -> Any:
        responses, path = _responses_of(f)
        if responses is None or not path.is_file():
            return load(f, fmt)
        if path.suffix == ".pkl":
            data = load(f, fmt)
            return responses.restore(path, data) if isinstance(data, dict) else data
        found = responses.read(path, strict=False)
        return pd.DataFrame({"index": [responses.indices[i] for i in found], "prediction": list(found.values())})

    def dump_whole(data: Any, f: Any, **kwargs: Any) -> Any:
        responses, path = _responses_of(f)
        if responses is None or not isinstance(data, dict | pd.DataFrame):
            return dump(data, f, **kwargs)
        responses.keep(path, data)
        part = path.with_name(f"{path.stem}.part{path.suffix}")
        done = dump(data, str(part), **kwargs)
        if part.is_file():  # upstream writes a pickle instead of a table that it fails to write
            part.replace(path)  # at once, so that a killed run leaves no half of a file
            if path.suffix != ".pkl":
                responses.seal(path)
        if path.suffix == ".tsv" and not hasattr(theirs, "prepare_reuse_files"):
            # the packaged kit reads no conversations back from its table, but goes on with such a pickle
            pairs = zip(data["index"], data["prediction"], strict=True)
            whole = {i: said for i, said in pairs if isinstance(said, list) and not any(map(no_response, said))}
            dump(whole, str(path.with_name(f"{path.stem}_supp.pkl")))
        return done

    new = {load: load_whole, dump: dump_whole}
    for module in [module for name, module in sys.modules.items() if name.partition(".")[0] == "vlmeval"]:
        for name in ("load", "dump"):
            if (own := vars(module).get(name)) in (load, dump):
                setattr(module, name, new[own])


def _responses_of(f: Any) -> tuple[Responses | None, Path]:
    path = Path(str(f)).absolute()
    return next(
        (one for name, one in _open.items() if re.fullmatch(_FILE.format(re.escape(name)), path.name)), None
    ), path


def _plain(question: Any) -> str:
    return " ".join(str(question).split())[:1000]  # a spreadsheet may cut it, or change its line ends


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
