"""Prices and reports in words."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shown_windows import daily, one, plain, report, sample_market, sample_windows, with_candles

from fin_tasks.benchmarks.dynostock.market import Market
from fin_tasks.benchmarks.dynostock.narrative import FREQUENCIES, TEXTS, in_words, price_periods, reports_shown
from fin_tasks.errors import DataError

JULY = plain("X", end=date(2004, 7, 14), start=date(2004, 7, 5), window=1)


def market(*, candles: bool = True) -> Market:
    closes = daily("X", "2004-07-05", [10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 0.5, 99.0])
    reports = [report("X", "2004-07-14", eps=1.02)]
    return Market.of(with_candles(closes) if candles else closes, pd.DataFrame(reports))


def test_a_table_has_every_figure_up_to_the_last_day() -> None:
    assert in_words(market(), JULY) == (
        "Share prices in dollars, adjusted for splits and perhaps for dividends, one row per trading day:\n"
        "Date,Open,High,Low,Close,Volume (millions)\n"
        "2004-07-05,9.50,11.00,9.00,10.00,0.00\n"
        "2004-07-06,10.50,12.00,10.00,11.00,1.00\n"
        "2004-07-07,11.50,13.00,11.00,12.00,2.00\n"
        "2004-07-08,12.50,14.00,12.00,13.00,3.00\n"
        "2004-07-09,13.50,15.00,13.00,14.00,4.00\n"
        "2004-07-12,14.50,16.00,14.00,15.00,5.00\n"
        "2004-07-13,15.50,17.00,15.00,16.00,6.00\n"
        "2004-07-14,0.0000,1.50,-0.5000,0.5000,7.00\n"
        "\n"
        "Earnings reports, in dollars per share:\n"
        "Reported,Quarter end,EPS,Estimate,Surprise,Surprise %,Outcome\n"
        "2004-07-14,2004-06-24,1.02,1.00,0.02,2.0%,Meet"
    )


@pytest.mark.parametrize("frequency", FREQUENCIES)
@pytest.mark.parametrize("text", TEXTS)
def test_no_prices_are_said_to_be_free_of_dividends(text: str, frequency: str) -> None:
    # a file of adjusted closes does not say so, hence the words have to hold for it too
    words = in_words(market(), JULY, text=text, frequency=frequency).splitlines()[0]  # type: ignore[arg-type]
    assert "adjusted for splits and perhaps for dividends" in words


def test_a_narrative_tells_events_in_order() -> None:
    lines = in_words(market(), JULY, text="narrative").splitlines()
    assert len(lines) == 1 + 8 + 1
    assert lines[1] == (
        "On 2004-07-05 the share traded between 9.00 and 11.00 and closed at 10.00; 0.00 million shares changed hands."
    )
    assert lines[-1].startswith("On 2004-07-14 the company reported earnings of 1.02 a share")
    assert lines[-1].endswith("The surprise was 0.02 (2.0%): Meet.")


def test_weeks_end_on_their_last_trading_day() -> None:
    lines = in_words(market(), JULY, text="narrative", frequency="weekly").splitlines()
    assert lines[1:] == [
        "From 2004-07-05 to 2004-07-09 the share traded between 9.00 and 15.00 and closed at 14.00; "
        "10.00 million shares changed hands.",
        "From 2004-07-12 to 2004-07-14 the share traded between -0.5000 and 17.00 and closed at 0.5000; "
        "18.00 million shares changed hands.",
        "On 2004-07-14 the company reported earnings of 1.02 a share for the quarter to 2004-06-24, against an "
        "estimate of 1.00. The surprise was 0.02 (2.0%): Meet.",
    ]


def test_closes_alone_are_shown_alone() -> None:
    words = in_words(market(candles=False), JULY, frequency="monthly")
    assert "Date,Close\n2004-07-14,0.5000\n" in words
    words = in_words(market(candles=False), JULY, text="narrative", frequency="monthly")
    assert "From 2004-07-05 to 2004-07-14 the share ended at 0.5000." in words


def test_unknown_figures_are_called_so() -> None:
    table = pd.DataFrame([report("X", "2004-07-14", estimate=float("nan"))])
    prices = with_candles(daily("X", "2004-07-05", [10.0, float("nan")]))
    words = in_words(Market.of(prices.assign(volume=float("nan")), table), JULY)
    assert "2004-07-05,9.50,11.00,9.00,10.00,not known" in words
    assert words.endswith("2004-07-14,2004-06-24,1.00,not known,not known,not known,not known")


def test_prices_of_another_set_are_an_error() -> None:
    with pytest.raises(DataError, match="prices of X: expected some from 2004-07-05 to 2004-07-14, found none"):
        in_words(sample_market(), JULY)


def test_a_window_shows_its_number_of_reports_and_no_more() -> None:
    reports = [report("X", day) for day in ("2004-07-06", "2004-07-12", "2004-07-14", "2004-07-15")]
    several = Market.of(daily("X", "2004-07-05", [1.0] * 9), pd.DataFrame(reports))
    shown = reports_shown(several, plain("X", end=date(2004, 7, 14), start=date(2004, 7, 5), window=2))
    assert shown["reported"].dt.day.tolist() == [12, 14]


@pytest.mark.parametrize("frequency", FREQUENCIES)
@pytest.mark.parametrize("text", TEXTS)
def test_every_sample_window_names_each_of_its_reports_once(text: str, frequency: str) -> None:
    for window in sample_windows()[::8]:
        words = in_words(sample_market(), window, text=text, frequency=frequency)  # type: ignore[arg-type]
        reported = reports_shown(sample_market(), window)["reported"]
        assert len(reported) == window.window
        if text == "narrative":
            assert words.count("the company reported") == window.window
        else:
            assert len(words.split("Outcome\n")[1].splitlines()) == window.window


@settings(deadline=None)
@given(
    closes=st.lists(st.floats(0.01, 1e4) | st.just(float("nan")), min_size=1, max_size=60),
    gaps=st.lists(st.integers(1, 40), min_size=60, max_size=60),
    frequency=st.sampled_from(["weekly", "monthly"]),
)
def test_periods_sum_up_what_the_days_say(closes: list[float], gaps: list[int], frequency: str) -> None:
    days = pd.Timestamp("2004-01-01") + pd.to_timedelta(np.cumsum(gaps[: len(closes)]), unit="D")
    close = np.array(closes)
    history = pd.DataFrame(
        {"open": close + 1, "high": close + 2, "low": close - 1, "close": close, "volume": np.abs(close)},
        index=pd.DatetimeIndex(days, name="date"),
    )
    periods = price_periods(history, frequency)  # type: ignore[arg-type]
    # slowly: walk through the days and start anew whenever the week (after a Friday) or the month changes
    groups: dict[tuple[int, int], list[pd.Timestamp]] = {}
    for day in days:
        friday = day + pd.Timedelta(days=(4 - day.weekday()) % 7)
        key = (0, friday.toordinal()) if frequency == "weekly" else (day.year, day.month)
        groups.setdefault(key, []).append(day)
    assert len(periods) == len(groups)
    for (last, row), members in zip(periods.iterrows(), groups.values(), strict=True):
        part = history.loc[members]
        assert (last, row["first"]) == (members[-1], members[0])
        known = part.dropna()
        if known.empty:
            assert row[["open", "high", "low", "close", "volume"]].isna().all()
            continue
        assert row["open"] == known["open"].iloc[0]
        assert row["close"] == known["close"].iloc[-1]
        assert (row["high"], row["low"]) == (known["high"].max(), known["low"].min())
        assert row["volume"] == pytest.approx(known["volume"].sum())


def test_days_are_left_as_they_are() -> None:
    window = one("recency")
    history = sample_market().history(window.ticker, window.start, window.end)
    pd.testing.assert_frame_equal(price_periods(history, "daily").drop(columns="first"), history)
