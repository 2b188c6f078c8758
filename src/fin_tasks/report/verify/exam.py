"""Examine a task of a submission for a board: what is refused, what is checked, and what is only claimed."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import mode

from fin_tasks.benchmarks.scored_task import ScoredTask
from fin_tasks.benchmarks.task_file import task_names
from fin_tasks.errors import DataError, ProgramTimeError
from fin_tasks.judging.item import missing_reason
from fin_tasks.sandbox import shared_runner
from fin_tasks.saved.run_folder import SavedRun

from ..decoding import decoding_text
from ..model import TaskResult
from . import sent
from .expected import (
    changed_documents,
    check_gold,
    different_settings,
    options_for,
    version_of,
    wrong_rows,
)
from .host_judge import HostJudge
from .items import Finding, Item, Options, Outcome, Rows, read_rows
from .judged import pleas_in
from .prompts import compare_prompts
from .scores import (
    InstalledTask,
    RecordedReplies,
    check_scores,
    check_totals,
    claimed_unscored,
    figures_of_parts,
    load_task,
    score_rows,
)

_VERSIONS = ("version", "scorer")
_WORDING = ("system", "prompt", "cue")
"""Fields that a recording has as its authors worded them."""
# Settings that a submission may have of its own, as its responses can be scored all the same.
_OWN_SETTINGS = {
    "fewshot": "The submission says that the model was shown {} examples before each question.",
    "system": "The submission says that a system message of its own was sent, with the hash {}.",
}


@dataclass
class TaskExam:
    """A task of a submission, scored with the host's documents, sandbox and judge."""

    result: TaskResult
    options: Options
    findings: list[Finding] = field(default_factory=list)
    rows: Rows = field(default_factory=dict)
    saved: SavedRun | None = None
    """The task as it goes to the board; None if it could not be scored."""

    def run(self) -> "TaskExam":
        """Examine the task; raise an error of ours if the host's own data cannot be used."""
        if self.result.task not in task_names():
            self._add("task", "refused", "this is no task of fin-tasks")
            return self
        task = load_task(self.result.task, options_for(self.result, self.options))
        try:
            self._examine(task)
        except RecursionError:
            self._add("files", "refused", "its content is nested too deeply")
        return self

    def _examine(self, task: InstalledTask) -> None:
        self._check_settings(task)
        self._read_rows(task)
        if not self._is_refused:
            self._check_prompts(task)
            self._check_requests(task)
            self._score(task)

    @property
    def _is_refused(self) -> bool:
        return any(finding.outcome == "refused" for finding in self.findings)

    def _add(
        self, name: str, outcome: Outcome, sentence: str, rows: Sequence[str] = ()
    ) -> None:
        self.findings.append(Finding(name, outcome, sentence, rows))

    def _is_our_version(self, task: InstalledTask) -> bool:
        return self.result.settings.get("version") == version_of(task)

    def _check_settings(self, task: InstalledTask) -> None:
        """Compare the settings that the results name with those of the host."""
        settings = self.result.settings
        refused = []
        unknown = []
        version = version_of(task)
        for name, own in different_settings(self.result, task).items():
            if name in _OWN_SETTINGS:
                sentence = _OWN_SETTINGS[name].format(settings[name])
                self._add("settings", "claimed", sentence)
            elif not self._is_our_version(task) and own is None:
                unknown.append(name)
            elif name not in _VERSIONS:
                refused.append(f"{name}: {settings[name]}, here {own}")
        if refused:
            self._add("settings", "refused", "the settings are not the host's", refused)
        if not self._is_our_version(task):
            claimed_version = settings.get("version") or "none"
            names = f", which has the settings {', '.join(unknown)}" if unknown else ""
            self._add(
                "version",
                "claimed",
                f"The submission names version {claimed_version} of the benchmark{names:.200}; "
                f"its responses are scored with version {version}.",
            )

    def _read_rows(self, task: InstalledTask) -> None:
        """Read the responses, and compare their documents with the host's."""
        if not self.result.samples:
            self._add("rows", "refused", "its samples are missing, or cannot be read")
            return
        try:
            self.rows, problems = read_rows(self.result.samples)
        except DataError as error:
            self._add("rows", "refused", str(error))
            return
        problems += wrong_rows(self.rows, task.docs)
        problems += self._changed_documents(task)
        problems += _other_counts(self.rows)
        if problems:
            self._add("rows", "refused", "rows are not as they should be", problems)
            return
        # In the order of our documents.
        self.rows = {row_id: self.rows[row_id] for row_id in task.docs}
        sentence = "Every question of the host was asked, and no other."
        self._add("responses", "checked", sentence)
        texts = chain.from_iterable(row.responses for row in self.rows.values())
        n_missing = sum(missing_reason(text) != "" for text in texts)
        if n_missing:
            sentence = f"Missing responses, which count as wrong: {n_missing:,}."
            self._add("missing", "checked", sentence)

    def _changed_documents(self, task: InstalledTask) -> list[str]:
        """Return the differences of documents that refuse a submission, and note those that are claims."""
        changed = changed_documents(self.rows, task.docs)
        if self.result.settings.get("data.origin") == "recording":
            reworded = [name for name in _WORDING if changed.pop(name, [])]
            if reworded:
                sentence = "The recorded questions are in other words than the host's."
                self._add("prompts", "claimed", sentence)
        details = list(chain.from_iterable(changed.values()))
        if details and not self._is_our_version(task):
            sentence = f"The submission has {len(details):,} other facts about questions; the host's are used."
            self._add("questions", "claimed", sentence, details)
            return []
        return details

    def _check_prompts(self, task: InstalledTask) -> None:
        """Compare the text that was sent, as the samples say, with our prompts."""
        prompts = compare_prompts(self.rows, task.docs)
        has_examples = "fewshot" in self.result.settings
        wrong = prompts.missing if has_examples else prompts.missing + prompts.odd
        if wrong:
            self._add(
                "prompts", "refused", "what was sent is not the text of the task", wrong
            )
            return
        if prompts.odd:
            sentence = f"{len(prompts.odd):,} texts around the prompts differ between questions."
            self._add("prompts", "claimed", sentence, prompts.odd)
        if prompts.n_unknown:
            n = f"{prompts.n_unknown:,} of {len(self.rows):,}"
            sentence = f"What the model was sent cannot be checked for {n} questions."
            self._add("prompts", "claimed", sentence)
        else:
            self._add(
                "prompts",
                "checked",
                "The samples say that the prompts of the task were sent.",
            )
        if prompts.around:
            sentence = f"Around the prompts of the task the model was sent {prompts.around!r:.400}."
            self._add("template", "claimed", sentence)

    def _check_requests(self, task: InstalledTask) -> None:
        """Note how responses were decoded, and requests with other roles or pictures than the task's."""
        decoding = sent.decoding_of(self.rows) or decoding_text(self.result.decoding)
        sentence = "The submission does not say how its responses were decoded."
        if decoding:
            sentence = (
                f"The submission says that its responses were decoded with {decoding}."
            )
        cut_off = self.result.totals.get("robust", {}).get("cut_off")
        if cut_off:
            sentence += (
                f" It says that {cut_off:.0%} of them ended at the limit of tokens."
            )
        self._add("decoding", "claimed", sentence)
        roles = sent.odd_roles(self.rows, task.docs)
        if roles:
            sentence = f"In {len(roles):,} rows the messages had other roles than a question: {roles[0]}."
            self._add("roles", "claimed", sentence, roles)
        pictures = sent.odd_pictures(self.rows, task.docs)
        if pictures:
            sentence = (
                f"{len(pictures):,} rows were sent with other pictures or files than "
                f"the task has: {pictures[0]}."
            )
            self._add("pictures", "claimed", sentence, pictures)

    def _score(self, task: InstalledTask) -> None:
        """Compare the scores that are claimed with ours, and keep ours."""
        replies = RecordedReplies(task, task.step, self.rows) if task.step else None
        try:
            scored = score_rows(
                task, self.rows, replies, program_seconds=self.options.program_seconds
            )
        except ProgramTimeError as error:
            sentence = f"{error}; --program-minutes allows more."
            self._add("programs", "refused", sentence)
            return
        unscored = claimed_unscored(scored, self.rows)
        if unscored:
            sentence = "responses are said to have no score, and they have one here"
            self._add("scores", "refused", sentence, unscored)
        totals_here = scored.totals() | figures_of_parts(scored.breakdowns())
        scores = check_scores(scored, self.rows)
        totals = check_totals(self.result, totals_here)
        self._compare_claims(scores, task)
        if scores.status != "not verified":
            self._compare_claims(totals, task)
        if self._is_refused:
            return
        judge = HostJudge(task, self.result, self.options, self.rows)
        scored, findings = judge.score(scored, replies)
        self.findings += findings
        pleas = pleas_in(self.rows) if replies else []
        if pleas:
            sentence = f"{len(pleas):,} responses talk to the judge: {pleas[0]:.200}."
            self._add("pleas", "checked", sentence, pleas)
        self._keep(task, scored)

    def _compare_claims(self, item: Item, task: InstalledTask) -> None:
        """Refuse forged figures; another version of ours may have other ones."""
        rows = item.details
        if item.status == "not verified" and task.file.runs_programs:
            sentence = (
                f"{len(rows):,} programs ended otherwise on the host's machine, whose results count: "
                f"{rows[0]:.200}."
            )
            self._add("machine", "checked", sentence, rows)
        elif item.status == "failed" and self._is_our_version(task):
            self._add(item.name, "refused", item.evidence, rows)
        elif item.status == "failed":
            sentence = f"By the submission's own version, {len(rows):,} {item.name} were others."
            self._add("version", "claimed", sentence, rows)

    def _keep(self, task: InstalledTask, scored: ScoredTask) -> None:
        """Keep the scores for the board, and note with which gold data they were found."""
        item = check_gold(task, self.options.revision)
        gold = item.evidence.partition(": if you")[0]
        machine = ""
        facts = {}
        if task.file.runs_programs:
            facts["sandbox"] = shared_runner().facts
            machine = " and in the host's sandbox"
        self._add(
            "scores",
            "checked",
            f"The responses were scored again with the host's gold data ({gold}){machine}.",
        )
        scored = replace(scored, n_all=task.n_all)
        self.saved = SavedRun(scored, task.provenance, facts)


def _other_counts(rows: Rows) -> list[str]:
    """Return the rows with more or fewer responses than most; some figures would count only these."""
    counts = {row_id: len(row.responses) for row_id, row in rows.items()}
    usual = mode(counts.values()) if counts else 0
    details = []
    for row_id, n in counts.items():
        if n != usual:
            details.append(f"{row_id}: {n:,} responses, and {usual:,} in most rows")
    return details
