"""Questions whose answers have to be estimated from an axis: prices, what lies between them, and volumes.

An estimate is right within a tenth, so only what that cannot be guessed is asked: a price only where the panel's
middle would be a wrong answer, else what lies between two prices, which may be anything.
"""

from collections.abc import Sequence
from decimal import Decimal
from random import Random

from fin_tasks.benchmarks.mme_finance.old_exact import Truth
from fin_tasks.benchmarks.mme_finance.questions.question import Forms, Question, rounded, say, written
from fin_tasks.benchmarks.mme_finance.row import Language
from fin_tasks.benchmarks.mme_finance.scenes import CandleScene, IndicatorScene

__all__ = ["CANDLES", "INDICATORS"]

_NEAR = 0.1
"""An estimate may be off by a tenth (paper, section 3.3)."""
_WIDE = 0.4
"""What a panel must span, as a share of the price that is asked for."""
_LONG = 0.45
"""What must lie between two prices, as a share of the panel, for a tenth of it to be readable."""
_TALL = 0.4
"""How tall a bar of volume must be, as a share of the tallest."""


def _price(language: Language, question: str, value: float, panel: Sequence[float]) -> Question | None:
    """Ask for a price, where the panel's range does not give it away."""
    room, middle = max(panel) - min(panel), (max(panel) + min(panel)) / 2
    if room < _WIDE * value or abs(middle - value) <= _NEAR * value:
        return None
    return _dollars(language, question, Decimal(str(value)))


def _dollars(language: Language, question: str, value: Decimal) -> Question:
    near = written(value, 2)
    about = say(language, f"About {near} USD", f"约{near}美元")
    truth = Truth(
        kind="number", value=round(float(value), 4), relative=_NEAR, unit=say(language, "USD", "美元"), worked=True
    )
    return Question(question=question, answer=about, truth=truth)


def _between(language: Language, question: str, one: float, other: float, room: float) -> Question | None:
    """Ask how far two prices lie apart, where that is well visible."""
    high, low = (Decimal(str(value)) for value in sorted((one, other), reverse=True))
    if float(high - low) < _LONG * room:
        return None
    return _dollars(language, question, high - low)


def _average(scene: CandleScene, random: Random) -> Question | None:
    """Where an average's line begins, if it is drawn from the first day on."""
    days = max(scene.averages)
    first = scene.averages[days][0]
    if first is None:
        return None
    asked = say(
        scene.language,
        f"Read the price axis: at about how many dollars does the MA{days} line begin at the left edge?",
        f"对照价格坐标轴，MA{days}曲线在最左端大约位于多少美元？",
    )
    return _price(scene.language, asked, first, _panel(scene))


def _first_middle(scene: CandleScene, random: Random) -> Question | None:
    high, low = Decimal(str(scene.prices.high[0])), Decimal(str(scene.prices.low[0]))
    asked = say(
        scene.language,
        "Estimate the midpoint between high and low of the leftmost candle, in dollars.",
        "请估算最左侧一根K线最高价与最低价的中间值，单位为美元。",
    )
    return _price(scene.language, asked, float((high + low) / 2), _panel(scene))


def _first_close(scene: CandleScene, random: Random) -> Question | None:
    asked = say(
        scene.language,
        "Roughly where did the first day at the left edge close, in dollars?",
        "图中最左侧第一个交易日的收盘价大约是多少美元？",
    )
    return _price(scene.language, asked, scene.prices.close[0], _panel(scene))


def _move(scene: CandleScene | IndicatorScene, random: Random) -> Question | None:
    panel = _panel(scene)
    asked = say(
        scene.language,
        "Estimate by how many dollars the close moved, up or down, from the first day shown to the last.",
        "请估算从图中第一个交易日到最后一个交易日，收盘价变动（涨或跌）了多少美元。",
    )
    closes = scene.prices.close
    return _between(scene.language, asked, closes[0], closes[-1], max(panel) - min(panel))


def _close_range(scene: CandleScene | IndicatorScene, random: Random) -> Question | None:
    panel, closes = _panel(scene), scene.prices.close
    asked = random.choice(
        (
            say(
                scene.language,
                "About how many dollars lie between the highest and the lowest close of the period shown?",
                "图示区间内，最高收盘价与最低收盘价大约相差多少美元？",
            ),
            say(
                scene.language,
                "Estimate the distance in dollars from the lowest to the highest closing price in the chart.",
                "请估算图中最低收盘价到最高收盘价的差距，单位为美元。",
            ),
        )
    )
    return _between(scene.language, asked, max(closes), min(closes), max(panel) - min(panel))


