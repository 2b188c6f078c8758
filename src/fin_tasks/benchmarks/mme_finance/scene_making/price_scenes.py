"""Scenes of real prices: candlesticks and technical indicators."""

from random import Random

from fin_tasks.benchmarks.mme_finance.row import Language
from fin_tasks.benchmarks.mme_finance.scene_making.indicators import INDICATORS, Name, average, compute
from fin_tasks.benchmarks.mme_finance.scene_making.prices import Window, choose_window
from fin_tasks.benchmarks.mme_finance.scene_making.wording import Words, shares
from fin_tasks.benchmarks.mme_finance.scenes import CandleScene, IndicatorScene, Prices

__all__ = ["candle_scene", "candles_of", "indicator_scene"]

_AVERAGES = (5, 10, 20)
_NAMES: tuple[Name, ...] = ("macd", "rsi", "kdj", "bollinger")

_DATE = Words("Date", "日期")
_OPEN = Words("Open", "开盘")
_HIGH = Words("High", "最高")
_LOW = Words("Low", "最低")
_CLOSE = Words("Close", "收盘")
_CHANGE = Words("Change", "涨跌幅")
_VOLUME = Words("Volume", "成交量")


def candle_scene(random: Random, language: Language) -> CandleScene:
    """Make a candlestick chart of 36 to 64 days of a real stock."""
    return candles_of(choose_window(random, shortest=36, longest=64), language)


def candles_of(window: Window, language: Language) -> CandleScene:
    """Make a candlestick chart of given days."""
    prices = window.prices(language)
    lines = {days: average(window.frame, days) for days in _AVERAGES}
    return CandleScene(
        language=language,
        prices=prices,
        averages={days: tuple(float(value) for value in line.iloc[-window.length :]) for days, line in lines.items()},
        header=_last_day(prices, language) | {f"MA{days}": f"{line.iloc[-1]:.2f}" for days, line in lines.items()},
    )


def indicator_scene(random: Random, language: Language) -> IndicatorScene:
    """Make a chart of 60 to 100 days of a real stock with one of the four indicators."""
    name = random.choice(_NAMES)
    window = choose_window(random, shortest=60, longest=100)
    indicator = INDICATORS[name]
    lines = compute(name, window.frame)
    return IndicatorScene(
        language=language,
        prices=window.prices(language),
        indicator=name,
        parameters=indicator.parameters if language == "en" else indicator.parameters.replace(" ", ""),
        lines={key: tuple(float(value) for value in line.iloc[-window.length :]) for key, line in lines.items()},
        header={key: f"{line.iloc[-1]:.{indicator.decimals}f}" for key, line in lines.items()},
    )


def _last_day(prices: Prices, language: Language) -> dict[str, str]:
    """Print the last day's figures; the change is that of the close to the day before."""
    change = (prices.close[-1] / prices.close[-2] - 1) * 100
    return {
        _DATE.of(language): prices.days[-1].isoformat(),
        _OPEN.of(language): f"{prices.open[-1]:.2f}",
        _HIGH.of(language): f"{prices.high[-1]:.2f}",
        _LOW.of(language): f"{prices.low[-1]:.2f}",
        _CLOSE.of(language): f"{prices.close[-1]:.2f}",
        _CHANGE.of(language): f"{change:+.2f}%",
        _VOLUME.of(language): shares(prices.volume[-1], language),
    }
