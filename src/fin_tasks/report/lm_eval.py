"""lm-eval's run folders, which `fin-tasks replay`, `judge` and `predict` write too: the only reader of this format."""

import hashlib
import json
import math
import re
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from pydantic import BaseModel, Field, ValidationError

from fin_tasks.errors import DataError
from fin_tasks.report.comparable import UNKNOWN, settings_of, together
from fin_tasks.report.model import BENCHMARKS, BREAKDOWNS, WEIGHT, Problem, Run, Table, TaskResult, benchmark_of
from fin_tasks.report.redact import without_secrets

__all__ = ["Rows", "lines_of", "read_json", "read_runs", "read_samples", "stamp"]

_STAMP = r"\d{4}-\d\d-\d\dT[\d.+-]+"
_RESULTS = re.compile(rf"(?:results|.+(?=_))(?:_(?P<stamp>{_STAMP}))?\.json")
_SAMPLES = re.compile(rf"samples_(?P<task>.+?)(?:_(?P<stamp>{_STAMP}))?\.jsonl")
_MAX_RESULTS, _MAX_LINE = 256 * 2**20, 64 * 2**20
_MAX_METRICS, _MAX_NAME, _MAX_ANSWER, _MAX_REASON = 500, 200, 200, 300
_NOT_DEFINED = (None, "N/A", "", " ")
_NO_MEANS = ("_low", "_high", "_std")
_MADE_UP = re.compile(r"[a-z0-9]{8}")  # lm-eval's names for models without one
_LIMIT = 1e300


class _Counts(BaseModel):
    original: int = 0
    effective: int = 0


class _Results(BaseModel):
    results: dict[str, Any]
    groups: dict[str, Any] = {}
    group_subtasks: dict[str, list[str]] = {}
    configs: dict[str, dict[str, Any]] = {}
    versions: dict[str, str | float | None] = {}
    counts: dict[str, _Counts] = Field({}, alias="n-samples")
    shots: dict[str, int | str | None] = Field({}, alias="n-shot")
    higher_is_better: dict[str, dict[str, bool | None]] = {}
    config: dict[str, Any] = {}
    date: float | str | None = None
    model_name: str | None = None
    lm_eval_version: str | None = None
    fin_tasks_version: str | None = None
    system_instruction_sha: str | None = None
    chat_template_sha: str | None = None


def stamp(name: str) -> str | None:
    """Return what names of files of one run share: the time, empty if there is none; None for other files."""
    match = _RESULTS.fullmatch(name) or _SAMPLES.fullmatch(name)
    return (match["stamp"] or "") if match else None


def read_runs(files: Sequence[tuple[Path, Path]], table: Table, problems: list[Problem]) -> list[Run]:
    """Read runs, and append their rows to the table.

    Args:
        files: Folder that was given, and file.
        table: Takes the rows.
        problems: Takes what could not be used.
    """
    results = [(root, file) for root, file in files if _RESULTS.fullmatch(file.name)]
    samples: dict[tuple[Path, str], dict[str, tuple[Path, Path]]] = defaultdict(dict)
    for root, file in files:
        if (match := _SAMPLES.fullmatch(file.name)) and benchmark_of(match["task"]):
            samples[file.parent, match["stamp"] or ""][match["task"]] = (root, file)
    runs: dict[str, Run] = {}
    for root, file in results:
        try:
            content = _content(file)
            if b'"results"' not in content or not any(f'"{name}'.encode() in content for name in BENCHMARKS):
                continue
            identity = hashlib.sha256(content).hexdigest()[:16]
            if identity in runs:
                problems.append(Problem(str(file), f"{file}: skipped, as it is the same as {runs[identity].path}."))
                samples.pop((file.parent, stamp(file.name) or ""), None)
                continue
            given = read_json(file, content)
            found = _Results.model_validate(given)
        except (DataError, ValidationError) as error:
            problems.append(Problem(str(file), _sentence(file, error)))
            continue
        own = samples.pop((file.parent, stamp(file.name) or ""), {})
        paths = {task: path for task, (_, path) in own.items()}
        run = _run(identity, root, file, found, paths, table, problems)
        if run.tasks:
            runs[identity] = run
    for (folder, _), own in samples.items():
        if (alone := _run_without_results(folder, own, table, problems)) is not None:
            runs[alone.id] = alone
    return list(runs.values())


def read_samples(result: TaskResult) -> Iterator[dict[str, Any]]:
    """Yield the lines of a task's samples file, with documents and responses.

    Raises:
        DataError: The file has changed since it was read, and is broken now.
    """
    if result.samples is not None:
        for _, sample in lines_of(result.samples):
            yield sample


