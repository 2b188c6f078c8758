"""The recordings that authors published: which models, which questions, where the files are."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatch
from pathlib import Path

from pydantic import TypeAdapter

from fin_tasks.data.locate import Pin, Pins
from fin_tasks.errors import ConfigError

FILE = Path(__file__).with_name("recordings.json")
"""Repositories, commits and files with their hashes."""

_SHOWN = 8  # names in a message


@dataclass(frozen=True)
class RecordedFile(Pin):
    """A file with one model's responses."""

    path: str
    size: int
    sha256: str
    model: str


@dataclass(frozen=True, kw_only=True)
class Part:
    """The files of a repository that were recorded in one way."""

    mode: str = ""
    """cot or pot; empty for a benchmark with one mode."""
    level: str = ""
    bias: str = ""
    task: str = ""
    questions: int | None = None
    """How many each file has; None if the files differ."""
    files: tuple[RecordedFile, ...]

    @property
    def name(self) -> str:
        """What tells the parts of a repository apart, such as `cot` or `recency`."""
        return self.bias or self.task or self.mode

    @property
    def models(self) -> list[str]:
        """The names of the models, each once."""
        return list(dict.fromkeys(file.model for file in self.files))


@dataclass(frozen=True, kw_only=True)
class Repository:
    """A repository of a benchmark's authors with recorded responses, at one commit."""

    benchmark: str
    repository: str
    commit: str
    date: str
    """Of the commit."""
    license: str
    parts: tuple[Part, ...]

    def pins(self, files: Sequence[RecordedFile]) -> Pins:
        """Return files as those are pinned that the benchmarks themselves consist of."""
        homepage = f"https://github.com/{self.repository}"
        return Pins(
            name=f"{self.benchmark} recordings",
            host="github",
            repo=self.repository,
            revision=self.commit,
            license=self.license,
            homepage=homepage,
            files=tuple(files),
            by_hand=f"name a copy of {homepage} at commit {self.commit[:12]} with --from",
        )


@dataclass(frozen=True)
class Recorded:
    """What one model answered in one way."""

    repository: Repository
    part: Part
    model: str
    files: tuple[RecordedFile, ...]

    @property
    def name(self) -> str:
        """The name for people, such as `financemath cot gpt-4o`."""
        return f"{self.repository.benchmark} {self.part.name} {self.model}"


def read_catalog() -> list[Repository]:
    """Read the packaged list."""
    return TypeAdapter(list[Repository]).validate_json(FILE.read_bytes())


def select(
    repositories: Sequence[Repository],
    benchmark: str,
    *,
    models: Sequence[str] = (),
    part: str = "",
) -> list[Recorded]:
    """Return the recordings of a benchmark whose model matches one of some shell patterns.

    Args:
        repositories: What there is.
        benchmark: The name of the benchmark.
        models: Patterns such as `gpt*`; without any, all models.
        part: A mode, bias or task, such as `pot`; by default all of them.
    """
    known = {repository.benchmark: repository for repository in repositories}
    if benchmark not in known:
        raise ConfigError(
            f"recordings: expected one of {', '.join(known)}, got {benchmark!r:.80}."
        )
    repository = known[benchmark]
    recorded = _recorded_in(repository, part)
    if not models:
        return recorded
    names = list(dict.fromkeys(recording.model for recording in recorded))
    chosen: set[str] = set()
    for pattern in models:
        matching = [name for name in names if fnmatch(name.lower(), pattern.lower())]
        if not matching:
            raise ConfigError(_no_model(benchmark, pattern, names))
        chosen.update(matching)
    return [recording for recording in recorded if recording.model in chosen]


def _recorded_in(repository: Repository, name: str) -> list[Recorded]:
    """Return the recordings of a part of a repository, or of all parts if the name is empty."""
    recorded = []
    for part in repository.parts:
        if name not in ("", part.name):
            continue
        files_by_model = defaultdict[str, list[RecordedFile]](list)
        for file in part.files:
            files_by_model[file.model].append(file)
        for model, files in files_by_model.items():
            recorded.append(Recorded(repository, part, model, tuple(files)))
    if not recorded:
        names = ", ".join(part.name for part in repository.parts)
        raise ConfigError(
            f"{repository.benchmark}: expected one of {names}, got {name!r:.80}."
        )
    return recorded


def _no_model(benchmark: str, pattern: str, names: Sequence[str]) -> str:
    examples = get_close_matches(pattern, names, n=_SHOWN, cutoff=0.4)
    examples = examples or list(names)[:_SHOWN]
    text = ", ".join(examples)
    if len(names) > len(examples):
        text += f" and {len(names) - len(examples)} more"
    return (
        f"{benchmark} recordings: no model is called {pattern!r:.80}. "
        f"There are {text}; `fin-tasks recordings {benchmark}` lists them."
    )
