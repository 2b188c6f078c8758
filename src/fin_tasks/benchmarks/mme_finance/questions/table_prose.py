"""Questions about tables that only a judge can grade: their references are put together from the data."""

from decimal import Decimal
from random import Random

from fin_tasks.benchmarks.mme_finance.questions.question import Forms, Question, percent, say, written
from fin_tasks.benchmarks.mme_finance.questions.tables import cell, is_by_row, unit_of
from fin_tasks.benchmarks.mme_finance.questions.wordings import for_any
from fin_tasks.benchmarks.mme_finance.scenes import TableScene

__all__ = ["FORMS"]

_COSTS = frozenset(
    (
        "Cost of sales",
        "Operating expenses",
        "Interest expense",
        "Income tax",
        "Depreciation",
        "Change in working capital",
        "Investing cash flow",
        "Financing cash flow",
        "营业成本",
        "营业费用",
        "利息费用",
        "所得税",
        "折旧与摊销",
        "营运资金变动",
        "投资活动现金流",
        "筹资活动现金流",
    )
)
"""Rows whose growth is no good news in itself."""

_SALES = ("Revenue", "营业收入")
_SPENDING = ("Cost of sales", "Operating expenses", "Interest expense", "营业成本", "营业费用", "利息费用")
"""Costs that should not grow faster than sales; a tax follows from the profit."""

_Move = tuple[str, Decimal, Decimal, Decimal | None]
"""A row, its first and last number, and the change in per cent where the first is above zero."""


def _periods(scene: TableScene) -> tuple[str, str]:
    """The first and the last period."""
    names = [name for name in scene.columns[1:] if name not in ("Full year", "全年")]
    return names[0], names[-1]


def _moves(scene: TableScene) -> list[_Move]:
    """Each row with its first and last number and the change in per cent, where the first is above zero."""
    early, late = _periods(scene)
    found = []
    for row in scene.rows:
        first, last = cell(scene, row, early), cell(scene, row, late)
        found.append((row, first, last, percent(last - first, first) if first > 0 else None))
    return found


def _told(scene: TableScene, move: _Move) -> str:
    row, first, last, change = move
    one, other = written(first, scene.decimals), written(last, scene.decimals)
    by = "" if change is None else say(scene.language, f" ({change:+}%)", f"（{change:+}%）")
    return say(scene.language, f"{row} moved from {one} to {other}{by}", f"“{row}”由{one}变为{other}{by}")


def _told_as(scene: TableScene, move: _Move) -> str:
    """The same with the word for the direction."""
    row, first, last, change = move
    by = "" if change is None else say(scene.language, f" by {abs(change)}%", f"{abs(change)}%")
    moved = (
        ("stayed", "持平")
        if last == first
        else ("rose" + by, "增长" + by)
        if last > first
        else ("fell" + by, "下降" + by)
    )
    one, other = written(first, scene.decimals), written(last, scene.decimals)
    return say(scene.language, f"{row} {moved[0]}, from {one} to {other}", f"“{row}”由{one}变为{other}，{moved[1]}")


def _results(scene: TableScene) -> list[_Move]:
    """The rows where more is better and a percentage exists, least growth first."""
    moves = [move for move in _moves(scene) if move[0] not in _COSTS]
    return sorted((move for move in moves if move[3] is not None), key=lambda move: move[3] or Decimal(0))


def _weak_points(scene: TableScene) -> list[str]:
    """What the figures say against the company, each line once: falls, negative results, costs that outgrow sales."""
    moves = _moves(scene)
    fallen = [move for move in _results(scene) if move[2] < move[1]]
    told = [_told_as(scene, move) for move in fallen[:2]]
    for row, _, last, change in moves:
        if change is None and row not in _COSTS and last < 0:
            amount = written(last, scene.decimals)
            told.append(
                say(
                    scene.language,
                    f"{row} is negative in the last period, at {amount}",
                    f"最近一期“{row}”为负，{amount}",
                )
            )
    sales = moves[0]
    if sales[0] in _SALES and sales[3] is not None:
        for row, _, _, change in moves:
            if row in _SPENDING and change is not None and change > max(sales[3], Decimal(0)):
                told.append(
                    say(
                        scene.language,
                        f"{row} grew by {change}% while {sales[0]} changed by {sales[3]:+}%",
                        f"“{row}”增长{change}%，而“{sales[0]}”变动{sales[3]:+}%",
                    )
                )
    return told[:3]


