"""Every exact truth is worked out a second time, from the scene and the question's words, by formulas of its own.

Both languages' words are read: a question that asks for one thing and is scored by another is what this finds.
"""

# ruff: noqa: RUF001 - questions in Chinese

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from fin_tasks.benchmarks.mme_finance.old_exact import Truth
from fin_tasks.benchmarks.mme_finance.questions.ask import ask
from fin_tasks.benchmarks.mme_finance.questions.labels import forms_of
from fin_tasks.benchmarks.mme_finance.row import CATEGORIES, IMAGE_TYPES, LANGUAGES
from fin_tasks.benchmarks.mme_finance.scene_making.make import make_scene
from fin_tasks.benchmarks.mme_finance.scenes import (
    CandleScene,
    DocumentScene,
    IndicatorScene,
    MixedScene,
    Scene,
    StatisticsScene,
    TableScene,
)

Formula = Callable[..., Any]
"""From the scene and what the words name to the right value, name, or names."""
Rules = Sequence[tuple[str, str, Formula]]
"""The question in English and in Chinese, as patterns, and the formula."""

WORDS = {
    "上": "above", "下": "below", "高": "high", "低": "low", "大": "high", "小": "low", "highest": "high",
    "lowest": "low", "largest": "high", "smallest": "low", "after": "below", "before": "above", "之后": "below",
    "之前": "above", "last": "below", "first": "above", "最后": "below", "第": "above", "net profit": "profit",
    "净利润": "profit", "营业收入": "revenue",
}  # fmt: skip


def number(text: str) -> float:
    return float(text.replace(",", "").rstrip("%MB万亿"))


def extreme(which: str) -> Callable[..., Any]:
    return max if WORDS.get(which, which) == "high" else min


def beside(names: Sequence[str], which: str, name: str) -> str:
    return names[list(names).index(name) + (1 if WORDS.get(which, which) == "below" else -1)]


def cell(table: TableScene, row: str, column: str) -> float:
    return round(table.rows[row][table.columns.index(column) - 1], table.decimals)


def listed(names: str) -> list[str]:
    return re.split(r", |、", names)


TABLE: Rules = (
    (r"Which number stands in the row (.+) and the column (.+)\?", r"表中“(.+)”行、“(.+)”列的数值是多少？", cell),
    (r"What does the table give for (.+) under (.+)\?", r"表格中“(.+)”在“(.+)”一栏的数据是多少？", cell),
    (r"What is written as the title.*", r"表格的标题是什么？", lambda t: t.title),
    (
        r"Which item has the value (.+) in the column (.+)\?",
        r"(?=“.+”一列中，数值为(.+)的)“(.+)”一列中.*",
        lambda t, value, column: [row for row in t.rows if cell(t, row, column) == number(value)],
    ),
    (r"Name the headings.*", r"请列出表中各数值列的列名。", lambda t: list(t.columns[1:])),
    (r"Which company is the table about\?", r"该表格是关于哪家公司的？", lambda t: re.split(r": |：", t.title)[0]),
    (
        r"Which row comes directly (?P<which>\w+) (?P<name>.+)\?",
        r"紧邻“(?P<name>.+)”(?P<which>.)方的一行是什么？",
        lambda t, which, name: beside(list(t.rows), WORDS.get(which, which), name),
    ),
    (
        r"Which item stands in the (\w+) row below the headings\?",
        r"表头之下的(最后|第)一行是什么项目？",
        lambda t, which: list(t.rows)[-1 if WORDS[which] == "below" else 0],
    ),
    (
        r"In which month is (.+) (highest|lowest)\?",
        r"“(.+)”最(.)的是哪个月份？",
        lambda t, column, which: extreme(which)(t.rows, key=lambda row: cell(t, row, column)),
    ),
    (
        r"Under which of (?P<names>.+) does (?P<row>.+) show its (?P<which>\w+) number\?",
        r"在(?P<names>.+)中，“(?P<row>.+)”数值最(?P<which>.)的是哪一列？",
        lambda t, names, row, which: extreme(which)(listed(names), key=lambda column: cell(t, row, column)),
    ),
    (
        r"Subtract (?P<row>.+) of (?P<one>.+) from (?P=row) of (?P<other>.+)\. What is.*",
        r"用“(?P<row>.+)”(?P<other>.+)的数值减去(?P<one>.+)的数值，.*",
        lambda t, row, one, other: cell(t, row, other) - cell(t, row, one),
    ),
    (
        r"Compute the change of (.+) from (.+) to (.+) in per cent.*",
        r"计算“(.+)”从(.+)到(.+)的变动百分比.*",
        lambda t, row, one, other: 100 * cell(t, row, other) / cell(t, row, one) - 100,
    ),
    (
        r"For (?P<column>.+), what percentage of (?P<whole>.+) is (?P<part>.+)\? Use.*",
        r"(?P<column>.+?)“(?P<part>.+)”占“(?P<whole>.+)”的百分比是多少？.*",
        lambda t, column, whole, part: cell(t, part, column) * 100 / cell(t, whole, column),
    ),
    (
        r"Add up (.+) of (.+)\. What is the sum.*",
        r"将“(.+)”在(.+)的数值相加.*",
        lambda t, row, names: sum(cell(t, row, name) for name in listed(names)),
    ),
    (
        r"By how many dollars does the high of (.+) exceed its low\?",
        r"(.+)的最高价比最低价高多少美元？",
        lambda t, row: t.rows[row][1] - t.rows[row][2],
    ),
)


