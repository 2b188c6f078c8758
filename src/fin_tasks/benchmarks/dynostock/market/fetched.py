"""The folder `fin-tasks fetch dynostock` writes: one Parquet file per ticker and part, and a manifest of what they are.

    manifest.json
    prices/AAPL.parquet
    earnings/AAPL.parquet

A file is never there half: it is written beside its place and then moved. The manifest is written the same way after
every ticker, so a run may end at any moment and the next one goes on from there.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from fin_tasks.data.fetch import sha256_of
from fin_tasks.errors import DataError, FetchError

__all__ = ["MANIFEST", "FetchedFolder", "Part", "read_manifest"]

Part = Literal["prices", "earnings"]

MANIFEST = "manifest.json"
_FORMAT = 1


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a fetched folder, empty where there is none.

    Raises:
        DataError: It is broken, or of a later version of fin-tasks.
    """
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    try:
        manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: expected the JSON `fin-tasks fetch dynostock` writes, got {error}.") from error
    tickers = manifest.get("tickers") if isinstance(manifest, dict) else None
    if not isinstance(tickers, dict) or manifest.get("format") != _FORMAT:
        raise DataError(
            f"{path}: expected a manifest of format {_FORMAT} with tickers, got something else. "
            "Fetch into another folder, or with the version of fin-tasks that wrote this one."
        )
    return manifest


@dataclass(kw_only=True)
class FetchedFolder:
    """A folder being filled.

    Attributes:
        path: The folder.
        manifest: What is known of it; `read` brings it up to date.
    """

    path: Path
    manifest: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out, and read the manifest.

        Raises:
            FetchError: Another run is filling the folder.
            DataError: The folder cannot be written, or its manifest is broken.
        """
        from filelock import FileLock, Timeout

        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.path / ".lock")
            lock.acquire(timeout=0)
        except Timeout as error:
            raise FetchError(
                f"{self.path}: another `fin-tasks fetch dynostock` is filling this folder. "
                "Wait for it, or give another --out."
            ) from error
        except OSError as error:
            raise _cannot_write(self.path, error) from error
        try:
            self.manifest = read_manifest(self.path) or {"format": _FORMAT, "tickers": {}}
            yield
        finally:
            lock.release()

    def file(self, part: Part, ticker: str) -> Path:
        """Return where a ticker's table lies or would lie."""
        return self.path / part / f"{ticker}.parquet"

    def entry(self, part: Part, ticker: str) -> dict[str, Any]:
        """Return what the manifest says of a ticker's table, empty where nothing."""
        entry = self.manifest["tickers"].get(ticker, {}).get(part, {})
        return entry if isinstance(entry, dict) else {}

    def has(self, part: Part, ticker: str) -> bool:
        """Whether a ticker's table is there as it was fetched, and the last try brought it."""
        entry, file = self.entry(part, ticker), self.file(part, ticker)
        return entry.get("state") == "done" and file.is_file() and sha256_of(file) == entry.get("sha256")

    def store(self, part: Part, ticker: str, table: pd.DataFrame, facts: dict[str, Any]) -> None:
        """Write a ticker's table, then say so in the manifest.

        Raises:
            DataError: The folder cannot be written.
        """
        file = self.file(part, ticker)
        draft = file.with_name(file.name + ".part")
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            table.to_parquet(draft, index=False)
            draft.replace(file)
        except OSError as error:
            raise _cannot_write(file, error) from error
        self._note(part, ticker, {"state": "done", **facts, "rows": len(table), "sha256": sha256_of(file)})

    def fail(self, part: Part, ticker: str, reason: str, *, tried: str) -> None:
        """Say in the manifest why a ticker's table did not come; one of an earlier run stays."""
        self._note(part, ticker, {**self.entry(part, ticker), "state": "failed", "reason": reason, "tried": tried})

    def save(self, **facts: Any) -> None:
        """Write the manifest with more facts about the whole folder."""
        tickers = self.manifest["tickers"]
        head = {name: value for name, value in {**self.manifest, **facts}.items() if name != "tickers"}
        self.manifest = {**head, "tickers": {ticker: tickers[ticker] for ticker in sorted(tickers)}}
        target = self.path / MANIFEST
        draft = target.with_name(MANIFEST + ".part")
        try:
            draft.write_text(json.dumps(self.manifest, indent=1, allow_nan=False) + "\n", encoding="utf-8")
            draft.replace(target)
        except OSError as error:
            raise _cannot_write(target, error) from error

    def _note(self, part: Part, ticker: str, entry: dict[str, Any]) -> None:
        self.manifest["tickers"].setdefault(ticker, {})[part] = entry
        self.save()


def _cannot_write(path: Path, error: OSError) -> DataError:
    return DataError(
        f"{path}: expected to write it, got {error.strerror or error!r}. Free some space, or give another --out."
    )
