"""Patterns that honest runs rarely show. None of them proves anything: somebody has to look."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from typing import Any

from fin_tasks.report.verify.findings import Finding, Place, Status, finding
from fin_tasks.report.verify.submitted import SubmittedRow

__all__ = ["THRESHOLDS", "check_patterns", "check_timing"]

THRESHOLDS: Mapping[str, float] = {
    "identical_length": 40,
    "identical_rows": 3,
    "identical_share": 0.02,
    "one_answer_share": 0.9,
    "one_answer_rows": 20,
    "echo_length": 20,
    "echo_rows": 3,
    "echo_share": 0.05,
    "empty_rows": 3,
    "empty_share": 0.05,
    "characters_per_token": 20,
    "tokens_per_second": 50_000,
    "runs_rows": 40,
    "runs_z": 6,
}
"""See docs/verify.md. Shares are of a task's rows; lengths in characters."""

_TOKEN = 4
"""Characters that a token has, roughly."""
_GOLD = ("target", "answer", "python_solution", "program", "ground_truth")
"""Fields of a document that word the right answer."""


def check_patterns(
    place: Place, rows: Sequence[SubmittedRow], docs: Mapping[str, Mapping[str, Any]], right: Sequence[float | None]
) -> Iterator[Finding]:
    """Look for patterns in one task's responses.

    Args:
        place: The task.
        rows: Under one filter, in order.
        docs: The benchmark's own documents by id.
        right: What each row scored on the headline metric.
    """
    yield finding("identical", place, "the same response stands in many rows", _identical(rows), status=Status.warned)
    yield finding(
        "echoed", place, "{n} responses are the gold answer word for word", _echoed(rows, docs), status=Status.warned
    )
    yield finding("empty", place, "{n} responses are empty", _empty(rows), status=Status.warned)
    yield finding(
        "length", place, "{n} responses are longer than their limit of tokens", _too_long(rows), status=Status.warned
    )
    yield finding(
        "regular", place, "right and wrong rows follow each other too regularly", _regular(right), status=Status.warned
    )


def _identical(rows: Sequence[SubmittedRow]) -> list[str]:
    responses = [response.strip() for row in rows for response in row.responses]
    counts = Counter(filter(None, responses))
    most = max(THRESHOLDS["identical_rows"], THRESHOLDS["identical_share"] * len(responses))
    of_one = THRESHOLDS["one_answer_share"] * len(responses)
    return [
        f"{count} of {len(responses)} responses are {text!r:.120}"
        for text, count in counts.most_common()
        if (len(text) >= THRESHOLDS["identical_length"] and count > most)
        or (len(responses) >= THRESHOLDS["one_answer_rows"] and count >= of_one)
    ]


def _echoed(rows: Sequence[SubmittedRow], docs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    found = []
    for row in rows:
        doc = docs.get(row.id, {})
        if doc.get("mode") == "da":  # asked for the answer alone
            continue
        golds = {_words(doc[name]): name for name in _GOLD if isinstance(doc.get(name), str)}
        for response in row.responses:
            said = _words(response)
            if len(said) >= THRESHOLDS["echo_length"] and said in golds:
                found.append(f"line {row.line}: {row.id!r:.60}: the response is the document's {golds[said]}")
                break
    enough = max(THRESHOLDS["echo_rows"], THRESHOLDS["echo_share"] * len(rows))
    return found if len(found) >= enough else []


def _words(text: str) -> str:
    return " ".join(re.sub(r"```\w*", " ", text).split())


def _empty(rows: Sequence[SubmittedRow]) -> list[str]:
    found = [f"line {row.line}: {row.id!r:.60}" for row in rows if not any(text.strip() for text in row.responses)]
    enough = max(THRESHOLDS["empty_rows"], THRESHOLDS["empty_share"] * len(rows))
    return found if len(found) >= enough else []


def _too_long(rows: Sequence[SubmittedRow]) -> list[str]:
    found = []
    for row in rows:
        limit = _limit(row.generation)
        longest = max(map(len, row.responses), default=0)
        if limit is not None and longest > limit * THRESHOLDS["characters_per_token"]:
            found.append(f"line {row.line}: {row.id!r:.60}: {longest:,} characters in {limit} tokens")
    return found


def _limit(generation: str) -> int | None:
    told = json.loads(generation)
    limit = told.get("max_gen_toks") if isinstance(told, dict) else None
    return limit if isinstance(limit, int) and limit > 0 else None


def _regular(right: Sequence[float | None]) -> list[str]:
    """Test the order of right and wrong rows with Wald and Wolfowitz's runs test."""
    marks = [value > 0 for value in right if value in (0.0, 1.0)]
    ones, zeros = sum(marks), len(marks) - sum(marks)
    if len(marks) < THRESHOLDS["runs_rows"] or not ones or not zeros:
        return []
    runs = 1 + sum(one != other for one, other in pairwise(marks))
    count = len(marks)
    mean = 1 + 2 * ones * zeros / count
    variance = (mean - 1) * (mean - 2) / (count - 1)
    z = (runs - mean) / math.sqrt(variance) if variance > 0 else 0.0
    if abs(z) <= THRESHOLDS["runs_z"]:
        return []
    return [f"{ones} right and {zeros} wrong rows in {runs} runs, expected {mean:.0f} (z = {z:.1f})"]


def check_timing(place: Place, raw: Mapping[str, Any], characters: int) -> Iterator[Finding]:
    """Compare how long a run took with how much it wrote.

    Args:
        place: The results file.
        raw: It.
        characters: Of all responses.
    """
    wrong = []
    said = raw.get("total_evaluation_time_seconds")
    try:
        seconds = float(said) if isinstance(said, (str, int, float)) else None
    except (ValueError, OverflowError):
        seconds = None
    if seconds is None or not math.isfinite(seconds):
        wrong.append(f"total_evaluation_time_seconds: expected seconds, got {said!r:.40}")
    else:
        speed = characters / _TOKEN / seconds if seconds > 0 else math.inf
        if speed > THRESHOLDS["tokens_per_second"] or seconds <= 0:
            wrong.append(f"{characters:,} characters in {seconds:.3g} s: some {speed:,.0f} tokens a second")
        start, end = raw.get("start_time"), raw.get("end_time")
        if isinstance(start, (int, float)) and isinstance(end, (int, float)) and abs(end - start - seconds) > 1:
            wrong.append(f"it took {end - start:.3g} s from start to end, but {seconds:.3g} s in all")
    written = raw.get("date")
    tomorrow = (datetime.now(timezone.utc) + timedelta(days=1)).timestamp()
    if isinstance(written, (int, float)) and not isinstance(written, bool) and not 0 < written < tomorrow:
        wrong.append(f"date: {written!r:.40} lies in the future, or before there were such runs")
    yield finding("timing", place, "the run's times cannot be", wrong, status=Status.warned, fine="times are possible")
