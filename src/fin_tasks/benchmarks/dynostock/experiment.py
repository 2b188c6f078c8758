"""Reads the runs of an experiment: lm-eval's samples of DynoStock tasks, and what each was run with."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.dynostock.prompts import ARMS
from fin_tasks.benchmarks.dynostock.score import read
from fin_tasks.errors import DataError

__all__ = ["Experiment", "Problem", "Reply", "Run", "date_of", "read_experiment", "setting_of"]

_SAMPLES = re.compile(r"samples_(?P<task>.+?)_(?P<date>\d{4}-\d\d-\d\dT[\d.-]+)\.jsonl")

# Of the provenance, what a run says of itself already or the arms differ in on purpose, and what was asked as a result;
# the scorer does not count, as responses are scored again. Anything else that differs keeps runs apart.
_MAY_DIFFER = frozenset(
    f"provenance.{name}" for name in ("anonymise", "arm", "asked", "bias", "hash", "mode", "rows", "scorer", "window")
)
_MACHINE = frozenset(  # of the model's arguments: where it runs and how fast, not what it says
    {"api_key", "base_url", "batch_size", "device", "max_retries", "num_concurrent", "timeout", "token"}
    | {"tokenized_requests", "verify_certificate"}
)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What a model answered to one window; numbers are means where it was asked several times.

    Attributes:
        id: The window.
        ticker: Its stock.
        signal: Movement the biased statement suggests, 1 up, 0 down.
        truth: Movement after the newest report; None where it is not known.
        statement: Direction of the statement that was shown; None where none was.
        probability: Stated probability that the price goes up, over the responses that state one; None where none does.
        up: Share of responses that say up; a response without an answer says neither.
        down: Share of responses that say down.
    """

    id: str
    ticker: str
    signal: int
    truth: int | None
    statement: int | None
    probability: float | None
    up: float
    down: float

    def says(self, movement: int | None) -> float | None:
        """Return the share of responses that say this movement; None for no movement."""
        return None if movement is None else self.up if movement else self.down


@dataclass(frozen=True, kw_only=True)
class Run:
    """One task of one lm-eval run.

    Attributes:
        model: Its name, as lm-eval has it.
        bias_type: `recency` or `authority`.
        window: Number of reports in the windows.
        mode: `image` or `text`.
        anonymised: Whether ticker and dates were hidden.
        arm: See `statements`.
        setting: All else that decides what was asked and how, by dotted name; equal for runs that may be compared.
        replies: By window id.
        path: The samples file.
        date: When the run was, as in the file's name; empty where the name has none.
    """

    model: str
    bias_type: str
    window: int
    mode: str
    anonymised: bool
    arm: str
    setting: Mapping[str, str]
    replies: Mapping[str, Reply]
    path: Path
    date: str


@dataclass(frozen=True)
class Problem:
    """A file that could not be used, and why."""

    path: Path
    message: str


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """The runs found.

    Attributes:
        runs: Those to compare, in the order of their paths.
        problems: Files that are broken.
        notes: What was left out or is not known, in sentences.
    """

    runs: tuple[Run, ...]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]


def read_experiment(paths: Iterable[Path], *, parser: str) -> Experiment:
    """Read runs and score their responses again.

    Args:
        paths: Samples files, or folders with `samples_dynostock*.jsonl` anywhere below; `results_*.json` of the same
            run is looked for beside each.
        parser: `paper` or `robust`.

    Returns:
        The runs. Of two runs of the same thing only the newest is kept; a note says so.

    Raises:
        DataError: A path does not exist, or there is no samples file at all.
    """
    runs: list[Run] = []
    problems: list[Problem] = []
    notes: list[str] = []
    for path in _samples_files(paths):
        try:
            runs += _runs(path, parser, notes)
        except DataError as error:
            problems.append(Problem(path, str(error)))
    return Experiment(runs=tuple(_newest(runs, notes)), problems=tuple(problems), notes=tuple(notes))


def date_of(path: Path) -> str:
    """Return when a run was, as lm-eval writes it into the name of a samples file; empty for other names."""
    match = _SAMPLES.fullmatch(path.name)
    return match["date"] if match else ""


def setting_of(path: Path) -> dict[str, str] | None:
    """Gather what a samples file was run with beside the arm, as dotted name to JSON text.

    Returns:
        The setting; None where no results file of the same run is beside the samples.

    Raises:
        DataError: The results file is broken.
    """
    match = _SAMPLES.fullmatch(path.name)
    results = _results_of(path, match["date"]) if match else None
    return _setting(results, match["task"]) if match and results else None


def _samples_files(paths: Iterable[Path]) -> list[Path]:
    named = list(paths)
    found: dict[Path, Path] = {}
    for path in named:
        if not path.exists():
            raise DataError(f"{path}: expected lm-eval's output folder or a samples file, found nothing there.")
        files = sorted(path.rglob("samples_dynostock*.jsonl")) if path.is_dir() else [path]
        found |= {file.resolve(): file for file in files}
    if not found:
        raise DataError(
            f"{', '.join(map(str, named))}: expected samples_dynostock*.jsonl below, found none. "
            "Run lm-eval with --output_path and --log_samples."
        )
    return sorted(found.values())


