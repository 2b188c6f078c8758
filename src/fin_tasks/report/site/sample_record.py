"""One line of a samples file as a page shows it: what was asked, what came back, and what was made of it.

Files come from strangers. Texts are cut at a length that is told, values of other types than expected become text, and
nothing of a machine that a file names (paths, addresses with keys) goes on.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from fin_tasks.report.redaction import without_secrets
from fin_tasks.report.row_scores import BOUNDS
from fin_tasks.report.samples import DIMENSIONS, HEADLINES

__all__ = ["EXCERPT", "LONGEST", "clean", "excerpt", "groups_of", "outcome_of", "question_of", "responses_of"]
__all__ += ["headline_of", "picture_of"]

LONGEST = 50_000
"""Letters of a text that are kept; how many were left out is told."""
EXCERPT = 200
"""Letters of questions and responses that lists show and the quick search looks at."""

_MOST = 40  # responses of a sample, fields of a document or an outcome
_SHORT = 300  # letters of a fact
_DEEPEST = 8  # levels of a request to a model
_OFTEN = 200  # letters of a scored response that others may have too
_REFERENCES = ("answer", "ground_truth", "outcome", "target")
_PICTURES = ("image_path", "figure_path", "chart", "image")
_OWN_PLACE = {"id", "index", "question_id", "prompt", "system", "cue", "question", "choices", "options", *_PICTURES}
_GROUPS = (*DIMENSIONS.values(), "category", "image_type", "image_style", "arm", "kind")
_END = re.compile(r'["\s\\)]')  # of an address in a message
_PATH = re.compile(r"(?:/|~/|[A-Za-z]:\\|\\\\|file:)\S")


def clean(value: Any, *, longest: int = LONGEST) -> str:
    """Return a value as text that UTF-8 has, cut where it is too long.

    Example:
        >>> clean("a" + chr(0xD800)), clean("abcdef", longest=4), clean([1, None])
        ('a?', 'abcd … (2 more characters left out)', '[1, null]')
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    more = len(text) - longest
    if more <= 0 and text.isascii():  # nearly all of them
        return text
    if more > 0:
        text = f"{text[:longest]} … ({more:,} more characters left out)"
    return text.encode("utf-8", "replace").decode()


