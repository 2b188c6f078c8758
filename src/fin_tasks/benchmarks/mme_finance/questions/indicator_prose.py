"""Questions about indicators that only a judge can grade: their references are put together from the data."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from random import Random

from fin_tasks.benchmarks.mme_finance.questions.indicators import name_of
from fin_tasks.benchmarks.mme_finance.questions.question import Forms, Question, figure, say
from fin_tasks.benchmarks.mme_finance.questions.stocks import course, story
from fin_tasks.benchmarks.mme_finance.questions.wordings import for_any
from fin_tasks.benchmarks.mme_finance.scene_making.indicators import INDICATORS
from fin_tasks.benchmarks.mme_finance.scenes import IndicatorScene

__all__ = ["FORMS"]

_Reading = tuple[int, str, str]
"""+1 for strength, -1 for weakness, 0 for neither; and why, in English and in Chinese."""

_KNOWLEDGE: Mapping[str, tuple[str, str]] = {
    "macd": (
        "DIF is a fast exponential average of closes less a slow one, DEA smooths DIF, and the bars show twice their "
        "difference. DIF above DEA means growing upward momentum, below it growing downward momentum; crossings serve "
        "as signals, and they lag.",
        "DIF为快慢两条指数移动平均线之差，DEA是DIF的平滑值，柱状图为二者差值的两倍。DIF在DEA之上表示上行动能增强，之下表示下行动能增强；"
        "两线交叉常作为买卖信号，但存在滞后。",
    ),
    "rsi": (
        "RSI compares the size of recent gains with that of recent losses on a scale from 0 to 100. Above 70 counts as "
        "overbought, below 30 as oversold, and 50 parts strength from weakness; in a strong trend it can stay at an "
        "extreme for long.",
        "RSI衡量近期上涨幅度相对于下跌幅度的强弱，取值0至100。高于70一般视为超买，低于30视为超卖，50为强弱分界；在单边行情中可能长时间钝化。",
    ),
    "kdj": (
        "K places the close within the range of the last nine days and is smoothed, D smooths K, and J is 3K - "
        "2D. Above "
        "80 counts as overbought, below 20 as oversold; K crossing D from below is read as a signal to buy, from above "
        "as one to sell.",
        "K值反映收盘价在近九日波动区间中的相对位置并作平滑，D是K的平滑值，J＝3K－2D。高于80通常视为超买，低于20视为超卖；"
        "K值曲线上穿D值曲线视为买入信号，下穿视为卖出信号。",
    ),
    "bollinger": (
        "The middle band is a 20-day average; the outer bands lie two standard deviations away from it. Prices "
        "near the "
        "upper band are high against the recent past, near the lower one low; narrow bands show calm and often come "
        "before a larger move.",
        "中轨为20日移动平均线，上下轨与中轨相距两倍标准差。价格接近上轨说明相对近期偏高，接近下轨说明偏低；带宽收窄表示波动减小，往往预示将选择方向。",
    ),
}


def _values(scene: IndicatorScene) -> dict[str, Decimal]:
    return {name: figure(value).value for name, value in scene.header.items()}


def _macd(scene: IndicatorScene) -> _Reading:
    value = _values(scene)
    up = value["DIF"] >= value["DEA"]
    return (
        1 if up else -1,
        f"DIF ({value['DIF']}) is {'above' if up else 'below'} DEA ({value['DEA']}), with a MACD of "
        f"{value['MACD']}, so "
        f"momentum points {'up' if up else 'down'}",
        f"DIF（{value['DIF']}）位于DEA（{value['DEA']}）{'上方' if up else '下方'}，MACD柱为{value['MACD']}，"
        f"动能偏{'多' if up else '空'}",
    )


def _rsi(scene: IndicatorScene) -> _Reading:
    value = _values(scene)["RSI"]
    if value >= 70:
        return -1, f"RSI at {value} is overbought", f"RSI为{value}，处于超买区"
    if value <= 30:
        return 1, f"RSI at {value} is oversold", f"RSI为{value}，处于超卖区"
    strong = value >= 50
    return (
        0,
        f"RSI at {value} lies between 30 and 70, {'above' if strong else 'below'} the middle of 50",
        f"RSI为{value}，处于30至70之间，{'略强于' if strong else '弱于'}50的中轴",
    )


def _kdj(scene: IndicatorScene) -> _Reading:
    value = _values(scene)
    up = value["K"] >= value["D"]
    zone = (
        ("overbought", "处于超买区")
        if value["K"] > 80
        else ("oversold", "处于超卖区")
        if value["K"] < 20
        else ("neither overbought nor oversold", "未进入超买或超卖区")
    )
    return (
        1 if up else -1,
        f"K ({value['K']}) is {'above' if up else 'below'} D ({value['D']}), J is {value['J']}, and K is {zone[0]}",
        f"K（{value['K']}）在D（{value['D']}）{'之上' if up else '之下'}，J为{value['J']}，K值{zone[1]}",
    )


def _bollinger(scene: IndicatorScene) -> _Reading:
    value = _values(scene)
    close = Decimal(str(scene.prices.close[-1]))
    above = close >= value["MID"]
    return (
        1 if above else -1,
        f"the last close of {close:.2f} USD is {'above' if above else 'below'} the middle band "
        f"({value['MID']}), between "
        f"bands at {value['LOWER']} and {value['UPPER']}",
        f"最新收盘价{close:.2f}美元位于中轨（{value['MID']}）{'上方' if above else '下方'}，"
        f"下轨{value['LOWER']}，上轨{value['UPPER']}",
    )


_READERS: Mapping[str, Callable[[IndicatorScene], _Reading]] = {
    "macd": _macd,
    "rsi": _rsi,
    "kdj": _kdj,
    "bollinger": _bollinger,
}


def _reading(scene: IndicatorScene) -> _Reading:
    return _READERS[scene.indicator](scene)


def _is_up(scene: IndicatorScene) -> bool:
    """Whether the indicator's last values are those of rising prices."""
    value = _values(scene)
    if scene.indicator == "rsi":
        return value["RSI"] > 50
    if scene.indicator == "bollinger":
        return Decimal(str(scene.prices.close[-1])) > value["MID"]
    fast, slow = ("DIF", "DEA") if scene.indicator == "macd" else ("K", "D")
    return value[fast] > value[slow]