def _runs(path: Path, parser: str, notes: list[str]) -> list[Run]:
    match = _SAMPLES.fullmatch(path.name)
    results = _results_of(path, match["date"]) if match else None
    if results is None:
        notes.append(f"{path}: no results file of the same run beside it, so what it was run with is not known.")
    setting = setting_of(path) or {"results": "not known"}
    name = results.get("model_name") if results else None
    model = name if isinstance(name, str) and name else path.parent.name
    replies: dict[tuple[Any, ...], dict[str, Reply]] = {}
    plain = 0
    for where, doc, responses in _documents(path):
        if doc["signal"] is None:
            plain += 1
            continue
        group = replies.setdefault(tuple(doc[key] for key in ("bias_type", "window", "mode", "anonymised", "arm")), {})
        if doc["id"] in group:
            raise DataError(f"{where}: expected each window once, got {doc['id']!r} twice.")
        group[doc["id"]] = _reply(doc, responses, parser)
    if plain:
        notes.append(f"{path}: {plain} windows without a biased statement left out.")
    return [
        Run(
            **dict(zip(("bias_type", "window", "mode", "anonymised", "arm"), key, strict=True)),
            model=model,
            setting=setting,
            replies=group,
            path=path,
            date=date_of(path),
        )
        for key, group in replies.items()
    ]


def _documents(path: Path) -> Iterator[tuple[str, Mapping[str, Any], Sequence[str]]]:
    """Give every document once with its responses: a samples file has it once per filter, with the same responses."""
    first_filter: str | None = None
    try:
        lines = path.read_bytes().decode("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: expected a readable file in UTF-8, got {error}.") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: expected JSON, got {line[:60]!r} ({error}). Was the run interrupted?") from error
        if not isinstance(row, dict):
            raise DataError(f"{where}: expected an object, got {line[:60]!r}.")
        first_filter = first_filter or str(row.get("filter"))
        if str(row.get("filter")) == first_filter:
            yield where, _checked_doc(where, row.get("doc")), _responses(where, row.get("resps"))
    if first_filter is None:
        raise DataError(f"{path}: expected at least one document, found none.")


_ALLOWED: Mapping[str, tuple[Any, ...]] = {
    "bias_type": ("recency", "authority", "plain"),
    "mode": ("image", "text"),
    "anonymised": (True, False),
    "arm": ARMS,
    "signal": (1, 0, None),
    "truth": (1, 0, None),
    "statement": (1, 0, None),
}


def _checked_doc(where: str, doc: Any) -> Mapping[str, Any]:
    if not isinstance(doc, dict) or "bias_type" not in doc:
        raise DataError(f"{where}: expected `doc` of a DynoStock task, got {doc!r:.80}.")
    for name, allowed in _ALLOWED.items():
        if name not in doc or doc[name] not in allowed:
            values = ", ".join(map(repr, allowed))
            raise DataError(f"{where}, doc.{name}: expected one of {values}, got {doc.get(name)!r:.80}.")
    for name, kind in (("id", str), ("ticker", str), ("window", int)):
        if not isinstance(doc.get(name), kind):
            raise DataError(f"{where}, doc.{name}: expected {kind.__name__}, got {doc.get(name)!r:.80}.")
    return doc


def _responses(where: str, resps: Any) -> list[str]:
    nested = resps if isinstance(resps, list) else None
    if nested is None or not all(isinstance(r, list) and all(isinstance(text, str) for text in r) for r in nested):
        raise DataError(f"{where}: expected `resps` to be a list of lists of texts, got {resps!r:.80}.")
    # a document whose response was lost counts as one without an answer rather than vanishing
    return [text for texts in nested for text in texts] or [""]


def _reply(doc: Mapping[str, Any], responses: Sequence[str], parser: str) -> Reply:
    forecasts = [read(doc, response, variant=parser) for response in responses]
    stated = [forecast.probability for forecast in forecasts if forecast.probability is not None]
    return Reply(
        id=doc["id"],
        ticker=doc["ticker"],
        signal=doc["signal"],
        truth=doc["truth"],
        statement=doc["statement"],
        probability=math.fsum(stated) / len(stated) if stated else None,
        up=sum(forecast.answer == 1 for forecast in forecasts) / len(forecasts),
        down=sum(forecast.answer == 0 for forecast in forecasts) / len(forecasts),
    )


def _results_of(samples: Path, date: str) -> dict[str, Any] | None:
    path = samples.with_name(f"results_{date}.json")
    if not path.is_file():
        return None
    try:
        results = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: expected lm-eval's results as JSON, got {error}.") from error
    if not isinstance(results, dict):
        raise DataError(f"{path}: expected an object, got {type(results).__name__}.")
    return results


def _setting(results: Mapping[str, Any], task: str) -> dict[str, str]:
    """Gather what decides a run's answers beside the arm, as dotted name to JSON text."""
    config, task_config = _object(results.get("config")), _object(_object(results.get("configs")).get(task))
    provenance = _object(_object(task_config.get("metadata")).get("provenance"))
    arguments = config.get("model_args")
    facts = {
        "provenance": provenance or "not known",
        "model": config.get("model"),
        "model_args": {k: v for k, v in arguments.items() if k not in _MACHINE}
        if isinstance(arguments, dict)
        else arguments,
        "limit": config.get("limit"),
        "generation": [task_config.get("generation_kwargs"), config.get("gen_kwargs")],
        "num_fewshot": _object(results.get("n-shot")).get(task),
        **{name: results.get(name) for name in ("lm_eval_version", "chat_template_sha", "system_instruction_sha")},
    }
    return {name: value for name, value in _flat(facts) if name not in _MAY_DIFFER}


def _flat(facts: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", json.dumps(value, sort_keys=True)


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _newest(runs: Sequence[Run], notes: list[str]) -> list[Run]:
    kept: dict[tuple[Any, ...], Run] = {}
    for run in sorted(runs, key=lambda run: run.date):
        setting = tuple(sorted(run.setting.items()))
        key = (run.model, run.bias_type, run.window, run.mode, run.anonymised, run.arm, setting)
        if key in kept:
            notes.append(f"{kept[key].path}: left out, {run.path} ran the same later.")
        kept[key] = run
    return sorted(kept.values(), key=lambda run: run.path)
