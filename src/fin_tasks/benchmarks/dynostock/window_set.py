"""A set of windows in a folder, with all that is needed to show them.

The folder holds `windows.parquet`; `prices.parquet` and `reports.parquet` with the days of the windows and no others;
`charts/`; and `manifest.json` with the parameters, the counts, the sources and the SHA-256 of every file.
"""

import hashlib
import json
from collections.abc import Mapping
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
from fin_tasks.benchmarks.dynostock.windows import (
    BIASES,
    WINDOW_COLUMNS,
    WINDOWS,
    Found,
    Window,
    find_windows,
    typed,
    windows_of,
)
from fin_tasks.data.fetch import sha256_of
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

__all__ = ["MANIFEST", "SAMPLE_SHARE", "WindowSet", "counts_of", "defects_of", "find_set", "inspect", "read_set"]
__all__ += ["sample_set", "sampled", "shown_days", "write_set"]

MANIFEST = "manifest.json"
SAMPLE_SHARE = Fraction(3, 5)
"""The sample's rule: with the paper's 4/5 its three tickers have hardly any large windows."""
_FORMAT = 1
_FILES = ("windows.parquet", "prices.parquet", "reports.parquet")
_REMEDY = "Make the set again with `fin-tasks build dynostock`."


@dataclass(frozen=True, eq=False)
class WindowSet:
    """A table of windows, the market they lie in, the folder of their charts, and JSON facts for the provenance."""

    table: pd.DataFrame
    market: Market
    charts: Path
    facts: Mapping[str, Any]

    def select(self, bias_type: str, window: int | None = None) -> list[Window]:
        """Return the windows of a bias, and of a size if one is given, in the table's order."""
        chosen = self.table["bias_type"] == bias_type
        return windows_of(self.table[chosen if window is None else chosen & (self.table["window"] == window)])


def sampled(table: pd.DataFrame, n: int, *, seed: int = 42) -> pd.DataFrame:
    """Choose up to `n` windows of each bias and size, all if 0.

    Each window draws a lot from the hash of seed and id, and the lowest stay: the choice depends on neither the order
    of rows nor other sizes, and a larger `n` keeps what a smaller one chose.
    """
    if n == 0:
        return table
    lots = [hashlib.sha256(f"lot {seed} {name}".encode()).hexdigest() for name in table["id"]]
    drawn = pd.Series(lots, index=table.index, dtype=object)
    return table[drawn.groupby([table["bias_type"], table["window"]]).rank(method="first") <= n].reset_index(drop=True)


