"""Score saved DynoStock responses again: the authors' `exp_*.json` and lm-eval's `samples_*.jsonl`."""

import codecs
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.benchmarks.dynostock.score import compare, intervals_of, over_sizes
from fin_tasks.benchmarks.dynostock.windows import BIASES, window_id
from fin_tasks.benchmarks.scored_task import ScoredTask, model_of, score_task
from fin_tasks.errors import DataError

_PATTERNS = ("exp_*.json", "samples_*.jsonl")
SHARED = ("model", "bias", "mode", "arm", "anonymised")  # facts that the files of a group have in common
_AUTHORS = {"ticker": "ticker", "start": "start_time", "end": "end_time", "truth": "gt", "signal": "bias"}


class Recording(NamedTuple):
    """A file's documents and the responses to each; `facts` holds model, bias, window, mode, arm and anonymised."""

    file: Path
    facts: Mapping[str, Any]
    docs: Sequence[Mapping[str, Any]]
    responses: Sequence[Sequence[str]]
    problems: Sequence[tuple[int, str]]  # number of an unusable row, from 1, and what is wrong with it


def find_files(paths: Sequence[Path]) -> list[Path]:
    """Return files as they are and the recordings below folders, ordered by name and window size."""
    files: list[Path] = []
    for path in paths:
        below = {file for pattern in _PATTERNS for file in path.rglob(pattern)} if path.is_dir() else {path}
        if not below:
            raise DataError(f"{path}: expected {' or '.join(_PATTERNS)} in or below this folder, found none.")
        files += sorted(below, key=lambda file: [part.zfill(20) for part in re.split(r"(\d+)", str(file))])
    return list(dict.fromkeys(files))


def read_recording(path: Path) -> Recording:
    """Read a JSON list or JSON lines of the authors' rows or of lm-eval's samples, of which the first filter counts."""
    try:
        content = path.read_bytes().removeprefix(codecs.BOM_UTF8)
        rows: list[Any] = json.loads(content) if content.lstrip().startswith(b"[") else content.split(b"\n")
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: expected a JSON list or JSON lines in UTF-8, got {error}.") from error
    found: list[tuple[dict[str, Any], list[str]]] = []
    problems: list[tuple[int, str]] = []
    filters: list[Any] = []
    for number, row in enumerate(rows, start=1):
        if isinstance(row, bytes) and not row.strip():
            continue
        try:
            given = json.loads(row) if isinstance(row, bytes) else row
            if not isinstance(given, dict):
                raise DataError(f"expected an object, got {given!r:.80}")
            filters.append(given.get("filter"))
            if filters[-1] == filters[0]:
                found.append(_document(given))
        except (ValueError, RecursionError) as error:
            problems.append((number, f"expected JSON, got {row!r:.80} ({error})"))
        except DataError as error:
            problems.append((number, str(error)))
    if not found:
        raise DataError(f"{path}: expected rows with bias, gt and response, or lm-eval's samples, got {problems[:1]}.")
    facts, names, docs = _facts(path, [doc for doc, _ in found]), Counter[str](), []
    same = {"bias_type": facts["bias"], **{key: facts[key] for key in ("window", "mode", "arm", "anonymised")}}
    for number, (doc, _) in enumerate(found, start=1):
        window = (facts["bias"], facts["window"], doc["ticker"], doc["end"])
        name = doc["id"] or (window_id(*window) if all(window) else f"{path.name}:{number}")
        names[name] += 1  # a set may hold a window twice
        doc["id"] = name if names[name] == 1 else f"{name}#{names[name]}"
        docs.append({**same, **doc})
    return Recording(file=path, facts=facts, docs=docs, responses=[texts for _, texts in found], problems=problems)


def replay(
    paths: Sequence[Path], *, on_done: Callable[[int], None] | None = None
) -> tuple[list[tuple[Recording, ScoredTask]], list[dict[str, Any]]]:
    """Score files and folders; also return `file`, `row` and `error` of what could not be used."""
    scored: list[tuple[Recording, ScoredTask]] = []
    problems: list[dict[str, Any]] = []
    for done, path in enumerate(find_files(paths), start=1):
        try:
            recording = read_recording(path)
            bias, size, mode = (recording.facts[name] for name in ("bias", "window", "mode"))
            task = "dynostock" + f"_{bias}" * bool(bias) + f"_w{size}" * bool(size) + "_text" * (mode == "text")
            found = score_task("dynostock", task, recording.docs, recording.responses, options={"bias": bias})
            scored.append((recording, found))
            problems += [{"file": str(path), "row": row, "error": error} for row, error in recording.problems]
        except DataError as error:
            problems.append({"file": str(path), "row": None, "error": str(error)})
        if on_done:
            on_done(done)
    if not scored:
        raise DataError("\n".join(problem["error"] for problem in problems))
    return scored, problems


