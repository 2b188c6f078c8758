"""A response with what a judge made of it, as a benchmark scores it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fin_tasks.judging.old_item import Verdict

__all__ = ["JudgedResponse"]


@dataclass(frozen=True, kw_only=True)
class JudgedResponse:
    """A response after judging.

    Attributes:
        response: What the model wrote.
        verdict: What became of it.
        percent: The verdict's score from 0 (lowest on the rubric's scale) to 100 (highest); None where there is none.
        stands: Whether verdicts count. They do not where nobody was asked, nor where the judge failed on so many
            responses that those it did score say little about the model.
        record: Who judged, and by what: goes into the samples file as it is.
    """

    response: str
    verdict: Verdict
    percent: float | None
    stands: bool
    record: Mapping[str, Any]