def drawn(chart: StatisticsScene, series: str, label: str) -> float:
    return round(chart.series[series][chart.labels.index(label)], chart.decimals)


def slice_of(chart: StatisticsScene, label: str) -> float:
    return drawn(chart, next(iter(chart.series)), label)


def change(chart: StatisticsScene, what: str, one: str, other: str) -> float:
    pair = (what, one), (what, other)
    if what not in chart.series:  # years are the series
        pair = (one, what), (other, what)
    before, after = (drawn(chart, *spot) for spot in pair)
    return 100 * after / before - 100


COLOURS = ("blue", "orange", "green", "purple", "red", "grey")
COLOURS_ZH = ("蓝色", "橙色", "绿色", "紫色", "红色", "灰色")


def at_colour(names: Sequence[str], colour: str) -> str:
    return names[(COLOURS if colour in COLOURS else COLOURS_ZH).index(colour)]


def entries(chart: StatisticsScene) -> list[str]:
    return list(chart.labels if chart.form == "pie" else chart.series)


STATISTICS: Rules = (
    (
        r".*the value of (?P<series>.+?) for (?P<label>.+?)(?: as printed.*| from the axis.*|\?)",
        r".*?“(?P<label>.+)”对应的“(?P<series>.+)”数值.*",
        drawn,
    ),
    (r".*?(?:off|for) (.+)'s share.*", r".*?“(.+)”的占比(?:是多少？|。)", slice_of),
    (r"What is the title of the chart\?", r"图表的标题是什么？", lambda c: c.title),
    (r"In which unit are the values given\?", r"图中数值的单位是什么？", lambda c: c.unit),
    (
        r"What type of chart is this\?",
        r"这是哪种类型的图表？",
        lambda c: {"bar": "柱状图", "line": "折线图", "pie": "饼图"}[c.form],
    ),
    (r"Name all parts.*|Which series does the legend name\?", r"请列出饼图.*|图例中包含哪些.*", entries),
    (r"What colour stands for (.+)\?", r"“(.+)”用什么颜色表示？", lambda c, name: COLOURS[entries(c).index(name)]),
    (
        r"What is drawn in (\w+) in this chart\?",
        r"图中(..)(?:部分|的).*代表什么？",
        lambda c, hue: at_colour(entries(c), hue),
    ),
    (
        r"Which part is the (\w+) slice\?",
        r"饼图中面积最(.)的是哪一部分？",
        lambda c, which: extreme(which)(c.labels, key=lambda label: slice_of(c, label)),
    ),
    (
        r"Where does (.+) have its (\w+) (?:bar|point)\?.*",
        r"“(.+)”最(.)的.+对应横轴上的哪个标签？",
        lambda c, series, which: extreme(which)(c.labels, key=lambda label: drawn(c, series, label)),
    ),
    (
        r"Which label stands (\w+) from the left.*",
        r"横轴从左往右第(\d)个标签是什么？",
        lambda c, at: c.labels[
            int(at) - 1 if at.isdigit() else ("first", "second", "third", "fourth", "fifth").index(at)
        ],
    ),
    (
        r"Which label comes directly to the right of (.+) on the axis\?",
        r"横轴上紧邻“(.+)”右侧的标签是什么？",
        lambda c, label: c.labels[c.labels.index(label) + 1],
    ),
    (
        r"Which series is higher at (.+)\?",
        r"在“(.+)”处，哪个系列更高？",
        lambda c, label: max(c.series, key=lambda series: drawn(c, series, label)),
    ),
    (
        r"Add the printed share of (.+) to that of (.+)\. What.*",
        r"“(.+)”与“(.+)”的占比合计为多少.*",
        lambda c, one, other: slice_of(c, one) + slice_of(c, other),
    ),
    (
        r"Add the printed (?P<series>.+) of (?P<one>.+) to that of (?P<other>.+)\. What.*",
        r"“(?P<one>.+)”与“(?P<other>.+)”的“(?P<series>.+)”合计为多少.*",
        lambda c, series, one, other: drawn(c, series, one) + drawn(c, series, other),
    ),
    (
        r"By how many .+ is the share of (.+) larger than that of (.+)\?",
        r"“(.+)”比“(.+)”高多少.*",
        lambda c, one, other: slice_of(c, one) - slice_of(c, other),
    ),
    (
        r"Take (.+): by how many .+ is it higher for (.+) than for (.+)\?",
        r"就“(.+)”而言，“(.+)”比“(.+)”高多少.*",
        lambda c, series, one, other: drawn(c, series, one) - drawn(c, series, other),
    ),
    (r"By what percentage did (.+) change from (.+) to (.+)\? Give.*", r"“(.+)”从(.+)到(.+)的变动幅度.*", change),
    (
        r"How many times as large as the share of (?P<low>.+) is that of (?P<high>.+)\? Use.*",
        r"“(?P<high>.+)”的占比是“(?P<low>.+)”的多少倍？.*",
        lambda c, low, high: slice_of(c, high) / slice_of(c, low),
    ),
)


