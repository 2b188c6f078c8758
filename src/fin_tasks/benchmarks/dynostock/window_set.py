"""A set of windows in a folder: the windows and all that is needed to show them, with what it was made from.

The folder holds `windows.parquet`; `prices.parquet` and `reports.parquet` with the days of the windows and no others;
`charts/`; and `manifest.json`, which names the parameters, the counts, the sources and every file's SHA-256.
"""

import hashlib
import json
import platform
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from filelock import FileLock

import fin_tasks
from fin_tasks.benchmarks.dynostock.market import Market, sample_market
from fin_tasks.benchmarks.dynostock.movements import day_numbers, row_keys
from fin_tasks.benchmarks.dynostock.window import BIASES, WINDOW_COLUMNS, Window, typed, windows_of
from fin_tasks.benchmarks.dynostock.windows import WINDOWS, Found, find_windows
from fin_tasks.data.fetch import sha256_of
from fin_tasks.data.tables import Defect
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings

__all__ = [
    "MANIFEST",
    "SAMPLE_SHARE",
    "WindowSet",
    "counts_of",
    "defects_of",
    "read_set",
    "sample_set",
    "sampled",
    "shown_days",
    "write_set",
]

MANIFEST = "manifest.json"
SAMPLE_SHARE = Fraction(3, 5)
"""The sample's rule. By the protocol's 4/5, three stocks with reports in 13 years leave next to no large windows."""
_FORMAT = 1
_DRAFTS = ".writing-"
_NAMED = 20  # defects of a kind that are told of; the others are counted
_LONGEST = 300  # characters of a detail
_FILES = ("windows.parquet", "prices.parquet", "reports.parquet")
_REMEDY = "Make the set again with `fin-tasks build dynostock`."


@dataclass(frozen=True, eq=False)
class WindowSet:
    """Windows with the market they lie in.

    Attributes:
        table: One row per window, the columns of `WINDOW_COLUMNS`.
        market: Prices and reports of at least the days the windows show.
        charts: Folder for the windows' charts; it need not exist.
        facts: What the set is made from, for provenance: JSON-compatible, without paths and times.
    """

    table: pd.DataFrame
    market: Market
    charts: Path
    facts: Mapping[str, Any]

    def select(self, bias_type: str, window: int | None = None) -> list[Window]:
        """Return the windows of a bias, and of a size where one is given, in the table's order; there may be none."""
        chosen = self.table["bias_type"] == bias_type
        if window is not None:
            chosen &= self.table["window"] == window
        return windows_of(self.table[chosen])


def sampled(table: pd.DataFrame, n: int, *, seed: int = 42) -> pd.DataFrame:
    """Choose up to `n` windows of each bias and window size.

    Each window draws a lot from the hash of seed and id, and the lowest lots stay. So the choice depends on neither
    the order of the rows nor the other sizes, and a larger `n` keeps what a smaller one chose.

    Args:
        table: Windows, the columns of `WINDOW_COLUMNS`.
        n: How many; 0 for all.
        seed: Another seed, another choice.

    Returns:
        The chosen rows in their order.
    """
    if n == 0:
        return table
    lots = pd.Series([_lot(name, seed) for name in table["id"]], index=table.index, dtype=object)
    rank = lots.groupby([table["bias_type"], table["window"]]).rank(method="first")
    return table[rank <= n].reset_index(drop=True)


