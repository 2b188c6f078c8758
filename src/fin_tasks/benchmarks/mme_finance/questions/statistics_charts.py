"""Questions with exact answers about bar, line and pie charts."""

from decimal import Decimal
from random import Random

from fin_tasks.benchmarks.mme_finance.old_exact import Truth
from fin_tasks.benchmarks.mme_finance.questions.colours import SERIES, colour_question
from fin_tasks.benchmarks.mme_finance.questions.labels import forms_of, others
from fin_tasks.benchmarks.mme_finance.questions.question import (
    Forms,
    Question,
    choice,
    rounded,
    say,
    unanswerable,
    written,
)
from fin_tasks.benchmarks.mme_finance.scenes import StatisticsScene

__all__ = ["FORMS", "exact_value"]

_NEAR = 0.1
_TALL = 0.25
"""How high a bar or point must be, as a share of the highest, for an estimate to be fair."""
_APART = 0.06
"""What must part the highest from the next, as a share of the highest, where no values are printed."""

_FORM_NAMES = {
    "bar": ("Bar chart", "柱状图", "bar", "column chart", "条形图", "柱形图"),
    "line": ("Line chart", "折线图", "line graph", "line", "曲线图"),
    "pie": ("Pie chart", "饼图", "pie", "扇形图", "饼状图", "donut chart", "环形图"),
}


def exact_value(scene: StatisticsScene, series: str, label: str) -> Decimal:
    """Return a value as the chart prints it."""
    return rounded(Decimal(str(scene.series[series][scene.labels.index(label)])), scene.decimals)


def _spot(scene: StatisticsScene, random: Random) -> tuple[str, str, str, str]:
    """Choose a value: its series, its label, and what both are called together in English and in Chinese."""
    series, label = random.choice(list(scene.series)), random.choice(scene.labels)
    return series, label, *_called(scene, series, label)


def _called(scene: StatisticsScene, series: str, label: str) -> tuple[str, str]:
    if scene.form == "pie":
        return f"{label}'s share", f"“{label}”的占比"
    return f"the value of {series} for {label}", f"“{label}”对应的“{series}”数值"


def _printed(scene: StatisticsScene, random: Random) -> Question | None:
    if not scene.printed:
        return None
    series, label, english, chinese = _spot(scene, random)
    value = exact_value(scene, series, label)
    asked = random.choice(
        (
            say(scene.language, f"Read off {english} as printed in the chart.", f"请读出图中标注的{chinese}。"),
            say(scene.language, f"Which number does the chart print for {english}?", f"图中{chinese}是多少？"),
        )
    )
    shown = _with_unit(scene, value)
    return Question(question=asked, answer=shown, truth=Truth(kind="number", value=float(value), unit=scene.unit))


def _title(scene: StatisticsScene, random: Random) -> Question:
    asked = say(scene.language, "What is the title of the chart?", "图表的标题是什么？")
    return Question(question=asked, answer=scene.title, truth=Truth(kind="text", accepted=(scene.title,)))


def _unit_printed(scene: StatisticsScene, random: Random) -> Question | None:
    if scene.form == "pie":
        return None
    asked = say(scene.language, "In which unit are the values given?", "图中数值的单位是什么？")
    forms = {"%": ("%", "percent", "per cent", "percentage", "百分比", "百分数"), "USD million": ("USD million",)}
    forms["USD million"] += ("million USD", "millions of US dollars", "millions of USD", "million US dollars")
    forms["百万美元"] = ("百万美元", "美元（百万）")
    return Question(
        question=asked,
        answer=scene.unit,
        truth=Truth(kind="text", accepted=tuple(forms.get(scene.unit, (scene.unit,)))),
    )


def _form(scene: StatisticsScene, random: Random) -> Question:
    asked = say(scene.language, "What type of chart is this?", "这是哪种类型的图表？")
    wrong = [name for form, names in _FORM_NAMES.items() if form != scene.form for name in names]
    own = _FORM_NAMES[scene.form]
    return choice(asked, own if scene.language == "en" else [own[1], own[0], *own[2:]], wrong)


def _series(scene: StatisticsScene, random: Random) -> Question | None:
    if scene.form == "pie":
        names = list(scene.labels)
        asked = say(scene.language, "Name all parts of the pie.", "请列出饼图中的所有组成部分。")
    else:
        names = list(scene.series)
        asked = say(scene.language, "Which series does the legend name?", "图例中包含哪些数据系列？")
    truth = Truth(kind="all", parts=tuple(tuple(forms_of(name)) for name in names))
    return Question(question=asked, answer=say(scene.language, ", ", "、").join(names), truth=truth)


def _colour(scene: StatisticsScene, random: Random) -> Question:
    names = list(scene.labels) if scene.form == "pie" else list(scene.series)
    place = random.randrange(len(names))
    english, chinese = SERIES[place]
    if random.random() < 0.5:
        asked = say(scene.language, f"What colour stands for {names[place]}?", f"“{names[place]}”用什么颜色表示？")
        return colour_question(scene.language, asked, english)
    asked = say(
        scene.language,
        f"What is drawn in {english} in this chart?",
        f"图中{chinese}{'部分' if scene.form == 'pie' else '的数据系列'}代表什么？",
    )
    return choice(asked, forms_of(names[place]), others(names, names[place]))