def head(chart: CandleScene | IndicatorScene, name: str) -> float:
    return number(chart.header[name])


def day(chart: CandleScene, at: int) -> float:
    """The header prints date, open, high, low, close."""
    return number(list(chart.header.values())[at])


def ends(chart: CandleScene) -> dict[str, float]:
    return {f"MA{days}": head(chart, f"MA{days}") for days in chart.averages}


def side(is_above: bool) -> str:
    return "之上" if is_above else "之下"


def half(values: Sequence[float]) -> str:
    at = list(values).index(max(values))
    return "左半部分" if at < len(values) / 2 else "右半部分"


def mean_of_closes(chart: CandleScene, days: str, at: int) -> float:
    line = chart.averages[int(days)][at]
    assert line is not None
    return line


def volume_on(chart: CandleScene, which: str) -> float:
    prices = chart.prices
    at = 0
    if "highest" in which or "最高" in which:
        at = max(range(len(prices.high)), key=lambda place: prices.high[place])
    elif "lowest" in which or "最低" in which:
        at = min(range(len(prices.low)), key=lambda place: prices.low[place])
    return prices.volume[at] / (1e6 if chart.language == "en" else 1e4)


CLOSES: Rules = (
    (
        r"Estimate by how many dollars the close moved.*",
        r"请估算从图中第一个交易日到最后.*",
        lambda c: abs(c.prices.close[-1] - c.prices.close[0]),
    ),
    (
        r"About how many dollars lie between the highest.*|Estimate the distance in dollars.*",
        r"图示区间内，最高收盘价与最低.*|请估算图中最低收盘价到.*",
        lambda c: max(c.prices.close) - min(c.prices.close),
    ),
    (
        r"Roughly where did the first day.*|At roughly what price.*",
        r".*最左.第一个交易日的收盘价大约.*",
        lambda c: c.prices.close[0],
    ),
    (r"What is the ticker.*", r"图中股票的交易代码.*", lambda c: c.prices.symbol),
    (r"Whose shares does.*", r"图中展示的是哪家公司.*", lambda c: c.prices.name),
)
CANDLES: Rules = (
    *CLOSES,
    (r"What value is printed for (\S+) above.*", r"图表上方“(.+)”一项显示.*", head),
    (r"Read the header: which figure stands beside (\S+)\?", r"请读出行情栏中“(.+)”旁边的数字。", head),
    (
        r"Which price is marked at the (\w+) point.*",
        r"K线图中标注的最(.)价是多少？",
        lambda c, which: max(c.prices.high) if extreme(which) is max else min(c.prices.low),
    ),
    (r"Of which date are the figures.*", r"图表上方行情数据对应的日期.*", lambda c: c.prices.days[-1].isoformat()),
    (r"Name every moving average.*", r"图中展示了哪几条移动平均线.*", lambda c: list(ends(c))),
    (r"Is the candle of .+", r"图中最后一根K线.*", lambda c: "阳线" if day(c, 4) > day(c, 1) else "阴线"),
    (
        r"In which colour is (MA\d+) drawn\?",
        r"(MA\d+)曲线是什么颜色？",
        lambda c, name: COLOURS[list(ends(c)).index(name)],
    ),
    (
        r"Which moving average is drawn in (\w+)\?",
        r"图中(..)的移动平均线是哪一条？",
        lambda c, colour: at_colour(list(ends(c)), colour),
    ),
    (
        r"What is the colour of candles that close (above|below).*",
        r"图中(上涨|下跌).*什么颜色？",
        lambda c, which: {"above": "green", "below": "red", "上涨": "red", "下跌": "green"}[which],
    ),
    (r"From the figures in the header, by how many.*", r".*当日最高价与最低价相差.*", lambda c: day(c, 2) - day(c, 3)),
    (
        r"By what percentage did the price move from the open.*",
        r"按行情栏中的开盘价和收盘价.*",
        lambda c: 100 * day(c, 4) / day(c, 1) - 100,
    ),
    (
        r"How far, in per cent of the day's low.*",
        r".*当日最高价比最低价高出百分之几.*",
        lambda c: 100 * day(c, 2) / day(c, 3) - 100,
    ),
    (
        r"How large, in dollars, is the difference between the highest.*",
        r"K线图中标注的最高价与最低价相差.*",
        lambda c: max(c.prices.high) - min(c.prices.low),
    ),
    (
        r"By what percentage does the highest marked.*",
        r"图中标注的最高价比最低价高出.*",
        lambda c: 100 * max(c.prices.high) / min(c.prices.low) - 100,
    ),
    (
        r"Subtract the printed (?P<less>\S+) from the printed (?P<name>\S+)\..*",
        r"用图中标注的(?P<name>MA\d+)减去(?P<less>MA\d+).*",
        lambda c, less, name: head(c, name) - head(c, less),
    ),
    (
        r"Read the price axis: .+ MA(\d+) line begin.*",
        r"对照价格坐标轴，MA(\d+)曲线在最左端.*",
        lambda c, days: mean_of_closes(c, days, 0),
    ),
    (
        r"Estimate the midpoint between high and low.*",
        r"请估算最左侧一根K线.*",
        lambda c: (c.prices.high[0] + c.prices.low[0]) / 2,
    ),
    (
        r"About how many dollars lie between the two ends of the MA(\d+).*",
        r"MA(\d+)曲线左右两端.*",
        lambda c, days: abs(mean_of_closes(c, days, 0) - mean_of_closes(c, days, -1)),
    ),
    (r"Estimate from the volume panel how many million.+ on (.+)\.", r"请根据成交量面板估算(.+)的成交量.*", volume_on),
    (
        r"At the right edge of the chart, which moving average is the (\w+) one\?",
        r"在图表最右端，哪条均线的位置最(.)？",
        lambda c, which: extreme(which)(ends(c), key=ends(c).__getitem__),
    ),
    (r"What do the bars in the panel below.*", r"K线图下方面板中的柱子.*", lambda c: "成交量"),
    (
        r"Did the last day shown close above or below (MA\d+)\?",
        r"最后一个交易日的收盘价在(MA\d+)之上还是之下？",
        lambda c, name: side(day(c, 4) > head(c, name)),
    ),
    (r"In which half .+ the highest price.*", r"图中最高价出现在.*", lambda c: half(c.prices.high)),
    (r"In which half .+ the lowest price.*", r"图中最低价出现在.*", lambda c: half([-low for low in c.prices.low])),
    (r"In which half .+ tallest volume bar.*", r"图中最高的成交量柱.*", lambda c: half(c.prices.volume)),
)


