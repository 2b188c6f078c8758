"""What of DynoStock is on this machine: the fetched market, and the set of windows the tasks would take."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.dynostock.window_set import MANIFEST, WindowSet, read_set, sample_set
from fin_tasks.settings import Settings

__all__ = ["Inspection", "MarketState", "SetState", "inspect"]


@dataclass(frozen=True, kw_only=True)
class MarketState:
    """A folder that `fin-tasks fetch dynostock` fills.

    Attributes:
        folder: Where it is.
        done: `prices` and `earnings` to how many tickers are there.
        failed: The same to ticker and reason, of those whose last try failed.
    """

    folder: str
    done: Mapping[str, int]
    failed: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, kw_only=True)
class SetState:
    """A set of windows, whole and unchanged.

    Attributes:
        folder: Where it is; empty for the packaged sample.
        parameters: What decided which windows there are.
        windows: Bias to window size to how many there are.
        tickers: How many stocks they are of.
        charts: How many charts are drawn.
    """

    folder: str
    parameters: Mapping[str, Any]
    windows: Mapping[str, Mapping[int, int]]
    tickers: int
    charts: int


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """Market and set; None where there is none."""

    market: MarketState | None
    windows: SetState | None

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON-compatible values."""
        return asdict(self)


def inspect(*, settings: Settings, data_dir: Path | None = None, sample: bool = False) -> Inspection:
    """Look at what is here.

    Args:
        settings: Where the cache and the data folder are.
        data_dir: Folder to look in for `dynostock/windows` before the cache.
        sample: Look at the packaged sample instead.

    Raises:
        DataError: A manifest is broken, or the set's files are not those that were written.
    """
    if sample:
        return Inspection(market=None, windows=_set_state(sample_set(settings), ""))
    cache = settings.cache_dir / "dynostock"
    places = [root / "dynostock" for root in (data_dir or settings.data_dir,) if root is not None] + [cache]
    folder = next((place / "windows" for place in places if (place / "windows" / MANIFEST).is_file()), None)
    return Inspection(
        market=_market_state(cache / "market"),
        windows=None if folder is None else _set_state(read_set(folder), str(folder)),
    )


def _market_state(folder: Path) -> MarketState | None:
    manifest = folder / MANIFEST
    if not manifest.is_file():
        return None
    return MarketState(
        folder=str(folder),
        done={part: len(list((folder / part).glob("*"))) for part in ("prices", "earnings")},
        failed=json.loads(manifest.read_text(encoding="utf-8"))["failed"],
    )


def _set_state(found: WindowSet, folder: str) -> SetState:
    counts = found.table.groupby(["bias_type", "window"]).size().to_dict()
    windows: dict[str, dict[int, int]] = {}
    for (bias, size), n in counts.items():
        windows.setdefault(str(bias), {})[int(size)] = int(n)
    return SetState(
        folder=folder,
        parameters=dict(found.facts["parameters"]),
        windows=windows,
        tickers=int(found.table["ticker"].nunique()),
        charts=len(list(found.charts.glob("*.png"))) if folder else 0,
    )
