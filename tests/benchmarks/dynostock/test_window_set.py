"""Sets of windows: what a folder holds, how it is written and when it is refused."""

import json
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from filelock import FileLock
from hypothesis import given, settings
from hypothesis import strategies as st

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.window import BIASES, frame_of, windows_of
from fin_tasks.benchmarks.dynostock.window_set import MANIFEST, read_set, sample_set, sampled, shown_days, write_set
from fin_tasks.benchmarks.dynostock.windows import WINDOWS, Found, find_windows, plain_window
from fin_tasks.data.tables import Defect
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings


def walk(*tickers: str, candles: bool = True) -> Market:
    """Random walks over four years of weekdays, with a report each quarter."""
    rng = np.random.default_rng(7)
    days = pd.bdate_range("2010-01-04", periods=1040, unit="ns")
    prices = pd.concat(
        pd.DataFrame({"ticker": ticker, "date": days, "close": 50 + rng.normal(size=len(days)).cumsum() / 20})
        for ticker in tickers
    )
    if candles:
        prices = prices.assign(open=prices["close"], high=prices["close"], low=prices["close"], volume=1.0)
    reported = days[25::63][:15]
    reports = pd.concat(
        pd.DataFrame({"ticker": ticker, "reported": reported, "fiscal_end": reported - pd.Timedelta(days=21)})
        for ticker in tickers
    ).assign(eps=1.0, estimate=0.9, surprise=0.1, surprise_percentage=11.1)
    return Market.of(prices, reports, facts={"prices": {"files": {"a.csv": "00"}, "rows": len(prices)}})


@pytest.fixture(scope="module")
def market() -> Market:
    return walk("AB", "CD")


@pytest.fixture(scope="module")
def found(market: Market) -> Found:
    found = find_windows(market, windows=[4, 6])
    assert sum(count.found >= 2 for count in found.counts) >= 3
    return found


def test_a_set_comes_back_as_it_was_written(tmp_path: Path, market: Market, found: Found) -> None:
    written = write_set(tmp_path / "new" / "set", found, market, parameters={"seed": 42})
    back = read_set(tmp_path / "new" / "set")
    for made in (written, back):
        pd.testing.assert_frame_equal(made.table, found.table)
        assert made.charts == tmp_path / "new" / "set" / "charts"
        assert made.market.tickers == market.tickers
    assert sorted(path.name for path in (tmp_path / "new" / "set").iterdir()) == [
        *(".lock", MANIFEST, "prices.parquet", "reports.parquet", "windows.parquet")
    ]
    assert back.select("recency", 4) == windows_of(found.table.query("bias_type == 'recency' and window == 4"))
    assert len(back.select("authority")) == (found.table["bias_type"] == "authority").sum()
    assert back.select("recency", 99) == []


def test_the_set_shows_what_the_market_shows(tmp_path: Path, market: Market, found: Found) -> None:
    back = write_set(tmp_path, found, market, parameters={})
    for window in windows_of(back.table):
        span = (window.ticker, window.start, window.end)
        pd.testing.assert_frame_equal(back.market.history(*span), market.history(*span))
        pd.testing.assert_frame_equal(back.market.reports_between(*span), market.reports_between(*span))


def test_closes_alone_do_too(tmp_path: Path) -> None:
    market = walk("AB", candles=False)
    back = write_set(tmp_path, find_windows(market, windows=[4]), market, parameters={})
    assert not back.market.has_candles


def test_no_other_days_than_the_windows(market: Market, found: Found) -> None:
    shown = shown_days(market, found.table)
    windows = windows_of(found.table)

    def expected(rows: pd.DataFrame, day: str) -> list[tuple[str, pd.Timestamp]]:
        return [
            (ticker, stamp)
            for ticker, stamp in zip(rows["ticker"], rows[day], strict=True)
            if any(w.ticker == ticker and w.start <= stamp.date() <= w.end for w in windows)
        ]

    assert list(zip(shown.prices["ticker"], shown.prices["date"], strict=True)) == expected(market.prices, "date")
    assert list(zip(shown.reports["ticker"], shown.reports["reported"], strict=True)) == expected(
        market.reports, "reported"
    )
    assert len(shown.prices) < len(market.prices)