def apart(chart: IndicatorScene, one: str, other: str, at: int) -> float:
    first, second = chart.lines[one][at], chart.lines[other][at]
    assert first is not None
    assert second is not None
    return first - second


INDICATOR_NAMES = {"macd": "MACD", "rsi": "RSI", "kdj": "KDJ", "bollinger": "布林带"}
INDICATORS: Rules = (
    *CLOSES,
    (
        r"What value is printed for (\w+)\?|Read the indicator's header\. Which number follows (\w+)\?",
        r"图中标注的(\w+)数值是多少？|请读出指标栏中(\w+)后面的数字。",
        lambda c, *names: head(c, next(filter(None, names))),
    ),
    (r"Which parameters are printed.*", r"指标名称旁边标注的参数.*", lambda c: c.parameters),
    (r"Which technical indicator is shown.*", r".*哪种技术指标？", lambda c: INDICATOR_NAMES[c.indicator]),
    (r"List the names of all values.*", r"请列出指标栏中标注的全部.*", lambda c: list(c.header)),
    (r"Which closing price is printed.*", r"股价图上方标注的收盘价.*", lambda c: c.prices.close[-1]),
    (
        r"Which line is higher at the right edge of the panel: (\w+) or (\w+)\?",
        r"在\w+面板最右端，(\w+)值曲线与(\w+)值曲线哪一条更高？",
        lambda c, *names: max(names, key=lambda name: head(c, name)),
    ),
    (r"Is the .+ panel above or below the panel with the prices\?", r".+面板位于股价面板的.*", lambda c: "之下"),
    (r"Is the last bar of the MACD.*", r"MACD柱状图最右侧.*", lambda c: side((c.lines["MACD"][-1] or 0) > 0)),
    (
        r"Does the (\w+) line end above or below the level of 50\?",
        r"(?:KDJ中的)?(\w+?)值?曲线最终位于50之上还是之下？",
        lambda c, name: side(head(c, name) > 50),
    ),
    (
        r"Does the last close lie above or below the middle.*",
        r"最后一个收盘价位于布林带中轨.*",
        lambda c: side(c.prices.close[-1] > head(c, "MID")),
    ),
    (
        r"Subtract the printed value of (?P<less>\w+) from that of (?P<name>\w+)\..*",
        r"用图中标注的(?P<name>\w+?)值减去(?P<less>\w+?)值，.*",
        lambda c, less, name: head(c, name) - head(c, less),
    ),
    (
        r"How many points lie between the printed RSI and the level of (\d+)\?",
        r"图中标注的RSI与(\d+)相差多少点？",
        lambda c, level: abs(head(c, "RSI") - float(level)),
    ),
    (
        r"Compute the bandwidth.*",
        r".*计算布林带带宽.*",
        lambda c: 100 * (head(c, "UPPER") - head(c, "LOWER")) / head(c, "MID"),
    ),
    (
        r"What is the mean of the printed K, D and J.*",
        r".*K、D、J三个数值的平均数.*",
        lambda c: sum(head(c, x) for x in "KDJ") / 3,
    ),
    (
        r"Estimate the (\w+) close of the period.*",
        r"请借助价格坐标轴估算区间内的最(.)收盘价.*",
        lambda c, which: extreme(which)(c.prices.close),
    ),
    (
        r"At the left edge of the chart, about how many.*",
        r"在图表最左端，布林带上轨.*",
        lambda c: apart(c, "UPPER", "LOWER", 0),
    ),
)

