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

from fin_tasks.adapters.vlmeval_responses import responses_of
from fin_tasks.judging.item import no_response

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
    # Newer kits read conversations back from their tables by this function.
    reads_conversations = hasattr(files, "prepare_reuse_files")
    _replace_everywhere(files.load, _loading_whole(files.load))
    _replace_everywhere(files.dump, _dumping_whole(files.dump, reads_conversations))


def _replace_everywhere(function: Function, replacement: Function) -> None:
    name = function.__name__
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("vlmeval") and vars(module).get(name) is function:
            setattr(module, name, replacement)


def _loading_whole(load: Function) -> Function:
    def load_whole(f: object, fmt: object = None) -> object:
        path = Path(str(f)).absolute()
        responses = responses_of(path)
        if responses is None or not path.is_file():
            return load(f, fmt)
        predictions = responses.read(path)
        if path.suffix == ".pkl":
            return predictions
        return pd.DataFrame(predictions.items(), columns=["index", "prediction"])

    return load_whole


def _dumping_whole(dump: Function, reads_conversations: bool) -> Function:
    def dump_whole(data: Any, f: object, **kwargs: object) -> None:
        path = Path(str(f)).absolute()
        responses = responses_of(path)
        if responses is not None and path.suffix == ".pkl":
            responses.write(path, data)
        elif responses is not None and "prediction" in data:
            predictions = dict(zip(data["index"], data["prediction"], strict=True))
            responses.write(path, predictions)
            if path.suffix == ".tsv" and not reads_conversations:
                # The kit goes on with the conversations in such a pickle.
                complete = {}
                for index, turns in predictions.items():
                    if isinstance(turns, list) and not any(map(no_response, turns)):
                        complete[index] = turns
                dump_whole(complete, path.with_name(f"{path.stem}_supp.pkl"))
        dump(data, str(f), **kwargs)

    return dump_whole


def kit_version() -> str:
    """Return the kit's name and version, and the commit of a checkout."""
    kit = import_module("vlmeval")
    root = Path(str(kit.__file__)).resolve().parents[1]
    if root.name == "site-packages":
        name, *_ = packages_distributions()["vlmeval"]
        return f"{name} {version(name)}"
    commit = "unknown"
    if (root / ".git").exists():
        commit = import_module("vlmeval.smp").githash(digits=8)
    return f"vlmeval {kit.__version__}, commit {commit}"
