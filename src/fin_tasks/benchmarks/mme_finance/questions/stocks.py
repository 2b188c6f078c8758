"""What questions about any chart of a stock's prices share."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from random import Random

from fin_tasks.benchmarks.mme_finance.exact import Truth
from fin_tasks.benchmarks.mme_finance.questions.question import Question, choice, say, written
from fin_tasks.benchmarks.mme_finance.row import Language
from fin_tasks.benchmarks.mme_finance.scene_making.prices import NAMES
from fin_tasks.benchmarks.mme_finance.scenes import Prices

__all__ = ["Course", "company", "course", "estimate"]

_NEAR = 0.1
"""An estimate may be off by a tenth (paper, section 3.3)."""


@dataclass(frozen=True, kw_only=True)
class Course:
    """How prices went, in words' order.

    Attributes:
        start: First day; `end` the last one.
        first: Close of the first day, as written; `last` of the last one.
        change: Of the closes from first to last, in per cent, without a sign.
        up: Whether they rose.
        high: Highest price, as written; `high_day` its day.
        low: Lowest price, as written; `low_day` its day.
        volume_day: The day of the largest volume.
        recent: Change of the last ten closes in per cent, with its sign.
    """

    start: date
    end: date
    first: str
    last: str
    change: str
    up: bool
    high: str
    high_day: date
    low: str
    low_day: date
    volume_day: date
    recent: float


def course(prices: Prices) -> Course:
    """Sum up how prices went."""
    high, low, volume = (_best(prices.high), _best([-value for value in prices.low]), _best(prices.volume))
    first, last = prices.close[0], prices.close[-1]
    return Course(
        start=prices.days[0],
        end=prices.days[-1],
        first=written(first, 2),
        last=written(last, 2),
        change=written(abs(last / first - 1) * 100, 1),
        up=last >= first,
        high=written(prices.high[high], 2),
        high_day=prices.days[high],
        low=written(prices.low[low], 2),
        low_day=prices.days[low],
        volume_day=prices.days[volume],
        recent=(last / prices.close[-11] - 1) * 100,
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


def estimate(language: Language, question: str, value: float, steps: str = "") -> Question:
    """Ask for a price that no figure in the picture prints."""
    near = written(Decimal(str(value)), 2)
    about = say(language, f"About {near} USD", f"约{near}美元")
    truth = Truth(kind="number", value=round(value, 4), relative=_NEAR, unit=say(language, "USD", "美元"), worked=True)
    return Question(question=question, answer=f"{steps} {near}" if steps else about, truth=truth)


def _forms(symbol: str) -> list[str]:
    """A company's names, the legal form left off too."""
    english, chinese = NAMES[symbol]
    short = english.removesuffix(" Inc.").removesuffix(" Corp.")
    return list(dict.fromkeys([english, chinese, short, chinese.removesuffix("公司"), symbol]))


def _best(values: Sequence[float]) -> int:
    return max(range(len(values)), key=values.__getitem__)
