"""What must hold after a run of lm-eval against our server, read from its files and from the server's own counters."""

import base64
import io
import json
import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image
from serving import Server

from fin_tasks import sandbox
from fin_tasks.benchmarks.dynostock.replay import replay as replay_dynostock
from fin_tasks.benchmarks.scored_task import score_task
from fin_tasks.benchmarks.xfinbench import recording

__all__ = ["TASKS", "Check", "Run", "RunError", "check_pictures", "check_run", "check_traffic", "counters", "read_run"]

TASKS: Mapping[str, tuple[str, str]] = {
    "xfinbench_bool": ("bool", "cot"),
    "xfinbench_mcq": ("mcq", "cot"),
    "xfinbench_mcq_visual": ("mcq", "cot"),
    "xfinbench_calc": ("calc", "cot"),
    "xfinbench_calc_pot": ("calc", "pot"),
}
"""XFinBench's tasks to the question kind and mode that its `replay` takes."""


class RunError(Exception):
    """A run left no readable files."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """One thing that must hold, and what was found."""

    what: str
    ok: bool
    found: str


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one run of lm-eval left behind.

    Attributes:
        results: Its results file.
        samples: Task to samples file.
    """

    results: Mapping[str, Any]
    samples: Mapping[str, Path]

    def docs(self, task: str) -> dict[str, Mapping[str, Any]]:
        """Return the samples of a task by question id; the same question under each filter counts once."""
        with self.samples[task].open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        return {row["doc"]["id"]: row for row in rows}


def read_run(folder: Path, tasks: Sequence[str]) -> Run:
    """Find the files of the one run in a folder.

    Raises:
        RunError: A file is missing, or there are several runs.
    """
    results = _only(folder, "*/results_*.json")
    samples = {task: _only(results.parent, f"samples_{task}_[0-9]*.jsonl") for task in tasks}
    return Run(results=json.loads(results.read_text(encoding="utf-8")), samples=samples)


def _only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if len(found) != 1:
        raise RunError(
            f"{folder}: expected lm-eval to leave one file {pattern}, found {len(found)}. See its log there."
        )
    return found[0]


def check_run(run: Run, *, limit: int) -> list[Check]:
    """Check counts, responses and scores of every task."""
    checks = []
    for task in run.samples:
        checks += [_counts(run, task, limit), _responses(run, task), _scores(run, task)]
    return checks


def _counts(run: Run, task: str, limit: int) -> Check:
    sizes = run.results["n-samples"][task]
    logged = len(run.docs(task))
    expected = min(limit, sizes["original"])
    ok = logged == sizes["effective"] == expected > 0
    return Check(what=f"{task}: {expected} questions answered", ok=ok, found=f"{logged} of {sizes['original']}")


def _responses(run: Run, task: str) -> Check:
    lengths = [len(row["resps"][0][0].strip()) for row in run.docs(task).values()]
    return Check(
        what=f"{task}: no empty response",
        ok=min(lengths) > 0,
        found=f"{sum(n > 0 for n in lengths)} with text, {sum(lengths) // len(lengths)} characters on average",
    )


def _scores(run: Run, task: str) -> Check:
    """Score the logged responses again, without lm-eval, and compare with what lm-eval wrote."""
    path = run.samples[task]
    if task.startswith("mme_finance"):
        wanted = _grades_again(path)
    else:
        wanted = _forecasts_again(path) if task.startswith("dynostock") else _answers_again(path, *TASKS[task])
    written = run.results["results"][task]
    off = [
        f"{name}: {written.get(name)!r} against {value!r}"
        for name, value in wanted.items()
        if not _same(written.get(name), value)
    ]
    shown = "; ".join(off) or ", ".join(
        f"{name} {_percent(value)}" for name, value in wanted.items() if name.startswith(("acc", "score"))
    )
    return Check(what=f"{task}: {len(wanted)} scores equal a fresh scoring", ok=not off, found=shown)


def _answers_again(path: Path, kind: str, mode: str) -> dict[str, float | None]:
    docs, texts = zip(*recording.read(path, task=kind, mode=mode), strict=True)
    options = {"subset": docs[0]["subset"], "mode": mode}
    with sandbox.open_runner() if mode == "pot" else nullcontext() as runner:
        run = runner.run if runner else None
        scored = score_task("xfinbench", "", docs, [[text] for text in texts], options=options, run_programs=run)
    names = ("acc,", "acc_em,", "acc_err,", "no_answer,", "execution_rate,")
    return {name: value for name, value in scored.totals().items() if name.startswith(names) and value is not None}


def _forecasts_again(path: Path) -> dict[str, float | None]:
    wanted: dict[str, float | None] = {}
    for variant in ("paper", "robust"):
        (file,) = replay_dynostock([path], parser=variant).files
        wanted |= {
            f"acc,{variant}": file.counts.accuracy,
            f"bias_index,{variant}": file.counts.bias_index,
            f"no_answer,{variant}": file.counts.no_answer / file.counts.total,
        }
    return wanted