def excerpt(text: str) -> str:
    """Return the beginning of a text in one line."""
    # most texts have few spaces beside each other, so less of them is enough
    line = " ".join(text[: EXCERPT + EXCERPT // 4].split())
    return (line if len(line) >= EXCERPT else " ".join(text[: 4 * EXCERPT].split()))[:EXCERPT]


def question_of(identity: str, sample: Mapping[str, Any], doc: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was asked: `id`, `system`, `prompt`, `references` and `facts`, the last two as label and text."""
    references: dict[str, str] = {}
    for key in _REFERENCES:
        text = clean(doc.get(key, sample.get("target") if key == "target" else ""))
        if text not in ("", "null", *references.values()):
            references[key] = text
    return {
        "id": clean(identity, longest=_SHORT),
        "system": clean(doc.get("system") or ""),
        "prompt": clean(_prompt(sample, doc)),
        "references": [list(pair) for pair in references.items()],
        "facts": [[key, text] for key, text in _facts(doc)][:_MOST],
    }


def _prompt(sample: Mapping[str, Any], doc: Mapping[str, Any]) -> Any:
    for key in ("prompt", "question", "query"):
        if isinstance(doc.get(key), str) and doc[key]:
            return doc[key]
    found = next((text for text in _texts(sample.get("arguments")) if text), "")
    return found if "data:image/" not in found else "(the prompt holds a picture)"


def _facts(doc: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in doc.items():
        if key in _OWN_PLACE or key in _REFERENCES or value in (None, "", [], {}):
            continue
        of = value if isinstance(value, list) else [value]
        if not all(isinstance(one, (str, int, float)) for one in of):
            continue
        text = ", ".join(clean(one, longest=_SHORT) for one in of)
        if len(text) <= _SHORT and not _PATH.match(text):
            yield clean(key, longest=80), str(without_secrets(text))


def groups_of(doc: Mapping[str, Any]) -> list[str]:
    """Return what a document belongs to, such as `capabilities: TU`."""
    found = []
    for key in _GROUPS:
        value = doc.get(key)
        names = value if isinstance(value, list) else [value]
        found += [f"{key.replace('_', ' ')}: {clean(name, longest=80)}" for name in names[:_MOST] if _is_name(name)]
    return list(dict.fromkeys(found))


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def picture_of(sample: Mapping[str, Any], doc: Mapping[str, Any]) -> tuple[str, str]:
    """Return the path of a document's picture and the picture as it was sent, each empty where there is none."""
    path = sent = ""
    for key in _PICTURES:
        if (value := doc.get(key)) and isinstance(value, str):
            path = value
            break
    for text in _texts(sample.get("arguments")):
        # a letter alone is found in a fiftieth of the time, and few prompts have this one
        begin = text.find("data:image/") if "/" in text else -1
        if begin >= 0:
            end = _END.search(text, begin)
            sent = text[begin : end.start() if end else None]
            break
    return path, sent


def responses_of(sample: Mapping[str, Any]) -> list[str]:
    """Return what the model wrote, a text for each time it was asked."""
    return [clean(one) for one in _flat(sample.get("resps"))[:_MOST]]


def outcome_of(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was made of the responses: `values` by metric, and for each response the fields that were `read`."""
    return {
        "values": _values(sample),
        "read": [_fields(one) for one in _flat(sample.get("filtered_resps"))[:_MOST]],
    }


def headline_of(sample: Mapping[str, Any]) -> tuple[str, float | None]:
    """Return the metric that a sample is judged by and its value; None where it could not be scored."""
    for name in HEADLINES:
        if name in sample:
            return name, _finite(sample[name])
    return HEADLINES[0], None


def _values(sample: Mapping[str, Any]) -> dict[str, float]:
    names = sample.get("metrics")
    if not isinstance(names, list):
        return {}
    try:
        means = _means(tuple(names))
    except TypeError:  # of a stranger's file, with what is no name
        means = _means(tuple(name for name in names if isinstance(name, str)))
    found = {}
    for name, shown in means:
        value = sample.get(name)
        # most metrics of a row are of groups that it does not belong to
        if value is not None and (number := _finite(value)) is not None:
            found[shown] = number
    return found


@lru_cache(maxsize=64)  # rows of a run have the same metrics
def _means(names: tuple[Any, ...]) -> tuple[tuple[str, str], ...]:
    """Leave out bounds, spreads and errors of a metric that is there too; returns names, and how they are shown."""
    known, ends = {name for name in names if isinstance(name, str)}, (*BOUNDS, "_stderr")
    bounds = {name for name in known for end in ends if name.endswith(end) and name.removesuffix(end) in known}
    return tuple((name, clean(name, longest=80)) for name in dict.fromkeys(names) if name in known - bounds)


def _finite(value: Any) -> float | None:
    if type(value) is float:  # nearly all of them
        return value if math.isfinite(value) else None
    if isinstance(value, (int, float)):
        try:
            number = float(value)
        except OverflowError:
            return None
        return number if math.isfinite(number) else None
    return None


def _fields(response: Any) -> list[list[Any]]:
    """Return key and value of a scored response, which is an object or the JSON text of one; else its text alone."""
    if isinstance(response, str):
        return _fields_of_text(response) if len(response) > _OFTEN else _fields_of_same(response)
    if not isinstance(response, dict):
        return [["as scored", clean(response)]]
    return [[clean(key, longest=80), _field(value)] for key, value in list(response.items())[:_MOST]]


def _fields_of_text(text: str) -> list[list[Any]]:
    try:
        response = json.loads(text)
    except (ValueError, RecursionError):
        return [["as scored", clean(text)]]
    return _fields(response) if isinstance(response, dict) else [["as scored", clean(response)]]


_fields_of_same = lru_cache(maxsize=4096)(_fields_of_text)  # options and verdicts come again and again


def _field(value: Any) -> Any:
    if value is None or value is True or value is False:
        return value
    if isinstance(value, (int, float)) and abs(value) < 2**53:  # which no number has that is not finite
        return value
    return clean(without_secrets(value))


def _flat(responses: Any) -> list[Any]:
    outer = responses if isinstance(responses, list) else []
    return [inner for one in outer for inner in (one if isinstance(one, list) else [one])]


def _texts(value: Any, *, depth: int = 0) -> list[str]:
    if isinstance(value, str):
        return [value]
    if depth == _DEEPEST or not isinstance(value, (dict, list)):
        return []
    inner = value.values() if isinstance(value, dict) else value
    return [text for one in inner for text in _texts(one, depth=depth + 1)]
