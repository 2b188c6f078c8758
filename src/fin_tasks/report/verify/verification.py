"""Make the list of each task of a submission. Documents, options and scorers are the verifier's."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from tqdm import tqdm

from fin_tasks import report
from fin_tasks.benchmarks.scored_task import SCORINGS, ScoredTask
from fin_tasks.errors import DataError, FinTasksError

from .. import Fields
from ..model import Run, TaskResult
from .expected import (
    changed_documents,
    check_gold,
    different_settings,
    options_for,
    version_of,
    wrong_rows,
)
from .items import (
    Item,
    Options,
    Rows,
    TaskList,
    Verification,
    item_of,
    read_rows,
    worst_of,
)
from .judged import check_judged, pleas_in
from .prompts import check_prompts
from .scores import (
    InstalledTask,
    RecordedReplies,
    check_group,
    check_scores,
    check_totals,
    figures_of_parts,
    load_task,
    score_rows,
)
from .sent import other_models

_ITEMS = ("gold data", "task", "rows", "prompts", "scores", "totals")

# Oddities are signs that somebody should look at a run; they prove nothing.
_MIN_ROWS = 5
_MIN_LENGTH = 20  # characters; short answers of good models are equal
_MANY = 0.5  # share of rows
_LARGE_SHARE = 0.2  # of responses that were cut off, or that give a published answer
_MAX_SPEED = 200_000  # tokens a second
_MAX_LENGTH = 20  # characters of a token, on average

FirstRuns = dict[tuple[str, str, str], str]
"""The first run with a response, by task, document and text."""


def verify(paths: Sequence[Path], options: Options) -> Verification:
    """Check all runs in files and folders; raise DataError if there are none."""
    submission = report.read(paths)
    problems = [problem.message for problem in submission.problems]
    tasks = []
    first_runs: FirstRuns = {}
    for run in tqdm(submission.runs, desc="Verifying", unit="run", disable=None):
        check = _RunCheck(run, options, first_runs)
        for result in sorted(run.tasks, key=lambda result: bool(result.members)):
            items = check.items_of(result)
            status = worst_of(item.status for item in items)
            tasks.append(
                TaskList(run.id, run.name, run.model, result.task, status, items)
            )
    status = "failed" if problems else worst_of(task.status for task in tasks)
    return Verification(status, problems, tasks)


@dataclass
class _RunCheck:
    """Checks the tasks of a run."""

    run: Run
    options: Options
    first_runs: FirstRuns
    scored: dict[str, ScoredTask] = field(default_factory=dict)
    """The tasks of the run that were scored."""

    def items_of(self, result: TaskResult) -> list[Item]:
        """Return all items of a task; what could not be checked is not verified."""
        if result.members:
            return [check_group(result, self.scored)]
        items: list[Item] = []
        reason = "an item above could not be verified"
        try:
            items.extend(self._checked(result))
        except (FinTasksError, RecursionError) as error:
            reason = str(error)
        checked = {item.name for item in items}
        for name in _ITEMS:
            if name not in checked:
                items.append(Item(name, "not verified", reason))
        return items

    def _checked(self, result: TaskResult) -> Iterator[Item]:
        """Yield the items of a task until one leaves the next ones without a basis."""
        options = options_for(result, self.options)
        task = load_task(result.task, options)
        yield check_gold(task, options.revision)
        settings = _check_task(result, task)
        yield settings
        if settings.status != "verified" or not result.samples:
            return
        try:
            all_rows, problems = read_rows(result.samples)
        except DataError as error:
            yield Item("rows", "failed", str(error))
            return
        yield _check_rows(all_rows, task.docs, problems)
        rows = {}
        for row_id in task.docs:
            row = all_rows.get(row_id)
            if row and row.claims.keys() >= set(SCORINGS):
                rows[row_id] = row
        if not rows:
            return
        yield check_prompts(rows, task.docs)
        replies = RecordedReplies(task, task.step, rows) if task.step else None
        scored = score_rows(
            task, rows, replies, program_seconds=options.program_seconds
        )
        self.scored[result.task] = scored
        scores = check_scores(scored, rows)
        yield scores
        judged = replies and check_judged(task, result, replies, options)
        if judged:
            yield judged
        ours = scored.totals() | figures_of_parts(scored.breakdowns())
        # Without proof of the scores, totals are not verified.
        is_proven = scores.status != "not verified"
        yield check_totals(result, ours, "failed" if is_proven else "not verified")
        yield self._check_oddities(result, rows, ours.get("recalled,robust", 0))
        if replies:
            yield _check_pleas(rows)

    def _check_oddities(self, result: TaskResult, rows: Rows, recalled: float) -> Item:
        """Collect the signs that somebody should look at a task."""
        signs = self._repeated_responses(result.task, rows)
        others = other_models(rows, self.run.model)
        if others:
            signs.append(
                f"the samples name another model for {len(others):,} responses, such as {others[0]}"
            )
        cut_off = result.totals.get("robust", {}).get("cut_off") or 0
        if cut_off > _LARGE_SHARE:
            signs.append(f"{cut_off:.0%} of the responses are said to be cut off")
        if recalled > _LARGE_SHARE:
            signs.append(f"{recalled:.0%} of the variants get the published answer")
        signs += _odd_usage(result, rows)
        return item_of(
            "oddities",
            signs,
            "signs that somebody should look",
            "nothing odd was seen",
            "warning",
        )

    def _repeated_responses(self, task: str, rows: Rows) -> list[str]:
        """Say how many responses are those of an earlier run, or the benchmark's own words, if many are."""
        run = self.run.name
        counts = Counter[str]()
        for row_id, row in rows.items():
            text = "\n".join(row.responses)
            first = self.first_runs.setdefault((task, row_id, text), run)
            if len(text) < _MIN_LENGTH:
                continue
            if first != run:
                counts[f"are those of {first}"] += 1
            if text.strip() == str(row.doc.get("target")).strip():
                counts["are the right answer in the benchmark's words"] += 1
        enough = max(_MIN_ROWS, _MANY * len(rows))
        return [f"{n:,} responses {what}" for what, n in counts.items() if n >= enough]


