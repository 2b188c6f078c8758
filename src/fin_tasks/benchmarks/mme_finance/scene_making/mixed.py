"""Scenes with several parts that belong together."""

from datetime import date
from random import Random

from fin_tasks.benchmarks.mme_finance.row import Language
from fin_tasks.benchmarks.mme_finance.scene_making.companies import COMPANIES, accounts
from fin_tasks.benchmarks.mme_finance.scene_making.figure_scenes import income_table, regions_pie, revenue_bars
from fin_tasks.benchmarks.mme_finance.scene_making.price_scenes import candles_of
from fin_tasks.benchmarks.mme_finance.scene_making.prices import choose_window
from fin_tasks.benchmarks.mme_finance.scene_making.wording import Words
from fin_tasks.benchmarks.mme_finance.scenes import MixedScene, Prices, TableScene

__all__ = ["mixed_scene"]


def mixed_scene(random: Random, language: Language) -> MixedScene:
    """Make candles above the same days by month, or a company's charts with its income statement."""
    make = random.choice((_stock, _charts, _accounts))
    return make(random, language)


def _stock(random: Random, language: Language) -> MixedScene:
    candles = candles_of(choose_window(random, shortest=44, longest=64), language)
    name, symbol = candles.prices.name, candles.prices.symbol
    return MixedScene(
        language=language,
        title=Words(f"{name} ({symbol}): daily prices and months", f"{name}（{symbol}）：日K线与月度行情").of(language),
        parts=(candles, _months(candles.prices, language)),
    )


def _charts(random: Random, language: Language) -> MixedScene:
    company, last = random.choice(COMPANIES), random.randint(2016, 2024)
    years = accounts(random, range(last - 3, last + 1))
    return MixedScene(
        language=language,
        title=Words(f"{company.name.en}: year in figures", f"{company.name.zh}：年度经营数据").of(language),
        parts=(revenue_bars(company, years, language), regions_pie(random, company, last, language)),
    )


def _accounts(random: Random, language: Language) -> MixedScene:
    company, last = random.choice(COMPANIES), random.randint(2016, 2024)
    years = accounts(random, range(last - 3, last + 1))
    return MixedScene(
        language=language,
        title=Words(f"{company.name.en}: annual results", f"{company.name.zh}：年度业绩").of(language),
        parts=(revenue_bars(company, years, language), income_table(company, years[-3:], language)),
    )


def _months(prices: Prices, language: Language) -> TableScene:
    """Sum the days up by month: first open, highest high, lowest low, last close."""
    months: dict[date, list[int]] = {}
    for at, day in enumerate(prices.days):
        months.setdefault(day.replace(day=1), []).append(at)
    return TableScene(
        language=language,
        title=Words("Months in the chart", "图中各月行情").of(language),
        unit=Words("Unit: USD per share", "单位：美元/股").of(language),
        columns=tuple(
            word.of(language)
            for word in (
                Words("Month", "月份"),
                Words("Open", "开盘"),
                Words("High", "最高"),
                Words("Low", "最低"),
                Words("Close", "收盘"),
            )
        ),
        rows={
            f"{month:%Y-%m}": (
                prices.open[days[0]],
                max(prices.high[at] for at in days),
                min(prices.low[at] for at in days),
                prices.close[days[-1]],
            )
            for month, days in months.items()
        },
        decimals=2,
    )