PAGE = {
    "quarter's revenue": "revenue", "本季度营业收入": "revenue",
    "revenue of the same quarter a year earlier": "revenue_before", "上年同期营业收入": "revenue_before",
    "quarter's net profit": "profit", "本季度净利润": "profit",
    "net profit of the same quarter a year earlier": "profit_before", "上年同期净利润": "profit_before",
    "target price": "target_price", "目标价": "target_price", "closing price": "price", "收盘价": "price",
    "quarter's earnings per share": "eps", "季度每股收益": "eps",
    "quarter's gross margin": "margin", "本季度毛利率": "margin",
    "gross margin a year earlier": "margin_before", "上年同期毛利率": "margin_before",
    "market cap": "market_cap", "总市值": "market_cap",
}  # fmt: skip
MILLIONS = {"revenue", "revenue_before", "profit", "profit_before", "market_cap"}


def stated(page: DocumentScene, name: str) -> float:
    """Chinese pages print hundreds of millions."""
    key = PAGE[name]
    return round(page.values[key] / (100 if page.language == "zh" and key in MILLIONS else 1), 2)


def year_on_year(page: DocumentScene, name: str) -> float:
    key = WORDS.get(name, name)
    return 100 * page.values[key] / page.values[f"{key}_before"] - 100


DOCUMENT: Rules = (
    (r"What does the page state as the (.+)\?|Find the (.+) on the page\.", r"报告中(.+)是多少？|请从页面中找出(.+)。",
     lambda d, *names: stated(d, next(filter(None, names)))),
    (r"What is the headline.*", r"这份报告的标题是什么？", lambda d: d.title),
    (r"Which analyst is named.*", r"报告署名的分析师是谁？", lambda d: list(d.box.values())[-1]),
    (r"Which house published.*", r"该报告由哪家机构发布？", lambda d: d.publisher),
    (r"Which company does the report.*", r"该报告研究的是哪家公司？", lambda d: re.split(r": |：", d.title)[0]),
    (r"What was the rating before.*", r"此份报告之前的评级.*", lambda d: d.facts["rating_before"]),
    (r"How is the stock rated now\?", r"该股票目前的评级是什么？", lambda d: next(iter(d.box.values()))),
    (
        r"Which section .+ (after|before) the one headed (.+)\?",
        r"(?=“.+”一节(之后|之前))“(.+)”一节.*",
        lambda d, which, name: beside(d.headings, WORDS[which], name),
    ),
    (r"Which heading stands lowest.*", r".*最靠下的是哪一个？", lambda d: d.headings[-1]),
    (r"Which heading stands highest.*", r".*最靠上的是哪一个？", lambda d: d.headings[0]),
    (r"By what percentage did (.+) change against the same.*", r"按报告所列数值计算，本季度(.+)同比.*", year_on_year),
    (r"How far is the target price from.*", r"目标价相对收盘价.*",
     lambda d: 100 * d.values["target_price"] / d.values["price"] - 100),
    (r"By how many percentage points did gross margin.*", r"毛利率同比变动多少个百分点.*",
     lambda d: d.values["margin"] - d.values["margin_before"]),
    (r"What share of the quarter's revenue is left.*", r"本季度净利润占营业收入.*",
     lambda d: 100 * d.values["profit"] / d.values["revenue"]),
    (r"Divide the closing price by four times.*", r"用收盘价除以季度每股收益的四倍.*",
     lambda d: d.values["price"] / d.values["eps"] / 4),
)  # fmt: skip

