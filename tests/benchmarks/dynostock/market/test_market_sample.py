"""The market that needs no network."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fin_tasks import resources
from fin_tasks.benchmarks.dynostock.market.report_files import checked_reports, read_report_file
from fin_tasks.benchmarks.dynostock.market.sample import sample_market
from fin_tasks.errors import DataError

HISTORY = Path(__file__).parents[5] / "shared" / "data" / "dynostock" / "eps_history"


def test_real_prices_without_splits_and_their_reports() -> None:
    market = sample_market()
    assert market is sample_market(), "read once"
    assert market.tickers == ("AAPL", "IBM", "MSFT")
    assert {"AAPL", "GOOG", "IBM", "MSFT"} <= set(market.prices["ticker"])
    assert market.defects == ()
    assert market.has_candles
    first = market.prices.iloc[0]
    assert first["close"] == 4.186662803811
    assert first["volume"] == pytest.approx(9616100 * 130.31 / 4.186662803811)
    ibm = market.prices[market.prices["ticker"] == "IBM"]
    assert np.log(ibm["close"]).diff().abs().max() < 0.2
    assert market.facts["prices"]["adjusted"] == {"AAPL": ["2000-06-21", "2005-02-28"], "MSFT": ["2003-02-18"]}


@pytest.mark.skipif(not HISTORY.is_dir(), reason="the real files are not beside the checkout")
def test_every_figure_is_that_of_the_history() -> None:
    ours = sample_market().reports
    for ticker, reports in ours.groupby("ticker"):
        path = HISTORY / f"data-{ticker}.json"
        theirs = checked_reports(read_report_file(path), path.name)[0]
        theirs = theirs[theirs["reported"].dt.year.between(2000, 2013)].sort_values("reported", ignore_index=True)
        assert reports.reset_index(drop=True).equals(theirs)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"sample prices: .*bokeh-sampledata>=2026\.1"):
        sample_market.__wrapped__()


def test_the_packages_modules_are_not_imported() -> None:
    code = "import sys; from fin_tasks.benchmarks.dynostock.market.sample import sample_market as s; s(); "
    code += "print(sorted(m for m in sys.modules if m.startswith('bokeh')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
