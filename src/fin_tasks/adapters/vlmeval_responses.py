"""Keep the responses of VLMEvalKit's runs whole, whatever the format of its prediction files does to them.

The kit saves predictions in tables and reads them back on `--reuse`: `N/A` comes back as missing, `007.50` as a number,
and a cell of a spreadsheet holds 32,767 characters. It also knows questions by index alone, and other data have the
same indices. So a table's responses also go to `<model>_<data set>_responses.jsonl`, each with a hash of what was
asked, and the kit loads them from there. In its pickles the hash stands beside the response.
"""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.judging.item import no_response

_open: "dict[str, Responses]" = {}


class Responses:
    """The responses to one data set, in all files that the kit uses in this process."""

    def __init__(self, dataset: str, asked: Mapping[Any, str], provenance: Mapping[str, Any]) -> None:
        self.provenance = provenance
        # Hashes of all that the model gets; some of the kit's pickles have indices as text.
        self.asked = {**asked, **{str(index): digest for index, digest in asked.items()}}
        _open[dataset] = self

    def write(self, path: Path, table: pd.DataFrame) -> None:
        """Write the responses of a table beside it."""
        lines: list[dict[str, Any]] = [{"provenance": self.provenance}]
        for index, said in zip(table["index"], table["prediction"], strict=True):
            whole = said if isinstance(said, str | list) else str(said)
            lines.append({"index": index, "asked": self.asked.get(index), "prediction": whole})
        text = "".join(json.dumps(line) + "\n" for line in lines)
        path.with_name(f"{path.stem}_responses.jsonl").write_text(text, encoding="utf-8")

    def read(self, path: Path) -> dict[Any, Any]:
        """Return the responses to the questions as they are now, by index, of this run or else of the newest one."""
        files = path.parent.parent.glob(f"*/{path.stem}_responses.jsonl")
        file = max(files, key=lambda file: (file.parent == path.parent, file.stat().st_mtime), default=None)
        lines = file.read_text(encoding="utf-8").splitlines()[1:] if file else []
        found = {one["index"]: one for one in map(json.loads, lines)}
        return {index: one["prediction"] for index, one in found.items() if one["asked"] == self.asked.get(index)}


def watch() -> None:
    """Make the kit keep what it saves of our data sets, and load what was kept."""
    theirs = sys.modules["vlmeval.smp.file"]
    load, dump = theirs.load, theirs.dump

    def load_whole(f: Any, fmt: Any = None) -> Any:
        ours, path = _responses_of(f)
        if ours is None or not path.is_file():
            return load(f, fmt)
        if path.suffix == ".pkl" and isinstance(saved := load(f), dict):  # else a table that the kit failed to write
            return {i: said for i, (asked, said) in saved.items() if asked == ours.asked.get(i)}
        return pd.DataFrame(ours.read(path).items(), columns=["index", "prediction"])

    def dump_whole(data: Any, f: Any, **kwargs: Any) -> Any:
        ours, path = _responses_of(f)
        if ours is not None and path.suffix == ".pkl":
            part = path.with_suffix(".part.pkl")
            dump({i: (ours.asked.get(i), said) for i, said in data.items()}, str(part))
            return part.replace(path)  # at once, so that a killed run leaves no half of a file
        if ours is not None and "prediction" in data:
            ours.write(path, data)
            if path.suffix == ".tsv" and not hasattr(theirs, "prepare_reuse_files"):
                # the packaged kit reads no conversations back from its table, but goes on with such a pickle
                pairs = zip(data["index"], data["prediction"], strict=True)
                whole = {i: said for i, said in pairs if isinstance(said, list) and not any(map(no_response, said))}
                dump_whole(whole, path.with_name(f"{path.stem}_supp.pkl"))
        return dump(data, f, **kwargs)

    new = {load: load_whole, dump: dump_whole}
    for module in [module for name, module in sys.modules.items() if name.partition(".")[0] == "vlmeval"]:
        for name in ("load", "dump"):
            if (own := vars(module).get(name)) in (load, dump):
                setattr(module, name, new[own])


def _responses_of(f: Any) -> tuple[Responses | None, Path]:
    path = Path(str(f)).absolute()
    stem = re.sub("_(checkpoint|supp|PREV)$", "", path.stem)
    return next((one for name, one in _open.items() if stem.endswith(f"_{name}")), None), path
