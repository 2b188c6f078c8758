"""Where a benchmark's files are published, in which commit, and with which hashes.

`pins/<benchmark>.json` names the repository. GitHub's are pinned to a commit, with the SHA-256 of
nearly all files. A data set on the hub is not pinned: `hub.py` asks which files it has.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from fin_tasks.errors import ConfigError, FetchError

_FOLDER = Path(__file__).parent / "pins"
_MAX_REASON = 300  # characters


@dataclass(frozen=True)
class Pin:
    """A file of a repository, with its size in bytes and SHA-256 in hex if they are known."""

    path: str
    size: int | None
    sha256: str | None


@dataclass(frozen=True, kw_only=True)
class Pins:
    """A benchmark's repository; for the hub, revision and files are unknown until it was asked."""

    name: str
    host: Literal["github", "hub"]
    repo: str
    revision: str | None
    license: str
    non_commercial: bool
    homepage: str
    files: tuple[Pin, ...]

    def fetch_error(
        self, expected: str, error: object, path: str = "..."
    ) -> FetchError:
        """Return an error that says how to get a file by hand."""
        reason = str(error).partition("\n")[0][:_MAX_REASON].rstrip(".")
        gate = " (if it is gated, accept its conditions there and run `hf auth login`)"
        if self.host != "hub":
            gate = ""
        return FetchError(
            f"{expected}, but {reason}. Or get it from {self.homepage}{gate}, put it at "
            f"DIR/{self.name}/{path}, and set data_dir or FIN_TASKS_DATA to DIR."
        )


PINS_FILE = TypeAdapter(Pins)
"""The form of a file of pins."""


def pinned_benchmarks() -> list[str]:
    """Return the names of all files of pins; a benchmark of another package brings its own files."""
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def load_pins(benchmark: str) -> Pins:
    """Return a benchmark's pins, as packaged."""
    names = pinned_benchmarks()
    if benchmark not in names:
        raise ConfigError(
            f"benchmark with files to fetch: expected {', '.join(names)}, got {benchmark!r}."
        )
    content = (_FOLDER / f"{benchmark}.json").read_bytes()
    return PINS_FILE.validate_json(content)
