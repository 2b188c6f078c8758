"""What is odd about BizBench's rows, and what is done about it."""

from collections.abc import Iterator, Mapping

from fin_tasks.benchmarks.bizbench.formulas import reference_of
from fin_tasks.benchmarks.bizbench.options import Resolved
from fin_tasks.benchmarks.bizbench.row import Part, Row
from fin_tasks.benchmarks.bizbench.truths import number_truth

__all__ = ["DEFECTS", "LEFT_OUT", "NEED_CONTEXT", "answer_defects", "content_defects"]

DEFECTS: Mapping[str, str] = {
    "ambiguous-option": "an answer that several options fit equally well; the first is taken",
    "answer-by-index": "a choice answered by the number of the option; read from 0, or from 1 where the file shows it",
    "answer-not-a-number": "an answer that is not one number; wrong in `paper`, unscored in `robust`",
    "answer-not-an-option": "a choice whose answer is none of the options; wrong in `paper`, unscored in `robust`",
    "code-without-reference": "a function to write, with neither program nor code as its answer; asked, unscored",
    "conflicting-answers": "a question that an earlier row asks, with another answer; both are kept",
    "duplicate-row": "a row that an earlier one equals, answer included; both are kept",
    "empty-context": "no document in a part whose questions are about one; asked all the same",
    "empty-question": "no question; row left out",
    "knowledge-without-options": "a FinKnow row with fewer than two options; asked for a number, and not drawn into "
    "the paper's sample",
    "unknown-task": "the name of a part that does not exist; row left out",
    "unreadable-options": "options that are no list; taken for none",
    "wrong-type": "a cell that holds neither text nor a number; read as JSON; without question or task, row left out",
}
"""Kind of defect to what it is and what is done about it."""

LEFT_OUT = frozenset({"empty-question", "unknown-task"})
"""Kinds for which a row cannot be asked."""

NEED_CONTEXT: frozenset[Part] = frozenset({"codefinqa", "codetatqa", "convfinqa_e", "tatqa_e", "secnum"})


def content_defects(row: Row) -> Iterator[tuple[str, str]]:
    """Yield kind and detail of what is odd about a row's question and document."""
    if row.part in NEED_CONTEXT and not row.context.strip():
        yield "empty-context", row.part
    if row.part == "finknow" and row.kind != "choice":
        yield "knowledge-without-options", f"answer {row.answer[:80]!r}"


def answer_defects(row: Row, resolved: Resolved | None) -> Iterator[tuple[str, str]]:
    """Yield kind and detail of what is odd about a row's answer.

    Args:
        row: The row.
        resolved: How the answer of a choice was read; None for other kinds.
    """
    if resolved is not None:
        if resolved.index is None:
            yield "answer-not-an-option", f"{row.answer[:80]!r} of {len(row.options)} options"
        elif resolved.ambiguous:
            yield "ambiguous-option", row.answer[:80]
        elif resolved.how == "index":
            yield "answer-by-index", row.answer[:80]
    elif row.kind == "number":
        if (truth := number_truth(row.answer)).kind == "unusable":
            yield "answer-not-a-number", f"{row.answer[:80]!r}: {truth.reason}"
    elif not reference_of(row.question, (row.program, row.answer)):
        yield "code-without-reference", row.answer[:80]
