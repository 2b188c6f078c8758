"""Puts data sets into VLMEvalKit's lists, beside what is there."""

from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any

from fin_tasks.adapters.autoload import warn

__all__ = ["register"]


def register(package: ModuleType, classes: Sequence[type[Any]]) -> None:
    """Add data sets to the kit's lists; calling twice does nothing.

    What the kit has under a name of ours stays the kit's, be it a data set or a class; `TAKEN` of a class of ours
    says which data sets that are.

    Args:
        package: `vlmeval.dataset`.
        classes: Our classes of data sets.
    """
    names = {cls: list(cls.OPTIONS) for cls in classes}  # what could fail comes before any list is touched
    theirs = _names_of(package, ours=classes)
    for cls, ours in names.items():
        if cls in getattr(package, "DATASET_CLASSES", getattr(package, "IMAGE_DATASET", ())):
            continue
        if taken := sorted(theirs & set(ours)):
            cls.TAKEN = frozenset(taken)
            warn(f"found that this VLMEvalKit has {', '.join(taken)} of its own, which it uses instead of ours.")
        if len(taken) == len(ours):
            continue
        if hasattr(package, cls.__name__):
            warn(
                f"found that this VLMEvalKit has a class {cls.__name__} of its own; a --config that names the class "
                "gets the kit's. Our data sets are there by their names."
            )
        else:
            setattr(package, cls.__name__, cls)
            _add(package, "__all__", [cls.__name__])
        for place in ("IMAGE_DATASET", "DATASET_CLASSES"):
            _add(package, place, [cls])
        _add(package, "SUPPORTED_DATASETS", cls.supported_datasets())


def _names_of(package: ModuleType, *, ours: Sequence[type[Any]]) -> set[str]:
    classes = [cls for place in ("IMAGE_DATASET", "DATASET_CLASSES") for cls in getattr(package, place, ())]
    names = set(getattr(package, "SUPPORTED_DATASETS", ()))
    for cls in classes:
        if cls not in ours and callable(listed := getattr(cls, "supported_datasets", None)):
            names.update(listed())
    return names - {name for cls in ours if cls in classes for name in cls.supported_datasets()}


def _add(package: ModuleType, name: str, values: Iterable[Any]) -> None:
    there = getattr(package, name, None)
    if isinstance(there, list):
        there.extend(value for value in values if value not in there)
