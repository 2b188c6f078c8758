"""lm-eval's run folders, which replay, judge, predict and VLMEvalKit's data sets write too: the only reader."""

import hashlib
import json
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
from pydantic import BaseModel, Field, ValidationError
from scipy.special import comb

from fin_tasks.errors import DataError
from fin_tasks.report import inspect_logs
from fin_tasks.report.comparable import UNKNOWN, settings_of, together
from fin_tasks.report.model import BENCHMARKS, BREAKDOWNS, WEIGHT, Problem, Run, TaskResult, benchmark_of, texts_column
from fin_tasks.report.redact import without_secrets

_STAMP = r"\d{4}-\d\d-\d\dT[\d.+-]+"
_RESULTS = re.compile(rf"(?:results|.+(?=_))(?:_(?P<stamp>{_STAMP}))?\.json")
_SAMPLES = re.compile(rf"samples_(?P<task>.+?)(?:_(?P<stamp>{_STAMP}))?\.jsonl")
_MAX_RESULTS, _MAX_LINE = 256 * 2**20, 64 * 2**20
_MAX_METRICS, _MAX_NAME, _MAX_ANSWER, _MAX_REASON = 1000, 200, 200, 300
_MADE_UP = re.compile(r"[a-z0-9]{8}")  # lm-eval's names for models without one
_ONCE = (b'"filter":', b'"acc":', b'"score":')  # more keys would double the time of reading
_NO_MEANS = ("_stderr", "_low", "_high", "_std")


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


def read_runs(files: Sequence[tuple[Path, Path]], tables: list[pd.DataFrame], problems: list[Problem]) -> list[Run]:
    """Read runs from pairs of the folder that was given and a file; add to the tables of rows and the problems."""
    samples: dict[tuple[Path, str], dict[str, Path]] = defaultdict(dict)
    for _, file in files:
        if (match := _SAMPLES.fullmatch(file.name)) and benchmark_of(match["task"]):
            samples[file.parent, match["stamp"] or ""][match["task"]] = file
    runs: dict[str, Run] = dict(_logs(files, tables, problems))
    for root, file in files:
        if not _RESULTS.fullmatch(file.name):
            continue
        try:
            if (size := file.stat().st_size) > _MAX_RESULTS:
                raise DataError(f"{file}: expected at most {_MAX_RESULTS:,} bytes, got {size:,}.")
            content = file.read_bytes()
            if b'"results"' not in content or not any(f'"{name}'.encode() in content for name in BENCHMARKS):
                continue
            own = samples.pop((file.parent, stamp(file.name) or ""), {})
            identity = hashlib.sha256(content).hexdigest()[:16]
            if identity in runs:
                raise DataError(f"{file}: skipped, as it is the same as {runs[identity].path}.")
            run = _run(identity, root, file, _Results.model_validate(_json(file, content)), own, tables, problems)
        except (DataError, OSError, ValidationError, RecursionError) as error:
            problems.append(Problem(str(file), _sentence(file, error)))
            continue
        if run.tasks:
            runs[identity] = run
    for root, file in files:
        if own := samples.pop((file.parent, stamp(file.name) or ""), {}):
            problems.append(Problem(str(file), f"{file}: no results file beside it, so its settings are unknown."))
            identity = hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:16]
            found = _Results.model_validate({"results": dict.fromkeys(own)})
            run = _run(identity, root, file, found, own, tables, problems)
            if run.tasks:
                runs[identity] = run
    return list(runs.values())


def _logs(
    files: Sequence[tuple[Path, Path]], tables: list[pd.DataFrame], problems: list[Problem]
) -> Iterator[tuple[str, Run]]:
    """Yield the runs of inspect_ai's logs; a run has a log for each task."""
    logs: dict[str, list[tuple[Path, Path, dict[str, Any]]]] = defaultdict(list)
    for root, file in files:
        try:
            if file.suffix == ".eval":
                key, found = inspect_logs.results_of(file)
                logs[key].append((root, file, found))
        except DataError as error:
            problems.append(Problem(str(file), str(error)))
    for key, several in logs.items():
        root, file, merged = several[0]
        for _, _, found in several[1:]:
            for name in ("results", "configs", "versions", "n-samples", "higher_is_better"):
                merged[name] |= found[name]
        identity = hashlib.sha256(key.encode()).hexdigest()[:16]
        own = {task: path for _, path, found in several for task in found["configs"]}
        try:
            run = _run(identity, root, file, _Results.model_validate(merged), own, tables, problems)
        except ValidationError as error:
            problems.append(Problem(str(file), _sentence(file, error)))
            continue
        if run.tasks:
            yield identity, run