def _grades_again(path: Path) -> dict[str, float | None]:
    """Average the judge's verdicts in the samples; none of them stands where none is a score."""
    records: dict[str, list[dict[str, Any]]] = {"paper": [], "robust": []}
    for line in path.read_text(encoding="utf-8").splitlines():
        sample = json.loads(line)
        records[sample["filter"]].append(json.loads(sample["filtered_resps"][0][0]))
    wanted: dict[str, float | None] = {}
    for variant, graded in records.items():
        scores = [None if record["score"] is None else record["score"] / 5 for record in graded]
        given = [score for score in scores if score is not None]
        counted = [score or 0.0 for score in scores] if variant == "paper" and given else given
        failures = [record["failed"] in ("judge", "reply") for record in graded if record["failed"] != "response"]
        wanted |= {
            f"score,{variant}": 100 * sum(counted) / len(counted) if counted else None,
            f"judge_error,{variant}": sum(failures) / len(failures) if failures else None,
            f"unscored,{variant}": 1 - len(counted) / len(scores),
        }
    return wanted


def _same(written: Any, value: float | None) -> bool:
    if value is None:
        return not isinstance(written, float) or math.isnan(written)
    return isinstance(written, (int, float)) and math.isclose(written, value, abs_tol=1e-9)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{value:.0%}" if value <= 1 else f"{value:.1f}"


def check_traffic(run: Run, server: Server, *, before: Mapping[str, float], image_tokens: int = 0) -> list[Check]:
    """Compare what lm-eval logged as sent with what the server counted as received.

    Args:
        run: The run.
        server: The server it ran against, still up.
        before: `counters(server)` from before the run.
        image_tokens: Tokens the picture that came with each question must have taken.
    """
    rows = [row for task in run.samples for row in run.docs(task).values()]
    after = counters(server)
    requests = after[_REQUESTS] - before[_REQUESTS]
    tokens = after[_PROMPT_TOKENS] - before[_PROMPT_TOKENS]
    words = sum(server.count_tokens(_messages(row)) for row in rows)
    pictures = f" and {len(rows)} pictures of {image_tokens}" if image_tokens else ""
    return [
        Check(what=f"{server.model}: one request a question", ok=requests == len(rows), found=f"{requests:.0f}"),
        Check(
            what=f"{server.model}: prompt tokens are {words} of text{pictures}",
            ok=tokens == words + image_tokens * len(rows),
            found=f"{tokens:.0f}",
        ),
    ]


_REQUESTS, _PROMPT_TOKENS = "vllm:request_success_total", "vllm:prompt_tokens_total"


def counters(server: Server) -> dict[str, float]:
    """Return how many requests and prompt tokens the server has seen."""
    return {name: server.counter(name) for name in (_REQUESTS, _PROMPT_TOKENS)}


def _messages(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    (prompt,) = row["arguments"]["gen_args_0"]["arg_0"]
    messages: list[dict[str, Any]] = json.loads(prompt)
    return [{**message, "content": _words(message["content"])} for message in messages]


def _words(content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Leave out the picture, whose tokens are counted on their own."""
    return content if isinstance(content, str) else [part for part in content if part["type"] == "text"]


def check_pictures(run: Run, task: str, server: Server, *, image_tokens: int) -> list[Check]:
    """Ask one question without a picture and with two different ones.

    The picture must cost its tokens, and which picture it is must move the model's probabilities: a server that counted
    a place for the picture but never looked at it would pass the first and fail the second.
    """
    name = next((name for start, name in _PICTURES.items() if task.startswith(start)), "figure_path")
    paths = sorted({row["doc"][name] for row in run.docs(task).values()})
    question = "Question: what does the figure show? Answer with one letter."
    bare = server.chat(_ask(question, None), max_tokens=1)
    pictures = [_picture(Path(path)) for path in paths[:2]]
    if len(pictures) < 2:
        pictures.append(_encode(Image.new("RGB", (336, 336), "white")))
    first, second = (server.chat(_ask(question, picture), max_tokens=1) for picture in pictures)
    cost = first["usage"]["prompt_tokens"] - bare["usage"]["prompt_tokens"]
    logprobs = [reply["choices"][0]["logprobs"]["content"][0]["logprob"] for reply in (bare, first, second)]
    return [
        Check(
            what=f"{server.model}: a picture costs {image_tokens} prompt tokens",
            ok=cost == image_tokens,
            found=f"{cost}",
        ),
        Check(
            what=f"{server.model}: the probabilities depend on the picture",
            ok=len({round(value, 4) for value in logprobs}) == 3,
            found="log-probability none {:.4f}, one {:.4f}, another {:.4f}".format(*logprobs),
        ),
    ]


_PICTURES = {"dynostock": "chart", "mme_finance": "image_path"}


def _ask(question: str, picture: str | None) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"type": "text", "text": question}]
    if picture is not None:
        parts.insert(0, {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture}"}})
    return [{"role": "user", "content": parts}]


def _picture(path: Path) -> str:
    with Image.open(path) as picture:
        return _encode(picture.convert("RGB"))


def _encode(picture: Image.Image) -> str:
    buffer = io.BytesIO()
    picture.save(buffer, format="PNG")
    return base64.b64encode(buffer.getvalue()).decode()
