"""A task's documents as the benchmark has them: gold answers are never taken from a submission."""

import hashlib
import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fin_tasks.errors import ConfigError
from fin_tasks.report.verify.task_files import TaskFile

__all__ = ["OwnData", "encoder_lacking", "load_own", "options_of", "provenance_hash"]

_OURS = ("data_dir", "windows_dir", "encoder", "source")
"""Options that name files, addresses or packages: these are never taken from a submission."""
_DEFAULT_ENCODER = "minilm"
_LARGEST: Mapping[str, int] = {"dpi": 600, "top_k": 100}
_LARGEST_OTHERWISE = 10_000_000
_TEXT = re.compile(r"[\w .-]{0,100}")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_SOURCES = ("sample", "upstream", "hub", "data_dir")


@dataclass(frozen=True, kw_only=True)
class OwnData:
    """The documents.

    Attributes:
        docs: By id, in order.
        provenance: Where they come from and how they are asked.
        options: What they were loaded with.
    """

    docs: Mapping[str, Mapping[str, Any]]
    provenance: Mapping[str, Any]
    options: Mapping[str, Any]


def options_of(
    task: TaskFile, metadata: Mapping[str, Any], *, source: str | None, data_dir: Path | None, given: Mapping[str, Any]
) -> dict[str, Any]:
    """Say what to load a task's documents with.

    Args:
        task: The task.
        metadata: What the submission's results say it was run with; untrusted, so only plain values are taken, and no
            names of files, addresses and packages.
        source: Where to take the documents from; what the submission names where None.
        data_dir: The folder with the benchmark's files.
        given: Options that go before the submission's, from whoever verifies.

    Raises:
        ConfigError: An option of `given` that the task does not have, or fixes.
    """
    known = set(inspect.signature(task.load).parameters) - task.options.keys()
    if strange := sorted(given.keys() - known):
        raise ConfigError(
            f"--metadata: expected options of {task.name} ({', '.join(sorted(known))}), got {strange[0]!r}."
        )
    taken = {name: value for name, value in metadata.items() if name in known and _plain(name, value)}
    provenance = metadata.get("provenance")
    data = provenance.get("data") if isinstance(provenance, dict) else None
    origin = data.get("origin", data.get("source")) if isinstance(data, dict) else None
    commit = data.get("commit") if isinstance(data, dict) else None
    if origin == "upstream" and "data_revision" in known and isinstance(commit, str) and _COMMIT.fullmatch(commit):
        taken["data_revision"] = commit
    if data_dir is not None:
        taken["data_dir"] = str(data_dir)
    elif origin in _SOURCES and ("windows_dir" not in known or origin == "sample"):
        taken["source"] = origin  # but for a set of windows, which is found where it was built
    if source is not None:
        taken["source"] = source
    return {**taken, **given}


def encoder_lacking(metadata: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Say which encoder a run with dense retrieval had, where whoever verifies has to name it; else nothing.

    An encoder is a folder, a download or an address, which no submission chooses; other documents' knowledge than that
    of its encoder would all be found wrong.

    Args:
        metadata: As in `options_of`.
        options: What `options_of` made of it.
    """
    found: Any = metadata.get("provenance")
    for name in ("retrieval", "retriever", "encoder", "name"):
        found = found.get(name) if isinstance(found, dict) else None
    ours = str(options.get("encoder") or _DEFAULT_ENCODER)
    # a folder is another on every machine: its facts hold the name alone, see retrieval.encoders
    if not isinstance(found, str) or found == ours or found.rpartition(":")[2] == Path(ours.rpartition(":")[2]).name:
        return ""
    return (
        f"the run says that {found!r:.80} embedded its texts, and encoders are not taken from a submission (this is "
        f"{ours!r:.80}); where you trust and have it, name it yourself as encoder in --metadata"
    )


def load_own(task: TaskFile, options: Mapping[str, Any]) -> OwnData:
    """Load a task's documents.

    Raises:
        FinTasksError: As the task's `load`.
    """
    ((_, documents),) = task.load(**{**options, **task.options}).items()
    docs = {str(doc.get("id", doc.get("question_id"))): doc for doc in documents.to_list()}
    return OwnData(docs=docs, provenance=json.loads(documents.info.description), options=options)


def provenance_hash(provenance: Any) -> str | None:
    """Make the hash of a provenance as `data.documents.dataset_of` does; None where there is none."""
    if not isinstance(provenance, dict):
        return None
    facts = {name: value for name, value in provenance.items() if name != "hash"}
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]


def _plain(name: str, value: Any) -> bool:
    if name in _OURS:
        return False
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return 0 <= value <= _LARGEST.get(name, _LARGEST_OTHERWISE)
    return isinstance(value, str) and bool(_TEXT.fullmatch(value)) and ".." not in value
