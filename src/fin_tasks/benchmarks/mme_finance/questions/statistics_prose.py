"""Questions about statistical charts that only a judge can grade: their references come from the data."""

from decimal import Decimal
from random import Random

from fin_tasks.benchmarks.mme_finance.questions.question import Form, Forms, Question, percent, say, written
from fin_tasks.benchmarks.mme_finance.questions.statistics_charts import exact_value
from fin_tasks.benchmarks.mme_finance.questions.wordings import for_any
from fin_tasks.benchmarks.mme_finance.scenes import StatisticsScene

__all__ = ["FORMS", "summary"]


def _change(scene: StatisticsScene, name: str) -> tuple[Decimal, Decimal, Decimal]:
    """A series' first and last value, and the change in per cent."""
    first, last = (exact_value(scene, name, label) for label in (scene.labels[0], scene.labels[-1]))
    return first, last, percent(last - first, first)


def _largest(scene: StatisticsScene, name: str) -> tuple[str, Decimal]:
    values = scene.series[name]
    label = scene.labels[max(range(len(values)), key=values.__getitem__)]
    return label, exact_value(scene, name, label)


def _smallest(scene: StatisticsScene, name: str) -> tuple[str, Decimal]:
    values = scene.series[name]
    label = scene.labels[min(range(len(values)), key=values.__getitem__)]
    return label, exact_value(scene, name, label)


def _is_timed(scene: StatisticsScene) -> bool:
    """Whether the labels are years or quarters."""
    return scene.form != "pie" and any(map(str.isdigit, scene.labels[0]))


def _growths(scene: StatisticsScene) -> list[tuple[str, Decimal]]:
    """Where years are the series: each label's change in per cent, largest first."""
    before, after = scene.series
    growths = [
        (
            label,
            percent(
                exact_value(scene, after, label) - exact_value(scene, before, label), exact_value(scene, before, label)
            ),
        )
        for label in scene.labels
    ]
    return sorted(growths, key=lambda growth: -growth[1])


def summary(scene: StatisticsScene) -> str:
    """Tell what the chart shows, series by series."""
    parts = []
    for name in scene.series:
        (top, most), (bottom, least) = _largest(scene, name), _smallest(scene, name)
        high, low = written(most, scene.decimals), written(least, scene.decimals)
        if scene.form == "pie":
            parts.append(
                say(
                    scene.language,
                    f"{top} has the largest share with {high}%, {bottom} the smallest with {low}%.",
                    f"“{top}”占比最大，为{high}%；“{bottom}”占比最小，为{low}%。",
                )
            )
            continue
        told = say(
            scene.language,
            f"{name} is highest for {top} ({high}) and lowest for {bottom} ({low})",
            f"“{name}”在“{top}”最高（{high}），在“{bottom}”最低（{low}）",
        )
        if _is_timed(scene):
            first, last, change = _change(scene, name)
            told += say(
                scene.language,
                f", and moves from {written(first, scene.decimals)} to {written(last, scene.decimals)} ({change:+}%)",
                f"，由{written(first, scene.decimals)}变为{written(last, scene.decimals)}（{change:+}%）",
            )
        parts.append(told + say(scene.language, ".", "。"))
    return say(scene.language, " ", "").join(parts)


def _caption(scene: StatisticsScene, random: Random) -> Question:
    asked = random.choice(
        (
            say(scene.language, "Describe the content of this chart.", "请描述该图表的内容。"),
            say(
                scene.language,
                "Sum up what a reader should take from this chart.",
                "请总结读者应从该图中获得的主要信息。",
            ),
            *for_any(scene.language, "Image Caption"),
        )
    )
    kind = {"bar": ("bar chart", "柱状图"), "line": ("line chart", "折线图"), "pie": ("pie chart", "饼图")}[scene.form]
    names = say(scene.language, ", ", "、").join(scene.labels if scene.form == "pie" else scene.series)
    answer = say(
        scene.language,
        f'The {kind[0]} "{scene.title}" (in {scene.unit}) shows {names}. {summary(scene)}',
        f"图为{kind[1]}《{scene.title}》（单位：{scene.unit}），包含{names}。{summary(scene)}",
    )
    return Question(question=asked, answer=answer)


