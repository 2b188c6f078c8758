"""The earnings history that the authors published: Alpha Vantage's answers of early 2024, pinned."""

import json
from dataclasses import dataclass, field

import pandas as pd

from fin_tasks.benchmarks.dynostock.market.report_files import reports_of_answer
from fin_tasks.data.fetch import load_pins, locate
from fin_tasks.errors import FetchError
from fin_tasks.settings import Settings

__all__ = ["UpstreamReports"]


@dataclass(frozen=True, kw_only=True)
class UpstreamReports:
    """A source of earnings reports that never changes."""

    settings: Settings = field(repr=False)

    @property
    def name(self) -> str:
        """Repository and revision."""
        pins = load_pins("dynostock")
        return f"{pins.repo}@{pins.revision}"

    def reports(self, ticker: str) -> pd.DataFrame:
        """Return a ticker's reports, cells as text.

        Raises:
            FetchError: The authors have no file of this ticker, or it cannot be downloaded.
            DataError: The file is not the pinned one.
        """
        path = f"data/eps_history/data-{ticker}.json"
        if path not in {pin.path for pin in load_pins("dynostock").files}:
            raise FetchError(f"the authors have no earnings history of {ticker}")
        found = locate("dynostock", [path], source="upstream", settings=self.settings)
        answer = json.loads(found.files[path].read_text(encoding="utf-8"))
        return reports_of_answer(answer, name=path, ticker=ticker).assign(ticker=ticker)
