"""What `fin-tasks doctor` shows about a benchmark's questions: counts, defects and hashes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Inspection", "SplitReport"]


@dataclass(frozen=True, kw_only=True)
class SplitReport:
    """The questions of one split."""

    split: str
    files: Mapping[str, str]  # file to SHA-256
    revision: str  # identifies the files, also in results
    rows: int  # that can be asked
    counts: Mapping[str, Mapping[str, int]]  # part or topic to counts
    left_out: Mapping[str, tuple[str, ...]]  # kind of defect to the rows that cannot be asked
    defects: Mapping[str, tuple[str, ...]]  # kind to rows; an empty id is the file


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """The splits of one benchmark that are here."""

    name: str
    origin: str
    repo: str
    commit: str | None
    licence: str
    groups: str  # title of the keys of `counts`
    splits: tuple[SplitReport, ...]
    explained: Mapping[str, str]  # kind of defect to its meaning

    def to_dict(self) -> dict[str, Any]:
        """Return it as dicts, tuples, strings and numbers, for JSON."""
        return asdict(self)