def _odd_usage(result: TaskResult, rows: Rows) -> list[str]:
    """Say whether the tokens of a task are too few for its responses, or came too fast."""
    tokens = result.usage.get("response_tokens")
    seconds = result.usage.get("seconds_of_all_tasks")
    if not isinstance(tokens, int) or result.usage.get("estimated"):
        return []
    signs = []
    n_characters = sum(len("\n".join(row.responses)) for row in rows.values())
    if tokens * _MAX_LENGTH < n_characters:
        signs.append(f"{tokens:,} tokens are few for {n_characters:,} characters")
    if isinstance(seconds, float) and tokens > seconds * _MAX_SPEED:
        signs.append(f"{tokens:,} tokens in {seconds:.3g} seconds are many")
    return signs


def _check_pleas(rows: Rows) -> Item:
    """Name the responses that talk to the judge."""
    details = pleas_in(rows)
    wrong = "responses talk to the judge"
    return item_of("pleas", details, wrong, "no response talks to the judge", "warning")


def _check_task(result: TaskResult, task: InstalledTask) -> Item:
    """Compare the settings that the submission names with those of the verifier."""
    details = []
    for name, own in different_settings(result, task).items():
        details.append(f"{name}: {result.settings[name]}, here {own}")
    return item_of(
        "task",
        details,
        "settings are not those with which you would ask; --metadata sets yours",
        f"{task.file.name}, version {version_of(task)}, without examples",
        "not verified",
    )


def _check_rows(rows: Rows, docs: Fields, problems: Sequence[str]) -> Item:
    """Compare the documents of a submission with ours."""
    changed = changed_documents(rows, docs).values()
    return item_of(
        "rows",
        [*problems, *wrong_rows(rows, docs), *chain.from_iterable(changed)],
        "rows are not as they should be",
        f"each of the {len(docs):,} questions was asked, and no other",
    )