def _extreme(scene: StatisticsScene, random: Random) -> Question | None:
    series = random.choice(list(scene.series))
    values = scene.series[series]
    largest = random.random() < 0.6
    order = sorted(range(len(values)), key=values.__getitem__, reverse=largest)
    gap = abs(values[order[0]] - values[order[1]])
    if gap == 0 or (not scene.printed and gap < _APART * max(values)):
        return None
    best = scene.labels[order[0]]
    if scene.form == "pie":
        asked = say(
            scene.language,
            f"Which part is the {'largest' if largest else 'smallest'} slice?",
            f"饼图中面积最{'大' if largest else '小'}的是哪一部分？",
        )
    else:
        thing = {"bar": ("bar", "柱子"), "line": ("point", "数据点")}[scene.form]
        asked = say(
            scene.language,
            f"Where does {series} have its {'highest' if largest else 'lowest'} {thing[0]}? Give the label on "
            "the axis.",
            f"“{series}”{'最高' if largest else '最低'}的{thing[1]}对应横轴上的哪个标签？",
        )
    return choice(asked, forms_of(best), others(scene.labels, best))


def _position(scene: StatisticsScene, random: Random) -> Question | None:
    if scene.form == "pie":
        return None
    place = random.randrange(1, len(scene.labels))
    ordinals = ("first", "second", "third", "fourth", "fifth")
    if random.random() < 0.5 and place < len(ordinals):
        asked = say(
            scene.language,
            f"Which label stands {ordinals[place]} from the left below the chart?",
            f"横轴从左往右第{place + 1}个标签是什么？",
        )
    else:
        before = scene.labels[place - 1]
        asked = say(
            scene.language,
            f"Which label comes directly to the right of {before} on the axis?",
            f"横轴上紧邻“{before}”右侧的标签是什么？",
        )
        right = scene.labels[place]
        wrong = [form for form in others(scene.labels, right) if form not in forms_of(before)]
        return choice(asked, forms_of(right), wrong)
    return choice(asked, forms_of(scene.labels[place]), others(scene.labels, scene.labels[place]))


def _upper_line(scene: StatisticsScene, random: Random) -> Question | None:
    if scene.form == "pie" or len(scene.series) != 2:
        return None
    label = random.choice(scene.labels)
    first, second = scene.series
    gap = exact_value(scene, first, label) - exact_value(scene, second, label)
    highest = max(max(values) for values in scene.series.values())
    if gap == 0 or (not scene.printed and abs(float(gap)) < _APART * highest):
        return None
    asked = say(
        scene.language,
        f"Which series is higher at {label}?",
        f"在“{label}”处，哪个系列更高？",
    )
    right, wrong = (first, second) if gap > 0 else (second, first)
    return choice(asked, forms_of(right), forms_of(wrong))


def _estimated(scene: StatisticsScene, random: Random) -> Question | None:
    if scene.printed or scene.form == "pie":
        return None
    highest = max(max(values) for values in scene.series.values())
    series = random.choice(list(scene.series))
    fair = [label for label, value in zip(scene.labels, scene.series[series], strict=True) if value >= _TALL * highest]
    if not fair:
        return None
    label = random.choice(fair)
    english, chinese = _called(scene, series, label)
    value = exact_value(scene, series, label)
    asked = say(
        scene.language,
        f"Estimate {english} from the axis, in {scene.unit}.",
        f"请根据坐标轴估算{chinese}（单位：{scene.unit}）。",
    )
    shown = _with_unit(scene, value)
    truth = Truth(kind="number", value=float(value), relative=_NEAR, unit=scene.unit, worked=True)
    return Question(question=asked, answer=say(scene.language, f"About {shown}", f"约{shown}"), truth=truth)


def _absent(scene: StatisticsScene, random: Random) -> Question:
    label = random.choice(scene.labels)
    asked = random.choice(
        (
            say(
                scene.language,
                "Which auditor signed off these figures?",
                "这些数据由哪家会计师事务所审计？",
            ),
            say(
                scene.language,
                f"Which headcount does the chart give for {label}?",
                f"“{label}”对应的员工人数是多少？",
            ),
            say(
                scene.language,
                "What does the chart forecast for 2031?",
                "图中对2031年的预测值是多少？",
            ),
            say(
                scene.language,
                "What was the industry's average in the same period?",
                "同期行业平均水平是多少？",
            ),
            say(
                scene.language,
                f"How many customers does the chart count for {label}?",
                f"“{label}”对应的客户数量是多少？",
            ),
            say(scene.language, "How many shops does the company run?", "该公司有多少家门店？"),
            say(
                scene.language,
                "At what price did the share trade when this chart was published?",
                "该图表发布时的股价是多少？",
            ),
            say(scene.language, "Who is the largest shareholder?", "第一大股东是谁？"),
            say(scene.language, "How much cash does the balance sheet hold?", "资产负债表上的现金有多少？"),
            say(scene.language, "Which exchange rate were these figures converted at?", "这些数据按什么汇率折算？"),
            say(scene.language, "How high are the capital expenditures?", "资本开支是多少？"),
        )
    )
    return unanswerable(scene.language, asked)


def _with_unit(scene: StatisticsScene, value: Decimal) -> str:
    shown = written(value, scene.decimals)
    if scene.unit == "%":
        return f"{shown}%"
    return say(scene.language, f"{shown} {scene.unit}", f"{shown}{scene.unit}")


FORMS: Forms[StatisticsScene] = {
    "OCR": (_printed, _printed, _printed, _title, _unit_printed),
    "Entity Recognition": (_form, _series, _colour, _colour),
    "Spatial Awareness": (_extreme, _extreme, _position, _upper_line),
    "Numerical Calculation": (_estimated,),
    "Not Applicable": (_absent,),
}
"""By category."""
