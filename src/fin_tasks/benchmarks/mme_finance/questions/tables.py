"""Questions with exact answers about tables."""

from decimal import Decimal
from random import Random

from fin_tasks.benchmarks.mme_finance.old_exact import Truth
from fin_tasks.benchmarks.mme_finance.questions.labels import forms_of, others
from fin_tasks.benchmarks.mme_finance.questions.question import (
    Forms,
    Question,
    choice,
    percent,
    rounded,
    say,
    unanswerable,
    worked,
    written,
)
from fin_tasks.benchmarks.mme_finance.scenes import TableScene

__all__ = ["FORMS", "cell", "is_by_row", "unit_of"]


def cell(scene: TableScene, row: str, column: str) -> Decimal:
    """Return a number as the table prints it."""
    return rounded(Decimal(str(scene.rows[row][scene.columns.index(column) - 1])), scene.decimals)


def unit_of(scene: TableScene) -> str:
    """Return the unit without the word before it."""
    return scene.unit.replace("：", ":").partition(":")[2].strip() or scene.unit


def is_by_row(scene: TableScene) -> bool:
    """Whether rows are months of prices, so that a column's numbers compare, not a row's."""
    return next(iter(scene.rows))[:4].isdigit()


def _shown(scene: TableScene, value: Decimal) -> str:
    return written(value, scene.decimals)


def _amount(scene: TableScene, value: Decimal) -> str:
    unit = unit_of(scene)
    return say(scene.language, f"{_shown(scene, value)} ({unit})", f"{_shown(scene, value)}（{unit}）")


def _printed(scene: TableScene, random: Random) -> Question:
    row, column = random.choice(list(scene.rows)), random.choice(scene.columns[1:])
    asked = random.choice(
        (
            say(
                scene.language,
                f"Which number stands in the row {row} and the column {column}?",
                f"表中“{row}”行、“{column}”列的数值是多少？",
            ),
            say(
                scene.language,
                f"What does the table give for {row} under {column}?",
                f"表格中“{row}”在“{column}”一栏的数据是多少？",
            ),
        )
    )
    value = cell(scene, row, column)
    truth = Truth(kind="number", value=float(value), unit=unit_of(scene))
    return Question(question=asked, answer=_amount(scene, value), truth=truth)


def _title(scene: TableScene, random: Random) -> Question:
    asked = say(scene.language, "What is written as the title of the table?", "表格的标题是什么？")
    return Question(question=asked, answer=scene.title, truth=Truth(kind="text", accepted=(scene.title,)))


def _item(scene: TableScene, random: Random) -> Question | None:
    """Ask for the row that holds a number, where only one does."""
    row, column = random.choice(list(scene.rows)), random.choice(scene.columns[1:])
    value = cell(scene, row, column)
    same = [name for name in scene.rows if cell(scene, name, column) == value]
    if len(same) > 1:
        return None
    asked = say(
        scene.language,
        f"Which item has the value {_shown(scene, value)} in the column {column}?",
        f"“{column}”一列中，数值为{_shown(scene, value)}的是哪个项目？",
    )
    return choice(asked, forms_of(row), others(list(scene.rows), row))


def _columns(scene: TableScene, random: Random) -> Question:
    names = scene.columns[1:]
    asked = say(
        scene.language,
        "Name the headings of the columns that hold numbers.",
        "请列出表中各数值列的列名。",
    )
    truth = Truth(kind="all", parts=tuple(tuple(forms_of(name)) for name in names))
    return Question(question=asked, answer=say(scene.language, ", ", "、").join(names), truth=truth)


def _company(scene: TableScene, random: Random) -> Question | None:
    name, sign, _ = scene.title.replace("：", ":").partition(":")
    if not sign:
        return None
    asked = say(scene.language, "Which company is the table about?", "该表格是关于哪家公司的？")
    return Question(question=asked, answer=name, truth=Truth(kind="text", accepted=(name,)))


