"""What a person should know about a benchmark's questions before trusting a number: counts, defects, hashes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["Inspection", "SplitReport"]


@dataclass(frozen=True, kw_only=True)
class SplitReport:
    """The questions of one split.

    Attributes:
        split: Its name.
        files: File to its SHA-256, in the order of the rows.
        revision: Identifies the files: what results call the data's revision.
        rows: Rows that can be asked.
        counts: Part or topic to count by what is counted, all with the same keys.
        left_out: Kind of defect to ids of the rows that cannot be asked.
        defects: Kind to ids; an empty id stands for a file.
    """

    split: str
    files: Mapping[str, str]
    revision: str
    rows: int
    counts: Mapping[str, Mapping[str, int]]
    left_out: Mapping[str, tuple[str, ...]]
    defects: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """The splits of one benchmark that are here.

    Attributes:
        name: The benchmark.
        origin: `upstream`, `hub`, `data_dir` or `sample`.
        repo: The authors' repository or data set.
        commit: Its commit; None where the files were not fetched from there.
        licence: Of the data.
        groups: What `counts` counts by: `Part` or `Topic`.
        splits: One report per split.
        explained: Kind of defect, of those found, to what it is and what is done about it.
    """

    name: str
    origin: str
    repo: str
    commit: str | None
    licence: str
    groups: str
    splits: tuple[SplitReport, ...]
    explained: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts, tuples, strings and numbers, ready for JSON."""
        return asdict(self)