def summary(scored: Sequence[tuple[Recording, ScoredTask]], *, parser: str) -> dict[str, Any]:
    """Return counts and rates of each file, and mean, population deviation and interval of each group in PERCENT.

    A group holds the window sizes of one folder, model, bias, mode and arm: a row of the paper's Table 1. Counts are of
    responses, intervals are over documents; rates are None if it is not known what happened after any window.
    """
    files = [_file(recording, task, parser) for recording, task in scored]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for file in files:
        groups.setdefault((str(Path(file["file"]).parent), *(file[name] for name in SHARED)), []).append(file)
    named = [(dict(zip(("folder", *SHARED), key, strict=True)), of) for key, of in groups.items()]
    means = [{**group, "files": len(of), **_over(of)} for group, of in named]
    return {"parser": parser, "files": files, **_over(files), "groups": means}


def _file(recording: Recording, task: ScoredTask, parser: str) -> dict[str, Any]:
    pairs = zip(task.docs, task.readings[parser], strict=True)
    scores = [one for one in (compare(doc, reading) for doc, of in pairs for reading in of) if one.correct is not None]
    total, correct = len(scores), sum(bool(one.correct) for one in scores)
    by_bias, none = sum(bool(one.wrong_by_bias) for one in scores), sum(one.answer is None for one in scores)
    shares = [row["acc_low"] for row in task.values[parser]]
    rates = {"accuracy": correct / max(total, 1), "bias_percentage": by_bias / max(total, 1)}
    rates |= {"bias_index": by_bias / max(total - correct, 1), "no_answer_rate": none / max(total, 1)}
    for name, interval in zip(("accuracy", "bias_index"), intervals_of(shares).values(), strict=True):
        rates |= {f"{name}_low": interval.low, f"{name}_high": interval.high}
    return {
        **{"file": str(recording.file), **recording.facts},
        **{"total": total, "correct": correct, "wrong": total - correct, "wrong_by_bias": by_bias, "no_answer": none},
        **(rates if total else dict.fromkeys(rates)),
        **{"unscored": sum(map(len, recording.responses)) - total, "unusable": len(recording.problems)},
    }


def _over(files: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    known, found = [file for file in files if file["total"]], {}
    for name in ("accuracy", "bias_index"):
        values = [(file[name], file[f"{name}_low"], file[f"{name}_high"]) for file in known]
        for part, value in over_sizes(values).items():
            found[f"{name}_{part}"] = 100 * value if known else None
    return found


def _document(row: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    sampled = "resps" in row
    doc, resps = (row.get("doc"), row["resps"]) if sampled else (row, [[row.get("response")]])
    if not isinstance(doc, dict) or not isinstance(resps, list) or not all(isinstance(of, list) for of in resps):
        raise DataError(f"expected a `doc` and `resps`, a list of lists, got {doc!r:.80} and {resps!r:.80}")
    found: dict[str, Any] = {**doc, "id": str(doc.get("id") or "")} if sampled else {"id": ""}
    for name, theirs in _AUTHORS.items():
        value = doc.get(key := name if sampled else theirs, "")
        if name in ("ticker", "start", "end"):
            found[name] = str(value or "")[:200]
        elif value in (0, 1) or (sampled and value is None):  # None is not known yet
            found[name] = None if value is None else int(value)
        else:
            raise DataError(f"field {key}: expected 0 or 1, got {value!r:.80}. Is it of DynoStock?")
    texts = ["" if text is None or text != text else str(text) for of in resps for text in of]
    return found, texts or [""]  # a lost response counts as no answer


def _facts(path: Path, docs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Take from the documents what they agree on, else from a path such as `recency/gpt-4o/exp_recency_12.json`."""
    folder = path.parent.resolve()
    named = re.match(r"exp_([A-Za-z]+)_(\d{1,4})", path.name)
    facts: dict[str, Any] = {
        "model": (folder.parent if folder.name in BIASES else folder).name,
        "bias": named[1] if named else next((one for one in (folder.name, folder.parent.name) if one in BIASES), None),
        **{"window": int(named[2]) if named else None, "mode": "image", "arm": "signal", "anonymised": False},
    }
    if path.name.startswith("samples_"):
        facts["model"] = model_of(path)
    for name in facts:
        values = {doc.get("bias_type" if name == "bias" else name) for doc in docs} - {None}
        facts[name] = values.pop() if len(values) == 1 else facts[name]
    return facts
