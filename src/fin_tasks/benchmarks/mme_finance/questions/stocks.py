"""What questions about any chart of a stock's prices share."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from random import Random

from fin_tasks.benchmarks.mme_finance.questions.question import Question, choice, say, written
from fin_tasks.benchmarks.mme_finance.questions.readings import read_off
from fin_tasks.benchmarks.mme_finance.row import Language
from fin_tasks.benchmarks.mme_finance.scene_making.prices import NAMES
from fin_tasks.benchmarks.mme_finance.scene_making.wording import month
from fin_tasks.benchmarks.mme_finance.scenes import Prices

__all__ = ["Course", "company", "course", "story"]

_RECENT = 10
"""Trading days."""


@dataclass(frozen=True, kw_only=True)
class Course:
    """How prices went, as a chart tells it: what it does not print is rounded to what can be read, and called so.

    Attributes:
        start: First day; `end` the last one.
        first: About where the first day closed, with that word; `last` the last close, which is printed.
        change: From first to last in whole per cent, with its sign.
        high: Highest price, or about the highest close; `high_month` when that was.
        low: Lowest price, or about the lowest close; `low_month` when that was.
        volume_month: When most shares were traded; empty where the chart has no volume.
        recent: Change of the last ten closes in whole per cent, with its sign.
    """

    start: date
    end: date
    first: str
    last: str
    change: int
    high: str
    high_month: str
    low: str
    low_month: str
    volume_month: str
    recent: int

    @property
    def moved(self) -> str:
        """`recent` as written."""
        return f"{self.recent:+d}" if self.recent else "0"


def course(language: Language, prices: Prices, *, candles: bool) -> Course:
    """Sum up how prices went.

    Args:
        language: Of the words.
        prices: What the chart shows.
        candles: The chart marks the highest and the lowest price and shows volume; else it shows closes only.
    """
    highs, lows = (prices.high, prices.low) if candles else (prices.close, prices.close)
    room = max(highs) - min(lows)
    high, low, volume = _best(highs), _best([-value for value in lows]), _best(prices.volume)
    first, last = read_off(prices.close[0], room=room), Decimal(str(prices.close[-1]))

    def level(value: float) -> str:
        return written(value, 2) if candles else _about(language, read_off(value, room=room))

    return Course(
        start=prices.days[0],
        end=prices.days[-1],
        first=_about(language, first),
        last=written(last, 2),
        change=round(100 * (last / first - 1)),
        high=level(highs[high]),
        high_month=month(prices.days[high], language),
        low=level(lows[low]),
        low_month=month(prices.days[low], language),
        volume_month=month(prices.days[volume], language) if candles else "",
        recent=round(100 * (prices.close[-1] / prices.close[-1 - _RECENT] - 1)),
    )


def story(language: Language, told: Course, name: str) -> str:
    """Tell how prices went, in two sentences."""
    if language == "en":
        moved = "rose" if told.change > 0 else "fell" if told.change < 0 else "moved little,"
        by = f", {'a gain' if told.change > 0 else 'a loss'} of about {abs(told.change)}%" if told.change else ""
        what = ("price", "price") if told.volume_month else ("close", "one")
        volume = f"; trading was heaviest in {told.volume_month}" if told.volume_month else ""
        return (
            f"From {told.start} to {told.end}, {name} {moved} from {told.first} to {told.last} USD{by}. The highest "
            f"{what[0]} was {told.high} USD in {told.high_month}, the lowest {what[1]} {told.low} USD in "
            f"{told.low_month}{volume}."
        )
    moved = "上涨" if told.change > 0 else "下跌" if told.change < 0 else "变动不大，"
    by = f"，{'涨幅' if told.change > 0 else '跌幅'}约{abs(told.change)}%" if told.change else ""
    start = (
        f"收盘价由{told.first}美元{moved}至{told.last}美元" if told.change else f"收盘价{moved}最新为{told.last}美元"
    )
    what_zh = "价为" if told.volume_month else "收盘价"
    return (
        f"{told.start}至{told.end}期间，{name}{start}{by}。区间最高{what_zh}{told.high}美元（{told.high_month}），"
        f"最低{what_zh}{told.low}美元（{told.low_month}）"
        + (f"，{told.volume_month}成交最为活跃。" if told.volume_month else "。")
    )


def company(language: Language, prices: Prices, random: Random) -> Question:
    """Ask whose shares a chart shows, by name or by ticker."""
    names = {symbol: _forms(symbol) for symbol in NAMES}
    if random.random() < 0.5:
        asked = say(language, "What is the ticker of the stock in the chart?", "图中股票的交易代码是什么？")
        return choice(asked, [prices.symbol], [symbol for symbol in NAMES if symbol != prices.symbol])
    asked = say(language, "Whose shares does the chart show?", "图中展示的是哪家公司的股票？")
    right = [prices.name, *(form for form in names[prices.symbol] if form != prices.name)]
    wrong = [form for symbol, forms in names.items() if symbol != prices.symbol for form in forms]
    return choice(asked, right, wrong)


def _about(language: Language, value: Decimal) -> str:
    return say(language, f"about {value:,f}", f"约{value:,f}")


def _forms(symbol: str) -> list[str]:
    """A company's names, the legal form left off too."""
    english, chinese = NAMES[symbol]
    short = english.removesuffix(" Inc.").removesuffix(" Corp.")
    return list(dict.fromkeys([english, chinese, short, chinese.removesuffix("公司"), symbol]))


def _best(values: Sequence[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)
