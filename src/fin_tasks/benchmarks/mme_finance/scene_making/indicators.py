"""Technical indicators, computed by the library stockstats."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["INDICATORS", "Indicator", "average", "compute"]

Name = Literal["macd", "rsi", "kdj", "bollinger"]


@dataclass(frozen=True, kw_only=True)
class Indicator:
    """An indicator with its usual parameters.

    Attributes:
        title: As printed.
        parameters: As printed.
        columns: Name of each line as printed, to stockstats' name of it.
        decimals: Places after the point of printed values.
    """

    title: str
    parameters: str
    columns: Mapping[str, str]
    decimals: int


INDICATORS: Mapping[Name, Indicator] = {
    "macd": Indicator(
        title="MACD",
        parameters="(12, 26, 9)",
        columns={"DIF": "macd_12,26,9", "DEA": "macds_12,26,9", "MACD": "macdh_12,26,9"},
        decimals=3,
    ),
    "rsi": Indicator(title="RSI", parameters="(14)", columns={"RSI": "rsi_14"}, decimals=2),
    "kdj": Indicator(
        title="KDJ",
        parameters="(9, 3, 3)",
        columns={"K": "kdjk_9", "D": "kdjd_9", "J": "kdjj_9"},
        decimals=2,
    ),
    "bollinger": Indicator(
        title="BOLL",
        parameters="(20, 2)",
        columns={"UPPER": "boll_ub", "MID": "boll", "LOWER": "boll_lb"},
        decimals=2,
    ),
}


def compute(name: Name, prices: "pd.DataFrame") -> dict[str, "pd.Series[float]"]:
    """Compute an indicator.

    Moving average convergence divergence: DIF is the 12-day minus the 26-day exponential average of closes, DEA the
    9-day exponential average of DIF, MACD twice their difference. RSI: Wilder's, 14 days. KDJ: K smooths the 9-day
    stochastic by a third a day, D smooths K alike, J = 3 K - 2 D. Bollinger bands: the 20-day average, and two of its
    standard deviations (of a sample, n - 1) above and below.

    Args:
        name: Which one.
        prices: `open`, `high`, `low`, `close` and `volume` by day, enough days before the first one of interest.

    Returns:
        Each line by its printed name, with the index of `prices`.

    Raises:
        ConfigError: stockstats is not installed.
    """
    try:
        import stockstats
    except ImportError as error:
        raise ConfigError(
            "technical indicators: expected the package stockstats, found none. "
            "Install it: pip install 'fin-tasks[pictures]'"
        ) from error
    table: Any = stockstats.wrap(prices.copy())
    lines = {printed: table[column].astype(float) for printed, column in INDICATORS[name].columns.items()}
    if name == "macd":
        lines["MACD"] = 2 * lines["MACD"]
    return lines


def average(prices: "pd.DataFrame", days: int) -> "pd.Series[float]":
    """Return the simple moving average of the closes over `days` days, of closes in whole cents.

    Example:
        >>> import pandas as pd
        >>> average(pd.DataFrame({"close": [10.0, 10.01, 10.03]}), 2).round(3).tolist()
        [nan, 10.005, 10.02]
    """
    cents = (prices["close"] * 100).round()  # whole numbers, whose running sums are exact
    return cents.rolling(days).sum() / (100 * days)
