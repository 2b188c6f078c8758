"""Responses that were saved in files: the texts in a row, the model that gave them, and their documents."""

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from .contract import Document


def texts_of(output: Any) -> list[Any]:
    """Return the responses in a saved row: a text, a list whose first text counts, or lm-eval's lists of lists."""
    responses = output if isinstance(output, list) else [output]
    if responses and isinstance(responses[0], list):
        return list(chain.from_iterable(responses)) or [None]
    return responses[:1] or [None]


def model_of(file: Path) -> str:
    """Return the name of the file, or of the folder of lm-eval's samples, where `__` stands for `/`."""
    if file.name.startswith("samples_"):
        return file.resolve().parent.name.replace("__", "/")
    return file.stem


def by_document(
    pairs: Sequence[tuple[Document, str]],
) -> tuple[list[Document], list[list[str]]]:
    """Group responses by document. Documents with the same id but different truths are different documents."""
    docs: dict[str, Document] = {}
    responses: dict[str, list[str]] = {}
    for doc, response in pairs:
        key = f"{doc['id']} {doc['ground_truth']}"
        docs.setdefault(key, doc)
        responses.setdefault(key, []).append(response)
    return list(docs.values()), list(responses.values())