def read_samples(result: TaskResult) -> Iterator[dict[str, Any]]:
    """Yield the lines of a task's samples file, with documents and responses; nothing if there is no file.

    Raises:
        DataError: The file cannot be read, or a line is too long or no JSON object.
    """
    if result.samples is not None:
        for _, sample in _lines(result.samples):
            yield sample


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if path.suffix == ".eval":
        yield from inspect_logs.samples_of(path)
        return
    try:
        with path.open("rb", buffering=2**20) as file:
            number = 0
            while line := file.readline(_MAX_LINE + 1):
                number += 1
                where = f"{path}, line {number}"
                if len(line) > _MAX_LINE:
                    raise DataError(f"{where}: expected at most {_MAX_LINE:,} bytes, got more.")
                try:
                    # orjson refuses NaN, which lm-eval's files may hold, and takes keys twice without a word
                    twice = any(line.count(key) > 1 for key in _ONCE)
                    found = _json(where, line) if twice else orjson.loads(line)
                except orjson.JSONDecodeError:
                    if not line.strip():
                        continue
                    found = _json(where, line)
                if not isinstance(found, dict):
                    raise DataError(f"{where}: expected an object, got {line[:40]!r}.")
                yield where, found
    except OSError as error:
        raise DataError(f"{path}: expected a readable file, got {error.strerror or error}.") from error


def _json(where: str | Path, content: bytes) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise DataError(f"{where}: expected each key once, got one twice in {str(pairs)[:80]!r}.")
        return found

    try:
        return json.loads(content, object_pairs_hook=unique)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where}: expected JSON, got {content[:40]!r} ({error}). Was the file cut?") from error


