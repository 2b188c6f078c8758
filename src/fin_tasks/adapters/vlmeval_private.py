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

from fin_tasks.adapters.vlmeval_responses import complete_conversations, responses_of


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
    load = files.load
    dump = files.dump
    # Newer kits read conversations back from their tables by this function.
    reads_conversations = hasattr(files, "prepare_reuse_files")
    _replace_everywhere(load, _loading_whole(load))
    _replace_everywhere(dump, _dumping_whole(dump, reads_conversations))


def _replace_everywhere(
    function: Callable[..., Any],
    replacement: Callable[..., Any],
) -> None:
    name = function.__name__
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("vlmeval") and vars(module).get(name) is function:
            setattr(module, name, replacement)


def _loading_whole(load: Callable[..., Any]) -> Callable[..., Any]:
    def load_whole(f: object, fmt: object = None) -> object:
        path = _path_of(f)
        responses = responses_of(path)
        if responses is None or not path.is_file():
            return load(f, fmt)
        if path.suffix == ".pkl":
            pickled = load(f)
            # Anything else is a table that the kit failed to write.
            if isinstance(pickled, dict):
                return responses.from_pickle(pickled)
        predictions = responses.read(path)
        return pd.DataFrame(predictions.items(), columns=["index", "prediction"])

    return load_whole


def _dumping_whole(
    dump: Callable[..., Any],
    reads_conversations: bool,
) -> Callable[..., Any]:
    def dump_whole(data: Any, f: object, **kwargs: object) -> None:
        path = _path_of(f)
        responses = responses_of(path)
        if responses is not None and path.suffix == ".pkl":
            part = path.with_suffix(".part.pkl")
            dump(responses.to_pickle(data), str(part))
            # A killed run leaves no half of a file.
            part.replace(path)
            return
        if responses is not None and "prediction" in data:
            columns = (data["index"], data["prediction"])
            responses.write(path, *columns)
            if path.suffix == ".tsv" and not reads_conversations:
                # The kit goes on with the conversations in such a pickle.
                pickle = path.with_name(f"{path.stem}_supp.pkl")
                dump_whole(complete_conversations(*columns), pickle)
        dump(data, f, **kwargs)

    return dump_whole


def _path_of(file: object) -> Path:
    return Path(str(file)).absolute()


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
