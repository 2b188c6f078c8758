"""A model of a submission, with all of its tasks, before it is on a board."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fin_tasks.benchmarks.task_file import task_names
from fin_tasks.saved.run_folder import SavedRun, write_files

from ..admissions import FILE, Admission
from ..conditions import settings_of
from ..lm_eval_results import read_results
from ..model import Run, Settings, TaskResult
from .copies import plain_text
from .exam import TaskExam
from .items import Finding, Options
from .scores import check_group, group_tasks, group_totals
from .sent import other_models

_N_NAMED = 6
"""Tasks that a sentence names."""
_OTHER_SCORES = ("version", "judge", "machine")
"""Findings after which honest totals may be other than ours."""


@dataclass
class Candidate:
    """A model of a submission."""

    model: str
    exams: dict[str, TaskExam] = field(default_factory=dict)
    """By task."""
    groups: dict[str, TaskResult] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    """About the whole run."""

    def add(self, run: Run, options: Options) -> None:
        """Examine the tasks of a run of the model."""
        for result in run.tasks:
            results = {**self.exams, **self.groups}
            if result.task in results:
                self.refuse("runs", f"{result.task} is there twice")
            elif result.members:
                self.groups[result.task] = result
            else:
                exam = TaskExam(result, options).run()
                self.exams[result.task] = exam
                self._check_models(exam)

    def _check_models(self, exam: TaskExam) -> None:
        """Say which responses are another model's, by what the samples of a task say."""
        others = other_models(exam.rows, self.model)
        if others:
            sentence = f"The samples name another model for {len(others):,} responses, such as {others[0]}."
            exam.findings.append(Finding("models", "claimed", sentence, others))

    def refuse(self, name: str, sentence: str, rows: Sequence[str] = ()) -> None:
        """Note why the run is refused."""
        self.findings.append(Finding(name, "refused", sentence, rows))

    def claim(self, name: str, sentence: str) -> None:
        """Note what is only claimed about the run."""
        self.findings.append(Finding(name, "claimed", sentence))

    def check_groups(self) -> None:
        """Refuse tasks that are wrongly called groups, and groups whose totals are not those of their tasks."""
        scored = {}
        is_comparable = True
        for task, exam in self.exams.items():
            if exam.saved:
                scored[task] = exam.saved.scored
            names = {finding.name for finding in exam.findings}
            is_comparable = is_comparable and names.isdisjoint(_OTHER_SCORES)
        if not self.exams:
            self.refuse("task", "no task is there, only groups of tasks")
        for name, result in self.groups.items():
            item = check_group(result, scored)
            is_group = name not in task_names() and item.status != "not verified"
            if not is_group or (item.status == "failed" and is_comparable):
                self.refuse("totals", f"{name}: {item.evidence}", item.details)

    def all_findings(self) -> list[Finding]:
        """Return the findings about the run, then those about tasks, with the tasks' names."""
        findings = list(self.findings)
        tasks_by_finding: dict[Finding, list[str]] = {}
        rows_by_finding: dict[Finding, list[str]] = {}
        for task, exam in self.exams.items():
            for finding in exam.findings:
                plain = finding._replace(rows=())
                tasks_by_finding.setdefault(plain, []).append(task)
                rows_by_finding.setdefault(plain, []).extend(finding.rows)
        for finding, tasks in tasks_by_finding.items():
            sentence = f"{_listed(tasks)}: {finding.sentence}"
            rows = rows_by_finding[finding]
            findings.append(finding._replace(sentence=sentence, rows=rows))
        return findings

    def refusals(self) -> list[Finding]:
        """Return why the run is refused; empty if it is not."""
        return [
            finding for finding in self.all_findings() if finding.outcome == "refused"
        ]

    def texts(self) -> dict[str, dict[str, str]]:
        """Return what the model answered, by task and row."""
        texts = {}
        for task, exam in self.exams.items():
            of_task = {}
            for row_id, row in exam.rows.items():
                of_task[row_id] = plain_text(row.responses)
            texts[task] = of_task
        return texts

    def runs(self) -> list[SavedRun]:
        """Return the scored tasks."""
        return [exam.saved for exam in self.exams.values() if exam.saved]

    def lost_tasks(self, target: Path) -> list[str]:
        """Return the tasks of the run in its folder on the board that this run lacks, or has with fewer rows."""
        sizes = {}
        for run in self.runs():
            split = _split_of(settings_of({"provenance": run.provenance}))
            sizes[run.scored.name, split] = len(run.scored.docs)
        lost = []
        for file in sorted(target.glob("results_*.json")):
            for result in read_results(file, file.name).tasks:
                split = _split_of(result.settings)
                if not result.members and sizes.get((result.task, split), 0) < result.n:
                    lost.append(f"{result.task}, split {split}, {result.n:,} questions")
        return lost

    def write(self, folder: Path, admission: Admission) -> None:
        """Write the run as it was scored here, and what the board says of it."""
        scored = {run.scored.name: run.scored for run in self.runs()}
        totals = {name: group_totals(name, scored) for name in self.groups}
        members = {name: group_tasks(name) for name in self.groups}
        groups = {"groups": totals, "group_subtasks": members} if totals else {}
        write_files(
            folder,
            self.runs(),
            model=admission.model,
            made_by="fin-tasks verify",
            facts=groups,
        )
        text = admission.model_dump_json(indent=1)
        (folder / FILE).write_text(f"{text}\n", "utf-8")


def _split_of(settings: Settings) -> str:
    return str(settings.get("split", ""))


def _listed(tasks: Sequence[str]) -> str:
    n_others = len(tasks) - _N_NAMED
    names = ", ".join(tasks[:_N_NAMED])
    return f"{names} and {n_others} more tasks" if n_others > 0 else names