def _neighbour(scene: TableScene, random: Random) -> Question:
    names = list(scene.rows)
    place = random.randrange(1, len(names))
    is_below = random.random() < 0.5
    asked_of, right = (names[place - 1], names[place]) if is_below else (names[place], names[place - 1])
    asked = say(
        scene.language,
        f"Which row comes directly {'below' if is_below else 'above'} {asked_of}?",
        f"紧邻“{asked_of}”{'下' if is_below else '上'}方的一行是什么？",
    )
    wrong = [form for form in others(names, right) if form not in forms_of(asked_of)]
    return choice(asked, forms_of(right), wrong)


def _edge(scene: TableScene, random: Random) -> Question:
    names = list(scene.rows)
    last = random.random() < 0.5
    asked = say(
        scene.language,
        f"Which item stands in the {'last' if last else 'first'} row below the headings?",
        f"表头之下的{'最后' if last else '第'}一行是什么项目？",
    )
    right = names[-1 if last else 0]
    return choice(asked, forms_of(right), others(names, right))


def _largest(scene: TableScene, random: Random) -> Question | None:
    """In which column a row is largest, or in which row a column is."""
    largest = random.random() < 0.5
    if is_by_row(scene):
        column = random.choice(scene.columns[1:])
        values = {row: cell(scene, row, column) for row in scene.rows}
        asked = say(
            scene.language,
            f"In which month is {column} {'highest' if largest else 'lowest'}?",
            f"“{column}”最{'高' if largest else '低'}的是哪个月份？",
        )
        names = list(scene.rows)
    else:
        row = random.choice(list(scene.rows))
        names = [name for name in scene.columns[1:] if name not in ("Full year", "全年")]
        values = {name: cell(scene, row, name) for name in names}
        asked = say(
            scene.language,
            f"Under which of {', '.join(names)} does {row} show its {'largest' if largest else 'smallest'} number?",
            f"在{'、'.join(names)}中，“{row}”数值最{'大' if largest else '小'}的是哪一列？",
        )
    order = sorted(values, key=lambda name: values[name], reverse=largest)
    if values[order[0]] == values[order[1]]:
        return None
    return choice(asked, forms_of(order[0]), others(names, order[0]))


def _two_columns(scene: TableScene, random: Random) -> tuple[str, str, str, Decimal, Decimal] | None:
    """A row with two of its periods, the earlier one first."""
    if is_by_row(scene):
        return None
    row = random.choice(list(scene.rows))
    names = [name for name in scene.columns[1:] if name not in ("Full year", "全年")]
    early, late = sorted(random.sample(range(len(names)), 2))
    return row, names[early], names[late], cell(scene, row, names[early]), cell(scene, row, names[late])


def _difference(scene: TableScene, random: Random) -> Question | None:
    if (two := _two_columns(scene, random)) is None:
        return None
    row, early, late, first, second = two
    asked = say(
        scene.language,
        f"Subtract {row} of {early} from {row} of {late}. What is the result in {unit_of(scene)}, with its sign?",
        f"用“{row}”{late}的数值减去{early}的数值，结果是多少{unit_of(scene)}？请保留正负号。",
    )
    return worked(
        asked,
        f"{_operand(scene, second)} - {_operand(scene, first)} =",
        second - first,
        unit=unit_of(scene),
        signed=True,
    )


def _growth(scene: TableScene, random: Random) -> Question | None:
    two = _two_columns(scene, random)
    if two is None or two[3] <= 0 or two[4] <= 0:
        return None
    row, early, late, first, second = two
    asked = say(
        scene.language,
        f"Compute the change of {row} from {early} to {late} in per cent, with a sign and two decimals.",
        f"计算“{row}”从{early}到{late}的变动百分比，带正负号并保留两位小数。",
    )
    steps = f"({_shown(scene, second)} - {_shown(scene, first)}) / {_shown(scene, first)} × 100% ="
    return worked(asked, steps, percent(second - first, first), unit="%", exact=False, signed=True)


