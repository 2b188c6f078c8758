"""Scenes of made-up companies' figures: bar, line and pie charts, and tables."""

from collections.abc import Sequence
from random import Random

from fin_tasks.benchmarks.mme_finance.row import Language
from fin_tasks.benchmarks.mme_finance.scene_making.companies import (
    COMPANIES,
    REGIONS,
    Company,
    Year,
    accounts,
    shares_of_hundred,
)
from fin_tasks.benchmarks.mme_finance.scene_making.wording import Words
from fin_tasks.benchmarks.mme_finance.scenes import StatisticsScene, TableScene

__all__ = ["income_table", "regions_pie", "revenue_bars", "statistics_scene", "table_scene"]

_MILLIONS = Words("USD million", "百万美元")
_PER_CENT = Words("%", "%")
_REVENUE = Words("Revenue", "营业收入")
_NET = Words("Net profit", "净利润")


def statistics_scene(random: Random, language: Language) -> StatisticsScene:
    """Make a bar, line or pie chart of a made-up company."""
    make = random.choice((_segment_bars, _year_bars, _margin_lines, _pie))
    return make(random, language)


def table_scene(random: Random, language: Language) -> TableScene:
    """Make an income statement, revenue by segment and quarter, or a cash flow statement."""
    make = random.choice((_income, _segments, _cash_flow))
    return make(random, language)


def income_table(company: Company, years: Sequence[Year], language: Language) -> TableScene:
    """Make an income statement."""
    rows = {
        _REVENUE: [year.revenue for year in years],
        Words("Cost of sales", "营业成本"): [year.cost for year in years],
        Words("Gross profit", "毛利"): [year.gross for year in years],
        Words("Operating expenses", "营业费用"): [year.operating for year in years],
        Words("Operating profit", "营业利润"): [year.operating_profit for year in years],
        Words("Interest expense", "利息费用"): [year.interest for year in years],
        Words("Profit before tax", "税前利润"): [year.before_tax for year in years],
        Words("Income tax", "所得税"): [year.tax for year in years],
        _NET: [year.net for year in years],
    }
    title = Words(f"{company.name.en}: income statement", f"{company.name.zh}：利润表")
    return _table(title, [_year_name(year.year) for year in years], rows, language)


def revenue_bars(company: Company, years: Sequence[Year], language: Language) -> StatisticsScene:
    """Make a bar chart of revenue and net profit by year, in whole millions."""
    return StatisticsScene(
        language=language,
        form="bar",
        title=Words(f"{company.name.en}: revenue and net profit", f"{company.name.zh}：营业收入与净利润").of(language),
        unit=_MILLIONS.of(language),
        labels=tuple(_year_name(year.year).of(language) for year in years),
        series={
            _REVENUE.of(language): tuple(year.revenue / 10 for year in years),
            _NET.of(language): tuple(year.net / 10 for year in years),
        },
        printed=True,
        decimals=1,
    )


def regions_pie(random: Random, company: Company, year: int, language: Language) -> StatisticsScene:
    """Make a pie chart of revenue by region."""
    regions = random.sample(REGIONS, random.randint(4, 6))
    return StatisticsScene(
        language=language,
        form="pie",
        title=Words(
            f"{company.name.en}: revenue by region, FY{year}", f"{company.name.zh}：{year}年营业收入地区构成"
        ).of(language),
        unit=_PER_CENT.of(language),
        labels=tuple(region.of(language) for region in regions),
        series={_REVENUE.of(language): shares_of_hundred(random, len(regions))},
        printed=True,
        decimals=1,
    )


def _segment_bars(random: Random, language: Language) -> StatisticsScene:
    company, year = random.choice(COMPANIES), random.randint(2016, 2024)
    before = [random.randint(800, 6_000) for _ in company.segments]
    after = [round(amount * random.uniform(0.85, 1.3)) for amount in before]
    return StatisticsScene(
        language=language,
        form="bar",
        title=Words(f"{company.name.en}: revenue by segment", f"{company.name.zh}：分业务营业收入").of(language),
        unit=_MILLIONS.of(language),
        labels=tuple(segment.of(language) for segment in company.segments),
        series={
            _year_name(year - 1).of(language): tuple(amount / 10 for amount in before),
            _year_name(year).of(language): tuple(amount / 10 for amount in after),
        },
        printed=True,
        decimals=1,
    )


def _year_bars(random: Random, language: Language) -> StatisticsScene:
    company, last = random.choice(COMPANIES), random.randint(2016, 2024)
    return revenue_bars(company, accounts(random, range(last - 4, last + 1)), language)


