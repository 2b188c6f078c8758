"""Rebuild the windows of recordings, so that a new model is asked about the same windows."""

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

import pandas as pd

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.records import find_files, read_recording
from fin_tasks.benchmarks.dynostock.runs import Reports, Runs
from fin_tasks.benchmarks.dynostock.windows import REASONS, Found, table_of, window_id
from fin_tasks.errors import DataError

__all__ = ["rebuild_windows"]


def rebuild_windows(market: Market, paths: Sequence[Path], *, seed: int = 42) -> tuple[Found, dict[str, str]]:
    """Rebuild the windows of recordings with the figures of the market.

    Signal and truth stay as they were recorded.

    Returns:
        The windows, and the reason for each id that cannot be rebuilt.
    """
    recorded, missing = _recorded(paths)
    reports, parts = Reports(market), []
    places = {(ticker, int(day)): i for i, (ticker, day) in enumerate(zip(reports.names, reports.day, strict=True))}
    runs = {size: Runs(reports, size) for size in sorted({size for _, size, *_ in recorded.values()})}
    rows = {size: {newest: row for row, newest in enumerate(run.rows[:, 0].tolist())} for size, run in runs.items()}
    for name, (bias, size, ticker, start, end, signal, truth) in recorded.items():
        newest, run = places.get((ticker, _number(end))), runs[size]
        row = rows[size].get(-1 if newest is None else newest)
        if newest is None:
            known = ticker in market.tickers
            missing[name] = f"no report on {end} within the prices" if known else f"no prices or no reports of {ticker}"
        elif row is None:
            missing[name] = f"fewer than {size} reports up to {end} within the prices"
        elif run.start[row] != _number(start):
            first = date(1970, 1, 1) + timedelta(days=int(run.start[row]))
            missing[name] = f"the reports are others: the window would start on {first}, not on {start}"
        elif flaws := [text for text, flaw in zip(REASONS.values(), run.flaws, strict=False) if flaw[row]]:
            missing[name] = flaws[0]
        else:
            same = run.past[row] & (run.past_moves[row] >= 0)
            part = {"row": newest, "start": run.start[row], "bias_type": bias, "window": size, "signal": signal}
            part |= {"truth": truth, "n_same": int(same.sum())}
            parts.append({**part, "n_contrary": int((same & (run.past_moves[row] != signal)).sum())})
    columns = ["row", "start", "bias_type", "window", "signal", "truth", "n_same", "n_contrary"]
    return Found(table_of(reports, pd.DataFrame(parts, columns=columns), seed)), missing


def _recorded(paths: Sequence[Path]) -> tuple[dict[str, tuple[str, int, str, str, str, int, int]], dict[str, str]]:
    """Return bias, size, ticker, start, end, signal and truth by window; recordings of several models share windows."""
    recorded: dict[str, tuple[str, int, str, str, str, int, int]] = {}
    missing: dict[str, str] = {}
    for path in find_files(paths):
        recording = read_recording(path)
        bias, size = recording.condition.bias, recording.window
        if bias not in ("recency", "authority") or size is None:
            raise DataError(f"{path}: expected a name with bias and window size, such as exp_recency_4.json.")
        for record in recording.records:
            name = window_id(bias, size, record.ticker, record.end)
            if record.signal is None or record.truth is None:
                missing[name] = "the recording has no signal or no truth"
                continue
            one = (bias, size, record.ticker, record.start, record.end, record.signal, record.truth)
            if recorded.setdefault(name, one) != one:
                missing[name] = "recordings differ in its start, signal or truth"
    return {name: one for name, one in sorted(recorded.items()) if name not in missing}, missing


def _number(day: str) -> int:
    try:
        return (date.fromisoformat(day[:10]) - date(1970, 1, 1)).days
    except ValueError as error:
        raise DataError(f"recording: expected days such as 2010-01-31, got {day!r}.") from error
