"""Scores responses against lm-eval documents, one variant at a time."""

from collections.abc import Mapping
from typing import Any

from fin_tasks.benchmarks.dynostock.scoring import Forecast, answer_of, read_probability

__all__ = ["score_response"]


def score_response(doc: Mapping[str, Any], response: str | None, *, variant: str) -> dict[str, Any]:
    """Read and score a response.

    Args:
        doc: A document of the task, of which `truth` and `signal` count.
        response: What the model wrote; None or blank where the model gave nothing, which is no answer.
        variant: `paper` or `robust`.

    Returns:
        `answer`: 1 up, 0 down, None for no answer; `probability`: as stated, of up; `correct`; `led`: whether the
        answer is wrong and what the signal suggests; `reason`. `correct` and `led` are None while the truth is not
        known, `led` also where the window has no signal.

    Raises:
        ConfigError: There is no such variant.

    Example:
        >>> score_response({"truth": 1, "signal": 0}, "Final prediction: 0.2", variant="robust")["reason"]
        'wrong, as the signal suggests'
    """
    text = response or ""
    probability = read_probability(text, parser=variant)
    answer = answer_of(probability)
    truth, signal = doc["truth"], doc["signal"]
    if truth is None:
        reason = "unscored: what happened is not known"
        return {"answer": answer, "probability": probability, "correct": None, "led": None, "reason": reason}
    scored = Forecast(answer=answer, truth=int(truth), signal=None if signal is None else int(signal))
    return {
        "answer": answer,
        "probability": probability,
        "correct": scored.correct,
        "led": None if signal is None else scored.led,
        "reason": _reason(scored, text),
    }


def _reason(scored: Forecast, response: str) -> str:
    if scored.answer is None:
        return "no answer: no probability in the response" if response.strip() else "no answer: empty response"
    if scored.correct:
        return "right"
    return "wrong, as the signal suggests" if scored.led else "wrong"
