"""A set of windows in a folder, the windows of recordings, and those of the packaged sample."""

import hashlib
import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import fin_tasks
from fin_tasks.benchmarks.dynostock.candidates import Reports, Runs
from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.market_files import sample_market
from fin_tasks.benchmarks.dynostock.replay import find_files, read_recording
from fin_tasks.benchmarks.dynostock.windows import (
    BIASES,
    REASONS,
    WINDOWS,
    Count,
    Found,
    Window,
    find_windows,
    table_of,
    typed,
    windows_of,
)
from fin_tasks.data.files import sha256_of
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

SAMPLE_SHARE = Fraction(3, 5)
"""With the paper's 4/5 the sample's three tickers have hardly any large windows."""

_FILES = ("windows.parquet", "prices.parquet", "reports.parquet")


@dataclass(frozen=True, eq=False)
class WindowSet:
    """A table of windows, the market they lie in, the folder of their charts, and JSON facts for the provenance."""

    table: pd.DataFrame
    market: Market
    charts: Path
    facts: Mapping[str, Any]

    def select(self, bias_type: str, window: int | None = None) -> list[Window]:
        """Return the windows of a bias, and of a size if one is given, in the table's order."""
        table = self.table[self.table["bias_type"] == bias_type]
        if window is not None:
            table = table[table["window"] == window]
        return windows_of(table)


def sampled(table: pd.DataFrame, n: int, *, seed: int = 42) -> pd.DataFrame:
    """Choose up to `n` windows of each bias and size, all if 0, by a hash of seed and id alone."""
    lots = table["id"].map(lambda name: hashlib.sha256(f"lot {seed} {name}".encode()).hexdigest())
    ranks = lots.groupby([table["bias_type"], table["window"]]).rank(method="first")
    return table[ranks <= (n or math.inf)].reset_index(drop=True)


def rebuild_windows(
    market: Market, paths: Sequence[Path], *, seed: int = 42
) -> tuple[Found, dict[str, str]]:
    """Rebuild windows of recordings with their own signal and truth; also return by id why others cannot be rebuilt."""
    docs = {}
    for path in find_files(paths):
        # Recordings of several models share windows.
        docs.update({doc["id"]: doc for doc in read_recording(path).docs})
    reports = Reports(market)
    runs_by_size = {size: Runs(reports, size) for size in {doc["window"] for doc in docs.values()}}
    rows_by_size = {size: _rows_of(runs, reports) for size, runs in runs_by_size.items()}
    missing = {}
    parts = []
    for name, doc in sorted(docs.items()):
        runs = runs_by_size[doc["window"]]
        row = rows_by_size[doc["window"]].get((doc["ticker"], doc["start"], doc["end"]))
        problem = _problem(
            doc,
            market,
            runs,
            row,
        )
        if row is None or problem:
            missing[name] = problem
            continue
        moves = runs.past_moves[row][runs.is_similar[row]]
        part = {column: doc[column] for column in ("bias_type", "window", "signal", "truth")}
        part["row"] = runs.newest[row]
        part["start"] = runs.start[row]
        part["n_same"] = (moves >= 0).sum()
        part["n_contrary"] = (moves == 1 - doc["signal"]).sum()
        parts.append(part)
    columns = ["row", "start", "bias_type", "window", "signal", "truth", "n_same", "n_contrary"]
    return Found(table_of(reports, pd.DataFrame(parts, columns=columns), seed)), missing


def _rows_of(runs: Runs, reports: Reports) -> dict[tuple[str, str, str], int]:
    """Return the row of each candidate by its ticker, first and last day."""
    newest = reports.table.iloc[runs.newest]
    starts = pd.to_datetime(runs.start, unit="D").strftime("%Y-%m-%d")
    ends = newest["reported"].dt.strftime("%Y-%m-%d")
    keys = zip(
        newest["ticker"],
        starts,
        ends,
        strict=True,
    )
    return {key: row for row, key in enumerate(keys)}


def _problem(
    doc: Mapping[str, Any],
    market: Market,
    runs: Runs,
    row: int | None,
) -> str:
    """Return why a recorded window cannot be rebuilt; empty if it can."""
    if doc["ticker"] not in market.tickers:
        return f"no prices or no reports of {doc['ticker']}"
    if row is None:
        period = f"from 30 days after {doc['start']} to {doc['end']}, within the prices"
        return f"no {runs.size} reports {period}"
    for reason, is_flawed in runs.flaws.items():
        if is_flawed[row]:
            return REASONS[reason]
    return ""