def _sentence(file: Path, error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{file}, {'.'.join(map(str, first['loc'])):.80}: {first['msg']}, got {type(first['input']).__name__}."
    if isinstance(error, RecursionError):
        return f"{file}: expected JSON as lm-eval writes it, got objects that are nested too deeply."
    return str(error)


def _run(
    identity: str,
    root: Path,
    file: Path,
    found: _Results,
    samples: Mapping[str, Path],
    tables: list[pd.DataFrame],
    problems: list[Problem],
) -> Run:
    known = file.suffix == ".eval" or _RESULTS.fullmatch(file.name) is not None
    tasks: list[TaskResult] = []
    for task, given in {**found.groups, **found.results}.items():
        try:
            if not benchmark_of(task):
                continue
            result = TaskResult(run=identity, benchmark=benchmark_of(task), task=task, settings=dict(UNKNOWN))
            result = _task(result, given, found) if known else result
        except DataError as error:
            problems.append(Problem(str(file), f"{file}, results.{error}"))
            continue
        result = _with_rows(result, samples[task], tables, problems) if task in samples else result
        if result.totals or result.samples:
            tasks.append(result)
    for at, group in enumerate(tasks):
        if own := [one for one in tasks if one.task in group.members]:
            tasks[at] = replace(group, settings=together(own), n=sum(one.n for one in own))
    for task in sorted(samples.keys() - found.results.keys()):
        problems.append(Problem(str(samples[task]), f"{samples[task]}: skipped, as {file.name} does not name {task}."))
    harness = f"{found.config.get('model')!s:.40}".removeprefix("fin-tasks ").replace("predict", "replay")
    told = {name: getattr(found, name) for name in ("lm_eval_version", "fin_tasks_version", "chat_template_sha")}
    told |= {name: found.config.get(name) for name in ("model", "model_args")}
    return Run(
        id=identity,
        model=_model(found) if known else _text(file.resolve().parent.name),
        harness=harness if harness in ("replay", "judge", "label", "VLMEvalKit", "inspect_ai") else "lm-eval",
        path=file,
        name=file.relative_to(root).as_posix(),
        date=_date(found.date, file),
        settings={n: json.dumps(without_secrets(one), sort_keys=True) for n, one in told.items() if one is not None},
        tasks=tuple(tasks),
    )


def _task(result: TaskResult, given: Any, found: _Results) -> TaskResult:
    """Add what the results file says of a task; nothing for groups that average nothing."""
    task, totals = result.task, defaultdict[str, dict[str, float | None]](dict)
    if not isinstance(given, dict) or len(given) > 8 * _MAX_METRICS or len(task) > _MAX_NAME:
        raise DataError(f"{task:.80}: expected an object with metrics, got {type(given).__name__}.")
    for key, value in given.items():
        metric, comma, variant = str(key).partition(",")
        if not comma or metric.endswith("_stderr"):
            continue
        if value in (None, "N/A", "", " ") or value != value:
            totals[variant][metric] = None
        elif isinstance(value, int | float) and abs(value) < math.inf and not isinstance(value, bool):
            totals[variant][metric] = float(value)
        else:
            raise DataError(f"{task}.{key:.80}: expected a finite number or N/A, got {value!r:.80}.")
    members = tuple(one for one in found.group_subtasks.get(task, ()) if benchmark_of(one))
    if not totals and not members:
        raise DataError(f"{task}: expected metrics such as 'acc,paper', got {list(given)[:5]!r:.80}.")
    config, counts = found.configs.get(task, {}), found.counts.get(task, _Counts())
    metadata, chosen, version = config.get("metadata"), found.config.get("samples"), str(found.versions.get(task) or "")
    metadata = metadata if isinstance(metadata, dict) else {}
    settings = settings_of(
        metadata,
        version=version.removesuffix(".0") or None,
        rows=counts.effective if counts.effective < 0.98 * counts.original else None,
        samples=chosen.get(task) if isinstance(chosen, dict) else None,
        fewshot=found.shots.get(task) or None,
        system=found.system_instruction_sha,
        repeats=config.get("repeats") if config.get("repeats") != 1 else None,
    )
    return replace(
        result,
        version=version,
        n=counts.effective,
        n_all=counts.original,
        totals=dict(totals),
        metrics={n: up for n, up in found.higher_is_better.get(task, {}).items() if not n.endswith("_stderr")},
        settings=settings,
        metadata=without_secrets(metadata),
        members=members,
    )


def _with_rows(result: TaskResult, path: Path, tables: list[pd.DataFrame], problems: list[Problem]) -> TaskResult:
    try:
        rows = _rows(path, result.benchmark, next(iter(result.totals)) if len(result.totals) == 1 else None)
    except (DataError, RecursionError) as error:
        problems.append(Problem(str(path), _sentence(path, error)))
        return result
    for name in ("run", "benchmark", "task"):
        rows[name] = texts_column([getattr(result, name)] * len(rows))
    tables.append(rows)
    sizes = rows["variant"].value_counts()
    n = result.n or int(sizes.max())
    if set(sizes) != {n}:
        problems.append(Problem(str(path), f"{path}: expected {n} rows under each variant, got {sizes.to_dict()}."))
    return replace(result, samples=path, n=n, n_all=result.n_all or n)


def _rows(path: Path, benchmark: str, only: str | None) -> pd.DataFrame:
    """Read a samples file into a table; `only` is the filter of lines that do not name theirs."""
    texts: dict[str, list[str | None]] = {name: [] for name in ("variant", "doc_id", "answer", "reason")}
    values: dict[str, list[Any]] = {}
    facts: dict[str, dict[str, str]] = {}
    metrics: list[str] = []
    scored: list[int] = []  # responses
    for where, sample in _lines(path):
        variant, doc, names = sample.get("filter", only), sample.get("doc"), sample.get("metrics")
        if not isinstance(variant, str) or not isinstance(doc, dict):
            raise DataError(f"{where}: expected a filter and a doc, got {variant!r:.40} and {doc!r:.40}.")
        given = doc.get("id", doc.get("question_id", sample.get("doc_id")))
        if isinstance(given, bool) or not isinstance(given, str | int) or given == "":
            raise DataError(f"{where}, doc.id: expected a text or a whole number, got {given!r:.80}.")
        identity = _printable(str(given))
        if names != metrics:
            if not isinstance(names, list) or not names or metrics or len(names) > _MAX_METRICS:
                raise DataError(f"{where}, metrics: expected the names of {metrics or 'metrics'}, got {names!r:.80}.")
            metrics = [str(name) for name in names]
            bounds = {f"{name}{end}" for name in metrics for end in _NO_MEANS}
            values = {name: [] for name in metrics if name not in bounds and not name.endswith("_stderr")}
        for name, column in values.items():
            if name not in sample:
                raise DataError(f"{where}: expected a value of {name:.80}, found none.")
            column.append(sample[name])
        if identity not in facts:
            facts[identity] = _facts_of(benchmark, doc)
        readings = readings_of(sample.get("filtered_resps"))
        scored.append(sum(one.get("unscored") is not True for one in readings))
        answer = " | ".join(text for one in readings if (text := _answer_text(one.get("answer"))))
        reason = next((why for one in readings if isinstance(why := one.get("reason"), str) and why), "")
        texts["variant"].append(variant)
        texts["doc_id"].append(identity)
        texts["answer"].append(_printable(answer[:_MAX_ANSWER]) or None)
        texts["reason"].append(_printable(reason[:_MAX_REASON]) or None)
    for name in ("source", *BREAKDOWNS):
        texts[name] = [facts[str(one)].get(name) for one in texts["doc_id"]]
    rows = pd.DataFrame({name: texts_column(column) for name, column in texts.items()})
    if rows.empty or rows.duplicated(["variant", "doc_id"]).any():
        twice = rows.loc[rows.duplicated(["variant", "doc_id"]), "doc_id"].tolist()[:1]
        raise DataError(f"{path}: expected each document once under a filter, got {twice} twice or no row at all.")
    rows = rows.assign(
        **{name: one for metric, of in values.items() for name, one in _metric(path, metric, of, benchmark)}
    )
    return (
        rows.assign(**_pass_at(rows["acc"].to_numpy(), np.array(scored))) if max(scored) > 1 and "acc" in rows else rows
    )


def _pass_at(acc: Any, scored: Any) -> dict[str, Any]:
    """Return pass@k for k = 2, 4, ... and all responses, without bias, and the deviation among a question's responses.

    Source: Chen et al. (2021), Evaluating Large Language Models Trained on Code, section 2.1.
    """
    most, right = int(scored.max()), np.rint(acc * scored)
    right[np.abs(right - acc * scored) > 1e-6] = np.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            f"pass@{k}": np.where(scored < k, np.nan, 1 - comb(scored - right, k) / comb(scored, k))
            for k in sorted({most, *(2**power for power in range(1, most.bit_length()))})
        }
        return {**found, "spread": np.sqrt(right * (scored - right) / (scored * (scored - 1.0)))}