def _months(scene: TableScene) -> str:
    """What a table of months says."""
    names = list(scene.rows)
    high, low, close = scene.columns[2], scene.columns[3], scene.columns[4]
    top = max(names, key=lambda row: cell(scene, row, high))
    bottom = min(names, key=lambda row: cell(scene, row, low))
    return say(
        scene.language,
        f"The highest price is {cell(scene, top, high)} USD in {top}, the lowest {cell(scene, bottom, low)} USD in "
        f"{bottom}; the month's close went from {cell(scene, names[0], close)} in {names[0]} to "
        f"{cell(scene, names[-1], close)} in {names[-1]}.",
        f"最高价{cell(scene, top, high)}美元出现在{top}，最低价{cell(scene, bottom, low)}美元出现在{bottom}；"
        f"月收盘价由{names[0]}的{cell(scene, names[0], close)}变为{names[-1]}的{cell(scene, names[-1], close)}。",
    )


def _summary(scene: TableScene) -> str:
    if is_by_row(scene):
        return _months(scene)
    early, late = _periods(scene)
    moves = _moves(scene)
    first, last = _told(scene, moves[0]), _told(scene, moves[-1])
    return say(
        scene.language,
        f"From {early} to {late}, {first}, and {last}.",
        f"{early}至{late}，{first}，{last}。",
    )


def _caption(scene: TableScene, random: Random) -> Question:
    asked = random.choice(
        (
            say(scene.language, "Describe what the table reports.", "请描述这张表格的内容。"),
            say(scene.language, "Give a summary of the table for a busy reader.", "请为时间有限的读者概括这张表格。"),
            *for_any(scene.language, "Image Caption"),
        )
    )
    rows = say(scene.language, ", ", "、").join(scene.rows)
    columns = say(scene.language, ", ", "、").join(scene.columns[1:])
    answer = say(
        scene.language,
        f'The table "{scene.title}" (in {unit_of(scene)}) lists {rows} for {columns}. {_summary(scene)}',
        f"表格《{scene.title}》（单位：{unit_of(scene)}）列示了{columns}的{rows}。{_summary(scene)}",
    )
    return Question(question=asked, answer=answer)


def _risk(scene: TableScene, random: Random) -> Question:
    asked = random.choice(
        (
            say(
                scene.language,
                "What does the table warn an investor of?",
                "该表格向投资者提示了哪些风险？",
            ),
            say(
                scene.language, "Which weak points do the figures of the table reveal?", "表中数据反映出哪些薄弱环节？"
            ),
            *for_any(scene.language, "Risk Warning"),
        )
    )
    limits = say(
        scene.language,
        "The figures look back, and debts, rivals and the market are not in the table.",
        "表中数据为历史数据，未反映负债、竞争与市场环境。",
    )
    if is_by_row(scene):
        swings = say(
            scene.language,
            "Prices that moved so far within months can do so again, in either direction.",
            "数月内波动如此之大，后续仍可能向任一方向大幅变动。",
        )
        return Question(question=asked, answer=say(scene.language, " ", "").join((_months(scene), swings, limits)))
    early, late = _periods(scene)
    if weak := _weak_points(scene):
        found = say(
            scene.language,
            f"From {early} to {late}: {'; '.join(weak)}. Should this go on, results would suffer.",
            f"{early}至{late}，{'；'.join(weak)}。若持续下去，将拖累业绩。",
        )
    else:
        slowest = _told_as(scene, _results(scene)[0])
        found = say(
            scene.language,
            f"From {early} to {late} no result fell. The slowest was this: {slowest}; growth may still come to an end.",
            f"{early}至{late}各项业绩均未下降，其中增速最低的一项：{slowest}；但增长未必能够持续。",
        )
    return Question(question=asked, answer=say(scene.language, " ", "").join((found, limits)))


def _advice(scene: TableScene, random: Random) -> Question:
    asked = random.choice(
        (
            say(
                scene.language,
                "What would you tell somebody who thinks of investing, on the basis of this table?",
                "基于该表格，您会给有意投资者什么建议？",
            ),
            say(
                scene.language,
                "Do the figures in the table speak for or against an investment? Give your advice.",
                "表中数据是否支持投资？请给出您的建议。",
            ),
            *for_any(scene.language, "Investment Advice"),
        )
    )
    if is_by_row(scene):
        answer = say(
            scene.language,
            f"{_months(scene)} Prices alone do not say what the share is worth: buy in parts, set a stop, and look at "
            "earnings first.",
            f"{_months(scene)}仅凭价格无法判断内在价值，建议分批买入、设置止损，并先了解盈利情况。",
        )
        return Question(question=asked, answer=answer)
    final = _moves(scene)[-1]
    grows = final[2] >= final[1]
    stance = (
        say(scene.language, "A cautious purchase can be defended", "可谨慎配置")
        if grows
        else say(scene.language, "It is better to wait", "建议暂时观望")
    )
    others = [move for move in _results(scene) if move[0] != final[0]]
    besides = ""
    if others:
        best = _told_as(scene, others[-1])
        besides = say(
            scene.language, f" Of the other results, the best one: {best}.", f"其余各项中表现最好的：{best}。"
        )
    if len(others) > 1:
        worst = _told_as(scene, others[0])
        besides += say(scene.language, f" The least good one: {worst}.", f"表现相对较弱的：{worst}。")
    early, late = _periods(scene)
    answer = say(
        scene.language,
        f"{stance}: from {early} to {late}, {_told_as(scene, final)}.{besides} Compare with the price paid and with "
        "rivals before deciding, and spread the risk.",
        f"{stance}：{early}至{late}，{_told_as(scene, final)}。{besides}决策前应结合估值与同业情况，并注意分散风险。",
    )
    return Question(question=asked, answer=answer)