def _weak_point(scene: StatisticsScene) -> tuple[str, str, str, str]:
    """What is weakest in the data, and what to do about it; in both languages."""
    name = next(iter(scene.series))
    if scene.form == "pie":
        label, most = _largest(scene, name)
        return (
            f"{label} alone brings in {most}% of revenue, so a slump, new rules or currency moves there would "
            "hit the whole",
            f"仅“{label}”就贡献了{most}%的收入，一旦当地需求下滑、政策或汇率变动，将直接影响整体业绩",
            f"check how far {label} is exposed before buying and prefer companies that spread their revenue",
            f"买入前应评估“{label}”的风险敞口，优先考虑收入来源更分散的公司",
        )
    if _is_timed(scene):
        falls = min(scene.series, key=lambda series: _change(scene, series)[2])
        first, last, change = _change(scene, falls)
        grows = change >= 0
        return (
            f"{falls} went from {written(first, 1)} to {written(last, 1)} ({change:+}%), "
            + ("the slower growth of the two, and it may not last" if grows else "a decline that may go on"),
            f"“{falls}”由{written(first, 1)}变为{written(last, 1)}（{change:+}%），"
            + ("在两者中增速较低，能否持续存在不确定性" if grows else "下滑趋势可能延续"),
            "hold while the growth lasts and watch costs" if grows else "wait until the decline stops before buying",
            "可在增长延续期间持有，并关注成本" if grows else "宜等待下滑企稳后再考虑买入",
        )
    label, change = _growths(scene)[-1]
    did = ("shrank by", "下降") if change < 0 else ("grew least of all, by", "增速最低，仅增长")
    return (
        f"{label} {did[0]} {abs(change)}% over the year",
        f"“{label}”同比{did[1]}{abs(change)}%",
        f"ask what management plans for {label} before adding to a position",
        f"加仓前应了解管理层对“{label}”的规划",
    )


def _risk(scene: StatisticsScene, random: Random) -> Question:
    asked = random.choice(
        (
            say(
                scene.language,
                "Which risks should an investor read from this chart?",
                "投资者应从该图中注意到哪些风险？",
            ),
            say(scene.language, "What in this chart should worry an investor?", "图中哪些情况值得投资者警惕？"),
            *for_any(scene.language, "Risk Warning"),
        )
    )
    weak = _weak_point(scene)
    answer = say(
        scene.language,
        f"The main one: {weak[0]}. Besides, the chart leaves out costs, debts and rivals, and past figures promise "
        "nothing about future ones.",
        f"主要风险在于：{weak[1]}。此外，图中未反映成本、负债与竞争情况，历史数据也不代表未来表现。",
    )
    return Question(question=asked, answer=answer)


def _advice(scene: StatisticsScene, random: Random) -> Question:
    asked = random.choice(
        (
            say(
                scene.language,
                "What advice would you give an investor who has only this chart?",
                "如果只有这张图，您会给投资者什么建议？",
            ),
            say(
                scene.language,
                "An investor asks what to do in view of this chart. What do you reply?",
                "投资者看到该图后询问应如何操作，您会如何回答？",
            ),
            *for_any(scene.language, "Investment Advice"),
        )
    )
    weak = _weak_point(scene)
    answer = say(
        scene.language,
        f"{weak[2][0].upper()}{weak[2][1:]}: {weak[0]}. Valuation, debt and cash flow are not in the chart and have a "
        "say in the decision too.",
        f"{weak[3]}：{weak[1]}。图中未反映估值、负债与现金流，决策时还需结合这些信息。",
    )
    return Question(question=asked, answer=answer)


