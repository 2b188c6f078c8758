"""Questions with exact answers about a page of a broker's report."""

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
    rounded,
    say,
    unanswerable,
    worked,
)
from fin_tasks.benchmarks.mme_finance.scene_making.companies import ANALYSTS, COMPANIES, PUBLISHERS
from fin_tasks.benchmarks.mme_finance.scenes import DocumentScene

__all__ = ["FORMS"]

_FIGURES = {
    "revenue": ("quarter's revenue", "本季度营业收入"),
    "revenue_before": ("revenue of the same quarter a year earlier", "上年同期营业收入"),
    "profit": ("quarter's net profit", "本季度净利润"),
    "profit_before": ("net profit of the same quarter a year earlier", "上年同期净利润"),
    "target_price": ("target price", "目标价"),
    "price": ("closing price", "收盘价"),
    "eps": ("quarter's earnings per share", "季度每股收益"),
    "margin": ("quarter's gross margin", "本季度毛利率"),
    "margin_before": ("gross margin a year earlier", "上年同期毛利率"),
    "market_cap": ("market cap", "总市值"),
}
_RATINGS = (("Buy", "买入"), ("Overweight", "增持"), ("Neutral", "中性"), ("Underweight", "减持"))


def _printed(scene: DocumentScene, random: Random) -> Question:
    key = random.choice(list(_FIGURES))
    asked = random.choice(
        (
            say(
                scene.language,
                f"What does the page state as the {_FIGURES[key][0]}?",
                f"报告中{_FIGURES[key][1]}是多少？",
            ),
            say(
                scene.language,
                f"Find the {_FIGURES[key][0]} on the page.",
                f"请从页面中找出{_FIGURES[key][1]}。",
            ),
        )
    )
    return lookup(asked, scene.facts[key])


def _title(scene: DocumentScene, random: Random) -> Question:
    asked = say(scene.language, "What is the headline of the report?", "这份报告的标题是什么？")
    return Question(question=asked, answer=scene.title, truth=Truth(kind="text", accepted=(scene.title,)))


def _analyst(scene: DocumentScene, random: Random) -> Question:
    asked = say(scene.language, "Which analyst is named on the page?", "报告署名的分析师是谁？")
    own = scene.facts["analyst"]
    wrong = [form for words in ANALYSTS for form in words if words.of(scene.language) != own]
    surname = [own.split()[-1]] if scene.language == "en" else []
    return choice(asked, [own, *surname], wrong)


def _publisher(scene: DocumentScene, random: Random) -> Question:
    asked = say(scene.language, "Which house published the report?", "该报告由哪家机构发布？")
    own = scene.publisher
    first = [own.split()[0]] if scene.language == "en" else []
    return choice(
        asked, [own, *first], [form for words in PUBLISHERS for form in words if words.of(scene.language) != own]
    )


def _company(scene: DocumentScene, random: Random) -> Question:
    own = scene.facts["company"]
    asked = say(scene.language, "Which company does the report deal with?", "该报告研究的是哪家公司？")
    names = [company.name for company in COMPANIES]
    wrong = [form for words in names for form in words if words.of(scene.language) != own]
    first = [own.split()[0]] if scene.language == "en" else []
    return choice(asked, [own, *first, scene.facts["symbol"]], wrong)


def _rating(scene: DocumentScene, random: Random) -> Question:
    before = random.random() < 0.4
    own = scene.facts["rating_before" if before else "rating"]
    asked = (
        say(scene.language, "What was the rating before this report?", "此份报告之前的评级是什么？")
        if before
        else say(scene.language, "How is the stock rated now?", "该股票目前的评级是什么？")
    )
    wrong = [form for forms in _RATINGS for form in forms if own not in forms]
    return choice(asked, [own, *(form for forms in _RATINGS if own in forms for form in forms if form != own)], wrong)


def _section(scene: DocumentScene, random: Random) -> Question:
    """Which heading comes next to another."""
    names = list(scene.headings)
    place = random.randrange(1, len(names))
    is_below = random.random() < 0.5
    asked_of, right = (names[place - 1], names[place]) if is_below else (names[place], names[place - 1])
    asked = say(
        scene.language,
        f"Which section follows directly {'after' if is_below else 'before'} the one headed {asked_of}?"
        if is_below
        else f"Which section comes right before the one headed {asked_of}?",
        f"“{asked_of}”一节{'之后' if is_below else '之前'}紧接着的是哪一节？",
    )
    return choice(asked, [right], [name for name in names if name not in (right, asked_of)])


def _place(scene: DocumentScene, random: Random) -> Question:
    names = list(scene.headings)
    last = random.random() < 0.5
    asked = say(
        scene.language,
        f"Which heading stands {'lowest' if last else 'highest'} among those of the sections?",
        f"各小节标题中位置最靠{'下' if last else '上'}的是哪一个？",
    )
    right = names[-1 if last else 0]
    return choice(asked, [right], [name for name in names if name != right])


