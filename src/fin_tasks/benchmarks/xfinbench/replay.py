"""Scores saved XFinBench responses again, without a model: `fin-tasks replay xfinbench`."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fin_tasks import sandbox
from fin_tasks.answers.programs import extract_program
from fin_tasks.benchmarks.xfinbench import rows, scoring
from fin_tasks.benchmarks.xfinbench.doc_scores import score_program
from fin_tasks.benchmarks.xfinbench.metrics import CAPABILITIES
from fin_tasks.benchmarks.xfinbench.responses import Response, read_responses
from fin_tasks.benchmarks.xfinbench.truths import normalise_task, parse_truth
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings
from fin_tasks.stats.averages import average

__all__ = ["Replay", "Scored", "replay"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Scored:
    """A response with its scores."""

    response: Response
    scores: scoring.Scores
    outcome: sandbox.Outcome | None = None
    """How the program ended, for `pot`."""


@dataclass(frozen=True, kw_only=True)
class Replay:
    """Rescored responses of one task."""

    task: str
    mode: str
    scored: tuple[Scored, ...]
    sandbox_tier: str | None = None

    def summary(self) -> dict[str, Any]:
        """Return the scores as fractions, None where no row is scored.

        Keys: `n`; `paper` and `robust`, each `{"acc", "no_answer"}`, or `{"acc_em", "acc_err", "no_answer"}` for
        calculation; `unscored`, the rows without a robust score; `by_capability`, capability to the same with its
        `n`; and for `pot` `execution_rate`, `outcomes` (status to count) and the `sandbox` tier.
        """
        result: dict[str, Any] = {"n": len(self.scored), **self._variants(self.scored)}
        result["unscored"] = sum(s.scores.robust.correct is None for s in self.scored)
        named = {code: [s for s in self.scored if code in s.response.capabilities] for code in CAPABILITIES}
        result["by_capability"] = {
            code: {"n": len(group), **self._variants(group)} for code, group in named.items() if group
        }
        if self.mode == "pot":
            result |= _outcomes([s.outcome for s in self.scored if s.outcome is not None])
            result["sandbox"] = self.sandbox_tier
        return result

    def items(self) -> list[dict[str, Any]]:
        """Return one object per response, in the file's order."""
        return [self._item(s) for s in self.scored]

    def _variants(self, scored: Sequence[Scored]) -> dict[str, dict[str, float | None]]:
        return {
            "paper": self._rates([s.scores.paper for s in scored]),
            "robust": self._rates([s.scores.robust for s in scored]),
        }

    def _rates(self, scores: Sequence[scoring.Score]) -> dict[str, float | None]:
        right = _rate(score.correct for score in scores)
        no_answer = _rate(score.answer is None for score in scores if score.correct is not None)
        if self.task != "calcu":
            return {"acc": right, "no_answer": no_answer}
        return {"acc_em": right, "acc_err": _rate(score.correct_err for score in scores), "no_answer": no_answer}

    def _item(self, scored: Scored) -> dict[str, Any]:
        paper, robust = scored.scores.paper, scored.scores.robust
        item: dict[str, Any] = {"id": scored.response.id, "paper_answer": paper.answer, "paper_correct": paper.correct}
        if self.task == "calcu":
            item["paper_correct_err"] = paper.correct_err
        item |= {"robust_answer": robust.answer, "robust_correct": robust.correct}
        if self.task == "calcu":
            item["robust_correct_err"] = robust.correct_err
        if scored.outcome is not None:
            item |= {"status": scored.outcome.status.value, "detail": scored.outcome.detail}
        return item


def replay(
    path: Path,
    *,
    task: str,
    mode: str = "cot",
    data_dir: Path | None = None,
    on_done: Callable[[int], None] | None = None,
) -> Replay:
    """Score the responses in a file.

    Args:
        path: See `responses.read_responses`.
        task: `bool`, `mcq` or `calc`.
        mode: `cot` and `da` read the answer from the text, `pot` runs the program in it.
        data_dir: XFinBench's files; choices and capabilities the responses lack are looked up there by id. None uses
            `FIN_TASKS_DATA` where it is set.
        on_done: Called after each program with the number done so far, for a progress bar.

    Raises:
        ConfigError: A task or mode that does not exist.
        DataError: The file is missing or malformed.
        SandboxError: `pot`, and no sandbox works here.
    """
    name = normalise_task(task)
    if mode not in ("cot", "da", "pot"):
        raise ConfigError(f"replay --mode: expected cot, da or pot, got {mode!r}.")
    if mode == "pot" and name != "calcu":
        raise ConfigError(
            f"replay --mode pot: expected --task calc, got {task!r}. Only calculation is asked as programs."
        )
    responses = _complete(_of_task(read_responses(path), name, path), data_dir)
    truths = [parse_truth(name, response.ground_truth) for response in responses]
    if mode != "pot":
        scored = (
            Scored(response=r, scores=scoring.score(name, r.text, truth, r.choices))
            for r, truth in zip(responses, truths, strict=True)
        )
        return Replay(task=name, mode=mode, scored=tuple(scored))
    settings = Settings.from_environ()
    with sandbox.open_runner(tier=settings.sandbox, workers=settings.sandbox_workers) as runner:
        outcomes = runner.run([extract_program(response.text) for response in responses], on_done=on_done)
    ran = (
        Scored(response=r, scores=score_program(outcome, truth), outcome=outcome)
        for r, outcome, truth in zip(responses, outcomes, truths, strict=True)
    )
    return Replay(task=name, mode=mode, scored=tuple(ran), sandbox_tier=runner.tier)


def _of_task(responses: list[Response], task: str, path: Path) -> list[Response]:
    """Keep the responses to questions of one task, where the file says which they are."""
    wanted = [r for r in responses if r.task in ("", task) or (r.task == "calc" and task == "calcu")]
    if not wanted:
        raise DataError(
            f"{path}: expected responses to {task} questions, found only {sorted({r.task for r in responses})!r}. "
            "Name the right --task."
        )
    if len(wanted) < len(responses):
        _log.warning(
            "replay: %d of %d rows are of other tasks and left out.", len(responses) - len(wanted), len(responses)
        )
    return wanted


def _complete(responses: list[Response], data_dir: Path | None) -> list[Response]:
    """Add choices and capabilities by id from the benchmark's own files, where these are at hand."""
    settings = Settings.from_environ()
    lacking = any(not response.capabilities for response in responses)
    if not lacking or (data_dir is None and settings.data_dir is None):
        return responses
    try:
        known = rows.rows_by_id(data_dir=data_dir, settings=settings)
    except DataError as error:
        if data_dir is not None:
            raise
        _log.warning("replay: FIN_TASKS_DATA holds no XFinBench, so no capabilities are added: %s", error)
        return responses
    return [_with_row(response, known) for response in responses]


def _with_row(response: Response, known: Mapping[str, rows.Row]) -> Response:
    row = known.get(str(response.id))
    if row is None:
        return response
    return replace(
        response,
        choices=response.choices or row.choices,
        capabilities=response.capabilities or row.capabilities,
    )


def _rate(values: Iterable[bool | None]) -> float | None:
    mean = average(None if value is None else float(value) for value in values)
    return mean if mean == mean else None


def _outcomes(outcomes: Sequence[sandbox.Outcome]) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for outcome in outcomes:
        counts[outcome.status.value] = counts.get(outcome.status.value, 0) + 1
    silent = (sandbox.Status.broken, sandbox.Status.unsupported)
    ran = (None if o.status in silent else o.ran for o in outcomes)
    return {"execution_rate": _rate(ran), "outcomes": counts}
