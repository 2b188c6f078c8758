"""The earnings history that the authors published: Alpha Vantage's answers of early 2024, pinned."""

import json
from dataclasses import dataclass, field

import pandas as pd

from fin_tasks.benchmarks.dynostock.market.report_files import reports_of_answer
from fin_tasks.data.sources import Source, load_source
from fin_tasks.data.store import Store
from fin_tasks.errors import FetchError

__all__ = ["UpstreamReports"]


@dataclass(frozen=True, kw_only=True)
class UpstreamReports:
    """A source of earnings reports that never changes.

    Attributes:
        store: The cache the files come to.
        source: The pinned files.
    """

    store: Store = field(repr=False)
    source: Source = field(default_factory=lambda: load_source("dynostock"), repr=False)

    @property
    def name(self) -> str:
        """Repository and revision."""
        return f"{self.source.repo}@{self.source.revision}"

    def reports(self, ticker: str) -> pd.DataFrame:
        """Return a ticker's reports, cells as text.

        Raises:
            FetchError: The authors have no file of this ticker, or it cannot be downloaded.
            DataError: The file is not the pinned one.
        """
        path = f"data/eps_history/data-{ticker}.json"
        if path not in {file.path for file in self.source.files}:
            raise FetchError(f"{self.source.repo} has no earnings history of {ticker}")
        answer = json.loads(self.store.get(self.source, path).read_text(encoding="utf-8"))
        return reports_of_answer(answer, name=path, ticker=ticker).assign(ticker=ticker)