def _code(scene: IndicatorScene) -> str:
    """The indicator's name as the picture prints it."""
    return INDICATORS[scene.indicator].title


def _caption(scene: IndicatorScene, random: Random) -> Question:
    name = name_of(scene)
    asked = random.choice(
        (
            say(scene.language, "What does this picture show? Describe it.", "这张图展示了什么？请加以描述。"),
            say(
                scene.language,
                f"Write a caption that covers the prices and what {name} says.",
                f"请为该图撰写说明，涵盖股价走势以及{name}指标的含义。",
            ),
            *for_any(scene.language, "Image Caption"),
        )
    )
    _, english, chinese = _reading(scene)
    told = story(scene.language, course(scene.language, scene.prices, candles=False), scene.prices.name)
    answer = say(
        scene.language,
        f"A chart of the daily prices of {scene.prices.name} ({scene.prices.symbol}) with {name} {scene.parameters}. "
        f"{told} On the last day, {english}.",
        f"图为{scene.prices.name}（{scene.prices.symbol}）日线股价走势，指标为{_code(scene)}{scene.parameters}。{told}最后一个交易日，{chinese}。",
    )
    return Question(question=asked, answer=answer)


def _risk(scene: IndicatorScene, random: Random) -> Question:
    name = name_of(scene)
    asked = random.choice(
        (
            say(
                scene.language,
                f"What should a holder of this stock be warned of, judging by the prices and {name}?",
                f"结合股价与{name}指标，应向该股持有者提示哪些风险？",
            ),
            say(
                scene.language,
                f"Name the risks that prices and {name} point to in this chart.",
                f"请指出图中股价与{name}指标所反映的风险。",
            ),
            *for_any(scene.language, "Risk Warning"),
        )
    )
    told, (leaning, english, chinese) = course(scene.language, scene.prices, candles=False), _reading(scene)
    first = (
        ("Weakness may go on", "弱势可能延续")
        if leaning < 0
        else ("A reversal would undo the gains", "行情一旦反转，涨幅可能回吐")
        if leaning > 0
        else ("The direction is open", "方向尚不明确")
    )
    answer = say(
        scene.language,
        f"{first[0]}: {english}. Closes ranged from {told.low} to {told.high} USD within the period and moved by about "
        f"{told.moved}% in the last ten days. Indicators are computed from past prices, lag, and give false "
        "signals; they know nothing of news or fundamentals.",
        f"{first[1]}：{chinese}。区间内收盘价在{told.low}美元至{told.high}美元之间波动，近十个交易日涨跌幅约为{told.moved}%。"
        "技术指标由历史价格计算，存在滞后与误判，且不反映消息面和基本面。",
    )
    return Question(question=asked, answer=answer)