def lines_of(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield file and line number for messages, and the object of each line.

    Raises:
        DataError: The file cannot be read, or a line is too long or no JSON object.
    """
    try:
        with path.open("rb", buffering=2**20) as file:
            number = 0
            while line := file.readline(_MAX_LINE + 1):
                number += 1
                if len(line) > _MAX_LINE:
                    raise DataError(f"{path}, line {number}: expected at most {_MAX_LINE:,} bytes, got more.")
                try:
                    found = orjson.loads(line)
                except orjson.JSONDecodeError:
                    if not line.strip():
                        continue
                    found = read_json(path, line, f", line {number}")  # lm-eval's files may hold NaN
                if not isinstance(found, dict):
                    raise DataError(f"{path}, line {number}: expected an object, got {line[:40]!r}.")
                yield f"{path}, line {number}", found
    except OSError as error:
        raise DataError(f"{path}: expected a readable file, got {error.strerror or error}.") from error


def read_json(path: Path, content: bytes, where: str = "") -> Any:
    """Read JSON that may hold NaN, as Python writes it.

    Raises:
        DataError: It is cut, nested too deeply, or has a key twice.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise DataError(f"{path}{where}: expected each key once, got one twice in {str(pairs)[:80]!r}.")
        return found

    try:
        return json.loads(content, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}{where}: expected JSON, got {content[:40]!r} ({error}). Was the file cut?") from error


def _content(file: Path) -> bytes:
    try:
        if (size := file.stat().st_size) > _MAX_RESULTS:
            raise DataError(f"{file}: expected at most {_MAX_RESULTS:,} bytes, got {size:,}.")
        return file.read_bytes()
    except OSError as error:
        raise DataError(f"{file}: expected a readable file, got {error.strerror or error}.") from error


def _sentence(file: Path, error: DataError | ValidationError) -> str:
    if isinstance(error, DataError):
        return str(error)
    first = error.errors()[0]
    return f"{file}, {'.'.join(map(str, first['loc'])):.80}: {first['msg']}, got {first['input']!r:.80}."


def _run(
    identity: str,
    root: Path,
    file: Path,
    found: _Results,
    samples: Mapping[str, Path],
    table: Table,
    problems: list[Problem],
) -> Run:
    results = {**found.groups, **found.results}
    tasks = []
    for task in [name for name in results if benchmark_of(name)]:
        try:
            result = _task(identity, file, task, results[task], found)
        except (DataError, ValidationError) as error:
            problems.append(Problem(str(file), _sentence(file, error)))
            continue
        if result is not None:
            tasks.append(_with_rows(result, samples.get(task), table, problems))
    of_task = {task.task: task for task in tasks}
    tasks = [
        replace(t, settings=together([of_task[m] for m in t.members if m in of_task])) if t.members else t
        for t in tasks
    ]
    for task in sorted(samples.keys() - results.keys()):
        problems.append(Problem(str(samples[task]), f"{samples[task]}: skipped, as {file.name} does not name {task}."))
    kind = found.config.get("model")
    harness = str(kind).removeprefix("fin-tasks ").replace("predict", "replay")
    versions = {name: getattr(found, name) for name in ("lm_eval_version", "fin_tasks_version", "chat_template_sha")}
    return Run(
        id=identity,
        model=_model(found),
        harness=harness if harness in ("replay", "judge", "VLMEvalKit") else "lm-eval",
        path=file,
        name=file.relative_to(root).as_posix(),
        date=_date(found.date, file),
        settings={
            name: json.dumps(without_secrets(value), sort_keys=True)
            for name, value in {**versions, **{n: found.config.get(n) for n in ("model", "model_args")}}.items()
            if value is not None
        },
        tasks=tuple(tasks),
    )


def _task(run: str, file: Path, task: str, given: Any, found: _Results) -> TaskResult | None:
    """Return what the results file says of one task; None for groups that average nothing."""
    if not isinstance(given, dict) or len(given) > 8 * _MAX_METRICS or len(task) > _MAX_NAME:
        raise DataError(f"{file}, results.{task:.80}: expected an object with metrics, got {type(given).__name__}.")
    totals: dict[str, dict[str, float | None]] = defaultdict(dict)
    for key, value in given.items():
        metric, comma, variant = str(key).partition(",")
        if not comma or metric.endswith("_stderr"):
            continue
        if value not in _NOT_DEFINED and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise DataError(f"{file}, results.{task}.{key:.80}: expected a number or N/A, got {value!r:.80}.")
        number = None if value in _NOT_DEFINED or value != value else float(value)
        if number is not None and not abs(number) < _LIMIT:
            raise DataError(f"{file}, results.{task}.{key:.80}: expected a finite number, got {value!r:.80}.")
        totals[variant][metric] = number
    members = tuple(one for one in found.group_subtasks.get(task, ()) if benchmark_of(one))
    if not totals:
        if members:
            return None
        raise DataError(f"{file}, results.{task}: expected metrics such as 'acc,paper', got {list(given)[:5]!r:.80}.")
    config = found.configs.get(task, {})
    metadata = config.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    counts = found.counts.get(task, _Counts())
    version = str(found.versions.get(task) or "")
    chosen = found.config.get("samples")
    settings = settings_of(
        metadata,
        version=version.removesuffix(".0") or None,
        rows=counts.effective if counts.effective < 0.98 * counts.original else None,
        samples=chosen.get(task) if isinstance(chosen, dict) else None,
        fewshot=found.shots.get(task) or None,
        system=found.system_instruction_sha,
        repeats=config.get("repeats") if config.get("repeats") != 1 else None,
    )
    return TaskResult(
        run=run,
        benchmark=benchmark_of(task),
        task=task,
        version=version,
        n=counts.effective,
        n_all=counts.original,
        totals=dict(totals),
        metrics={n: up for n, up in found.higher_is_better.get(task, {}).items() if not n.endswith("_stderr")},
        settings=settings,
        metadata=without_secrets(metadata),
        members=members,
    )


def _with_rows(result: TaskResult, path: Path | None, table: Table, problems: list[Problem]) -> TaskResult:
    if path is None:
        return result
    try:
        rows = Rows.of_file(path, result.benchmark, only=next(iter(result.totals)) if len(result.totals) == 1 else None)
    except DataError as error:
        problems.append(Problem(str(path), str(error)))
        return result
    for variant, of_variant in rows.items():
        of_variant.append_to(table, run=result.run, benchmark=result.benchmark, task=result.task, variant=variant)
    sizes = {variant: len(one.ids) for variant, one in rows.items()}
    n = max(sizes.values())
    if set(sizes.values()) != {result.n or n}:
        told = ", ".join(f"{variant} {size}" for variant, size in sizes.items())
        problems.append(Problem(str(path), f"{path}: expected {result.n or n} rows under each variant, got {told}."))
    return replace(result, samples=path, n=result.n or n, n_all=result.n_all or n)


def _run_without_results(
    folder: Path, samples: Mapping[str, tuple[Path, Path]], table: Table, problems: list[Problem]
) -> Run | None:
    root, first = next(iter(samples.values()))
    identity = hashlib.sha256(str(first.resolve()).encode()).hexdigest()[:16]
    problems.append(Problem(str(first), f"{first}: no results file beside it, so its settings are unknown."))
    tasks = [
        _with_rows(
            TaskResult(run=identity, benchmark=benchmark_of(task), task=task, settings=dict(UNKNOWN)),
            path,
            table,
            problems,
        )
        for task, (_, path) in samples.items()
    ]
    tasks = [task for task in tasks if task.samples is not None]
    if not tasks:
        return None
    name = first.relative_to(root).as_posix()
    return Run(
        id=identity,
        model=_text(folder.resolve().name),
        harness="lm-eval",
        path=first,
        name=name,
        date=_date(None, first),
        tasks=tuple(tasks),
    )


def _model(found: _Results) -> str:
    """Return the model's name: lm-eval's, unless it made that up and an argument has a better one."""
    given, kind, arguments = found.model_name or "", found.config.get("model"), found.config.get("model_args")
    if isinstance(arguments, str):
        arguments = dict(pair.split("=", 1) for pair in arguments.split(",") if "=" in pair)
    arguments = arguments if isinstance(arguments, dict) else {}
    if not given or _MADE_UP.fullmatch(given):
        named = [arguments.get(name) for name in ("peft", "delta", "pretrained", "model", "path", "engine")]
        given = next((str(name) for name in named if name), "" if kind == "dummy" else given) or str(kind or "unknown")
    return _text(given)


def _text(name: str) -> str:
    """Return a name that files of text can hold, without secrets."""
    text = str(without_secrets(name)).encode("utf-8", "backslashreplace").decode()
    return re.sub(r"[\x00-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069]", "�", text)[:_MAX_NAME]


def _date(value: float | str | None, file: Path) -> str:
    if isinstance(value, float) and 0 < value < 1e11:
        return datetime.fromtimestamp(value, timezone.utc).isoformat(timespec="seconds")
    day, _, clock = (stamp(file.name) or "").partition("T")
    return f"{day}T{clock[:8].replace('-', ':')}" if clock else ""


class Rows:
    """The rows of one task under one variant, column by column."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.texts: dict[str, list[str]] = {name: [] for name in ("source", *BREAKDOWNS, "answer", "reason")}
        self.values: dict[str, array[float]] = {}
        self._names: list[str] | None = None
        self._no_means: set[str] = set()

    @classmethod
    def of_file(cls, path: Path, benchmark: str, *, only: str | None) -> "dict[str, Rows]":
        """Read a samples file.

        Args:
            path: A `samples_*.jsonl`.
            benchmark: Whose documents they are.
            only: The filter of lines that do not name theirs.

        Returns:
            Variant to rows.

        Raises:
            DataError: The file cannot be read, or a row cannot be believed; the message names line and field.
        """
        found: dict[str, Rows] = {}
        known: dict[str, dict[str, str]] = {}
        for where, sample in lines_of(path):
            variant, doc = sample.get("filter", only), sample.get("doc")
            if not isinstance(variant, str) or not isinstance(doc, dict):
                raise DataError(f"{where}: expected a filter and a doc, got {variant!r:.40} and {doc!r:.40}.")
            given = doc.get("id", doc.get("question_id", sample.get("doc_id")))
            if isinstance(given, bool) or not isinstance(given, str | int) or given == "":
                raise DataError(f"{where}, doc.id: expected a text or a whole number, got {given!r:.80}.")
            identity = str(given) if str(given).isascii() else str(given).encode("utf-8", "backslashreplace").decode()
            if identity not in known:
                known[identity] = facts_of(benchmark, doc)
            readings = _readings(sample.get("filtered_resps"))
            answers = [text for one in readings if (text := answer_text(one.get("answer")))]
            texts = {
                **known[identity],
                "answer": " | ".join(answers),
                "reason": next((str(one["reason"]) for one in readings if one.get("reason")), ""),
            }
            rows = found.setdefault(variant, cls())
            names = sample.get("metrics")
            if not isinstance(names, list) or not names:
                raise DataError(f"{where}, metrics: expected names, got {names!r:.80}. Was it run with --predict_only?")
            rows.add(where, identity, texts, sample, names)
        if not found:
            raise DataError(f"{path}: expected at least one row, found none.")
        for rows in found.values():
            rows.check(path, benchmark)
        return found

    def add(
        self, where: str, identity: str, texts: Mapping[str, str], values: Mapping[str, Any], names: list[str]
    ) -> None:
        """Append a row; all rows have the same metrics.

        Raises:
            DataError: The row is there already, or a value is not a number or null.
        """
        if identity in self.ids:
            raise DataError(f"{where}: expected each document once under a filter, got {identity!r:.80} twice.")
        if names != self._names:
            if self._names is not None or len(names) > 2 * _MAX_METRICS or not all(isinstance(n, str) for n in names):
                raise DataError(f"{where}, metrics: expected those of the rows before, got {names!r:.80}.")
            self._names = names
            kept = [n for n in names if not n.endswith("_stderr") and not _is_bound(n, names)]
            self.values = {name: array("d") for name in kept}
            if "bias_index" in self.values:
                self.values[WEIGHT] = array("d")
        self.ids[identity] = len(self.ids)
        for name, column in self.texts.items():
            column.append(texts.get(name, "")[: _MAX_ANSWER if name == "answer" else _MAX_REASON])
        for name, numbers in self.values.items():
            value = values.get(name)
            if type(value) is float and -_LIMIT < value < _LIMIT:
                numbers.append(value)
            elif value is None or value != value:
                if name != WEIGHT:
                    numbers.append(math.nan)
            elif name == "bias_index" and isinstance(value, list) and len(value) == 3:
                wrong = float(value[1]) + float(value[2])
                numbers.append(float(value[1]) / wrong if wrong > 1e-9 else math.nan)
                self.values[WEIGHT].append(wrong)
            elif isinstance(value, list | dict) and name not in ("acc", "score"):
                self._no_means.add(name)
                numbers.append(math.nan)
            elif isinstance(value, int | float) and -_LIMIT < value < _LIMIT:
                numbers.append(float(value))
            else:
                raise DataError(f"{where}, {name:.80}: expected a number or null, got {value!r:.80}.")
        if WEIGHT in self.values and len(self.values[WEIGHT]) < len(self.ids):
            self.values[WEIGHT].append(0.0 if math.isnan(self.values["bias_index"][-1]) else 1.0)

    def check(self, path: Path, benchmark: str) -> None:
        """Raise DataError if a value is beyond what its metric can be."""
        for name in self._no_means:
            del self.values[name]
        for name, column in self.values.items():
            most = largest(benchmark, name)
            values = np.frombuffer(column)
            if ((values < 0) | (values > most)).any():
                odd = float(values[(values < 0) | (values > most)][0])
                raise DataError(f"{path}, {name:.80}: expected values from 0 to {most:g}, got {odd:g}.")

    def append_to(self, table: Table, **texts: str) -> None:
        """Append these rows to the table of all rows."""
        table.add({**texts, "doc_id": list(self.ids), **self.texts}, self.values, len(self.ids))


def largest(benchmark: str, metric: str) -> float:
    """Return the largest value of a metric: 1 for shares, 100 for a judge's points, infinity for other numbers.

    Example:
        >>> largest("mme_finance", "score_OCR"), largest("mme_finance", "exact"), largest("dynostock", "log_loss")
        (100.0, 1.0, inf)
    """
    if metric in ("log_loss", "n_scored"):
        return math.inf
    return 100.0 if benchmark == "mme_finance" and metric.split("_")[0] == "score" else 1.0


def _is_bound(name: str, names: list[str]) -> bool:
    return any(name.endswith(end) and name.removesuffix(end) in names for end in _NO_MEANS)


def _readings(value: Any) -> list[dict[str, Any]]:
    """Return what was read in each response of a document: objects, or JSON text of objects, in nested lists."""
    if isinstance(value, list):
        return [one for inner in value[:100] for one in _readings(inner)]
    if isinstance(value, str) and value[:1] == "{":
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return []
    return [value] if isinstance(value, dict) else []


def answer_text(answer: Any) -> str:
    """Return an answer as text; equal numbers have equal texts.

    Example:
        >>> answer_text(1.0), answer_text(1), answer_text("B"), answer_text(None), answer_text(0.25)
        ('1', '1', 'B', '', '0.25')
    """
    if answer is None or answer == []:
        return ""
    if isinstance(answer, float) and answer.is_integer() and abs(answer) < 1e15:
        answer = int(answer)
    return answer if isinstance(answer, str) else json.dumps(answer, default=str)


def facts_of(benchmark: str, doc: Mapping[str, Any]) -> dict[str, str]:
    """Return the source and the breakdowns of a document, as texts."""
    found = {
        "source": _source(benchmark, doc),
        "capability": doc.get("capabilities") if benchmark == "xfinbench" else None,
        "math_types": doc.get("math_types"),
        **{name: doc.get(name) for name in BREAKDOWNS if name not in ("capability", "math_types")},
    }
    joined = {name: "|".join(map(str, of)) if isinstance(of, list) else of for name, of in found.items()}
    return {name: str(one).encode("utf-8", "backslashreplace").decode() for name, one in joined.items() if one}


def _source(benchmark: str, doc: Mapping[str, Any]) -> str:
    """Name what a document shares with others: figure or exercise, extract, ticker, picture."""
    if benchmark == "dynostock":
        return str(doc.get("ticker") or "")
    prompt = doc.get("prompt")
    prompt = prompt if isinstance(prompt, str) else ""
    if benchmark == "xfinbench":
        if figure := doc.get("figure"):
            return _file_name(figure)
        question = doc.get("question")
        if not isinstance(question, str) or not question:
            parts = re.split(r"(?:^|\n)(?:Statement|Question): ", prompt.removeprefix("<image>").lstrip(), maxsplit=1)
            question = parts[1] if len(parts) == 2 else ""
        return _exercise(question[:400])
    if benchmark == "bizbench" and prompt.startswith("Document:\n"):
        end = max(prompt.rfind("\n\nQuestion: "), prompt.rfind("\n\nFinish this Python function:\n\n"))
        return hashlib.sha256(prompt[:end].encode("utf-8", "replace")).hexdigest()[:16] if end > 0 else ""
    return _file_name(doc.get("image_path")) if benchmark == "mme_finance" else ""


def _file_name(path: Any) -> str:
    return re.split(r"[/\\]", str(path or "").rstrip("/\\"))[-1]


@lru_cache(maxsize=2**14)
def _exercise(question: str) -> str:
    # The first 30 letters of a question name its exercise: with 25, questions that only begin alike fall together,
    # with 50, statements on one situation fall apart (978 text questions of the validation set, 556 exercises).
    plain = re.sub(r"\\(?:begin|end)\{[^}]*\}(?:\[[^\]]*\])?(?:\{[^}]*\})?|\\[A-Za-z]+", " ", question)
    return re.sub(r"[\W_]+", "", plain).lower()[:30]
