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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.errors import DataError

__all__ = ["Responses", "watch"]

_FILE = r"(?P<model>.+)_{}(?P<part>_checkpoint|_supp|_PREV)?\.(?P<ending>xlsx|tsv|csv|json|pkl)"
_datasets: "dict[str, Responses]" = {}


@dataclass
class _Kept:
    rows: dict[str, tuple[str, Any]] = field(default_factory=dict)  # index -> what was asked, last response
    every: set[tuple[str, str, str]] = field(default_factory=set)
    files: set[str] = field(default_factory=set)  # hashes of the prediction files that hold these responses
    provenance: Any = None
    broken: bool = False  # a killed run left half a line

    def add(self, line: Mapping[str, Any]) -> None:
        if "asked" in line:
            self.rows[line["index"]] = line["asked"], line["prediction"]
            self.every.add((line["index"], line["asked"], json.dumps(line["prediction"])))
        self.provenance = line.get("provenance", self.provenance)
        self.files.add(line.get("file_sha256", ""))


class Responses:
    """The responses of one data set in all folders that the kit uses in this process."""

    def __init__(self, dataset: str, data: pd.DataFrame, asked: Iterable[str], provenance: Mapping[str, Any]) -> None:
        self.dataset, self.provenance = dataset, provenance
        self.indices = {str(index): index for index in data["index"]}
        self.questions = dict(zip(self.indices, map(_plain, data["question"]), strict=True))
        self.asked = dict(zip(self.indices, asked, strict=True))  # hashes of all that the model gets
        self._kept: dict[Path, _Kept] = {}
        _datasets[dataset] = self

    def keep(self, path: Path, data: Any) -> None:
        """Write down the responses that the kit is about to save in a file, those that are new."""
        if isinstance(data, pd.DataFrame):
            data = dict(zip(data["index"], data["prediction"], strict=True)) if "prediction" in data else {}
        pairs = {str(index): one if isinstance(one, str | list) else str(one) for index, one in data.items()}
        there = self._read(self._beside(path))
        new = [i for i in self.asked.keys() & pairs.keys() if there.rows.get(i) != (self.asked[i], pairs[i])]
        facts = {"dataset": self.dataset, "provenance": self.provenance}
        lines = [facts] if new and there.provenance != self.provenance else []
        lines += [{"index": i, "asked": self.asked[i], "prediction": pairs[i]} for i in sorted(new)]
        self._write(path, lines)

    def seal(self, path: Path) -> None:
        """Write down that a table holds the responses kept beside it; an edited one no longer does."""
        self._write(path, [{"file": path.name, "file_sha256": _sha256(path)}])

    def restore(self, path: Path, data: Mapping[Any, Any]) -> dict[Any, Any]:
        """Return those responses of one of the kit's pickles that answer what is asked now."""
        known: set[tuple[str, str, str]] = set()
        for kept in self._near(path):
            known |= kept.every
            vouched = {i: one for i, one in data.items() if self._key(i, one) in known}
            if len(vouched) == len(data):
                break
        return vouched

    def read(self, path: Path, *, strict: bool = True) -> dict[str, Any]:
        """Return the responses of a prediction file by index, whole if a run with fin-tasks wrote the file.

        Rows that do not belong to this data set are left out, or raise DataError if `strict`.
        """
        table, digest = _table(path), _sha256(path)
        if missing := {"index", "prediction"} - set(table):
            raise DataError(f"{path}: expected columns index and prediction, found no {' and no '.join(missing)}.")
        kept = next((kept.rows for kept in self._near(path) if digest in kept.files), {})
        found: dict[str, Any] = {}
        for row in table.to_dict("records"):
            index = re.sub(r"\.0$", "", str(row["index"]))
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

    def _key(self, index: Any, response: Any) -> tuple[str, str, str]:
        text = response if isinstance(response, str | list) else str(response)
        return str(index), self.asked.get(str(index), ""), json.dumps(text)

    def _beside(self, path: Path) -> Path:
        stem, named = path.stem, re.fullmatch(_FILE.format(re.escape(self.dataset)), path.name)
        if named:  # a pickle of several processes has their number where others have the model
            numbered = named["ending"] == "pkl" and not named["part"]
            stem = f"{path.parent.parent.name if numbered else named['model']}_{self.dataset}"
        return path.with_name(f"{stem}_responses.jsonl")

    def _near(self, path: Path) -> Iterator[_Kept]:
        """Read what is kept beside a file, then beside its namesakes in other runs, which `--reuse` may have copied."""
        here = self._beside(path)
        yield self._read(here)
        others = [one for one in here.parent.parent.glob("*/*_responses.jsonl") if one.name == here.name]
        for other in sorted(others, key=lambda one: one.stat().st_mtime, reverse=True):
            if other.parent.resolve() != here.parent.resolve():
                yield self._read(other)

    def _read(self, path: Path) -> _Kept:
        if path not in self._kept:
            self._kept[path] = kept = _Kept()
            *lines, last = path.read_bytes().split(b"\n") if path.is_file() else [b""]
            kept.broken = bool(last)
            for line in lines:
                with suppress(ValueError):  # half a line
                    kept.add(json.loads(line))
        return self._kept[path]

    def _write(self, path: Path, lines: list[dict[str, Any]]) -> None:
        beside = self._beside(path)
        kept = self._read(beside)
        text = "".join(json.dumps(line) + "\n" for line in lines)
        with beside.open("ab", buffering=0) as file:  # in one call, as the processes of a run share the file
            file.write(("\n" * kept.broken + text).encode())
        kept.broken = False
        for line in lines:
            kept.add(line)


def watch() -> None:
    """Make the kit keep what it saves of our data sets, and load what was kept; calling twice does nothing."""
    theirs = sys.modules["vlmeval.smp.file"]
    load, dump = theirs.load, theirs.dump
    if hasattr(load, "fin_tasks"):
        return

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
        done = dump(data, f, **kwargs)
        if path.suffix != ".pkl" and path.is_file():
            responses.seal(path)
        return done

    load_whole.fin_tasks = True  # type: ignore[attr-defined]
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "vlmeval":
            for called, old, new in (("load", load, load_whole), ("dump", dump, dump_whole)):
                if vars(module).get(called) is old:
                    setattr(module, called, new)


def _responses_of(f: Any) -> tuple[Responses | None, Path]:
    path = Path(str(f)).absolute()
    named = (one for name, one in _datasets.items() if re.fullmatch(_FILE.format(re.escape(name)), path.name))
    return next(named, None), path


def _table(path: Path) -> pd.DataFrame:
    """Read a table with its texts as they are: `N/A` is a text, and so is `007.50`."""
    try:
        if path.suffix == ".json":
            return pd.DataFrame(json.loads(path.read_text(encoding="utf-8")))
        if path.suffix == ".xlsx":
            return pd.read_excel(path, dtype=str, na_filter=False)
        return pd.read_csv(path, sep="\t" if path.suffix == ".tsv" else ",", dtype=str, na_filter=False)
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: expected a table of predictions, got {error}.") from error


def _plain(question: Any) -> str:
    return " ".join(str(question).split())[:1000]  # a spreadsheet may cut it, or change its line ends


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
