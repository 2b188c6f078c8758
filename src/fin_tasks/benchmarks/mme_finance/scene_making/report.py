"""Scenes of a page of a broker's report on a made-up company."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random

from fin_tasks.benchmarks.mme_finance.row import Language
from fin_tasks.benchmarks.mme_finance.scene_making.companies import ANALYSTS, COMPANIES, PUBLISHERS, Company
from fin_tasks.benchmarks.mme_finance.scene_making.wording import Words, day, millions, quarter
from fin_tasks.benchmarks.mme_finance.scenes import DocumentScene

__all__ = ["document_scene"]

_RATINGS = (Words("Buy", "买入"), Words("Overweight", "增持"), Words("Neutral", "中性"), Words("Underweight", "减持"))

_LABELS: Mapping[str, Words] = {
    "rating": Words("Rating", "评级"),
    "target_price": Words("Target price", "目标价"),
    "price": Words("Closing price", "收盘价"),
    "market_cap": Words("Market cap", "总市值"),
    "symbol": Words("Ticker", "股票代码"),
    "eps": Words("EPS, quarter", "季度每股收益"),
    "analyst": Words("Analyst", "分析师"),
}
"""What the box beside the text says, in order."""

_TITLES = (
    Words("{company}: {segment} carries the quarter", "{company}：{segment}业务支撑本季业绩"),
    Words("{company}: a quarter in line, the margin is the story", "{company}：业绩符合预期，毛利率是看点"),
    Words("{company}: what {quarter} tells us about next year", "{company}：从{quarter}看明年走势"),
)

_RESULTS = (
    Words(
        "{company} reported revenue of {revenue} for {quarter}, against {revenue_before} in the same quarter a year "
        "earlier. Net profit came to {profit}, after {profit_before} a year ago, which is {eps} a share.",
        "{company}公布{quarter}业绩：营业收入{revenue}，上年同期为{revenue_before}；净利润{profit}，上年同期为{profit_before}，"
        "折合每股收益{eps}。",
    ),
    Words(
        "For {quarter}, {company} showed revenue of {revenue}; the comparable figure of the previous year was "
        "{revenue_before}. Earnings were {eps} a share on a net profit of {profit} ({profit_before} a year before).",
        "{quarter}，{company}实现营业收入{revenue}，去年同期为{revenue_before}；实现净利润{profit}（去年同期{profit_before}），"
        "每股收益{eps}。",
    ),
)

_MARGINS = (
    Words(
        "Gross margin was {margin}, compared with {margin_before} twelve months earlier. Management pointed to freight "
        "and input costs, and to a changed mix of products.",
        "毛利率为{margin}，上年同期为{margin_before}。管理层表示，运费、原材料价格以及产品结构的变化是主要影响因素。",
    ),
    Words(
        "The gross margin stood at {margin} after {margin_before} in the year-earlier quarter. We had looked for "
        "little change; prices of materials and wages explain most of the difference.",
        "本季毛利率为{margin}，去年同期为{margin_before}。我们此前预计变化不大，差异主要来自原材料价格和人工成本。",
    ),
)

_SEGMENTS = (
    Words(
        "Of the four segments, {segment} grew fastest. Orders in hand cover about two quarters of sales, and the "
        "company keeps its plan to add capacity next year.",
        "四大业务中，{segment}增速最快。在手订单约可覆盖两个季度的销售，公司维持明年扩产的计划。",
    ),
    Words(
        "{segment} was the fastest-growing segment. Demand from existing customers held up, while new contracts took "
        "longer to sign than before.",
        "{segment}是增长最快的业务。老客户需求稳定，但新合同的签约周期较以往有所拉长。",
    ),
)

_VIEWS = (
    Words(
        "We set our rating at {rating} (before: {rating_before}) with a twelve-month target price of {target_price}. "
        "The shares closed at {price} on the day before this note.",
        "我们给予“{rating}”评级（此前为“{rating_before}”），12个月目标价{target_price}。报告发布前一交易日收盘价为{price}。",
    ),
    Words(
        "Our rating is {rating}; it was {rating_before} in our last note. The target price over twelve months is "
        "{target_price}, and the last close was {price}.",
        "我们的评级为“{rating}”，上一份报告为“{rating_before}”；12个月目标价为{target_price}，最新收盘价{price}。",
    ),
)

_RISKS = (
    Words(
        "A stronger dollar, the loss of a large customer, and delays in the new plant could all weigh on results.",
        "美元走强、大客户流失以及新工厂投产延期均可能对业绩造成不利影响。",
    ),
    Words(
        "Slower demand in Europe, higher interest rates and rivals that cut prices are what could go wrong.",
        "欧洲需求放缓、利率上行以及竞争对手降价是主要风险。",
    ),
)

_HEADINGS = (
    Words("Results", "业绩概览"),
    Words("Margin", "毛利率"),
    Words("Segments", "分业务情况"),
    Words("Valuation and rating", "估值与评级"),
    Words("Risks", "风险提示"),
)


@dataclass(frozen=True, kw_only=True)
class _Quarter:
    """What a report is about: amounts in million dollars, prices in cents, margins in tenths of a per cent."""

    company: Company
    year: int
    number: int
    published: date
    revenue: int
    revenue_before: int
    profit: int
    profit_before: int
    margin: int
    margin_before: int
    shares: int
    price: int
    target: int

    @property
    def eps(self) -> int:
        """Cents."""
        return round(100 * self.profit / self.shares)


def document_scene(random: Random, language: Language) -> DocumentScene:
    """Make a page about a made-up company's quarter: results, margin, segments, rating, risks."""
    told = _make_quarter(random)
    rating = _rating(told)
    before = random.choice([other for other in _RATINGS if other != rating])
    people = {"publisher": random.choice(PUBLISHERS), "analyst": random.choice(ANALYSTS)}
    words = {
        **people,
        "company": told.company.name,
        "segment": random.choice(told.company.segments),
        "rating": rating,
        "rating_before": before,
    }
    facts = {key: each.of(language) for key, each in words.items()} | _printed(told, language)
    texts = [random.choice(choices) for choices in (_RESULTS, _MARGINS, _SEGMENTS, _VIEWS, _RISKS)]
    return DocumentScene(
        language=language,
        publisher=facts["publisher"],
        title=random.choice(_TITLES).of(language).format(**facts),
        day=facts["day"],
        headings=tuple(heading.of(language) for heading in _HEADINGS),
        paragraphs=_filled(texts, facts, language),
        box={label.of(language): facts[key] for key, label in _LABELS.items()},
        facts=facts,
        values={
            "target_price": told.target / 100,
            "price": told.price / 100,
            "eps": told.eps / 100,
            "revenue": float(told.revenue),
            "revenue_before": float(told.revenue_before),
            "profit": float(told.profit),
            "profit_before": float(told.profit_before),
            "margin": told.margin / 10,
            "margin_before": told.margin_before / 10,
            "market_cap": float(_market_value(told)),
        },
    )


