"""Questions with exact answers about candlestick charts."""

from random import Random

from fin_tasks.benchmarks.mme_finance.old_exact import Truth
from fin_tasks.benchmarks.mme_finance.questions.colours import SERIES, colour_question
from fin_tasks.benchmarks.mme_finance.questions.question import (
    Forms,
    Question,
    choice,
    choice_in,
    figure,
    lookup,
    percent,
    say,
    unanswerable,
    worked,
)
from fin_tasks.benchmarks.mme_finance.questions.stocks import company
from fin_tasks.benchmarks.mme_finance.scenes import CandleScene

__all__ = ["FORMS"]

_OTHER_AVERAGES = ("MA30", "MA50", "MA60", "MA100", "MA120", "MA200", "EMA")


def _label(scene: CandleScene, place: int) -> str:
    """The header prints date, open, high, low, close, change, volume, then the averages."""
    return list(scene.header)[place]


def _shown(scene: CandleScene, place: int) -> str:
    return list(scene.header.values())[place]


def _printed(scene: CandleScene, random: Random) -> Question:
    label = _label(scene, random.randrange(1, len(scene.header)))
    asked = random.choice(
        (
            say(
                scene.language,
                f"What value is printed for {label} above the chart?",
                f"图表上方“{label}”一项显示的数值是多少？",
            ),
            say(
                scene.language,
                f"Read the header: which figure stands beside {label}?",
                f"请读出行情栏中“{label}”旁边的数字。",
            ),
        )
    )
    return lookup(asked, scene.header[label])


def _marked(scene: CandleScene, random: Random) -> Question:
    """The highest and the lowest price are marked in the panel."""
    is_high = random.random() < 0.5
    value = max(scene.prices.high) if is_high else min(scene.prices.low)
    asked = say(
        scene.language,
        f"Which price is marked at the {'highest' if is_high else 'lowest'} point of the candles?",
        f"K线图中标注的最{'高' if is_high else '低'}价是多少？",
    )
    return lookup(asked, f"{value:.2f}")


def _date(scene: CandleScene, random: Random) -> Question:
    day = scene.prices.days[-1].isoformat()
    asked = say(scene.language, "Of which date are the figures in the header?", "图表上方行情数据对应的日期是哪一天？")
    return Question(question=asked, answer=day, truth=Truth(kind="day", day=day))


def _averages(scene: CandleScene, random: Random) -> Question:
    names = [f"MA{days}" for days in scene.averages]
    asked = say(
        scene.language,
        "Name every moving average that the chart shows.",
        "图中展示了哪几条移动平均线？请全部列出。",
    )
    parts = tuple((name, f"{name[2:]}-day", f"{name[2:]}日") for name in names)
    others = tuple(name for name in _OTHER_AVERAGES if name not in names)
    answer = say(scene.language, ", ", "、").join(names)
    return Question(question=asked, answer=answer, truth=Truth(kind="all", parts=parts, wrong=others))


def _body(scene: CandleScene, random: Random) -> Question | None:
    rise = figure(_shown(scene, 4)).value - figure(_shown(scene, 1)).value
    if rise == 0:
        return None
    day = scene.prices.days[-1].isoformat()
    asked = say(
        scene.language,
        f"Is the candle of {day}, the last one, a bullish one (close above open) or a bearish one?",
        f"图中最后一根K线（{day}）是阳线还是阴线？",
    )
    bullish, bearish = ("bullish", "阳线", "bull", "up"), ("bearish", "阴线", "bear", "down")
    order = (bullish, bearish) if rise > 0 else (bearish, bullish)
    return choice_in(scene.language, asked, *order)


def _line_colour(scene: CandleScene, random: Random) -> Question:
    names = [f"MA{days}" for days in scene.averages]
    place = random.randrange(len(names))
    english, chinese = SERIES[place]
    if random.random() < 0.5:
        asked = say(scene.language, f"In which colour is {names[place]} drawn?", f"{names[place]}曲线是什么颜色？")
        return colour_question(scene.language, asked, english)
    asked = say(scene.language, f"Which moving average is drawn in {english}?", f"图中{chinese}的移动平均线是哪一条？")
    return choice(asked, [names[place]], [name for name in names if name != names[place]])


def _candle_colour(scene: CandleScene, random: Random) -> Question:
    rising = random.random() < 0.5
    asked = say(
        scene.language,
        f"What is the colour of candles that close {'above' if rising else 'below'} their open?",
        f"图中{'上涨' if rising else '下跌'}（收盘价{'高' if rising else '低'}于开盘价）的K线是什么颜色？",
    )
    is_green = rising == (scene.language == "en")
    return colour_question(scene.language, asked, "green" if is_green else "red")


def _day_range(scene: CandleScene, random: Random) -> Question:
    high, low = _shown(scene, 2), _shown(scene, 3)
    asked = say(
        scene.language,
        "From the figures in the header, by how many dollars is the day's high above its low?",
        "根据行情栏中的数据，当日最高价与最低价相差多少美元？",
    )
    return worked(asked, f"{high} - {low} =", figure(high).value - figure(low).value, unit=_dollars(scene))


