"""The stocks of the S&P 500, from the encyclopedia's list."""

import hashlib
import io
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import pandas as pd

from fin_tasks.benchmarks.dynostock.market.patience import Patience, ask
from fin_tasks.benchmarks.dynostock.market.price_rows import TICKER
from fin_tasks.errors import FetchError
from fin_tasks.settings import Settings

__all__ = ["Constituents", "fetch_constituents", "parse_constituents"]

_PAGE = "/wiki/List_of_S%26P_500_companies"
_COLUMN = "Symbol"


@dataclass(frozen=True, kw_only=True)
class Constituents:
    """Tickers and where they come from.

    Attributes:
        tickers: As Yahoo writes them: `BRK-B`.
        facts: Source, day and hash of the list: JSON-compatible.
    """

    tickers: tuple[str, ...]
    facts: dict[str, Any]


def fetch_constituents(settings: Settings, *, patience: Patience | None = None) -> Constituents:
    """Fetch today's list.

    Raises:
        FetchError: The page cannot be fetched, or has no such list.
    """
    url = settings.wikipedia + _PAGE
    page = ask(url, subject="S&P 500 list", patience=patience or Patience())
    tickers = parse_constituents(page)
    facts = {
        "source": url,
        "retrieved": datetime.now(timezone.utc).date().isoformat(),
        "n": len(tickers),
        "sha256": hashlib.sha256("\n".join(tickers).encode()).hexdigest(),
    }
    return Constituents(tickers=tickers, facts=facts)


def parse_constituents(page: str) -> tuple[str, ...]:
    """Read the tickers of the page's table, in its order, each once; a dot before a share class becomes a hyphen.

    Raises:
        FetchError: There is no table of symbols, or a symbol is no ticker.
    """
    by_hand = "Give the tickers yourself: --tickers FILE."
    try:
        tables = pd.read_html(io.StringIO(page), flavor="lxml", keep_default_na=False)
    except (ValueError, SyntaxError) as error:  # pandas' and lxml's words for a page without tables
        raise FetchError(f"S&P 500 list: expected a table of symbols, got a page without tables. {by_hand}") from error
    except ImportError as error:
        raise FetchError(
            f"S&P 500 list: expected lxml. Install it: pip install 'fin-tasks[market]'. {by_hand}"
        ) from error
    table = next((table for table in tables if _COLUMN in table.columns), None)
    if table is None or not len(table):
        raise FetchError(f"S&P 500 list: expected a table with the column {_COLUMN}, found none. {by_hand}")
    tickers = tuple(dict.fromkeys(str(cell).strip().upper().replace(".", "-") for cell in table[_COLUMN]))
    if bad := [ticker for ticker in tickers if not TICKER.fullmatch(ticker)]:
        raise FetchError(f"S&P 500 list: expected tickers such as AAPL, got {bad[0]!r}. {by_hand}")
    return tickers
