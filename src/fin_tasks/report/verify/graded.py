"""Whether verdicts are of the responses beside them: a judge's items hold a hash of what was judged."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fin_tasks.judging.kept_responses import CUT
from fin_tasks.judging.old_item import response_sha256
from fin_tasks.report.verify.findings import Finding, Place, Status, finding, not_checked

__all__ = ["Graded", "check_graded", "hash_in"]


@dataclass(frozen=True, kw_only=True)
class Graded:
    """A response beside what a submission has as its verdict.

    Attributes:
        where: The row, and maybe its line, for messages.
        response: As it is in the submission now.
        sha256: Of the response that was judged, as the verdict has it; None where it does not say.
        has_score: Whether the verdict is a score.
        is_cut: Whether a spreadsheet cut the response after it was judged, or may have.
    """

    where: str
    response: str
    sha256: str | None
    has_score: bool
    is_cut: bool = False

    @classmethod
    def of(cls, where: str, response: str, said: Mapping[str, Any], *, is_cut: bool = False) -> "Graded":
        """Take it from an item; untrusted."""
        has_score = said.get("score") is not None
        # who says that the response was cut already has judged what is there
        later = is_cut and said.get("response_cut") is not True
        return cls(where=where, response=response, sha256=hash_in(said), has_score=has_score, is_cut=later)

    @property
    def is_another(self) -> bool:
        """Whether it has a hash, and not this response's."""
        return self.sha256 is not None and self.sha256 != response_sha256(self.response)


def hash_in(said: Mapping[str, Any]) -> str | None:
    """Return the hash that an item names, whatever stands there as text; None where it has no such field."""
    found = said.get("response_sha256")
    return None if found is None else str(found)


def check_graded(place: Place, rows: Sequence[Graded]) -> Iterator[Finding]:
    """Compare responses with the hashes of those that were judged.

    Where no verdict has one, all were written before there was the field, and nothing is known. Whoever writes it,
    writes it everywhere: a score without it beside others that have it is as wrong as one with another.

    Args:
        place: The task.
        rows: Its verdicts, each with the response beside it; a row may come once per variant.
    """
    if not any(row.has_score or row.sha256 is not None for row in rows):
        return
    if all(row.sha256 is None for row in rows):
        yield not_checked(
            "graded",
            place,
            "not known which responses the judge saw: the verdicts are older than the field response_sha256, or it was "
            "taken out",
        )
        return
    cut = [row for row in rows if row.is_cut and row.is_another]
    known = [row for row in rows if row.sha256 is not None and not (row.is_cut and row.is_another)]
    wrong = [f"{row.where}: not the response that was judged, {row.response!r:.80}" for row in known if row.is_another]
    wrong += [
        f"{row.where}: does not say which response was judged, though others do"
        for row in rows
        if row.sha256 is None and row.has_score
    ]
    if cut:
        shown = dict.fromkeys(f"{row.where}: {CUT}" for row in cut)
        message = "of {n} responses only the start is here: nothing shows that they are those that were judged"
        yield finding("graded", place, message, shown, status=Status.warned)
        if not wrong:
            return
    yield finding(
        "graded",
        place,
        "{n} responses are not known to be those that were judged",
        dict.fromkeys(wrong),  # once, whatever the variants
        fine=f"{len({row.where for row in known}):,} responses are those that were judged",
    )