def _metric(path: Path, name: str, values: list[Any], benchmark: str) -> list[tuple[str, Any]]:
    """Return a metric as floats; nothing if only its own aggregation understands its values."""
    if name == "bias_index" and any(isinstance(one, list) for one in values):
        # shares of right, led and otherwise wrong responses; the index is led among wrong
        wrong = np.array([math.fsum(one[1:]) if isinstance(one, list) else 0.0 for one in values]).round(12)
        led = np.array([one[1] if isinstance(one, list) else 0.0 for one in values], dtype=np.float64)
        return [(name, np.divide(led, wrong, out=np.full(len(led), np.nan), where=wrong > 0)), (WEIGHT, wrong)]
    if any(isinstance(one, list | dict) for one in values) and name not in ("acc", "score"):
        return []
    most = largest(benchmark, name)
    for one in values:
        if one is not None and not (
            isinstance(one, int | float) and (one != one or (0 <= one <= most and one < math.inf))
        ):
            raise DataError(f"{path}, {name:.80}: expected null or a number from 0 to {most:g}, got {one!r:.80}.")
    found = [(name, np.array(values, dtype=np.float64))]
    return [*found, (WEIGHT, (~np.isnan(found[0][1])).astype(float))] if name == "bias_index" else found


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
    text = _printable(str(without_secrets(name)))
    return re.sub(r"[\x00-\x1f\x7f\u2028\u2029\u202a-\u202e\u2066-\u2069]", "�", text)[:_MAX_NAME]


def _date(value: float | str | None, file: Path) -> str:
    if isinstance(value, float) and 0 < value < 1e11:
        return datetime.fromtimestamp(value, timezone.utc).isoformat(timespec="seconds")
    day, _, clock = (stamp(file.name) or "").partition("T")
    return f"{day}T{clock[:8].replace('-', ':')}" if clock else ""


def _printable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def largest(benchmark: str, metric: str) -> float:
    """Return the largest value of a metric: 1 for shares, 100 for a judge's points, infinity for other numbers.

    Example:
        >>> largest("mme_finance", "score_OCR"), largest("mme_finance", "exact"), largest("dynostock", "log_loss")
        (100.0, 1.0, inf)
    """
    if metric in ("log_loss", "n_scored"):
        return math.inf
    return 100.0 if benchmark == "mme_finance" and metric.split("_")[0] == "score" else 1.0


def readings_of(value: Any) -> list[dict[str, Any]]:
    """Return what was read in each response, from objects or their JSON text in nested lists; empty if not readable."""
    if isinstance(value, list):
        return [one for inner in value[:100] for one in readings_of(inner)]
    if isinstance(value, str) and value[:1] == "{":
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            with suppress(ValueError, RecursionError):  # NaN is no JSON, but Python writes it
                value = json.loads(value)
    return [value if isinstance(value, dict) else {}]


def _answer_text(answer: Any) -> str:
    """Return an answer as text; equal numbers have equal texts."""
    if answer is None or answer == []:
        return ""
    if isinstance(answer, float) and answer.is_integer() and abs(answer) < 1e15:
        answer = int(answer)
    return answer if isinstance(answer, str) else json.dumps(answer)


def _facts_of(benchmark: str, doc: Mapping[str, Any]) -> dict[str, str]:
    """Return the source and the breakdowns of a document, as texts."""
    found = {
        "source": _source(benchmark, doc),
        "capability": doc.get("capabilities") if benchmark == "xfinbench" else None,
        "math_types": doc.get("math_types"),
        **{name: doc.get(name) for name in BREAKDOWNS if name not in ("capability", "math_types")},
    }
    joined = {name: "|".join(map(str, of)) if isinstance(of, list) else of for name, of in found.items()}
    return {name: _printable(str(one)) for name, one in joined.items() if one}


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
