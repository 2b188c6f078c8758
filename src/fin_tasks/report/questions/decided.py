"""Make files of corrections: from filled sheets, and from truths that the authors of another benchmark revised."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from fin_tasks.benchmarks import benchmark_named
from fin_tasks.benchmarks.corrections import Correction, CorrectionFile
from fin_tasks.benchmarks.financereasoning.data import (
    LEVELS,
    locate_levels,
    read_levels,
)
from fin_tasks.benchmarks.request import Request
from fin_tasks.data.tables import read_table
from fin_tasks.errors import DataError, first_problem

from .distance import SAME
from .sheet import DECISIONS, TO_FILL

_SOURCE = "FinanceMath-"
"""How FinanceReasoning names the source of questions that are FinanceMath's."""
_AUTHORS = "authors of FinanceReasoning"


def corrections_in(sheets: Sequence[Path]) -> tuple[list[Correction], list[str]]:
    """Return what people decided in filled sheets, and a sentence for each row that cannot be used.

    A question on which two sheets differ is not corrected. An empty cell decides nothing.
    """
    decisions = defaultdict[tuple[str, str], list[Correction | None]](list)
    problems = []
    for path in sheets:
        for record in read_table(path, ("benchmark", "id", *TO_FILL)):
            cells = {name: text.strip() for name, text in record.cells.items()}
            if not cells["decision"]:
                continue
            try:
                decision = _decision_in(cells)
            except ValidationError as error:
                problem = first_problem(error)
                problems.append(f"{path.name}, row {record.line}: {problem}.")
            except DataError as error:
                problems.append(f"{path.name}, row {record.line}: {error}.")
            else:
                decisions[cells["benchmark"], cells["id"]].append(decision)
    corrections = []
    for (benchmark, question), answers in decisions.items():
        if len(set(map(_meaning_of, answers))) > 1:
            problems.append(
                f"{benchmark} {question}: expected one decision, got several. Settle it in one of the sheets."
            )
        elif answers[0]:
            corrections.append(answers[0])
    return corrections, problems


def _meaning_of(correction: Correction | None) -> tuple[bool, object] | None:
    """Return what a correction does, without its reason and who decided it."""
    return (correction.exclude, correction.truth) if correction else None


def _decision_in(cells: dict[str, str]) -> Correction | None:
    """Return the correction in the cells of a row; None if the question is kept."""
    if cells["decision"] == "keep":
        return None
    decision = cells["decision"]
    if decision not in DECISIONS:
        expected = ", ".join(DECISIONS)
        raise DataError(f"decision: expected one of {expected}, got {decision!r:.40}")
    values: dict[str, Any] = {name: cells[name] for name in ("benchmark", "id")}
    for name in ("reason", "by", "date"):
        if cells[name]:
            values[name] = cells[name].removesuffix(" 00:00:00")
    if decision == "exclude":
        return Correction(**values, exclude=True)
    truth = cells["new_truth"]
    if not truth:
        raise DataError("new_truth: expected the right answer, got an empty cell")
    return Correction(**values, truth=_number_or_text(truth))


def _number_or_text(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def revised_truths(
    financemath: Path | None, financereasoning: Path | None
) -> list[Correction]:
    """Return FinanceMath's truths that FinanceReasoning's rows of the same questions revise by more than 0.5 %.

    Without a folder, the benchmark's files are found as its tasks find them.
    """
    folder = {"data_dir": financemath} if financemath else {}
    documents = benchmark_named("financemath").load(mode="cot", **folder)["test"]
    truths = dict(zip(documents["question_id"], documents["exact_truth"], strict=True))
    folder = {"data_dir": financereasoning} if financereasoning else {}
    request = Request.of("financereasoning", folder, split="test")
    corrections = []
    for row in read_levels(locate_levels(request, LEVELS)):
        name = row.source.removeprefix(_SOURCE)
        if name == row.source or name not in truths:
            continue
        truth = truths[name]
        if abs(row.ground_truth - truth) > SAME * abs(truth):
            reason = f"FinanceReasoning's row {row.question_id} of this question"
            corrections.append(
                Correction(
                    benchmark="financemath",
                    id=name,
                    truth=float(row.ground_truth),
                    reason=reason,
                    by=_AUTHORS,
                )
            )
    if not corrections:
        raise DataError(
            "build corrections: expected FinanceReasoning's rows of FinanceMath's questions, found "
            f"none with another truth among {len(truths)} questions."
        )
    return sorted(corrections, key=_number_of)


def _number_of(correction: Correction) -> int:
    return int(correction.id.rpartition("-")[2])


def write_corrections(corrections: Iterable[Correction], path: Path) -> None:
    """Write corrections as the YAML file that `--corrections` reads."""
    entries = []
    for correction in corrections:
        entries.append(correction.model_dump(exclude_defaults=True))
    try:
        CorrectionFile.model_validate({"corrections": entries})
    except ValidationError as error:
        raise DataError(f"{path}: {first_problem(error)}.") from error
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"corrections": entries}
    text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    path.write_text(text, "utf-8")
