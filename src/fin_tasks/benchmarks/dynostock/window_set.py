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

import pandas as pd

import fin_tasks
from fin_tasks.benchmarks.dynostock import windows as finding
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
    windows_of,
)
from fin_tasks.data.files import sha256_of
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

SAMPLE_SHARE = Fraction(
    3, 5
)  # with the paper's 4/5 the sample's three tickers have hardly any large windows
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
        return windows_of(table if window is None else table[table["window"] == window])


def sampled(table: pd.DataFrame, n: int, *, seed: int = 42) -> pd.DataFrame:
    """Choose up to `n` windows of each bias and size, all if 0, by a hash of seed and id alone."""
    lots = [hashlib.sha256(f"lot {seed} {name}".encode()).hexdigest() for name in table["id"]]
    drawn = pd.Series(lots, index=table.index, dtype=object)
    ranks = drawn.groupby([table["bias_type"], table["window"]]).rank(method="first")
    return table[ranks <= (n or math.inf)].reset_index(drop=True)


def rebuild_windows(
    market: Market, paths: Sequence[Path], *, seed: int = 42
) -> tuple[Found, dict[str, str]]:
    """Rebuild windows of recordings with their own signal and truth; also return by id why others cannot be rebuilt."""
    # recordings of several models share windows
    docs = {doc["id"]: doc for path in find_files(paths) for doc in read_recording(path).docs}
    reports = Reports(market)
    tickers, ends = reports.table["ticker"], reports.table["reported"].dt.strftime("%Y-%m-%d")
    runs = {size: Runs(reports, size) for size in {doc["window"] for doc in docs.values()}}
    rows: dict[tuple[Any, ...], int] = {}
    for size, run in runs.items():
        starts = pd.to_datetime(run.start, unit="D").strftime("%Y-%m-%d")
        places = zip(tickers.iloc[run.newest], starts, ends.iloc[run.newest], strict=True)
        rows |= {(size, *place): row for row, place in enumerate(places)}
    missing: dict[str, str] = {}
    parts: list[dict[str, Any]] = []
    for name, doc in sorted(docs.items()):
        run, row = (
            runs[doc["window"]],
            rows.get(tuple(doc[part] for part in ("window", "ticker", "start", "end"))),
        )
        if doc["ticker"] not in market.tickers:
            missing[name] = f"no prices or no reports of {doc['ticker']}"
        elif row is None:
            missing[name] = (
                f"no {run.size} reports from 30 days after {doc['start']} to {doc['end']}, within the prices"
            )
        elif flaws := [reason for reason, flaw in run.flaws.items() if flaw[row]]:
            missing[name] = REASONS[flaws[0]]
        else:
            moves = run.past_moves[row][run.is_similar[row] & (run.past_moves[row] >= 0)]
            counts = {"n_same": len(moves), "n_contrary": int((moves != doc["signal"]).sum())}
            part = {name: doc[name] for name in ("bias_type", "window", "signal", "truth")}
            parts.append({"row": run.newest[row], "start": run.start[row], **part, **counts})
    columns = ["row", "start", "bias_type", "window", "signal", "truth", "n_same", "n_contrary"]
    return Found(finding.table_of(reports, pd.DataFrame(parts, columns=columns), seed)), missing


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
    folder: Path, found: Found, market: Market, *, parameters: Mapping[str, Any]
) -> WindowSet:
    """Write a set and read it back; a set that is there is replaced, but its charts stay."""
    kept = found.table.groupby(["bias_type", "window"]).size()
    tables = (
        found.table,
        _shown(market.prices, "date", found.table),
        _shown(market.reports, "reported", found.table),
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "manifest.json").unlink(
        missing_ok=True
    )  # without it the folder is no set, should the build stop
    for name, table in zip(_FILES, tables, strict=True):
        table.to_parquet(folder / name, index=False, compression="zstd")
    manifest = {
        "fin_tasks": fin_tasks.__version__,
        "parameters": dict(parameters),
        "windows": len(found.table),
        "counts": [
            {**n, "kept": int(kept.get((n["bias_type"], n["window"]), 0))} for n in found.counts
        ],
        "files": {name: sha256_of(folder / name) for name in _FILES},
        "market": dict(market.facts),
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    return read_set(folder)


def read_set(folder: Path) -> WindowSet:
    """Read a set that `write_set` wrote, if its files are unchanged."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        facts = {
            "origin": "windows",
            **{name: manifest[name] for name in ("parameters", "files", "market")},
        }
        if changed := [name for name in _FILES if sha256_of(folder / name) != facts["files"][name]]:
            raise ValueError(f"{changed[0]} is not the file that the manifest names")
        windows, prices, reports = (pd.read_parquet(folder / name) for name in _FILES)
        market = Market.of(prices, reports, facts=facts["market"])
        return WindowSet(finding.typed(windows), market, folder / "charts", facts)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{folder}: expected windows of `fin-tasks build dynostock`, got {error!r}."
        ) from error


@lru_cache(maxsize=2)  # the tasks of a group ask for the same set
def find_set(
    *, sample: bool, windows_dir: str | None, data_dir: Path | None, settings: Settings
) -> WindowSet:
    """Return the sample, the set in a folder, or the set in `dynostock/windows` of the data folder or the cache."""
    if sample:
        if windows_dir:
            raise ConfigError(
                f"metadata windows_dir: expected none with source sample, got {windows_dir!r}."
            )
        return _sample_set(settings)
    roots = [
        root / "dynostock" / "windows"
        for root in (data_dir, settings.cache_dir)
        if root is not None
    ]
    places = (
        [Path(windows_dir).expanduser()]
        if windows_dir
        else [place for place in roots if place.is_dir()]
    )
    if not places:
        raise ConfigError(
            f"dynostock: expected a set of windows in {' or '.join(map(str, roots))}, found none. Run `fin-tasks fetch "
            "dynostock` and `fin-tasks build dynostock`, name its folder as windows_dir, or use source: sample."
        )
    return read_set(places[0])


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
    return WindowSet(table, market, settings.cache_dir / "dynostock" / "charts", facts)


def _shown(rows: pd.DataFrame, day: str, windows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows from the first to the last day on which a window shows their ticker."""
    spans = (
        windows.groupby("ticker")
        .agg(first=("start", "min"), last=("end", "max"))
        .reindex(rows["ticker"])
    )
    days = rows[day].to_numpy()
    return rows[
        (days >= spans["first"].to_numpy()) & (days <= spans["last"].to_numpy())
    ].reset_index(drop=True)