def _day_return(scene: CandleScene, random: Random) -> Question:
    opened, closed = (figure(_shown(scene, place)).value for place in (1, 4))
    asked = say(
        scene.language,
        "By what percentage did the price move from the open to the close printed in the header? Give a sign and two "
        "decimals.",
        "按行情栏中的开盘价和收盘价计算，当日从开盘到收盘的涨跌幅是多少？请带正负号，保留两位小数。",
    )
    steps = f"({closed} - {opened}) / {opened} × 100% ="
    return worked(asked, steps, percent(closed - opened, opened), unit="%", exact=False, signed=True)


def _amplitude(scene: CandleScene, random: Random) -> Question:
    high, low = (figure(_shown(scene, place)).value for place in (2, 3))
    asked = say(
        scene.language,
        "How far, in per cent of the day's low, is the day's high above it, going by the header? Use two decimals.",
        "按行情栏数据，当日最高价比最低价高出百分之几？保留两位小数。",
    )
    return worked(asked, f"({high} - {low}) / {low} × 100% =", percent(high - low, low), unit="%", exact=False)


def _period_range(scene: CandleScene, random: Random) -> Question:
    high, low = f"{max(scene.prices.high):.2f}", f"{min(scene.prices.low):.2f}"
    if random.random() < 0.5:
        asked = say(
            scene.language,
            "How large, in dollars, is the difference between the highest and the lowest price marked in the chart?",
            "K线图中标注的最高价与最低价相差多少美元？",
        )
        return worked(asked, f"{high} - {low} =", figure(high).value - figure(low).value, unit=_dollars(scene))
    asked = say(
        scene.language,
        "By what percentage does the highest marked price exceed the lowest marked one? Use two decimals.",
        "图中标注的最高价比最低价高出百分之几？保留两位小数。",
    )
    result = percent(figure(high).value - figure(low).value, figure(low).value)
    return worked(asked, f"({high} - {low}) / {low} × 100% =", result, unit="%", exact=False)


def _average_gap(scene: CandleScene, random: Random) -> Question:
    first, second = random.sample([f"MA{days}" for days in scene.averages], 2)
    one, other = scene.header[first], scene.header[second]
    asked = say(
        scene.language,
        f"Subtract the printed {second} from the printed {first}. What is the result in dollars?",
        f"用图中标注的{first}减去{second}，结果是多少美元？",
    )
    return worked(asked, f"{one} - {other} =", figure(one).value - figure(other).value, unit=_dollars(scene))


def _absent(scene: CandleScene, random: Random) -> Question:
    name = scene.prices.name
    asked = random.choice(
        (
            say(
                scene.language,
                f"What price-earnings ratio does the chart give for {name}?",
                f"图中显示{name}的市盈率是多少？",
            ),
            say(
                scene.language,
                f"How large was {name}'s dividend per share last year?",
                f"{name}去年每股派息多少？",
            ),
            say(
                scene.language,
                "What is the 14-day RSI on the last day shown?",
                "最后一个交易日的14日RSI是多少？",
            ),
            say(
                scene.language,
                f"Which price target do analysts give for {name}?",
                f"分析师对{name}给出的目标价是多少？",
            ),
            say(scene.language, "What is the beta of the stock?", "该股的贝塔系数是多少？"),
            say(scene.language, "Which share of the stock do institutions hold?", "机构投资者的持股比例是多少？"),
            say(
                scene.language,
                f"How much did {name} earn per share in the period shown?",
                f"{name}在图示期间的每股收益是多少？",
            ),
            say(scene.language, "What was the turnover rate on the last day shown?", "最后一个交易日的换手率是多少？"),
            say(
                scene.language,
                "At what price did an index fund last buy the stock?",
                "指数基金最近一次买入该股的价格是多少？",
            ),
            say(scene.language, "What is the MA250 on the last day?", "最后一个交易日的MA250是多少？"),
            say(
                scene.language,
                f"How many people work for {name}?",
                f"{name}有多少名员工？",
            ),
            say(
                scene.language,
                "At what price did the share close ten trading days after the last day of the chart?",
                "图中最后一个交易日之后的第十个交易日，该股收盘价是多少？",
            ),
        )
    )
    return unanswerable(scene.language, asked)


def _company(scene: CandleScene, random: Random) -> Question:
    return company(scene.language, scene.prices, random)


def _dollars(scene: CandleScene) -> str:
    return say(scene.language, "USD", "美元")


FORMS: Forms[CandleScene] = {
    "OCR": (_printed, _printed, _marked, _marked, _date),
    "Entity Recognition": (_averages, _body, _company, _line_colour, _line_colour, _candle_colour),
    "Accurate Numerical Calculation": (_day_range, _day_return, _amplitude, _average_gap, _period_range, _period_range),
    "Not Applicable": (_absent,),
}
"""By category."""
