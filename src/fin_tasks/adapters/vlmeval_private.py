"""What fin-tasks does with names of VLMEvalKit that are no public interface.

A release of the kit may change each of these names. `tests/contract/test_vlmevalkit.py` has a test
for each of them.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import packages_distributions, version
from pathlib import Path
from typing import Any

import pandas as pd

from .vlmeval_responses import provenance_of, read_responses, write_responses

Function = Callable[..., Any]
"""A function of the kit."""


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
        if provenance_of(path) is None or not path.is_file():
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
        is_ours = provenance_of(path) is not None
        if is_ours and path.suffix == ".pkl":
            write_responses(path, data)
        elif is_ours and "prediction" in data:
            write_responses(
                path, dict(zip(data["index"], data["prediction"], strict=True))
            )
        dump(data, str(f), **kwargs)

    return dump_whole


def kit_version() -> str:
    """Return the kit's name and version."""
    names = packages_distributions().get("vlmeval")
    if names:
        return f"{names[0]} {version(names[0])}"
    return f"vlmeval {import_module('vlmeval').__version__}"
