"""Questions with exact answers about where things are in a candlestick chart."""

from collections.abc import Sequence
from random import Random

from fin_tasks.benchmarks.mme_finance.questions.question import Forms, Question, choice, choice_in, figure, say
from fin_tasks.benchmarks.mme_finance.scenes import CandleScene

__all__ = ["FORMS"]

_CLEAR = 0.04
"""What parts two lines, or a day and a border, so that nobody needs a ruler: a share of the panel."""


def _top_average(scene: CandleScene, random: Random) -> Question | None:
    ends = sorted(((figure(scene.header[f"MA{days}"]).value, f"MA{days}") for days in scene.averages), reverse=True)
    room = max(scene.prices.high) - min(scene.prices.low)
    highest = random.random() < 0.5
    pair = ends[:2] if highest else ends[:-3:-1]
    if abs(float(pair[0][0] - pair[1][0])) < _CLEAR / 2 * room:
        return None
    asked = say(
        scene.language,
        f"At the right edge of the chart, which moving average is the {'highest' if highest else 'lowest'} one?",
        f"在图表最右端，哪条均线的位置最{'高' if highest else '低'}？",
    )
    return choice(asked, [pair[0][1]], [name for _, name in ends if name != pair[0][1]])


def _lower_panel(scene: CandleScene, random: Random) -> Question:
    asked = say(
        scene.language,
        "What do the bars in the panel below the candles stand for?",
        "K线图下方面板中的柱子表示什么？",
    )
    right = ("Volume", "成交量", "traded shares", "shares traded", "trading volumes")
    wrong = ("MACD", "RSI", "KDJ", "turnover rate", "换手率", "open interest", "持仓量")
    return choice_in(scene.language, asked, right, wrong)


def _close_to_average(scene: CandleScene, random: Random) -> Question | None:
    days = random.choice(list(scene.averages))
    gap = figure(list(scene.header.values())[4]).value - figure(scene.header[f"MA{days}"]).value
    if abs(float(gap)) < _CLEAR / 2 * (max(scene.prices.high) - min(scene.prices.low)):
        return None
    asked = say(
        scene.language,
        f"Did the last day shown close above or below MA{days}?",
        f"最后一个交易日的收盘价在MA{days}之上还是之下？",
    )
    above, below = ("Above", "之上", "上方", "higher", "高于"), ("Below", "之下", "下方", "lower", "低于")
    return choice_in(scene.language, asked, *((above, below) if gap > 0 else (below, above)))


def _half(scene: CandleScene, random: Random) -> Question | None:
    """In which half an extreme lies, where it stands out and is well inside its half."""
    kind = random.choice(("high", "low", "volume"))
    values = {"high": scene.prices.high, "low": [-low for low in scene.prices.low], "volume": scene.prices.volume}[kind]
    found = _clear_half(values)
    if found is None:
        return None
    what = {
        "high": ("the highest price", "最高价"),
        "low": ("the lowest price", "最低价"),
        "volume": ("the tallest volume bar", "最高的成交量柱"),
    }[kind]
    asked = say(
        scene.language,
        f"In which half of the period shown is {what[0]}: the left or the right one?",
        f"图中{what[1]}出现在所示区间的左半部分还是右半部分？",
    )
    left, right = (
        ("Left", "左半部分", "左边", "左侧", "左", "first"),
        ("Right", "右半部分", "右边", "右侧", "右", "second"),
    )
    return choice_in(scene.language, asked, *((left, right) if found == "left" else (right, left)))


def _clear_half(values: Sequence[float]) -> str | None:
    middle = len(values) / 2
    best = max(range(len(values)), key=values.__getitem__)
    room = max(values) - min(values)
    rivals = [value for at, value in enumerate(values) if (at < middle) != (best < middle)]
    if abs(best + 0.5 - middle) < 2 * _CLEAR * len(values) or values[best] - max(rivals) < _CLEAR * room:
        return None
    return "left" if best < middle else "right"


FORMS: Forms[CandleScene] = {
    "Spatial Awareness": (_top_average, _lower_panel, _close_to_average, _half, _half),
}
"""By category."""