def _growth(scene: DocumentScene, random: Random) -> Question:
    key = random.choice(("revenue", "profit"))
    name = {"revenue": ("revenue", "营业收入"), "profit": ("net profit", "净利润")}[key]
    now, before = figure(scene.facts[key]).value, figure(scene.facts[f"{key}_before"]).value
    asked = say(
        scene.language,
        f"By what percentage did {name[0]} change against the same quarter a year earlier? Give a sign and two "
        "decimals.",
        f"按报告所列数值计算，本季度{name[1]}同比变动百分之几？请带正负号，保留两位小数。",
    )
    steps = f"({now:,f} - {before:,f}) / {before:,f} × 100% ="
    return worked(asked, steps, percent(now - before, before), unit="%", exact=False, signed=True)


def _upside(scene: DocumentScene, random: Random) -> Question:
    target, price = figure(scene.facts["target_price"]).value, figure(scene.facts["price"]).value
    asked = say(
        scene.language,
        "How far is the target price from the closing price, in per cent of the latter? Give a sign and two decimals.",
        "目标价相对收盘价的空间为百分之几？请带正负号，保留两位小数。",
    )
    steps = f"({target} - {price}) / {price} × 100% ="
    return worked(asked, steps, percent(target - price, price), unit="%", exact=False, signed=True)


def _margin_points(scene: DocumentScene, random: Random) -> Question:
    now, before = figure(scene.facts["margin"]).value, figure(scene.facts["margin_before"]).value
    asked = say(
        scene.language,
        "By how many percentage points did gross margin change within the year? Give the sign.",
        "毛利率同比变动多少个百分点？请带正负号。",
    )
    points = say(scene.language, "percentage points", "个百分点")
    return worked(asked, f"{now} - {before} =", now - before, unit="%", written_unit=points, signed=True)


def _net_margin(scene: DocumentScene, random: Random) -> Question:
    profit, revenue = figure(scene.facts["profit"]).value, figure(scene.facts["revenue"]).value
    asked = say(
        scene.language,
        "What share of the quarter's revenue is left as net profit, in per cent with two decimals?",
        "本季度净利润占营业收入的百分比是多少？保留两位小数。",
    )
    return worked(asked, f"{profit:,f} / {revenue:,f} × 100% =", percent(profit, revenue), unit="%", exact=False)


def _multiple(scene: DocumentScene, random: Random) -> Question:
    price, eps = figure(scene.facts["price"]).value, figure(scene.facts["eps"]).value
    asked = say(
        scene.language,
        "Divide the closing price by four times the quarter's earnings per share. What is the result, with two "
        "decimals?",
        "用收盘价除以季度每股收益的四倍，结果是多少？保留两位小数。",
    )
    steps = f"{price} / (4 × {eps}) = {price} / {4 * eps} ="
    return worked(asked, steps, rounded(price / (Decimal(4) * eps), 2), exact=False)


def _absent(scene: DocumentScene, random: Random) -> Question:
    company = scene.facts["company"]
    asked = random.choice(
        (
            say(scene.language, f"Who is the chief executive of {company}?", f"{company}的首席执行官是谁？"),
            say(scene.language, "What dividend does the company pay?", "该公司派发的股息是多少？"),
            say(scene.language, f"In which year was {company} founded?", f"{company}成立于哪一年？"),
            say(
                scene.language,
                "How much revenue does the report expect for the next quarter?",
                "报告预计下一季度的营业收入是多少？",
            ),
            say(scene.language, f"Which auditor does {company} employ?", f"{company}聘请的审计机构是哪家？"),
            say(scene.language, "What is the fifty-two-week high of the share?", "该股的52周最高价是多少？"),
            say(scene.language, f"In which city does {company} have its seat?", f"{company}的总部在哪个城市？"),
            say(scene.language, "How much does the company spend on research?", "该公司的研发支出是多少？"),
            say(scene.language, "Which discount rate does the valuation use?", "估值采用的折现率是多少？"),
            say(
                scene.language,
                "How many analysts at other houses rate the share a buy?",
                "其他机构中有多少位分析师给予买入评级？",
            ),
            say(scene.language, "How high is the company's net debt?", "该公司的净负债是多少？"),
            say(scene.language, "What does the report say of staff numbers?", "报告披露的员工人数是多少？"),
        )
    )
    return unanswerable(scene.language, asked)


FORMS: Forms[DocumentScene] = {
    "OCR": (_printed, _printed, _printed, _title),
    "Entity Recognition": (_analyst, _publisher, _company, _rating),
    "Spatial Awareness": (_section, _section, _place),
    "Accurate Numerical Calculation": (_growth, _upside, _margin_points, _net_margin, _multiple),
    "Not Applicable": (_absent,),
}
"""By category; nothing is estimated where every number is printed."""