def no_windows(counts: Sequence[Count], missing: Mapping[str, str]) -> DataError:
    """Return the error of a build without windows, which says why none is left."""
    reasons = Counter(missing.values())
    for count in counts:
        reasons["their past does not mislead"] += count["unbiased"]
        for name, n in count["dropped"].items():
            reasons[REASONS[name]] += n
    lines = [f"{n} because {reason}" for reason, n in reasons.most_common() if n]
    if not lines:
        lines = ["no ticker has as many reports within its prices"]
    return DataError(f"windows: expected some, found none: {'; '.join(lines)}.")


def write_set(
    folder: Path,
    found: Found,
    market: Market,
    *,
    parameters: Mapping[str, Any],
) -> WindowSet:
    """Write a set and read it back; a set that is there is replaced, but its charts stay."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / "manifest.json"
    # Without it the folder is no set, should the build stop.
    manifest.unlink(missing_ok=True)
    prices = _visible(market.prices, "date", found.table)
    reports = _visible(market.reports, "reported", found.table)
    for name, table in zip(_FILES, (found.table, prices, reports), strict=True):
        table.to_parquet(folder / name, index=False, compression="zstd")
    n_windows = Counter(zip(found.table["bias_type"], found.table["window"], strict=True))
    counts = []
    for count in found.counts:
        counts.append({**count, "kept": n_windows[count["bias_type"], count["window"]]})
    facts = {
        "fin_tasks": fin_tasks.__version__,
        "parameters": dict(parameters),
        "windows": len(found.table),
        "counts": counts,
        "files": {name: sha256_of(folder / name) for name in _FILES},
        "market": dict(market.facts),
    }
    manifest.write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return read_set(folder)


def read_set(folder: Path) -> WindowSet:
    """Read a set that `write_set` wrote, if its files are unchanged."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        for name in _FILES:
            if sha256_of(folder / name) != manifest["files"][name]:
                raise ValueError(f"{name} is not the file that the manifest names")
        windows, prices, reports = [pd.read_parquet(folder / name) for name in _FILES]
        facts = {name: manifest[name] for name in ("parameters", "files", "market")}
        market = Market.of(prices, reports, facts=facts["market"])
        facts["origin"] = "windows"
        return WindowSet(
            typed(windows),
            market,
            folder / "charts",
            facts,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        expected = "windows of `fin-tasks build dynostock`"
        raise DataError(f"{folder}: expected {expected}, got {error!r}.") from error


@lru_cache(maxsize=2)  # the tasks of a group ask for the same set
def find_set(
    *,
    sample: bool,
    windows_dir: str | None,
    data_dir: Path | None,
    settings: Settings,
) -> WindowSet:
    """Return the sample, the set in a folder, or the set in `dynostock/windows` of the data folder or the cache."""
    if sample and windows_dir:
        problem = f"expected none with source sample, got {windows_dir!r}"
        raise ConfigError(f"metadata windows_dir: {problem}.")
    if sample:
        return _sample_set(settings)
    if windows_dir:
        return read_set(Path(windows_dir).expanduser())
    roots = [root for root in (data_dir, settings.cache_dir) if root]
    folders = [root / "dynostock" / "windows" for root in roots]
    for folder in folders:
        if folder.is_dir():
            return read_set(folder)
    problem = f"expected a set of windows in {' or '.join(map(str, folders))}, found none"
    commands = "`fin-tasks fetch dynostock` and `fin-tasks build dynostock`"
    remedy = f"Run {commands}, name its folder as windows_dir, or use source: sample."
    raise ConfigError(f"dynostock: {problem}. {remedy}")


def _sample_set(settings: Settings) -> WindowSet:
    """Find all windows of the packaged sample, by the weaker rule of `SAMPLE_SHARE`."""
    market = sample_market()
    parameters = {
        "biases": list(BIASES),
        "windows": list(WINDOWS),
        "seed": 42,
        "share": float(SAMPLE_SHARE),
    }
    facts = {"origin": "sample", "parameters": parameters, "market": market.facts}
    table = find_windows(market, share=SAMPLE_SHARE).table
    return WindowSet(
        table,
        market,
        settings.cache_dir / "dynostock" / "charts",
        facts,
    )


def _visible(rows: pd.DataFrame, day: str, windows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows from the first to the last day on which a window shows their ticker."""
    spans = windows.groupby("ticker").agg({"start": "min", "end": "max"})
    spans = spans.reindex(rows["ticker"]).to_numpy()
    is_visible = (rows[day].to_numpy() >= spans[:, 0]) & (rows[day].to_numpy() <= spans[:, 1])
    return rows[np.asarray(is_visible)].reset_index(drop=True)