def _ratio(scene: TableScene, random: Random) -> Question | None:
    """A row as a share of the first one, such as net profit of revenue."""
    names = list(scene.rows)
    base = names[-1] if names[-1] in ("Total", "合计") else names[0]
    if is_by_row(scene) or names[0] in ("Net profit", "净利润"):
        return None
    row, column = random.choice([name for name in names if name != base]), random.choice(scene.columns[1:])
    part, whole = cell(scene, row, column), cell(scene, base, column)
    asked = say(
        scene.language,
        f"For {column}, what percentage of {base} is {row}? Use two decimals.",
        f"{column}“{row}”占“{base}”的百分比是多少？保留两位小数。",
    )
    steps = f"{_shown(scene, part)} / {_shown(scene, whole)} × 100% ="
    return worked(asked, steps, percent(part, whole), unit="%", exact=False)


def _sum(scene: TableScene, random: Random) -> Question | None:
    if is_by_row(scene):
        return None
    row = random.choice(list(scene.rows))
    names = [name for name in scene.columns[1:] if name not in ("Full year", "全年")][:3]
    values = [cell(scene, row, name) for name in names]
    asked = say(
        scene.language,
        f"Add up {row} of {', '.join(names)}. What is the sum in {unit_of(scene)}?",
        f"将“{row}”在{'、'.join(names)}的数值相加，合计是多少{unit_of(scene)}？",
    )
    steps = f"{' + '.join(_operand(scene, value) for value in values)} ="
    return worked(asked, steps, sum(values, Decimal(0)), unit=unit_of(scene))


def _month_range(scene: TableScene, random: Random) -> Question | None:
    if not is_by_row(scene):
        return None
    row = random.choice(list(scene.rows))
    high, low = (cell(scene, row, scene.columns[place]) for place in (2, 3))
    asked = say(
        scene.language,
        f"By how many dollars does the high of {row} exceed its low?",
        f"{row}的最高价比最低价高多少美元？",
    )
    return worked(asked, f"{high} - {low} =", high - low, unit=say(scene.language, "USD", "美元"))


def _operand(scene: TableScene, value: Decimal) -> str:
    return f"({_shown(scene, value)})" if value < 0 else _shown(scene, value)


def _absent(scene: TableScene, random: Random) -> Question:
    column = random.choice(scene.columns[1:])
    asked = random.choice(
        (
            say(scene.language, "How much goodwill does the table state?", "表中列示的商誉是多少？"),
            say(
                scene.language,
                f"How many shares were outstanding in {column}?",
                f"{column}的流通股数是多少？",
            ),
            say(
                scene.language,
                "What did the auditor charge?",
                "审计费用是多少？",
            ),
            say(
                scene.language,
                f"What was the research budget in {column}?",
                f"{column}的研发预算是多少？",
            ),
            say(
                scene.language,
                "Which figure does the table expect for FY2031?",
                "表中对2031年的预测数据是多少？",
            ),
            say(scene.language, "Which bank lends to the company?", "该公司的贷款银行是哪一家？"),
            say(scene.language, "What salary does the chief executive draw?", "首席执行官的薪酬是多少？"),
            say(
                scene.language, "What does the table give as the number of branches?", "表中列出的分支机构数量是多少？"
            ),
            say(scene.language, f"Which market share is stated for {column}?", f"{column}的市场份额是多少？"),
            say(scene.language, "How many patents does the table list?", "表中列出的专利数量是多少？"),
            say(scene.language, f"By how much did rivals grow in {column}?", f"{column}竞争对手增长了多少？"),
            say(scene.language, f"How many customers were there in {column}?", f"{column}的客户数量是多少？"),
        )
    )
    return unanswerable(scene.language, asked)


FORMS: Forms[TableScene] = {
    "OCR": (_printed, _printed, _printed, _title),
    "Entity Recognition": (_item, _item, _columns, _company),
    "Spatial Awareness": (_neighbour, _neighbour, _edge, _largest),
    "Accurate Numerical Calculation": (_difference, _growth, _growth, _ratio, _sum, _month_range),
    "Not Applicable": (_absent,),
}
"""By category; nothing is estimated where every number is printed."""
