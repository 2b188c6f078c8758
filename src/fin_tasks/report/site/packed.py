"""The leaderboard as the page loads it: short, and without what only some views show.

`scripts/state.js` unpacks it. Figures of parts and tests of pairs are in files of their own, which the page loads when
somebody asks for them.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from fin_tasks.report import Json

from ..comparison_model import BoardPair
from ..leaderboard_model import Entry, Leaderboard
from ..model import metric_of

Block = tuple[int, str, list[list[Any]]]
"""Number of a task, a metric, and its entries: number of the run, value, bounds, n, and what is not usual."""

_UNPACKED = {"entries", "costs", "runs", "comparisons"}
_RUN = {"id", "label", "source", "model", "task", "decoding", "admission"}
_DIGITS = 6


class _Texts:
    """Texts that many entries share, each once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._numbers: dict[str, int] = {}

    def number_of(self, text: str) -> int:
        """Return the place of a text in `texts`, where it is added if it is new."""
        number = self._numbers.setdefault(text, len(self.texts))
        if number == len(self.texts):
            self.texts.append(text)
        return number


def packed(board: Leaderboard) -> tuple[Json, Mapping[int, list[Block]]]:
    """Return the leaderboard for the page, and the figures of parts by the number of their task."""
    texts = _Texts()
    run_numbers = _run_numbers(board)
    blocks: list[Block] = []
    parts = defaultdict[int, list[Block]](list)
    for block in _blocks(board, run_numbers, texts):
        task, metric, _ = block
        place = parts[task] if metric_of(metric).by else blocks
        place.append(block)
    data = board.model_dump(mode="json", exclude=_UNPACKED)
    data["entries"] = blocks
    data["texts"] = texts.texts
    data["runs"] = _runs(board)
    costs = {}
    for cost in board.costs:
        tokens = [cost.tokens_in, cost.tokens_out]
        costs[cost.run] = [*tokens, cost.seconds, cost.cost, cost.estimated]
    data["costs"] = costs
    comparisons = []
    for comparison in board.comparisons:
        packed_comparison = comparison.model_dump(
            mode="json", exclude={"ranks", "pairs"}
        )
        packed_comparison["ranks"] = [
            [run_numbers[place.run], place.rank, place.best, place.worst]
            for place in comparison.ranks
        ]
        comparisons.append(packed_comparison)
    data["comparisons"] = comparisons
    return data, parts


def _run_numbers(board: Leaderboard) -> Mapping[str, int]:
    return {run.id: number for number, run in enumerate(board.runs)}


def _blocks(
    board: Leaderboard, run_numbers: Mapping[str, int], texts: _Texts
) -> list[Block]:
    """Return the entries of each task and metric, in the order of the board."""
    task_numbers = {task.id: number for number, task in enumerate(board.tasks)}
    rows = defaultdict[tuple[int, str], list[list[Any]]](list)
    for entry in board.entries:
        row: list[Any] = [run_numbers[entry.run], *_numbers_of(entry)]
        more = _more_of(entry, texts)
        if more:
            row.append(more)
        rows[task_numbers[entry.task], entry.metric].append(row)
    return [(task, metric, entries) for (task, metric), entries in rows.items()]


def packed_pairs(pairs: Iterable[BoardPair], board: Leaderboard) -> list[list[Any]]:
    """Return the tests of pairs: two numbers of runs, and the numbers of the test."""
    run_numbers = _run_numbers(board)
    return [
        [
            run_numbers[pair.first],
            run_numbers[pair.second],
            pair.n,
            pair.difference,
            pair.low,
            pair.high,
            pair.p,
            pair.p_holm,
            pair.only_first,
            pair.only_second,
        ]
        for pair in pairs
    ]


def _numbers_of(entry: Entry) -> list[float | None]:
    value = None if entry.value is None else round(entry.value, _DIGITS)
    return [value, entry.low, entry.high, entry.n]


def _more_of(entry: Entry, texts: _Texts) -> Json:
    """Return the fields of an entry that are not usual, by letters that `joinEntries` of the page reads."""
    more: Json = {}
    if entry.group:
        more["g"] = texts.number_of(entry.group)
    if entry.judge:
        more["j"] = texts.number_of(entry.judge)
    if entry.doubts:
        more["d"] = [texts.number_of(text) for text in entry.doubts]
    if entry.remarks:
        more["r"] = [texts.number_of(text) for text in entry.remarks]
    if entry.unscored:
        more["u"] = entry.unscored
    if not entry.is_shown:
        more["s"] = 0
    if entry.cut_off:
        more["c"] = entry.cut_off.model_dump(mode="json")
    if entry.question_corrections:
        more["q"] = texts.number_of(entry.question_corrections)
    if entry.uncorrected is not None:
        more["p"] = round(entry.uncorrected, _DIGITS)
    if entry.corrected:
        more["o"] = entry.corrected.model_dump(mode="json")
    return more


def _runs(board: Leaderboard) -> list[Json]:
    """Return what the page shows of each run."""
    files = {}
    for entry in board.entries:
        if entry.results_file:
            files[entry.run] = entry.results_file
    runs = []
    for run in board.runs:
        fields = run.model_dump(mode="json", include=_RUN, exclude_defaults=True)
        if run.source == "published":
            fields["provenance"] = run.provenance
        if run.id in files:
            fields["results_file"] = files[run.id]
        runs.append(fields)
    return runs
