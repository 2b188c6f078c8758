"""Questions with exact answers about charts of technical indicators."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from random import Random

from fin_tasks.benchmarks.mme_finance.old_exact import Truth
from fin_tasks.benchmarks.mme_finance.questions.question import (
    Forms,
    Question,
    choice,
    figure,
    lookup,
    percent,
    say,
    unanswerable,
    worked,
)
from fin_tasks.benchmarks.mme_finance.questions.stocks import company
from fin_tasks.benchmarks.mme_finance.scenes import IndicatorScene

__all__ = ["FORMS", "NAMES", "name_of"]

NAMES: Mapping[str, tuple[str, ...]] = {
    "macd": ("MACD", "moving average convergence divergence", "指数平滑异同移动平均线"),
    "rsi": ("RSI", "relative strength index", "相对强弱指标", "相对强弱指数"),
    "kdj": ("KDJ", "stochastic", "stochastics", "随机指标"),
    "bollinger": ("Bollinger Bands", "布林带", "BOLL", "Bollinger", "布林线"),
}
"""What each indicator is called."""

_OTHER_LINES = ("MA5", "MA10", "MA20", "MA30", "VWAP", "OBV", "CCI", "ATR")
_APART = 0.12
"""How far two lines' ends are apart, so that nobody needs a ruler: a share of the panel's height."""


def name_of(scene: IndicatorScene) -> str:
    """Return what the indicator is called in a sentence."""
    if scene.indicator == "bollinger":
        return say(scene.language, "BOLL", "布林带")
    return NAMES[scene.indicator][0]


def _shown(scene: IndicatorScene) -> list[tuple[str, Decimal]]:
    return [(name, figure(value).value) for name, value in scene.header.items()]


def _printed(scene: IndicatorScene, random: Random) -> Question:
    name = random.choice(list(scene.header))
    asked = random.choice(
        (
            say(scene.language, f"What value is printed for {name}?", f"图中标注的{name}数值是多少？"),
            say(
                scene.language,
                f"Read the indicator's header. Which number follows {name}?",
                f"请读出指标栏中{name}后面的数字。",
            ),
        )
    )
    return lookup(asked, scene.header[name])


def _parameters(scene: IndicatorScene, random: Random) -> Question:
    asked = say(
        scene.language,
        "Which parameters are printed beside the indicator's name?",
        "指标名称旁边标注的参数是什么？",
    )
    shown = scene.parameters
    inner = shown.strip("()")
    return Question(question=asked, answer=shown, truth=Truth(kind="text", accepted=(shown, inner)))


def _indicator(scene: IndicatorScene, random: Random) -> Question:
    own = NAMES[scene.indicator]
    asked = say(
        scene.language,
        "Which technical indicator is shown together with the prices?",
        "图中与股价一同展示的是哪种技术指标？",
    )
    wrong = [form for kind, forms in NAMES.items() if kind != scene.indicator for form in forms]
    chinese = [own[1], own[0], *own[2:]] if scene.indicator == "bollinger" else own
    return choice(asked, own if scene.language == "en" else chinese, wrong)


def _lines(scene: IndicatorScene, random: Random) -> Question | None:
    names = list(scene.lines)
    if len(names) < 2:
        return None
    asked = say(
        scene.language,
        "List the names of all values that the indicator's header prints.",
        "请列出指标栏中标注的全部指标线（数值）名称。",
    )
    forms: dict[str, tuple[str, ...]] = {
        "MACD": ("MACD", "MACD histogram", "histogram"),
        "MID": ("MID", "MIDDLE", "中轨"),
    }
    forms |= {"UPPER": ("UPPER", "上轨"), "LOWER": ("LOWER", "下轨")}
    truth = Truth(kind="all", parts=tuple(forms.get(name, (name,)) for name in names), wrong=_OTHER_LINES)
    return Question(question=asked, answer=say(scene.language, ", ", "、").join(names), truth=truth)


def _closing(scene: IndicatorScene, random: Random) -> Question:
    asked = say(scene.language, "Which closing price is printed above the prices?", "股价图上方标注的收盘价是多少？")
    return lookup(asked, f"{scene.prices.close[-1]:.2f}")


def _company(scene: IndicatorScene, random: Random) -> Question:
    return company(scene.language, scene.prices, random)


def _upper_end(scene: IndicatorScene, random: Random) -> Question | None:
    """Which of two lines ends above the other, where they end well apart."""
    drawn = [name for name in scene.lines if name != "MACD"]
    if len(drawn) < 2 or scene.indicator == "bollinger":
        return None
    first, second = random.sample(drawn, 2)
    gap = float(figure(scene.header[first]).value - figure(scene.header[second]).value)
    values = [value for name in drawn for value in scene.lines[name] if value is not None]
    if abs(gap) < _APART * (max(values) - min(values)):
        return None
    asked = say(
        scene.language,
        f"Which line is higher at the right edge of the panel: {first} or {second}?",
        f"在{NAMES[scene.indicator][0]}面板最右端，{first}值曲线与{second}值曲线哪一条更高？",
    )
    return choice(asked, [first if gap > 0 else second], [second if gap > 0 else first])


def _sign(scene: IndicatorScene, random: Random) -> Question | None:
    if scene.indicator != "macd":
        return None
    bars = [value for value in scene.lines["MACD"] if value is not None]
    last = bars[-1]
    if abs(last) < _APART / 2 * (max(bars) - min(bars)):
        return None
    asked = say(
        scene.language,
        "Is the last bar of the MACD histogram above or below the zero line?",
        "MACD柱状图最右侧的柱子在零轴之上还是之下？",
    )
    return _either(scene, asked, last > 0)


def _half_way(scene: IndicatorScene, random: Random) -> Question | None:
    if scene.indicator not in ("rsi", "kdj"):
        return None
    name = "RSI" if scene.indicator == "rsi" else "K"
    value = figure(scene.header[name]).value
    if abs(value - 50) < 8:
        return None
    line = "RSI曲线" if scene.indicator == "rsi" else "KDJ中的K值曲线"
    asked = say(
        scene.language,
        f"Does the {name} line end above or below the level of 50?",
        f"{line}最终位于50之上还是之下？",
    )
    return _either(scene, asked, value > 50)


def _close_to_band(scene: IndicatorScene, random: Random) -> Question | None:
    if scene.indicator != "bollinger":
        return None
    middle, upper, lower = (figure(scene.header[name]).value for name in ("MID", "UPPER", "LOWER"))
    gap = Decimal(str(scene.prices.close[-1])) - middle
    if abs(gap) < (upper - lower) / 6:
        return None
    asked = say(
        scene.language,
        "Does the last close lie above or below the middle band?",
        "最后一个收盘价位于布林带中轨之上还是之下？",
    )
    return _either(scene, asked, gap > 0)


def _panel(scene: IndicatorScene, random: Random) -> Question | None:
    if scene.indicator == "bollinger":
        return None
    name = NAMES[scene.indicator][0]
    asked = say(
        scene.language,
        f"Is the {name} panel above or below the panel with the prices?",
        f"{name}面板位于股价面板的上方还是下方？",
    )
    return _either(scene, asked, False)


def _either(scene: IndicatorScene, asked: str, is_above: bool) -> Question:
    above: Sequence[str] = ("Above", "之上", "上方", "higher", "高于")
    below: Sequence[str] = ("Below", "之下", "下方", "lower", "低于", "under", "beneath")
    right, wrong = (above, below) if is_above else (below, above)
    return choice(asked, right if scene.language == "en" else [right[1], right[0], *right[2:]], wrong)


def _difference(scene: IndicatorScene, random: Random) -> Question | None:
    if len(scene.header) < 2:
        return None
    (one, first), (other, second) = random.sample(_shown(scene), 2)
    asked = say(
        scene.language,
        f"Subtract the printed value of {other} from that of {one}. What do you get?",
        f"用图中标注的{one}值减去{other}值，结果是多少？",
    )
    return worked(asked, f"{first} - {_bracketed(second)} =", first - second)


def _to_level(scene: IndicatorScene, random: Random) -> Question | None:
    if scene.indicator != "rsi":
        return None
    value = figure(scene.header["RSI"]).value
    level = random.choice((30, 50, 70))
    asked = say(
        scene.language,
        f"How many points lie between the printed RSI and the level of {level}?",
        f"图中标注的RSI与{level}相差多少点？",
    )
    larger, smaller = max(value, Decimal(level)), min(value, Decimal(level))
    return worked(asked, f"{larger} - {smaller} =", larger - smaller)


def _band_width(scene: IndicatorScene, random: Random) -> Question | None:
    if scene.indicator != "bollinger":
        return None
    upper, middle, lower = (figure(scene.header[name]).value for name in ("UPPER", "MID", "LOWER"))
    asked = say(
        scene.language,
        "Compute the bandwidth, (UPPER - LOWER) / MID, from the printed values, in per cent with two decimals.",
        "根据图中标注的数值计算布林带带宽（UPPER－LOWER）÷MID，以百分数表示，保留两位小数。",
    )
    steps = f"({upper} - {lower}) / {middle} × 100% ="
    return worked(asked, steps, percent(upper - lower, middle), unit="%", exact=False)


def _mean(scene: IndicatorScene, random: Random) -> Question | None:
    if scene.indicator != "kdj":
        return None
    shown = [value for _, value in _shown(scene)]
    asked = say(
        scene.language,
        "What is the mean of the printed K, D and J, with two decimals?",
        "图中标注的K、D、J三个数值的平均数是多少？保留两位小数。",
    )
    total = sum(shown, Decimal(0))
    steps = f"({' + '.join(_bracketed(value) for value in shown)}) / 3 = {total} / 3 ="
    return worked(asked, steps, (total / 3).quantize(Decimal("0.01")), exact=False)


def _bracketed(value: Decimal) -> str:
    return f"({value})" if value < 0 else str(value)


def _absent(scene: IndicatorScene, random: Random) -> Question:
    name = scene.prices.name
    others = [forms[0] for kind, forms in NAMES.items() if kind != scene.indicator]
    other = random.choice(others)
    asked = random.choice(
        (
            say(scene.language, f"What value does the chart give for {other}?", f"图中{other}的数值是多少？"),
            say(
                scene.language,
                f"What earnings per share did {name} report in this period?",
                f"{name}在该区间公布的每股收益是多少？",
            ),
            say(
                scene.language,
                "How many analysts recommend this stock?",
                "有多少位分析师推荐该股票？",
            ),
            say(
                scene.language,
                "What was the net inflow of institutional money on the last day?",
                "最后一个交易日的机构资金净流入是多少？",
            ),
            say(scene.language, f"How large is the market value of {name}?", f"{name}的总市值是多少？"),
            say(
                scene.language, "Who sold the most shares on the last day shown?", "最后一个交易日卖出股份最多的是谁？"
            ),
            say(scene.language, "What dividend yield does the chart state?", "图中标明的股息率是多少？"),
            say(scene.language, "Which rating does a broker give the stock here?", "图中券商对该股的评级是什么？"),
            say(
                scene.language,
                "What will the close be twenty days after the end of the chart?",
                "图中最后一日之后第二十个交易日的收盘价是多少？",
            ),
            say(scene.language, f"How many shares of {name} are held short?", f"{name}的融券余量是多少？"),
            say(scene.language, f"What is the book value per share of {name}?", f"{name}的每股净资产是多少？"),
        )
    )
    return unanswerable(scene.language, asked)


FORMS: Forms[IndicatorScene] = {
    "OCR": (_printed, _printed, _parameters, _closing),
    "Entity Recognition": (_indicator, _lines, _company),
    "Spatial Awareness": (_upper_end, _sign, _half_way, _close_to_band, _panel),
    "Accurate Numerical Calculation": (_difference, _to_level, _band_width, _mean),
    "Not Applicable": (_absent,),
}
"""By category."""