def test_nothing_after_the_only_window(tmp_path: Path, market: Market) -> None:
    window = plain_window(market, "CD", date(2010, 3, 1), date(2011, 3, 1))
    back = write_set(tmp_path, Found(frame_of([window]), ()), market, parameters={})
    assert back.select("plain") == [window]
    assert set(back.market.prices["ticker"]) == {"CD"}
    assert back.market.prices["date"].max().date() == date(2011, 3, 1)
    assert back.market.reports["reported"].max().date() <= date(2011, 3, 1)


def test_an_empty_set(tmp_path: Path, market: Market) -> None:
    back = write_set(tmp_path, Found(frame_of([]), ()), market, parameters={})
    assert (len(back.table), len(back.market.prices)) == (0, 0)


def test_writing_again_replaces_the_files_and_keeps_the_charts(tmp_path: Path, market: Market, found: Found) -> None:
    write_set(tmp_path, found, market, parameters={})
    (tmp_path / "charts").mkdir()
    (tmp_path / "charts" / "one.png").write_bytes(b"drawn")
    first = {path.name: path.read_bytes() for path in tmp_path.glob("*.*")}
    write_set(tmp_path, found, market, parameters={})
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.*")} == first
    fewer = replace(found, table=sampled(found.table, 1))
    assert len(write_set(tmp_path, fewer, market, parameters={}).table) == sum(c.found > 0 for c in found.counts)
    assert (tmp_path / "charts" / "one.png").read_bytes() == b"drawn"


def test_the_manifest_says_what_was_done(tmp_path: Path, market: Market, found: Found) -> None:
    kept = replace(found, table=sampled(found.table, 2))
    facts = write_set(tmp_path, kept, market, parameters={"samples": 2}).facts
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    assert manifest["parameters"] == facts["parameters"] == {"samples": 2}
    assert manifest["market"] == market.facts
    assert manifest["files"] == facts["files"]
    assert [count["found"] for count in manifest["counts"]] == [count.found for count in found.counts]
    assert [count["kept"] for count in manifest["counts"]] == [min(count.found, 2) for count in found.counts]
    assert facts["market"]["prices"]["files"] == 1  # a hash in place of the list
    assert set(manifest["versions"]) == {"fin-tasks", "python", "numpy", "pandas"}
    assert str(tmp_path) not in json.dumps(manifest)