def _reason(scene: TableScene, random: Random) -> Question | None:
    if is_by_row(scene):
        return None
    names = list(scene.rows)
    early, late = _periods(scene)
    final = names[-1]
    first, last = cell(scene, final, early), cell(scene, final, late)
    moved = sorted(
        ((cell(scene, row, late) - cell(scene, row, early), row) for row in names[:-1]), key=lambda move: -abs(move[0])
    )[:3]
    listed = say(scene.language, ", ", "、").join(
        say(scene.language, f"{row} {written(by, 1)}", f"“{row}”{written(by, 1)}") for by, row in moved
    )
    asked = say(
        scene.language,
        f"What lies behind the change of {final} from {early} to {late}?",
        f"从{early}到{late}，“{final}”变化的原因是什么？",
    )
    answer = say(
        scene.language,
        f"{final} went from {written(first, 1)} to {written(last, 1)}, a change of {written(last - first, 1)} "
        f"{unit_of(scene)}. The lines that moved most are {listed}; what raises income or inflows lifts the "
        "result, and "
        "higher costs or outflows lower it.",
        f"“{final}”由{written(first, 1)}变为{written(last, 1)}，变动{written(last - first, 1)}{unit_of(scene)}。"
        f"变动最大的项目为{listed}；收入或流入增加会推升结果，成本或流出增加则会拉低结果。",
    )
    return Question(question=asked, answer=answer)


def _knowledge(scene: TableScene, random: Random) -> Question:
    names = list(scene.rows)
    _, late = _periods(scene)
    if names[0] in ("Revenue", "营业收入") and len(names) > 3:
        gross, revenue, net = (cell(scene, names[place], late) for place in (2, 0, -1))
        asked = say(
            scene.language,
            f"What is the difference between gross margin and net margin? Use the figures of {late}.",
            f"毛利率与净利率有何区别？请结合{late}数据说明。",
        )
        answer = say(
            scene.language,
            "Gross margin leaves only the cost of sales off, net margin all costs, interest and tax. In "
            f"{late}, they are "
            f"{percent(gross, revenue)}% and {percent(net, revenue)}%.",
            f"毛利率仅扣除营业成本，净利率扣除全部成本费用、利息与所得税。{late}毛利率为{percent(gross, revenue)}%，"
            f"净利率为{percent(net, revenue)}%。",
        )
    elif names[0] in ("Net profit", "净利润"):
        profit, flow = cell(scene, names[0], late), cell(scene, names[3], late)
        asked = say(
            scene.language,
            f"Why do net profit and operating cash flow differ? Use the figures of {late}.",
            f"净利润与经营活动现金流为何不同？请结合{late}数据说明。",
        )
        items = [(name, cell(scene, name, late)) for name in names[1:3]]
        answer = say(
            scene.language,
            "Profit holds costs that are not paid in cash, and sales that are not collected yet. In "
            f"{late}, a profit of {written(profit, 1)} plus {items[0][0]} of {written(items[0][1], 1)} and "
            f"{items[1][0]} of {written(items[1][1], 1)} gives a cash flow of {written(flow, 1)}.",
            f"净利润包含未支付现金的费用以及尚未收回的收入。{late}净利润{written(profit, 1)}，加上“{items[0][0]}”"
            f"{written(items[0][1], 1)}与“{items[1][0]}”{written(items[1][1], 1)}，"
            f"得到经营活动现金流{written(flow, 1)}。",
        )
    else:
        asked = say(
            scene.language,
            "How does one tell growth from seasonal swings in figures such as these?",
            "对于此类数据，如何区分增长与季节性波动？",
        )
        answer = say(
            scene.language,
            f"Compare each period with the same one a year before, not with the one just before it. {_summary(scene)} "
            "Without last year's figures this may be either.",
            f"应与上年同期比较，而不只是与上一期比较。{_summary(scene)}缺少上年同期数据时，难以判断属于哪一种。",
        )
    return Question(question=asked, answer=answer)


FORMS: Forms[TableScene] = {
    "Image Caption": (_caption,),
    "Risk Warning": (_risk,),
    "Investment Advice": (_advice,),
    "Explain Reason": (_reason,),
    "Financial Knowledge": (_knowledge,),
}
"""By category."""