RULES: dict[type, Rules] = {
    TableScene: TABLE,
    StatisticsScene: STATISTICS,
    CandleScene: CANDLES,
    IndicatorScene: INDICATORS,
    DocumentScene: DOCUMENT,
}
PARTS = {
    TableScene: ("the table", "表格部分"), CandleScene: ("the candlestick chart", "K线图部分"),
    "bar": ("the bar chart", "柱状图部分"), "line": ("the line chart", "折线图部分"),
    "pie": ("the pie chart", "饼图部分"),
}  # fmt: skip


def part_asked(scene: Scene, question: str) -> tuple[Scene, str]:
    """The part of a page that the question names, and the question without that."""
    if not isinstance(scene, MixedScene):
        return scene, question
    place, _, rest = question.partition("。" if scene.language == "zh" else ". ")
    named = [
        part
        for part in scene.parts
        if any(words in place for words in PARTS[part.form if isinstance(part, StatisticsScene) else type(part)])
    ]
    assert len(named) == 1, question
    return named[0], rest


def worked_out(part: Scene, question: str) -> tuple[str, Any]:
    """The pattern that reads the question, and what is right."""
    for english, chinese, formula in RULES[type(part)]:
        pattern = chinese if part.language == "zh" else english
        if match := re.fullmatch(pattern, question):
            named = match.groupdict()
            return pattern, formula(part, **named) if named else formula(part, *match.groups())
    raise AssertionError(f"no rule reads {question!r}")


