"""The recordings that authors published: which models, which questions, where the files are."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
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
        return Pins(
            name=f"{self.benchmark} recordings",
            host="github",
            repo=self.repository,
            revision=self.commit,
            license=self.license,
            homepage="",
            files=tuple(files),
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
    parts = [one for one in repository.parts if part in ("", one.name)]
    if not parts:
        names = ", ".join(one.name for one in repository.parts)
        raise ConfigError(f"{benchmark}: expected one of {names}, got {part!r:.80}.")
    all_models = list(dict.fromkeys(model for one in parts for model in one.models))
    for pattern in models:
        if not _matching(all_models, pattern):
            raise ConfigError(_no_model(benchmark, pattern, all_models))
    recorded = []
    for one in parts:
        for model in one.models:
            if models and not any(_matching([model], pattern) for pattern in models):
                continue
            files = tuple(file for file in one.files if file.model == model)
            recorded.append(Recorded(repository, one, model, files))
    return recorded


def _matching(names: Sequence[str], pattern: str) -> list[str]:
    return [name for name in names if fnmatchcase(name.lower(), pattern.lower())]


def _no_model(benchmark: str, pattern: str, names: Sequence[str]) -> str:
    shown = get_close_matches(pattern, names, n=_SHOWN, cutoff=0.4)
    shown = shown or list(names)[:_SHOWN]
    n_more = len(names) - len(shown)
    more = f" and {n_more} more" if n_more else ""
    return (
        f"{benchmark} recordings: no model is called {pattern!r:.80}. There are {', '.join(shown)}{more}; "
        f"`fin-tasks recordings {benchmark}` lists them."
    )
