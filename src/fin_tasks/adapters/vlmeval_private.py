"""What fin-tasks does with names of VLMEvalKit that are no public interface.

A release of the kit may change each of these names. `tests/contract/test_vlmevalkit.py` has a
test for each of them.

The kit saves predictions in tables and reads them back on `--reuse`. `N/A` then comes back as
missing, `007.50` as a number, and a cell of a spreadsheet holds 32,767 characters. The kit also
knows questions by index alone, and other data have the same indices. So the kit's `load` and `dump`
are wrapped: the responses in a table or a pickle also go to `..._responses.jsonl` beside it, with
the hash of what was asked, and the kit loads them from there.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import pandas as pd

Function = Callable[..., Any]
"""A function of the kit."""
Predictions = Mapping[str | int, Any]
"""Responses by index; in conversations lists with the responses to all turns."""

provenances: dict[str, Mapping[str, object]] = {}
"""What is known of our data sets that the kit uses, by name; `hash` is that of all questions."""

_ENDING = "_responses.jsonl"


def register(dataset_class: Any) -> None:
    """Add a class of data sets to the kit, behind its own."""
    kit = import_module("vlmeval.dataset")
    kit.DATASET_CLASSES.append(dataset_class)
    kit.SUPPORTED_DATASETS.extend(dataset_class.supported_datasets())
    # A file for `--config` names the class.
    vars(kit).setdefault(dataset_class.__name__, dataset_class)


def keep_responses_whole() -> None:
    """Make the kit keep what it saves of our data sets, and load what was kept."""
    files = import_module("vlmeval.smp.file")
    _replace_everywhere(files.load, _loading_whole(files.load))
    _replace_everywhere(files.dump, _dumping_whole(files.dump))


def _replace_everywhere(function: Function, replacement: Function) -> None:
    name = function.__name__
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("vlmeval") and vars(module).get(name) is function:
            setattr(module, name, replacement)


def _loading_whole(load: Function) -> Function:
    def load_whole(f: object, fmt: object = None) -> object:
        path = Path(str(f)).absolute()
        if _provenance_of(path) is None or not path.is_file():
            return load(f, fmt)
        predictions = read_responses(path)
        if path.suffix == ".pkl":
            return predictions
        return pd.DataFrame(predictions.items(), columns=["index", "prediction"])

    return load_whole


def _dumping_whole(dump: Function) -> Function:
    def dump_whole(
        data: Any,
        f: object,
        **kwargs: object,
    ) -> None:
        path = Path(str(f)).absolute()
        provenance = _provenance_of(path)
        if provenance and path.suffix == ".pkl":
            _write_responses(path, data, provenance)
        elif provenance and "prediction" in data:
            predictions = dict(zip(data["index"], data["prediction"], strict=True))
            _write_responses(path, predictions, provenance)
        dump(data, str(f), **kwargs)

    return dump_whole


def _provenance_of(path: Path) -> Mapping[str, object] | None:
    """Return what is known of the data set that a file of the kit belongs to; None if not ours."""
    stem = re.sub("_(checkpoint|supp|PREV)$", "", path.stem)
    for dataset, provenance in provenances.items():
        if stem.endswith(f"_{dataset}"):
            return provenance
    return None


def _write_responses(
    file: Path,
    predictions: Predictions,
    provenance: Mapping[str, object],
) -> None:
    """Write the responses in a file of the kit beside it."""
    lines: list[object] = [{"provenance": provenance}]
    for index, prediction in predictions.items():
        whole = prediction if isinstance(prediction, str | list) else str(prediction)
        lines.append({"index": index, "prediction": whole})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    # A killed run leaves no half of a file.
    part = file.with_suffix(".part")
    part.write_text(text, "utf-8")
    part.replace(file.with_name(file.stem + _ENDING))


def read_responses(file: Path) -> Predictions:
    """Return the responses by index; none if the questions were others.

    They are those of the file's own run, or else those of the newest run.
    """
    path = file.with_name(file.stem + _ENDING)
    if not path.is_file():
        others = file.parent.parent.glob(f"*/{path.name}")
        path = max(others, key=lambda other: other.stat().st_mtime, default=path)
    provenance = _provenance_of(file)
    if provenance is None or not path.is_file():
        return {}
    lines = map(json.loads, path.read_text("utf-8").splitlines())
    if next(lines)["provenance"]["hash"] != provenance["hash"]:
        return {}
    return {line["index"]: line["prediction"] for line in lines}


def named_by_data_set(file: Path, dataset: str) -> Path:
    """Return the file by the name under which the kit saved the predictions.

    The kit saves them under the name of the data set, and evaluates them under its key in a file for `--config`.
    """
    ending = f"_{dataset}{_ENDING}"
    if file.stem.endswith(f"_{dataset}"):
        return file
    for path in file.parent.glob(f"*{ending}"):
        model = path.name.removesuffix(ending)
        if file.stem.startswith(f"{model}_"):
            return file.with_stem(f"{model}_{dataset}")
    return file


def kit_version() -> str:
    """Return the kit's name and version."""
    names = packages_distributions().get("vlmeval")
    if names:
        return f"{names[0]} {version(names[0])}"
    return f"vlmeval {import_module('vlmeval').__version__}"
