"""Tells the lines of a figure apart: which results belong to one line, and a label that says no more than it must."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fin_tasks.benchmarks.dynostock.experiment import date_of, setting_of
from fin_tasks.benchmarks.dynostock.records import Condition, model_of_folder
from fin_tasks.errors import DataError

__all__ = ["Line", "labels_of", "line_of"]

_WORDS: Mapping[str, str] = {
    "mode": "{}",
    "names": "{}",
    "arm": "arm {}",
    "provenance.prompts.set": "{} prompts",
    "provenance.prompts.style": "{}",
    "provenance.prompts.upstream_model": "template {}",
    "provenance.text": "{}",
    "provenance.frequency": "{} prices",
}
"""What readers want to see wherever it differs; of all else only as much as labels need to differ."""
_LONGEST = 40


@dataclass(frozen=True, kw_only=True)
class Line:
    """Results that differ in nothing but the window size.

    Attributes:
        model: Its name.
        facts: All else that decides what was asked and how, by name, in a fixed order.
    """

    model: str
    facts: tuple[tuple[str, str], ...]


def line_of(file: Path, condition: Condition) -> Line:
    """Find out which line a file's results belong to.

    Of lm-eval's samples the results file of the same run says what they were run with; without it only samples of one
    date are taken for one run. Of the authors' files nothing is known but the folder.

    Args:
        file: The responses; it need not be there any more.
        condition: What the responses have in common.
    """
    facts = {
        "mode": condition.mode,
        "names": "anonymised" if condition.anonymised else "named",
        "arm": condition.arm,
        **_setting(file),
    }
    return Line(model=condition.model or model_of_folder(file), facts=tuple(sorted(facts.items())))


def _setting(file: Path) -> Mapping[str, str]:
    date = date_of(file)
    if not date:
        return {"folder": str(file.parent.resolve())}
    try:
        setting = setting_of(file)
    except DataError:
        setting = None  # whatever is wrong with the results file, the responses can be read without it
    return {"run": date} if setting is None else {name: _plain(value) for name, value in setting.items()}


def _plain(value: str) -> str:
    """Take the quotation marks from JSON text."""
    parsed = json.loads(value)
    return parsed if isinstance(parsed, str) else value


def labels_of(lines: Sequence[Line]) -> list[str]:
    """Name the lines of one figure: the model, and in brackets what differs between them.

    Args:
        lines: All different.

    Returns:
        A label per line, all different.

    Example:
        >>> lines = [Line(model="m", facts=(("mode", mode), ("limit", "10"))) for mode in ("image", "text")]
        >>> labels_of(lines), labels_of(lines[:1])
        (['m (image)', 'm (text)'], ['m'])
    """
    facts = [dict(line.facts) for line in lines]
    if len(folders := [own["folder"] for own in facts if "folder" in own]) > 1:
        common = os.path.commonpath(folders)
        facts = [{**own, "folder": os.path.relpath(own["folder"], common)} if "folder" in own else own for own in facts]
    told = [name for name in _WORDS if len({own[name] for own in facts if name in own}) > 1]
    labels = [_label(line, own, told) for line, own in zip(lines, facts, strict=True)]
    for label in {label for label in labels if labels.count(label) > 1}:
        alike = [place for place, other in enumerate(labels) if other == label]
        more = _telling([facts[place] for place in alike])
        for place in alike:
            labels[place] = _label(lines[place], facts[place], [*told, *more])
    return labels


def _telling(facts: Sequence[Mapping[str, str]]) -> list[str]:
    """Choose names of facts that tell runs apart: each one parts some that those before it do not."""
    chosen: list[str] = []
    parts = 1
    for name in sorted({name for own in facts for name in own}, key=lambda name: (name not in _WORDS, name)):
        found = len({_label(None, own, [*chosen, name]) for own in facts})
        if found > parts:
            chosen.append(name)
            parts = found
    return chosen


def _label(line: Line | None, facts: Mapping[str, str], names: Sequence[str]) -> str:
    words = ", ".join(_words(name, facts[name]) for name in names if name in facts)
    model = line.model if line else ""
    return f"{model} ({words})" if words else model


def _words(name: str, value: str) -> str:
    shown = value if len(value) <= _LONGEST else "…" + value[1 - _LONGEST :]
    return _WORDS.get(name, name.removeprefix("provenance.") + " {}").format(shown)