def write_set(folder: Path, found: Found, market: Market, *, parameters: Mapping[str, Any]) -> WindowSet:
    """Write a set; one that is there is replaced, but its charts stay. Runs that share a folder wait for each other.

    Args:
        folder: Where to; made where it is missing.
        found: The windows, perhaps a sample of all, and the counts of all.
        market: What they were found in.
        parameters: What decided which windows there are: JSON-compatible.

    Returns:
        The set as read back from the folder.

    Raises:
        DataError: The folder cannot be written.
    """
    shown = shown_days(market, found.table)
    tables = dict(zip(_FILES, (found.table, shown.prices, shown.reports), strict=True))
    try:
        with _drafts(folder) as drafts:
            for name, table in tables.items():
                table.to_parquet(drafts / name, index=False, compression="zstd")
            manifest = _manifest(drafts, found, market, parameters)
            (drafts / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
            # Without its manifest the folder is no set, so that nobody reads half of the old and half of the new.
            (folder / MANIFEST).unlink(missing_ok=True)
            for name in (*_FILES, MANIFEST):
                (drafts / name).replace(folder / name)
            return read_set(folder)
    except OSError as error:
        raise DataError(
            f"{folder}: expected a folder that can be written, got {error.strerror!r}. Choose another."
        ) from error


def read_set(folder: Path) -> WindowSet:
    """Read a set that `write_set` wrote.

    Raises:
        DataError: The folder holds no set, one of another format, or one whose files are not those that were written.
    """
    manifest = _read_manifest(folder)
    files = {name: folder / name for name in _FILES}
    for name, path in files.items():
        expected, got = manifest["files"].get(name), sha256_of(path)
        if got != expected:
            raise DataError(
                f"{path}: expected the file that {MANIFEST} names, sha256 {expected}, got {got}. "
                f"It was changed, or two builds wrote at once. {_REMEDY}"
            )
    windows, prices, reports = (pd.read_parquet(path) for path in files.values())
    if missing := [name for name in WINDOW_COLUMNS if name not in windows.columns]:
        raise DataError(f"{files[_FILES[0]]}: expected the column {missing[0]}, found none. {_REMEDY}")
    return WindowSet(
        table=typed(windows),
        market=Market.of(prices, reports, facts=manifest["market"]),
        charts=folder / "charts",
        facts={
            "origin": "windows",
            "parameters": manifest["parameters"],
            "files": manifest["files"],
            "market": _brief(manifest["market"]),
        },
    )


@lru_cache(maxsize=1)
def sample_set(settings: Settings) -> WindowSet:
    """Find all windows of the sample market, by the weaker rule of `SAMPLE_SHARE`.

    Raises:
        ConfigError: The package with the sample's prices is not installed.
    """
    market = sample_market()
    parameters: dict[str, Any] = {"biases": list(BIASES), "windows": list(WINDOWS), "seed": 42}
    table = find_windows(market, **parameters, share=SAMPLE_SHARE).table
    parameters["share"] = float(SAMPLE_SHARE)
    return WindowSet(
        table=table,
        market=market,
        charts=settings.cache_dir / "dynostock" / "charts",
        facts={"origin": "sample", "parameters": parameters, "market": _brief(market.facts)},
    )


def shown_days(market: Market, table: pd.DataFrame) -> Market:
    """Return a market with only the prices and reports of days that some window shows."""
    return Market(
        market.prices[_is_shown(market.prices, "date", table)].reset_index(drop=True),
        market.reports[_is_shown(market.reports, "reported", table)].reset_index(drop=True),
        market.facts,
        market.defects,
    )


def counts_of(found: Found) -> list[dict[str, Any]]:
    """Return the counts as plain values, each with `kept`: how many of its windows are in the table."""
    kept = found.table.groupby(["bias_type", "window"]).size().to_dict()
    return [{**asdict(count), "kept": int(kept.get((count.bias_type, count.window), 0))} for count in found.counts]


def defects_of(defects: Iterable[Defect]) -> dict[str, dict[str, Any]]:
    """Return defects as plain values: kind to their `count` and the `first` 20 of them.

    Example:
        >>> defects_of([Defect("duplicate-day", "IBM 2005-07-05", "2 identical rows; one is kept")])
        {'duplicate-day': {'count': 1, 'first': [{'id': 'IBM 2005-07-05', 'detail': '2 identical rows; one is kept'}]}}
    """
    kinds: dict[str, list[Defect]] = {}
    for defect in defects:
        kinds.setdefault(defect.kind, []).append(defect)
    return {
        kind: {
            "count": len(kinds[kind]),
            "first": [{"id": odd.row_id[:_LONGEST], "detail": odd.detail[:_LONGEST]} for odd in kinds[kind][:_NAMED]],
        }
        for kind in sorted(kinds)
    }


@contextmanager
def _drafts(folder: Path) -> Iterator[Path]:
    """Hold a folder and make one in it for files that are not whole yet; those of killed runs are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        for left in folder.glob(f"{_DRAFTS}*"):
            shutil.rmtree(left)
        with tempfile.TemporaryDirectory(prefix=_DRAFTS, dir=folder) as drafts:
            yield Path(drafts)


def _is_shown(rows: pd.DataFrame, day: str, windows: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """Whether a window of the row's ticker shows the row's day; rows are sorted by ticker and day."""
    codes, tickers = pd.factorize(rows["ticker"], sort=True)
    keys = row_keys(codes.astype(np.int64), day_numbers(rows[day]))
    places = pd.Index(tickers, dtype=object).get_indexer(windows["ticker"]).astype(np.int64)
    first = np.searchsorted(keys, row_keys(places, day_numbers(windows["start"])))
    beyond = np.searchsorted(keys, row_keys(places, day_numbers(windows["end"])), side="right")
    steps = np.zeros(len(rows) + 1, dtype=np.int64)
    np.add.at(steps, first, 1)
    np.add.at(steps, beyond, -1)
    return np.asarray(steps.cumsum()[:-1] > 0)


def _lot(window: str, seed: int) -> str:
    return hashlib.sha256(f"lot {seed} {window}".encode()).hexdigest()


def _manifest(folder: Path, found: Found, market: Market, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "content": "fin-tasks: windows of DynoStock",
        "parameters": dict(parameters),
        "windows": len(found.table),
        "counts": counts_of(found),
        "files": {name: sha256_of(folder / name) for name in _FILES},
        "market": dict(market.facts),
        "defects": defects_of(market.defects),
        "versions": {
            "fin-tasks": fin_tasks.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "pandas": pd.__version__,
        },
    }


def _read_manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise DataError(
            f"{folder}: expected a set of windows, found no {MANIFEST}. A build that was stopped leaves none. {_REMEDY}"
        ) from error
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: expected JSON, got something else ({error}). {_REMEDY}") from error
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if found != _FORMAT:
        raise DataError(f"{path}: expected format {_FORMAT}, got {found!r}. {_REMEDY}")
    parts = [name for name in ("parameters", "files", "market") if not isinstance(manifest.get(name), dict)]
    if parts:
        raise DataError(f"{path}: expected an object under {parts[0]!r}, got something else. {_REMEDY}")
    return dict(manifest)


def _brief(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Put one hash in the place of long lists of files; the manifest has them in full."""
    brief: dict[str, Any] = {}
    for name, value in facts.items():
        if name == "files" and isinstance(value, Mapping):
            listed = json.dumps(value, sort_keys=True).encode()
            brief |= {"files": len(value), "files_sha256": hashlib.sha256(listed).hexdigest()}
        else:
            brief[name] = _brief(value) if isinstance(value, Mapping) else value
    return brief