def _advice(scene: IndicatorScene, random: Random) -> Question:
    name = name_of(scene)
    asked = random.choice(
        (
            say(
                scene.language,
                f"What would you suggest to an investor on the basis of {name} and the price? Give your reasons.",
                f"根据{name}指标和股价走势，您对投资者有何建议？请说明理由。",
            ),
            say(
                scene.language,
                f"Should one buy, hold or sell after the last day shown? Argue from {name} and the prices.",
                f"最后一个交易日之后应买入、持有还是卖出？请结合{name}和股价说明。",
            ),
            *for_any(scene.language, "Investment Advice"),
        )
    )
    told, (leaning, english, chinese) = course(scene.language, scene.prices, candles=False), _reading(scene)
    stance = {
        1: ("Buying a little or holding is defensible", "可考虑小仓位买入或继续持有"),
        0: ("Waiting is the better choice", "建议观望"),
        -1: ("Cutting back or staying out is prudent", "宜减仓或暂时回避"),
    }[leaning]
    answer = say(
        scene.language,
        f"{stance[0]}: {english}. Watch {told.high} USD as resistance and {told.low} USD as support, place a stop, and "
        "look for confirmation by volume or another indicator before committing more.",
        f"{stance[1]}：{chinese}。上方压力关注{told.high}美元，下方支撑关注{told.low}美元；应设置止损，并待成交量或其他指标确认后再加大仓位。",
    )
    return Question(question=asked, answer=answer)


def _reason(scene: IndicatorScene, random: Random) -> Question | None:
    name = name_of(scene)
    told, (_, english, chinese) = course(scene.language, scene.prices, candles=False), _reading(scene)
    if not told.recent or (told.recent > 0) != _is_up(scene):
        return None  # the last ten days would be no reason for it
    asked = random.choice(
        (
            say(
                scene.language,
                f"Explain why {name} stands where it does on the last day of the chart.",
                f"请解释最后一个交易日{name}指标为何处于当前位置。",
            ),
            say(
                scene.language,
                f"What in the recent prices has brought {name} to its last values?",
                f"近期股价的哪些变化使{name}处于图中最后的水平？",
            ),
        )
    )
    direction = ("rose", "上涨") if told.recent >= 0 else ("fell", "下跌")
    answer = say(
        scene.language,
        f"{name} follows recent prices: over the last ten days the close {direction[0]} by about {abs(told.recent)}% "
        f"to {told.last} USD. As a result, {english}.",
        f"{name}由近期价格计算得出：近十个交易日收盘价{direction[1]}约{abs(told.recent)}%，至{told.last}美元，因而{chinese}。",
    )
    return Question(question=asked, answer=answer, background=say(scene.language, *_KNOWLEDGE[scene.indicator]))


def _knowledge(scene: IndicatorScene, random: Random) -> Question:
    name = name_of(scene)
    asked = random.choice(
        (
            say(
                scene.language,
                f"How is {name} read, and what does it say on the last day shown?",
                f"{name}指标应如何解读？图中最后一个交易日的数值说明了什么？",
            ),
            say(
                scene.language,
                f"What does {name} measure, and how would an analyst judge its last values here?",
                f"{name}衡量什么？分析师会如何看待图中的最新数值？",
            ),
        )
    )
    _, english, chinese = _reading(scene)
    general = say(scene.language, *_KNOWLEDGE[scene.indicator])
    answer = say(scene.language, f"{general} Here, {english}.", f"{general}本图中，{chinese}。")
    return Question(question=asked, answer=answer)


FORMS: Forms[IndicatorScene] = {
    "Image Caption": (_caption,),
    "Risk Warning": (_risk,),
    "Investment Advice": (_advice,),
    "Explain Reason": (_reason,),
    "Financial Knowledge": (_knowledge,),
}
"""By category."""
