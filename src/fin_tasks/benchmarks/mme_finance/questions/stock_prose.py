"""Questions about stock charts that only a judge can grade: their references are put together from the data."""

from random import Random

from fin_tasks.benchmarks.mme_finance.questions.question import Forms, Question, figure, say
from fin_tasks.benchmarks.mme_finance.questions.stocks import course, story
from fin_tasks.benchmarks.mme_finance.questions.wordings import for_any
from fin_tasks.benchmarks.mme_finance.scenes import CandleScene

__all__ = ["FORMS"]


def _order(scene: CandleScene) -> tuple[str, str]:
    """How the averages lie on the last day, in both languages."""
    ends = sorted(((figure(scene.header[f"MA{days}"]).value, days) for days in scene.averages), reverse=True)
    listed = " > ".join(f"MA{days} ({value})" for value, days in ends)
    listed_zh = " > ".join(f"MA{days}（{value}）" for value, days in ends)
    days = [day for _, day in ends]
    if days == sorted(days):
        return f"bullish order, {listed}", f"呈多头排列，{listed_zh}"
    if days == sorted(days, reverse=True):
        return f"bearish order, {listed}", f"呈空头排列，{listed_zh}"
    return f"no clear order, {listed}", f"相互缠绕，方向不明，{listed_zh}"


def _caption(scene: CandleScene, random: Random) -> Question:
    asked = random.choice(
        (
            say(scene.language, "Describe what this chart shows.", "请描述这张图的主要内容。"),
            say(
                scene.language,
                "Summarise the picture: the instrument, the period, the trend, and what else stands out.",
                "请概括图片内容，包括标的、时间区间、走势以及其他值得注意的信息。",
            ),
            *for_any(scene.language, "Image Caption"),
        )
    )
    english, chinese = _order(scene)
    told = story(scene.language, course(scene.language, scene.prices, candles=True), scene.prices.name)
    header = say(scene.language, ", ", "，").join(
        f"{label} {value}" for label, value in list(scene.header.items())[1:7]
    )
    opening = say(
        scene.language,
        f"A daily candlestick chart of {scene.prices.name} ({scene.prices.symbol}) with moving averages and, below it, "
        f"volume.",
        f"图为{scene.prices.name}（{scene.prices.symbol}）的日K线图，叠加移动平均线，下方为成交量。",
    )
    closing = say(
        scene.language,
        f"The last day prints {header}. The averages end in {english}.",
        f"最后一个交易日数据：{header}。均线最终{chinese}。",
    )
    return Question(question=asked, answer=say(scene.language, f"{opening} {told} {closing}", opening + told + closing))


def _risk(scene: CandleScene, random: Random) -> Question:
    told = course(scene.language, scene.prices, candles=True)
    asked = random.choice(
        (
            say(
                scene.language,
                f"Which risks does this chart point to for somebody who holds {scene.prices.symbol}?",
                f"对于持有{scene.prices.symbol}的投资者，这张图提示了哪些风险？",
            ),
            say(
                scene.language,
                f"Somebody owns {scene.prices.symbol}. What dangers does the chart show them?",
                f"从该图看，{scene.prices.symbol}的持有者面临哪些主要风险？",
            ),
            *for_any(scene.language, "Risk Warning"),
        )
    )
    english, chinese = _order(scene)
    answer = say(
        scene.language,
        f"The price swung between {told.low} in {told.low_month} and {told.high} USD in {told.high_month}, "
        f"so volatility is the first risk. The averages end in {english}; a close of {told.last} USD "
        + (
            "after the recent rise may draw profit-taking."
            if told.recent > 0
            else "after the recent fall may not be the bottom, as support could break at the period's low."
            if told.recent < 0
            else "after days without much change leaves the direction open."
        )
        + " Averages lag behind prices, and daily candles say nothing of news or fundamentals.",
        f"区间内股价在{told.low}美元（{told.low_month}）至{told.high}美元（{told.high_month}）之间波动，波动风险首先值得警惕。"
        f"均线{chinese}；最新收盘价{told.last}美元，"
        + (
            "近期上涨后存在获利回吐压力。"
            if told.recent > 0
            else "近期走弱，若跌破区间低点，可能继续下探。"
            if told.recent < 0
            else "近期变动不大，方向尚不明确。"
        )
        + "此外，均线具有滞后性，K线图也不反映消息面与基本面变化。",
    )
    return Question(question=asked, answer=answer)


