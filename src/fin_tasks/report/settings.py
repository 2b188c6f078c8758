"""What a run was made with, out of lm-eval's results file, and in what two runs differ."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from fin_tasks.errors import DataError
from fin_tasks.report.json_fields import check_nesting
from fin_tasks.report.model_names import arguments_of
from fin_tasks.report.redaction import without_secrets

__all__ = ["MAX_FACTS", "SAMPLE", "UNKNOWN", "Difference", "Setting"]
__all__ += ["below", "differences", "is_sample", "of_rows_asked", "setting_of", "short", "text_of"]

Setting = Mapping[str, str]
"""All that decides what was asked and how it was scored, as dotted name to JSON text."""

UNKNOWN: Setting = {"results": '"not known"'}
"""The setting of samples without a results file."""

SAMPLE = "sample"
"""Stands for a split where the packaged sample was asked: its rows are of no split, whichever was asked for."""

_MACHINE = frozenset(  # of the model's arguments: where it runs and how fast, not what it says
    {"base_url", "batch_size", "device", "max_batch_size", "max_retries", "num_concurrent", "timeout"}
    | {"tokenized_requests", "verify_certificate"}
)
_TOLD = ("lm_eval_version", "vlmeval_version", "chat_template_sha", "system_instruction_sha")
_SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
MAX_FACTS = 5_000
"""That a task may state; ours state some fifty."""
_MAX_TEXT = 1_000_000  # characters of all of them
_DEEPEST = 32
_OUTCOME = tuple(  # what follows from the rest, or is counted elsewhere
    f"provenance.{name}" for name in ("hash", "rows", "left_out", "defects", "asked")
) + tuple(  # differ from task to task, as the questions do
    f"provenance.retrieval.{name}" for name in ("gold_missing", "rows_with_more_terms", "rows_without_terms")
)


@dataclass(frozen=True)
class Difference:
    """A fact in which two runs differ; its values as JSON text, empty where a run does not have it."""

    fact: str
    baseline: str
    other: str


def setting_of(results: Mapping[str, Any], task: str, *, where: str = "the results file") -> Setting:
    """Gather the setting of one task of a results file; addresses, speeds and secrets are not part of it.

    Args:
        results: What the file holds.
        task: As `configs` has it.
        where: The file, for messages.

    Raises:
        DataError: It has more facts than any task states, or they are nested too deeply or no Unicode.
    """
    config, task_config = _object(results.get("config")), _object(_object(results.get("configs")).get(task))
    metadata = _object(task_config.get("metadata"))
    generation = {**_object(task_config.get("generation_kwargs")), **arguments_of(config.get("gen_kwargs"))}
    facts = {
        "provenance": _object(metadata.get("provenance")) or "not known",
        "model": config.get("model"),
        "model_args": {name: of for name, of in arguments_of(config.get("model_args")).items() if name not in _MACHINE},
        "limit": config.get("limit"),
        "samples": config.get("samples"),
        "generation": generation,
        "repeats": task_config.get("repeats"),
        "num_fewshot": _object(results.get("n-shot")).get(task),
        "sandbox": _object(metadata.get("sandbox")).get("tier"),
        "judge": metadata.get("judge") or ({"model": model} if (model := metadata.get("judge_model")) else None),
        **{name: results.get(name) for name in _TOLD},
        **{name: config.get(name) for name in _SEEDS},
    }
    where = f"{where}, configs.{task:.80}"
    check_nesting(where, facts, deepest=_DEEPEST)
    flat = dict(islice(_flat(without_secrets(facts)), MAX_FACTS + 1))
    if len(flat) > MAX_FACTS or sum(map(len, flat.values())) > _MAX_TEXT:
        raise DataError(f"{where}: expected at most {MAX_FACTS:,} facts of {_MAX_TEXT:,} characters, got more.")
    return {name: value for name, value in flat.items() if value != "null" and not below(name, _OUTCOME)}


def is_sample(setting: Setting) -> bool:
    """Say whether the packaged sample was asked.

    Example:
        >>> is_sample({"provenance.data.origin": '"sample"'}), is_sample({})
        (True, False)
    """
    origin = setting.get("provenance.data.origin", setting.get("provenance.data.source"))
    return origin is not None and text_of(origin) == SAMPLE


def of_rows_asked(setting: Setting) -> Setting:
    """Leave out a split that says nothing of the rows: the packaged sample has the same ones for each.

    Whatever tells runs apart by their settings takes them by this.

    Example:
        >>> of_rows_asked({"provenance.data.origin": '"sample"', "provenance.split": '"test"'})
        {'provenance.data.origin': '"sample"'}
    """
    if not is_sample(setting):
        return setting
    return {name: value for name, value in setting.items() if name != "provenance.split"}


def below(name: str, prefixes: Iterable[str]) -> bool:
    """Say whether a dotted name is one of `prefixes` or stands below one.

    Example:
        >>> below("model_args.dtype", ["model_args"]), below("model", ["model_args"])
        (True, False)
    """
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def differences(baseline: Setting, other: Setting, *, ignore: Iterable[str] = ()) -> tuple[Difference, ...]:
    """List the facts in which two settings differ, but for those `below` a name in `ignore`.

    Example:
        >>> differences({"limit": "4", "model": '"hf"'}, {"limit": "8", "model": '"hf"'})
        (Difference(fact='limit', baseline='4', other='8'),)
    """
    ignored = tuple(ignore)
    return tuple(
        Difference(name, baseline.get(name, ""), other.get(name, ""))
        for name in sorted(baseline.keys() | other.keys())
        if baseline.get(name) != other.get(name) and not below(name, ignored)
    )


def short(value: str) -> str:
    """Shorten the JSON text of a fact for a line of text; hashes to their first eight digits.

    Example:
        >>> short('"c59f4aaa28726c799a72fab1b623d93b13c5d5fdade99de136ddfbac31e22b92"'), short(""), short('"hf"')
        ('c59f4aaa…', 'none', 'hf')
    """
    text = value.strip('"')
    if re.fullmatch(r"[0-9a-f]{16,}", text):
        return f"{text[:8]}…"
    return (f"{text[:39]}…" if len(text) > 40 else text) or "none"


def text_of(value: str) -> str:
    """Give the text of a fact that is one, anything else as its JSON.

    Example:
        >>> text_of('"cot"'), text_of("false")
        ('cot', 'false')
    """
    try:
        read = json.loads(value)
    except ValueError:
        return value
    return read if isinstance(read, str) else value


def _flat(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", json.dumps(value, sort_keys=True)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