def is_right(truth: Truth, right: Any) -> bool:
    if truth.kind == "number":
        assert truth.value is not None
        slack = 0.0111 if truth.margin else 1e-6
        if truth.relative:  # each price is a whole cent
            slack = 0.0101
        return abs(truth.value - right) <= slack
    if truth.kind == "day":
        return bool(truth.day == right)
    if truth.kind == "all":
        return [next(iter(forms)) for forms in truth.parts] == right
    names = right if isinstance(right, list) else [right]
    forms = {form for name in names for form in forms_of(name)}
    return len(names) == 1 and bool(forms & set(truth.accepted)) and not forms & set(truth.wrong)


@pytest.fixture(scope="module")
def read() -> Counter[str]:
    """How often each pattern read a question; every truth is checked on the way."""
    counts: Counter[str] = Counter()
    exact = [name for name, category in CATEGORIES.items() if category.kind not in ("subjective", "unanswerable")]
    for language, image_type, seed in product(LANGUAGES, IMAGE_TYPES, range(24)):
        scene = make_scene(image_type, language=language, seed=seed)
        if isinstance(scene, StatisticsScene) and scene.form != "pie" and seed % 3 == 0:
            scene = replace(scene, printed=False)
        for category, at in product(exact, range(8)):
            if (question := ask(scene, category, seed=8 * seed + at)) is None:
                continue
            assert question.truth is not None
            part, words = part_asked(scene, question.question)
            pattern, right = worked_out(part, words)
            assert is_right(question.truth, right), (question, right)
            counts[pattern] += 1
    return counts


def test_truths_are_what_the_words_ask_for(read: Counter[str]) -> None:
    assert read.total() > 5_000


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_form_of_question_was_met(read: Counter[str], language: str) -> None:
    patterns = {rule[language == "zh"] for rules in RULES.values() for rule in rules}
    assert not patterns - read.keys()