def _reason(scene: StatisticsScene, random: Random) -> Question:
    if scene.form == "pie":
        name = next(iter(scene.series))
        label, most = _largest(scene, name)
        bottom, least = _smallest(scene, name)
        asked = say(
            scene.language,
            f"Why do events in {label} matter more to this company than events in {bottom}?",
            f"为什么“{label}”的变化对该公司的影响大于“{bottom}”？",
        )
        answer = say(
            scene.language,
            f"{label} makes up {most}% of revenue, {bottom} only {least}%: a fall of a tenth in {label} costs "
            f"{most / 10}% of revenue, the same fall in {bottom} {least / 10}%.",
            f"“{label}”占收入的{most}%，“{bottom}”仅占{least}%：同样下滑10%，前者使总收入减少{most / 10}%，"
            f"后者仅减少{least / 10}%。",
        )
        return Question(question=asked, answer=answer)
    if _is_timed(scene):
        one, other = scene.series
        (first, last, change), (first2, last2, change2) = _change(scene, one), _change(scene, other)
        asked = say(
            scene.language,
            f"Explain how the relation between {one} and {other} changed from {scene.labels[0]} to {scene.labels[-1]}, "
            "and why.",
            f"从{scene.labels[0]}到{scene.labels[-1]}，“{one}”与“{other}”的关系发生了怎样的变化？请说明原因。",
        )
        faster = one if change > change2 else other
        answer = say(
            scene.language,
            f"{one} went from {written(first, 1)} to {written(last, 1)} ({change:+}%), {other} from "
            f"{written(first2, 1)} "
            f"to {written(last2, 1)} ({change2:+}%). As {faster} did better, the ratio of the two moved in its favour.",
            f"“{one}”由{written(first, 1)}变为{written(last, 1)}（{change:+}%），“{other}”由{written(first2, 1)}变为"
            f"{written(last2, 1)}（{change2:+}%）。“{faster}”表现更好，因此两者之比向其倾斜。",
        )
        return Question(question=asked, answer=answer)
    growths = _growths(scene)
    (best, most), (worst, least) = growths[0], growths[-1]
    before, after = scene.series
    totals = [sum((exact_value(scene, name, label) for label in scene.labels), Decimal(0)) for name in scene.series]
    asked = say(
        scene.language,
        f"Why did total revenue change as it did from {before} to {after}?",
        f"从{before}到{after}，总收入的变化主要由哪些业务造成？",
    )
    answer = say(
        scene.language,
        f"The segments add up to {written(totals[0], 1)} in {before} and {written(totals[1], 1)} in {after} "
        f"({percent(totals[1] - totals[0], totals[0]):+}%). {best} did best ({most:+}%), {worst} worst ({least:+}%).",
        f"各业务合计由{before}的{written(totals[0], 1)}变为{after}的{written(totals[1], 1)}"
        f"（{percent(totals[1] - totals[0], totals[0]):+}%）。“{best}”表现最好（{most:+}%），"
        f"“{worst}”最弱（{least:+}%）。",
    )
    return Question(question=asked, answer=answer)


def _knowledge(scene: StatisticsScene, random: Random) -> Question:
    if scene.form == "pie":
        asked = say(
            scene.language,
            "What is concentration risk, and how concentrated is the revenue shown?",
            "什么是集中度风险？图中收入的集中程度如何？",
        )
        shares = sorted((exact_value(scene, name, label), label) for name in scene.series for label in scene.labels)
        two = shares[-1][0] + shares[-2][0]
        answer = say(
            scene.language,
            f"It is the danger of depending on few customers, markets or products. Here the two largest parts, "
            f"{shares[-1][1]} and {shares[-2][1]}, have {two}% together.",
            f"集中度风险指过度依赖少数客户、市场或产品。图中最大的两部分“{shares[-1][1]}”与“{shares[-2][1]}”合计占{two}%。",
        )
    elif scene.form == "line":
        asked = say(
            scene.language,
            "What does gross margin measure, and which of the companies shown does better?",
            "毛利率衡量什么？图中哪家公司表现更好？",
        )
        best = max(scene.series, key=lambda name: scene.series[name][-1])
        value = exact_value(scene, best, scene.labels[-1])
        answer = say(
            scene.language,
            f"It is revenue less the cost of what was sold, as a share of revenue: what is left to pay for everything "
            f"else. {best} is ahead with {value}% in {scene.labels[-1]}.",
            f"毛利率为营业收入减去营业成本后占营业收入的比例，反映可用于覆盖其他费用的空间。{scene.labels[-1]}{best}为{value}%，更胜一筹。",
        )
    else:
        asked = say(
            scene.language,
            "How is growth over a year computed, and what does it tell about the figures shown?",
            "同比增长率如何计算？结合图中数据说明。",
        )
        answer = say(
            scene.language,
            "Growth is the new value less the old one, divided by the old one; it makes items of different size "
            f"comparable. {summary(scene)}",
            f"同比增长率＝（本期数－上年同期数）÷上年同期数，可使规模不同的项目相互比较。{summary(scene)}",
        )
    return Question(question=asked, answer=answer)


def _of_printed(form: Form[StatisticsScene]) -> Form[StatisticsScene]:
    """Ask only where values are printed: a reference should not tell figures that nobody can read."""

    def asked(scene: StatisticsScene, random: Random) -> Question | None:
        return form(scene, random) if scene.printed else None

    return asked


FORMS: Forms[StatisticsScene] = {
    "Image Caption": (_of_printed(_caption),),
    "Risk Warning": (_of_printed(_risk),),
    "Investment Advice": (_of_printed(_advice),),
    "Explain Reason": (_of_printed(_reason),),
    "Financial Knowledge": (_of_printed(_knowledge),),
}
"""By category; None where no values are printed."""