@pytest.mark.parametrize("name", ["windows.parquet", "prices.parquet", "reports.parquet"])
def test_a_changed_file_is_refused(tmp_path: Path, market: Market, found: Found, name: str) -> None:
    write_set(tmp_path, found, market, parameters={})
    table = pd.read_parquet(tmp_path / name)
    table.iloc[1:].to_parquet(tmp_path / name)
    with pytest.raises(DataError, match=rf"{name}: expected the file that manifest.json names, .*fin-tasks build"):
        read_set(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(DataError, match=f"{name}: expected a readable file"):
        read_set(tmp_path)


def test_a_folder_without_a_usable_manifest_is_refused(tmp_path: Path, market: Market, found: Found) -> None:
    with pytest.raises(DataError, match=r"expected a set of windows, found no manifest\.json\..*fin-tasks build"):
        read_set(tmp_path)
    write_set(tmp_path, found, market, parameters={})
    manifest = json.loads((tmp_path / MANIFEST).read_text())
    for text, message in (
        ("{", "expected JSON"),
        ("[]", "expected format 1, got None"),
        (json.dumps({**manifest, "format": 2}), "expected format 1, got 2"),
        (json.dumps({**manifest, "files": []}), "expected an object under 'files'"),
    ):
        (tmp_path / MANIFEST).write_text(text)
        with pytest.raises(DataError, match=message):
            read_set(tmp_path)


def test_a_build_that_is_stopped_leaves_no_set(
    tmp_path: Path, market: Market, found: Found, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_set(tmp_path, found, market, parameters={})
    moved: list[str] = []
    rename = Path.replace

    def stop_at_the_second(self: Path, target: Path) -> Path:
        moved.append(target.name)
        if len(moved) == 2:
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "replace", stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        write_set(tmp_path, replace(found, table=sampled(found.table, 1)), market, parameters={})
    monkeypatch.undo()
    with pytest.raises(DataError, match="A build that was stopped leaves none"):
        read_set(tmp_path)
    assert len(write_set(tmp_path, found, market, parameters={}).table) == len(found.table)
    assert not list(tmp_path.glob(".writing-*"))


def test_what_a_killed_build_left_is_removed_and_a_running_one_is_waited_for(
    tmp_path: Path, market: Market, found: Found
) -> None:
    (tmp_path / ".writing-killed").mkdir()
    (tmp_path / ".writing-killed" / "windows.parquet").write_bytes(b"half")
    with ThreadPoolExecutor(1) as another:
        with FileLock(tmp_path / ".lock"):
            waiting = another.submit(write_set, tmp_path, found, market, parameters={})
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.5)
            assert (tmp_path / ".writing-killed").exists()
        assert len(waiting.result().table) == len(found.table)
    assert not list(tmp_path.glob(".writing-*"))


def test_defects_are_counted_and_the_first_are_told_of(tmp_path: Path, market: Market, found: Found) -> None:
    odd = tuple(Defect("duplicate-day", f"AB {n}", "x" * 1000) for n in range(30))
    write_set(tmp_path, found, replace(market, defects=(*odd, Defect("bad-date", "a.csv", "7"))), parameters={})
    defects = json.loads((tmp_path / MANIFEST).read_text())["defects"]
    assert defects["bad-date"] == {"count": 1, "first": [{"id": "a.csv", "detail": "7"}]}
    assert defects["duplicate-day"]["count"] == 30
    assert [one["id"] for one in defects["duplicate-day"]["first"]] == [f"AB {n}" for n in range(20)]
    assert {len(one["detail"]) for one in defects["duplicate-day"]["first"]} == {300}


def test_a_folder_that_cannot_be(tmp_path: Path, market: Market, found: Found) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"file: expected a folder that can be written, got 'File exists'"):
        write_set(tmp_path / "file", found, market, parameters={})


# Samples


@settings(max_examples=30, deadline=None)
@given(n=st.integers(1, 8), seed=st.integers(0, 2**40), shuffle=st.randoms())
def test_a_sample_depends_on_seed_and_windows_only(n: int, seed: int, shuffle: object) -> None:
    table = SOME
    chosen = sampled(table, n, seed=seed)
    sizes = table.groupby(["bias_type", "window"]).size()
    assert (chosen.groupby(["bias_type", "window"]).size() == sizes.clip(upper=n)).all()
    assert chosen["id"].tolist() == [name for name in table["id"] if name in set(chosen["id"])]
    order = list(range(len(table)))
    shuffle.shuffle(order)  # type: ignore[attr-defined]
    assert set(sampled(table.iloc[order], n, seed=seed)["id"]) == set(chosen["id"])
    assert set(sampled(table, n + 1, seed=seed)["id"]) >= set(chosen["id"])
    other = table[table["window"] == 4]
    assert set(sampled(other, n, seed=seed)["id"]) == set(chosen["id"]) & set(other["id"])


SOME = find_windows(walk("AB", "CD", "EF"), windows=[4, 6]).table


def test_samples_differ_by_seed_and_none_is_all() -> None:
    assert len({tuple(sampled(SOME, 2, seed=seed)["id"]) for seed in range(20)}) > 10
    assert sampled(SOME, 0).equals(SOME)


def test_the_packaged_sample(tmp_path: Path) -> None:
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path)})
    windows = sample_set(settings)
    assert sample_set(settings) is windows
    assert windows.charts == tmp_path / "dynostock" / "charts"
    for bias in BIASES:
        for size in WINDOWS:
            assert len(windows.select(bias, size)) >= 10
    assert windows.facts["parameters"]["share"] == 0.6
    assert windows.facts["origin"] == "sample"
    json.dumps(windows.facts)