def _margin_lines(random: Random, language: Language) -> StatisticsScene:
    """Gross margins of two companies over eight quarters, by whole tenths of a per cent and never equal."""
    companies, year = random.sample(COMPANIES, 2), random.randint(2016, 2023)
    levels = [random.randint(240, 330), random.randint(380, 480)]
    lines: list[list[int]] = [[], []]
    for _ in range(8):
        for line, level in zip(lines, levels, strict=True):
            line.append((line[-1] if line else level) + random.choice((-1, 1)) * random.randint(3, 19))
    quarters = [Words(f"Q{1 + at % 4} {year + at // 4}", f"{year + at // 4}Q{1 + at % 4}") for at in range(8)]
    return StatisticsScene(
        language=language,
        form="line",
        title=Words("Gross margin by quarter", "季度毛利率").of(language),
        unit=_PER_CENT.of(language),
        labels=tuple(quarter.of(language) for quarter in quarters),
        series={
            company.name.of(language): tuple(value / 10 for value in line)
            for company, line in zip(companies, lines, strict=True)
        },
        printed=True,
        decimals=1,
    )


def _pie(random: Random, language: Language) -> StatisticsScene:
    return regions_pie(random, random.choice(COMPANIES), random.randint(2015, 2024), language)


def _income(random: Random, language: Language) -> TableScene:
    company, last = random.choice(COMPANIES), random.randint(2016, 2024)
    return income_table(company, accounts(random, range(last - 2, last + 1)), language)


def _segments(random: Random, language: Language) -> TableScene:
    company, year = random.choice(COMPANIES), random.randint(2016, 2024)
    levels = {segment: random.randint(400, 4_000) for segment in company.segments}
    amounts = {
        segment: [round(level * random.uniform(0.85, 1.2)) for _ in range(4)] for segment, level in levels.items()
    }
    rows = {segment: [*quarters, sum(quarters)] for segment, quarters in amounts.items()}
    rows[Words("Total", "合计")] = [sum(column) for column in zip(*rows.values(), strict=True)]
    columns = [Words(f"Q{number}", f"{'一二三四'[number - 1]}季度") for number in (1, 2, 3, 4)]
    title = Words(f"{company.name.en}: revenue by segment, FY{year}", f"{company.name.zh}：{year}年分业务营业收入")
    return _table(title, [*columns, Words("Full year", "全年")], rows, language)


def _cash_flow(random: Random, language: Language) -> TableScene:
    company, last = random.choice(COMPANIES), random.randint(2016, 2024)
    years = accounts(random, range(last - 2, last + 1))
    worn = [round(year.revenue * random.uniform(0.03, 0.07)) for year in years]
    bound = [round(year.revenue * random.uniform(-0.02, 0.02)) for year in years]
    operating = [year.net + loss + tied for year, loss, tied in zip(years, worn, bound, strict=True)]
    investing = [-round(year.revenue * random.uniform(0.04, 0.09)) for year in years]
    financing = [-round(year.revenue * random.uniform(0.01, 0.05)) for year in years]
    rows = {
        _NET: [year.net for year in years],
        Words("Depreciation", "折旧与摊销"): worn,
        Words("Change in working capital", "营运资金变动"): bound,
        Words("Operating cash flow", "经营活动现金流"): operating,
        Words("Investing cash flow", "投资活动现金流"): investing,
        Words("Financing cash flow", "筹资活动现金流"): financing,
        Words("Net change in cash", "现金净增加额"): [
            sum(flows) for flows in zip(operating, investing, financing, strict=True)
        ],
    }
    title = Words(f"{company.name.en}: cash flow statement", f"{company.name.zh}：现金流量表")
    return _table(title, [_year_name(year.year) for year in years], rows, language)


def _table(title: Words, columns: Sequence[Words], rows: dict[Words, list[int]], language: Language) -> TableScene:
    """Make a table of amounts in tenths of a million dollars."""
    unit = _MILLIONS.of(language)
    return TableScene(
        language=language,
        title=title.of(language),
        unit=Words(f"Unit: {unit}", f"单位：{unit}").of(language),
        columns=(Words("Item", "项目").of(language), *(column.of(language) for column in columns)),
        rows={name.of(language): tuple(tenths / 10 for tenths in numbers) for name, numbers in rows.items()},
        decimals=1,
    )


def _year_name(year: int) -> Words:
    return Words(f"FY{year}", f"{year}年")