def write_set(folder: Path, found: Found, market: Market, *, parameters: Mapping[str, Any]) -> WindowSet:
    """Write a set and read it back; one that is there is replaced, but its charts stay."""
    shown = shown_days(market, found.table)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):
            (folder / MANIFEST).unlink(missing_ok=True)  # without it the folder is no set, should the build stop
            for name, table in zip(_FILES, (found.table, shown.prices, shown.reports), strict=True):
                table.to_parquet(folder / name, index=False, compression="zstd")
            manifest = {
                "format": _FORMAT,
                "content": "fin-tasks: windows of DynoStock",
                "parameters": dict(parameters),
                "windows": len(found.table),
                "counts": counts_of(found),
                "files": {name: sha256_of(folder / name) for name in _FILES},
                "market": dict(market.facts),
                "defects": defects_of(market),
                "versions": {"fin-tasks": fin_tasks.__version__, "numpy": np.__version__, "pandas": pd.__version__},
            }
            (folder / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
            return read_set(folder)
    except OSError as error:
        raise DataError(
            f"{folder}: expected a folder that can be written, got {error.strerror!r}. Choose another."
        ) from error


def read_set(folder: Path) -> WindowSet:
    """Read a set that `write_set` wrote, if its files are unchanged."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        parameters, files, facts = (dict(manifest[name]) for name in ("parameters", "files", "market"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: expected a set of windows, got {error!r}. {_REMEDY}") from error
    for name in _FILES:
        if manifest.get("format") != _FORMAT or sha256_of(folder / name) != files.get(name):
            raise DataError(f"{folder / name}: expected the file that {MANIFEST} names, got another. {_REMEDY}")
    windows, prices, reports = (pd.read_parquet(folder / name) for name in _FILES)
    if missing := [name for name in WINDOW_COLUMNS if name not in windows.columns]:
        raise DataError(f"{folder / _FILES[0]}: expected the column {missing[0]}, got none. {_REMEDY}")
    market = Market.of(prices, reports, facts=facts)
    known = {"origin": "windows", "parameters": parameters, "files": files, "market": _brief(facts)}
    return WindowSet(typed(windows), market, folder / "charts", known)


def find_set(*, sample: bool, windows_dir: str | None, data_dir: Path | None, settings: Settings) -> WindowSet:
    """Return the sample, the set in a folder, or the one in `dynostock/windows` of the data folder or the cache."""
    if sample:
        if windows_dir:
            raise ConfigError(f"metadata windows_dir: expected none with source sample, got {windows_dir!r}.")
        return sample_set(settings)
    roots = [root / "dynostock" / "windows" for root in (data_dir, settings.cache_dir) if root is not None]
    places = [Path(windows_dir).expanduser()] if windows_dir else [place for place in roots if place.is_dir()]
    if not places:
        raise ConfigError(
            f"dynostock: expected a set of windows in {' or '.join(map(str, roots))}, found none. Run `fin-tasks fetch "
            "dynostock` and `fin-tasks build dynostock`; name its folder as windows_dir in the metadata; or try the "
            'sample: --metadata \'{"source": "sample"}\'.'
        )
    manifest = places[0] / MANIFEST
    return _read_once(places[0], manifest.stat().st_mtime_ns if manifest.is_file() else 0)


@lru_cache(maxsize=1)  # the tasks of a group ask for the same set
def _read_once(folder: Path, _changed: int) -> WindowSet:
    return read_set(folder)


@lru_cache(maxsize=1)
def sample_set(settings: Settings) -> WindowSet:
    """Find all windows of the packaged sample, by the weaker rule of `SAMPLE_SHARE`."""
    market = sample_market()
    parameters: dict[str, Any] = {"biases": list(BIASES), "windows": list(WINDOWS), "seed": 42}
    table = find_windows(market, **parameters, share=SAMPLE_SHARE).table
    parameters["share"] = float(SAMPLE_SHARE)
    facts = {"origin": "sample", "parameters": parameters, "market": _brief(market.facts)}
    return WindowSet(table, market, settings.cache_dir / "dynostock" / "charts", facts)


def inspect(*, settings: Settings, data_dir: Path | None = None, sample: bool = False) -> dict[str, Any]:
    """Return what `fin-tasks doctor` shows: the fetched market, and the set that tasks take; None if there is none."""
    store = settings.cache_dir / "dynostock" / "market"
    parts = {part: len(list((store / part).glob("*"))) for part in ("prices", "earnings")}
    found: dict[str, Any] = {"market": {"folder": str(store), **parts} if store.is_dir() else None, "windows": None}
    try:
        windows = find_set(sample=sample, windows_dir=None, data_dir=data_dir or settings.data_dir, settings=settings)
    except ConfigError:
        return found
    sizes: dict[str, dict[int, int]] = {}
    for (bias, size), n in windows.table.groupby(["bias_type", "window"]).size().items():
        sizes.setdefault(str(bias), {})[int(size)] = int(n)
    facts = {"charts_folder": str(windows.charts), "parameters": windows.facts["parameters"], "windows": sizes}
    tickers, charts = int(windows.table["ticker"].nunique()), len(list(windows.charts.glob("*.png")))
    return {**found, "windows": {**facts, "tickers": tickers, "charts": charts}}


def shown_days(market: Market, table: pd.DataFrame) -> Market:
    """Return a market with only the prices and reports of days that some window shows."""
    prices = market.prices[_is_shown(market.prices, "date", table)].reset_index(drop=True)
    reports = market.reports[_is_shown(market.reports, "reported", table)].reset_index(drop=True)
    return Market(prices, reports, market.facts, market.defects)


def _is_shown(rows: pd.DataFrame, day: str, windows: pd.DataFrame) -> npt.NDArray[np.bool_]:
    shown, places, days = np.zeros(len(rows), dtype=np.bool_), rows.groupby("ticker").indices, rows[day].to_numpy()
    for ticker, own in windows.groupby("ticker"):
        at = places.get(ticker, np.array([], dtype=np.intp))
        first = np.searchsorted(days[at], own["start"].to_numpy())
        beyond = np.searchsorted(days[at], own["end"].to_numpy(), side="right")
        for a, b in zip(first, beyond, strict=True):
            shown[at[a:b]] = True
    return shown


def counts_of(found: Found) -> list[dict[str, Any]]:
    """Return the counts as JSON values, each with `kept`: how many of its windows are in the table."""
    kept = found.table.groupby(["bias_type", "window"]).size().to_dict()
    return [{**asdict(count), "kept": int(kept.get((count.bias_type, count.window), 0))} for count in found.counts]


def defects_of(market: Market) -> dict[str, dict[str, Any]]:
    """Return kind to the `count` of the market's defects and the `first` 20 of them."""
    kinds: dict[str, list[dict[str, str]]] = {}
    for defect in market.defects:
        kinds.setdefault(defect.kind, []).append({"id": defect.row_id[:300], "detail": defect.detail[:300]})
    return {kind: {"count": len(found), "first": found[:20]} for kind, found in sorted(kinds.items())}


def _brief(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Replace long lists of files by one hash; the manifest has them in full."""
    brief: dict[str, Any] = {}
    for name, value in facts.items():
        if name == "files" and isinstance(value, Mapping):
            listed = json.dumps(value, sort_keys=True).encode()
            brief |= {"files": len(value), "files_sha256": hashlib.sha256(listed).hexdigest()}
        else:
            brief[name] = _brief(value) if isinstance(value, Mapping) else value
    return brief