def _average_move(scene: CandleScene, random: Random) -> Question | None:
    """How far an average's line comes from one edge to the other."""
    days = random.choice(list(scene.averages))
    line = scene.averages[days]
    if line[0] is None or line[-1] is None:
        return None
    panel = _panel(scene)
    asked = say(
        scene.language,
        f"About how many dollars lie between the two ends of the MA{days} line, the one at the left edge and the last?",
        f"MA{days}曲线左右两端（最左端与最右端）大约相差多少美元？",
    )
    one, other = (float(rounded(Decimal(str(value)), 2)) for value in (line[0], line[-1]))
    return _between(scene.language, asked, one, other, max(panel) - min(panel))


def _volume(scene: CandleScene, random: Random) -> Question | None:
    """The volume of a day whose bar is tall, and is not the tallest, whose volume the axis prints."""
    prices, last = scene.prices, len(scene.prices.days) - 1
    places = {
        "first": (0, "the first day at the left edge", "最左侧第一个交易日"),
        "high": (
            prices.high.index(max(prices.high)),
            "the day on which the highest price is marked",
            "标注最高价的那个交易日",
        ),
        "low": (
            prices.low.index(min(prices.low)),
            "the day on which the lowest price is marked",
            "标注最低价的那个交易日",
        ),
    }
    most = max(prices.volume)
    fair = [key for key, (at, _, _) in places.items() if at != last and _TALL * most <= prices.volume[at] < 0.9 * most]
    if not fair:
        return None
    at, english, chinese = places[random.choice(fair)]
    power, unit = say(scene.language, "6", "4"), say(scene.language, "million", "万")
    value = rounded(Decimal(prices.volume[at]).scaleb(-int(power)), 2)
    asked = say(
        scene.language,
        f"Estimate from the volume panel how many million shares were traded on {english}.",
        f"请根据成交量面板估算{chinese}的成交量，单位为万股。",
    )
    about = say(scene.language, f"About {value:,f} million", f"约{value:,f}万")
    truth = Truth(kind="number", value=float(value), relative=_NEAR, unit=unit, worked=True)
    return Question(question=asked, answer=about, truth=truth)


def _extreme_close(scene: IndicatorScene, random: Random) -> Question | None:
    highest, closes = random.random() < 0.5, scene.prices.close
    asked = say(
        scene.language,
        f"Estimate the {'highest' if highest else 'lowest'} close of the period from the price axis, in dollars.",
        f"请借助价格坐标轴估算区间内的最{'高' if highest else '低'}收盘价，单位为美元。",
    )
    return _price(scene.language, asked, max(closes) if highest else min(closes), _panel(scene))


def _start(scene: IndicatorScene, random: Random) -> Question | None:
    asked = say(
        scene.language,
        "At roughly what price, in dollars, did the first day at the left edge close?",
        "图中最左端第一个交易日的收盘价大约是多少美元？",
    )
    return _price(scene.language, asked, scene.prices.close[0], _panel(scene))


def _bands(scene: IndicatorScene, random: Random) -> Question | None:
    """How far the Bollinger bands are apart where they begin."""
    if scene.indicator != "bollinger":
        return None
    upper, lower = scene.lines["UPPER"][0], scene.lines["LOWER"][0]
    if upper is None or lower is None:
        return None
    panel = _panel(scene)
    asked = say(
        scene.language,
        "At the left edge of the chart, about how many dollars is the upper band above the lower one?",
        "在图表最左端，布林带上轨大约比下轨高多少美元？",
    )
    one, other = (float(rounded(Decimal(str(value)), 2)) for value in (upper, lower))
    return _between(scene.language, asked, one, other, max(panel) - min(panel))


def _panel(scene: CandleScene | IndicatorScene) -> list[float]:
    """All prices that the panel of prices spans."""
    prices = scene.prices
    if isinstance(scene, CandleScene):
        return [*prices.high, *prices.low, *(value for line in scene.averages.values() for value in line if value)]
    if scene.indicator == "bollinger":
        return [*prices.high, *prices.low, *(value for line in scene.lines.values() for value in line if value)]
    return list(prices.close)


CANDLES: Forms[CandleScene] = {
    "Numerical Calculation": (
        _average, _first_middle, _first_close, _move, _close_range, _average_move, _volume, _volume,
    ),
}  # fmt: skip
"""About candlestick charts."""
INDICATORS: Forms[IndicatorScene] = {
    "Numerical Calculation": (_extreme_close, _start, _move, _close_range, _bands),
}
"""About charts with an indicator."""