def _make_quarter(random: Random) -> _Quarter:
    year, number = random.randint(2015, 2024), random.randint(1, 4)
    ends = date(year, 3 * number, 28)
    revenue_before, margin_before = random.randint(320, 4_800), random.randint(240, 520)
    profit_before = round(revenue_before * random.uniform(0.06, 0.16))
    shares = round(profit_before * random.uniform(0.8, 1.6))
    price = round(100 * profit_before * 4 / shares * random.uniform(11, 24))
    return _Quarter(
        company=random.choice(COMPANIES),
        year=year,
        number=number,
        published=ends + timedelta(days=random.randint(18, 45)),
        revenue=round(revenue_before * random.uniform(0.9, 1.25)),
        revenue_before=revenue_before,
        profit=round(profit_before * random.uniform(0.8, 1.35)),
        profit_before=profit_before,
        margin=margin_before + random.choice((-1, 1)) * random.randint(4, 38),
        margin_before=margin_before,
        shares=shares,
        price=price,
        target=100 * round(price * random.uniform(0.85, 1.35) / 100),
    )


def _rating(told: _Quarter) -> Words:
    """Rate by what the target price is above the last close: 15 %, 5 %, not below -5 %, or less."""
    upside = told.target / told.price - 1
    return next(
        (rating for rating, least in zip(_RATINGS, (0.15, 0.05, -0.05), strict=False) if upside >= least), _RATINGS[-1]
    )


def _market_value(told: _Quarter) -> int:
    return round(told.price * told.shares / 100)


def _printed(told: _Quarter, language: Language) -> dict[str, str]:
    amounts = {
        "revenue": told.revenue,
        "revenue_before": told.revenue_before,
        "profit": told.profit,
        "profit_before": told.profit_before,
        "market_cap": _market_value(told),
    }
    prices = {"price": told.price, "target_price": told.target, "eps": told.eps}
    margins = {"margin": told.margin, "margin_before": told.margin_before}
    return {
        "symbol": told.company.symbol,
        "day": day(told.published, language),
        "quarter": quarter(told.year, told.number, language),
        **{key: millions(amount, language) for key, amount in amounts.items()},
        **{key: Words(f"${cents / 100:.2f}", f"{cents / 100:.2f}美元").of(language) for key, cents in prices.items()},
        **{key: f"{tenths / 10:.1f}%" for key, tenths in margins.items()},
    }


def _filled(texts: Sequence[Words], facts: Mapping[str, str], language: Language) -> tuple[str, ...]:
    return tuple(text.of(language).format(**facts) for text in texts)
