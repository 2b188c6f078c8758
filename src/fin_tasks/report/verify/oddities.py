"""Signs that somebody should look at a run. They prove nothing."""

from collections import Counter

from fin_tasks.report.model import TaskResult
from fin_tasks.report.verify.items import Item, item_of
from fin_tasks.report.verify.submission import Rows

_MIN_ROWS = 5
_MIN_LENGTH = 20  # characters; short answers of good models are equal
_MANY = 0.5  # share of rows
_MANY_CUT_OFF = 0.2  # share of responses
_MAX_SPEED = 200_000  # tokens a second
_MAX_LENGTH = 20  # characters of a token, on average

FirstRuns = dict[tuple[str, str, str], str]
"""The first run with a response, by task, document and text."""


def check_oddities(run: str, result: TaskResult, rows: Rows, first_runs: FirstRuns) -> Item:
    """Return what is odd about a task; its responses are compared with those of earlier runs."""
    counts: Counter[str] = Counter()
    n_characters = 0
    for row_id, row in rows.items():
        text = "\n".join(row.responses)
        n_characters += len(text)
        first = first_runs.setdefault((result.task, row_id, text), run)
        if len(text) < _MIN_LENGTH:
            continue
        if first != run:
            counts[f"are those of {first}"] += 1
        if text.strip() == str(row.doc.get("target")).strip():
            counts["are the right answer in the benchmark's words"] += 1
    enough = max(_MIN_ROWS, _MANY * len(rows))
    signs = [f"{n:,} responses {what}" for what, n in counts.items() if n >= enough]
    cut_off = result.totals.get("robust", {}).get("cut_off") or 0
    if cut_off > _MANY_CUT_OFF:
        signs.append(f"{cut_off:.0%} of the responses are said to be cut off")
    tokens = result.usage.get("response_tokens")
    seconds = result.usage.get("seconds_of_all_tasks")
    if isinstance(tokens, int) and not result.usage.get("estimated"):
        if tokens * _MAX_LENGTH < n_characters:
            signs.append(f"{tokens:,} tokens are few for {n_characters:,} characters")
        if isinstance(seconds, float) and tokens > seconds * _MAX_SPEED:
            signs.append(f"{tokens:,} tokens in {seconds:.3g} seconds are many")
    return item_of("oddities", signs, "oddities", "nothing odd was seen", "warning")