def _advice(scene: CandleScene, random: Random) -> Question:
    told = course(scene.language, scene.prices, candles=True)
    asked = random.choice(
        (
            say(
                scene.language,
                "Going by this chart alone, what would you advise a short-term investor to do, and why?",
                "仅从该图来看，您会给短线投资者什么操作建议？请说明理由。",
            ),
            say(
                scene.language,
                f"How should a trader position in {scene.prices.symbol} after the last day shown? Justify it "
                "from the chart.",
                f"结合图中信息，最后一个交易日之后应如何操作{scene.prices.symbol}？请给出依据。",
            ),
            *for_any(scene.language, "Investment Advice"),
        )
    )
    english, chinese = _order(scene)
    strong = english.startswith("bullish")
    weak = english.startswith("bearish")
    stance = (
        say(scene.language, "Hold, or add on dips", "可继续持有或逢低加仓")
        if strong
        else say(scene.language, "Stay out or cut back", "宜观望或减仓")
        if weak
        else say(scene.language, "Wait for a direction with a small position", "建议轻仓观望，等待方向明确")
    )
    answer = say(
        scene.language,
        f"{stance}: the averages show {english}, and the last close is {told.last} USD. A stop below the period's low "
        f"of {told.low} USD limits the loss; the high of {told.high} USD is the resistance to watch. Position size "
        "should fit one's own tolerance for risk.",
        f"{stance}：均线{chinese}，最新收盘价为{told.last}美元。可将区间低点{told.low}美元下方设为止损位，"
        f"上方关注{told.high}美元的压力；仓位应与自身风险承受能力相匹配。",
    )
    return Question(question=asked, answer=answer)


def _reason(scene: CandleScene, random: Random) -> Question | None:
    told, shortest, longest = (
        course(scene.language, scene.prices, candles=True),
        min(scene.averages),
        max(scene.averages),
    )
    gap = figure(scene.header[f"MA{shortest}"]).value - figure(scene.header[f"MA{longest}"]).value
    above = gap > 0
    if gap == 0 or not told.recent or (told.recent > 0) != above:
        return None  # the last ten days would be no reason for it
    asked = random.choice(
        (
            say(
                scene.language,
                f"On the last day MA{shortest} lies {'above' if above else 'below'} MA{longest}. What explains this?",
                f"最后一个交易日MA{shortest}位于MA{longest}{'上方' if above else '下方'}，原因是什么？",
            ),
            say(
                scene.language,
                f"Why does MA{shortest} end {'above' if above else 'below'} MA{longest} in this chart?",
                f"为什么图中MA{shortest}最终处于MA{longest}{'之上' if above else '之下'}？",
            ),
        )
    )
    answer = say(
        scene.language,
        f"MA{shortest} averages the latest {shortest} closes only, so it follows the price faster than MA{longest}. "
        f"It stands at {scene.header[f'MA{shortest}']} against {scene.header[f'MA{longest}']}: recent closes have been "
        f"{'above' if above else 'below'} those of the past {longest} days on average, with the last close at "
        f"{told.last} USD and a change of about {told.moved}% over ten trading days.",
        f"MA{shortest}只取最近{shortest}个交易日的收盘价，对价格变化的反应快于MA{longest}。目前MA{shortest}为"
        f"{scene.header[f'MA{shortest}']}，MA{longest}为{scene.header[f'MA{longest}']}，说明近期收盘价平均"
        f"{'高于' if above else '低于'}过去{longest}日的水平；最新收盘价为{told.last}美元，"
        f"近十个交易日涨跌幅约为{told.moved}%。",
    )
    background = say(
        scene.language,
        "A simple moving average over n days is the mean of the last n closes.",
        "n日简单移动平均线为最近n个交易日收盘价的算术平均值。",
    )
    return Question(question=asked, answer=answer, background=background)


def _knowledge(scene: CandleScene, random: Random) -> Question:
    english, chinese = _order(scene)
    short, long = min(scene.averages), max(scene.averages)
    if random.random() < 0.5:
        asked = say(
            scene.language,
            "What does the order of moving averages tell an analyst, and which order does this chart end in?",
            "均线的排列顺序对技术分析有什么意义？本图最终呈现何种排列？",
        )
        answer = say(
            scene.language,
            "With shorter averages above longer ones the order is bullish and the trend up; the reverse is bearish; "
            f"mixed lines mean no clear trend. Here: {english}.",
            f"短期均线在上、长期均线在下为多头排列，表明趋势向上；反之为空头排列；相互缠绕则方向不明。本图均线{chinese}。",
        )
        return Question(question=asked, answer=answer)
    asked = say(
        scene.language,
        f"What is a golden cross of MA{short} and MA{long}, and what is it taken to signal?",
        f"MA{short}与MA{long}的“金叉”指什么？通常被视为怎样的信号？",
    )
    answer = say(
        scene.language,
        f"MA{short} crosses MA{long} from below: recent prices have become stronger than the longer average, which is "
        f"read as a signal to buy. It lags and is unreliable in sideways markets. On the last day here, MA{short} is "
        f"{scene.header[f'MA{short}']} and MA{long} {scene.header[f'MA{long}']}.",
        f"金叉指MA{short}自下而上穿越MA{long}，说明近期价格强于较长周期均值，通常视为买入信号；但其有滞后性，震荡市中易失效。"
        f"本图最后一日MA{short}为{scene.header[f'MA{short}']}，MA{long}为{scene.header[f'MA{long}']}。",
    )
    return Question(question=asked, answer=answer)


FORMS: Forms[CandleScene] = {
    "Image Caption": (_caption,),
    "Risk Warning": (_risk,),
    "Investment Advice": (_advice,),
    "Explain Reason": (_reason,),
    "Financial Knowledge": (_knowledge,),
}
"""By category."""
