"""Sets of windows: written to a folder, read again, and rebuilt from recordings."""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import TypeAdapter

import fin_tasks
from fin_tasks.data.locate import sha256_of
from fin_tasks.errors import DataError

from .market import TABLES, Market
from .own_window import own_window
from .replay import find_files, read_recording
from .windows import Count, FoundWindows, Window, recorded_authorities

_FILES = ("windows.json", "prices.parquet", "reports.parquet")
_WINDOWS = TypeAdapter(Sequence[Window])


@dataclass(frozen=True, eq=False)
class WindowSet:
    """Windows with the prices and reports that they show."""

    windows: Sequence[Window]
    market: Market
    charts: Path
    """The folder of their charts."""
    facts: Mapping[str, Any]
    """What the provenance says about them."""


def sampled(
    windows: Sequence[Window],
    n: int,
    *,
    seed: int = 42,
) -> list[Window]:
    """Choose up to `n` windows of each bias and size (0: all) by a hash of seed and id alone."""

    def lot(window: Window) -> str:
        return hashlib.sha256(f"lot {seed} {window.id}".encode()).hexdigest()

    chosen_ids = set()
    counts: Counter[tuple[str, int]] = Counter()
    for window in sorted(windows, key=lot):
        kind = (window.bias_type, window.window)
        counts[kind] += 1
        if counts[kind] <= n or not n:
            chosen_ids.add(window.id)
    return [window for window in windows if window.id in chosen_ids]


def rebuild_windows(
    market: Market,
    paths: Sequence[Path],
    *,
    seed: int = 42,
) -> tuple[FoundWindows, dict[str, str]]:
    """Rebuild the windows of recordings with the recorded signal and truth, and the authors' figures.

    Also return why others cannot be rebuilt, by id.
    """
    docs = {}
    authorities = {}
    for path in find_files(paths):
        recording = read_recording(path)
        names = recorded_authorities(len(recording.docs), seed)
        # Recordings of several models share windows.
        for doc, name in zip(recording.docs, names, strict=True):
            docs[doc["id"]] = doc
            authorities[doc["id"]] = name if recording.bias == "authority" else ""
    missing = {}
    windows = []
    for name, doc in sorted(docs.items()):
        start = date.fromisoformat(doc["start"])
        end = date.fromisoformat(doc["end"])
        try:
            window = own_window(
                market,
                doc["ticker"],
                start,
                end,
            )
            last_day = market.last_days[doc["ticker"]]
            if window.window != doc["window"] or pd.Timestamp(end) > last_day:
                raise DataError(f"no {doc['window']} reports from {start} to {end}")
        except DataError as error:
            missing[name] = f"no such window in the prices and reports: {error}"
            continue
        n_up = window.n_contrary
        windows.append(
            replace(
                window,
                id=name,
                bias_type=doc["bias_type"],
                signal=doc["signal"],
                truth=doc["truth"],
                n_contrary=window.n_same - n_up if doc["signal"] else n_up,
                authority=authorities[name],
            )
        )
    return FoundWindows(windows), missing


def no_windows(counts: Sequence[Count], missing: Mapping[str, str]) -> DataError:
    """Return the error of a build without windows, which says how many candidates each rule dropped."""
    reasons = TABLES["reasons"]
    counts_by_reason = Counter(missing.values())
    for count in counts:
        counts_by_reason.update(count["dropped"], unbiased=count["unbiased"])
    lines = []
    # The plus sign leaves out counts of 0.
    for reason, n in (+counts_by_reason).most_common(len(reasons)):
        lines.append(f"{n} dropped: {reasons.get(reason, reason)}")
    if not lines:
        lines = ["no stock has as many reports within its prices"]
    return DataError(f"windows: expected some, found none: {'; '.join(lines)}.")


def write_set(
    folder: Path,
    found: FoundWindows,
    market: Market,
    *,
    parameters: Mapping[str, Any],
) -> WindowSet:
    """Write a set and read it back. A set that is already in the folder is replaced, but its charts stay."""
    folder.mkdir(parents=True, exist_ok=True)
    manifest = folder / "manifest.json"
    # If writing stops halfway, the folder is no set.
    manifest.unlink(missing_ok=True)
    (folder / "windows.json").write_bytes(_WINDOWS.dump_json(found.windows))
    by_ticker = pd.DataFrame(map(vars, found.windows)).groupby("ticker")
    spans = by_ticker.agg({"start": "min", "end": "max"}).apply(pd.to_datetime)
    for name, rows, day in (
        ("prices", market.prices, "date"),
        ("reports", market.reports, "reported"),
    ):
        # Only days from the start of a ticker's first window to the end of its last one are kept.
        row_spans = spans.reindex(rows["ticker"]).set_index(rows.index)
        is_visible = rows[day].between(row_spans["start"], row_spans["end"])
        rows[is_visible].to_parquet(folder / f"{name}.parquet", index=False)
    kept = Counter((item.bias_type, item.window) for item in found.windows)
    counts = []
    for count in found.counts:
        counts.append({**count, "kept": kept[count["bias_type"], count["window"]]})
    facts = {
        "fin_tasks": fin_tasks.__version__,
        "parameters": parameters,
        "windows": len(found.windows),
        "counts": counts,
        "files": {name: sha256_of(folder / name) for name in _FILES},
        "market": market.facts,
    }
    manifest.write_text(json.dumps(facts, indent=1) + "\n", "utf-8")
    return read_set(folder)


def read_set(folder: Path) -> WindowSet:
    """Read a set that `write_set` wrote, if its files are unchanged."""
    try:
        manifest = json.loads((folder / "manifest.json").read_bytes())
        for name in _FILES:
            if sha256_of(folder / name) != manifest["files"][name]:
                raise ValueError(f"{name} is not the file that the manifest names")
        windows = _WINDOWS.validate_json((folder / _FILES[0]).read_bytes())
        prices, reports = [pd.read_parquet(folder / name) for name in _FILES[1:]]
        facts = {name: manifest[name] for name in ("parameters", "files", "market")}
        market = Market.of(prices, reports, facts["market"])
        facts["origin"] = "windows"
        return WindowSet(
            windows,
            market,
            folder / "charts",
            facts,
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{folder}: expected windows of `fin-tasks build dynostock`, got {error!r}."
        ) from error
