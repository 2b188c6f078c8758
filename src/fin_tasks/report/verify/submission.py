"""The rows of a submission: responses, and what the submission claims about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.scored_task import VARIANTS
from fin_tasks.errors import DataError
from fin_tasks.judging.item import Reply
from fin_tasks.report.samples import Sample, read_samples

_MAX_REPLIES = 20

Fields = Mapping[str, Any]
"""An object of JSON."""


@dataclass(frozen=True)
class Row:
    """The responses to a document, and the claims about them by variant."""

    doc: Fields
    responses: list[str]
    """A response that was lost is empty."""
    prompt: str | None
    """What was sent; None if the file does not say."""
    claims: dict[str, Sample] = field(default_factory=dict)

    def replies(self, index: int) -> tuple[Reply, ...]:
        """Return what a judge said about a response, if the submission holds it."""
        texts = self.claims["robust"].readings[index].get("replies")
        if not isinstance(texts, list):
            return ()
        return tuple(Reply(text=str(text), temperature=0.0) for text in texts[:_MAX_REPLIES])


Rows = Mapping[str, Row]
"""Rows by the document's id."""


def read_rows(path: Path) -> tuple[dict[str, Row], list[str]]:
    """Return rows, and in what they contradict themselves.

    Raises:
        DataError: The file cannot be read, or holds no texts with a reading of each.
    """
    rows: dict[str, Row] = {}
    problems: list[str] = []
    for sample in read_samples(path):
        responses = ["" if text is None else text for text in sample.responses]
        are_texts = all(isinstance(text, str) for text in responses)
        if not are_texts or len(sample.readings) != len(responses):
            raise DataError(
                f"{sample.where}: expected texts and a reading of each, got {responses!r:.80}."
            )
        row = rows.setdefault(sample.id, Row(sample.doc, responses, sample.prompt))
        if (row.responses, row.prompt) != (responses, sample.prompt):
            problems.append(f"{sample.id}: the variants have different responses or prompts")
        if sample.variant in row.claims or sample.variant not in VARIANTS:
            problems.append(f"{sample.id}: one line more for {sample.variant!r:.40}")
        row.claims[sample.variant] = sample
    return rows, problems
