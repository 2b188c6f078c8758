"""Made-up companies and their made-up accounts: no real company has invented figures put beside its name."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from fin_tasks.benchmarks.mme_finance.scene_making.wording import Words

__all__ = ["ANALYSTS", "COMPANIES", "PUBLISHERS", "REGIONS", "Company", "Year", "accounts", "shares_of_hundred"]


@dataclass(frozen=True, kw_only=True)
class Company:
    """A company that does not exist.

    Attributes:
        name: What it is called.
        symbol: Its ticker.
        trade: What it is in.
        segments: What it reports revenue of.
    """

    name: Words
    symbol: str
    trade: Words
    segments: tuple[Words, Words, Words, Words]


COMPANIES = (
    Company(
        name=Words("Velmora Instruments", "维尔莫仪器"),
        symbol="VLMX",
        trade=Words("measuring instruments", "测量仪器"),
        segments=(
            Words("Sensors", "传感器"),
            Words("Laboratory", "实验室设备"),
            Words("Automation", "自动化"),
            Words("Services", "技术服务"),
        ),
    ),
    Company(
        name=Words("Tarnwick Freight", "塔恩维克物流"),
        symbol="TWKF",
        trade=Words("freight", "货运物流"),
        segments=(
            Words("Road", "公路运输"),
            Words("Ocean", "海运"),
            Words("Air", "空运"),
            Words("Warehousing", "仓储"),
        ),
    ),
    Company(
        name=Words("Osprelle Foods", "奥普雷乐食品"),
        symbol="OSPL",
        trade=Words("packaged food", "包装食品"),
        segments=(
            Words("Dairy", "乳制品"),
            Words("Snacks", "休闲食品"),
            Words("Beverages", "饮料"),
            Words("Frozen", "冷冻食品"),
        ),
    ),
    Company(
        name=Words("Quenlow Energy", "昆洛能源"),
        symbol="QNLW",
        trade=Words("power supply", "电力供应"),
        segments=(
            Words("Solar", "光伏"),
            Words("Wind", "风电"),
            Words("Storage", "储能"),
            Words("Grid services", "电网服务"),
        ),
    ),
    Company(
        name=Words("Brisvane Health", "布里斯文医疗"),
        symbol="BRVH",
        trade=Words("medical products", "医疗产品"),
        segments=(
            Words("Imaging", "影像设备"),
            Words("Diagnostics", "体外诊断"),
            Words("Consumables", "医用耗材"),
            Words("Home care", "家庭护理"),
        ),
    ),
    Company(
        name=Words("Lodefern Software", "洛德芬软件"),
        symbol="LDFN",
        trade=Words("business software", "企业软件"),
        segments=(
            Words("Cloud", "云服务"),
            Words("Licences", "软件许可"),
            Words("Support", "运维支持"),
            Words("Consulting", "咨询"),
        ),
    ),
    Company(
        name=Words("Marrowdale Steel", "马罗戴尔钢铁"),
        symbol="MRWD",
        trade=Words("steel", "钢铁"),
        segments=(
            Words("Flat steel", "板材"),
            Words("Long steel", "长材"),
            Words("Tubes", "管材"),
            Words("Recycling", "废钢回收"),
        ),
    ),
    Company(
        name=Words("Isketh Apparel", "伊斯凯服饰"),
        symbol="ISKT",
        trade=Words("clothing", "服装"),
        segments=(
            Words("Womenswear", "女装"),
            Words("Menswear", "男装"),
            Words("Footwear", "鞋类"),
            Words("Accessories", "配饰"),
        ),
    ),
)

PUBLISHERS = (
    Words("Quillhaven Research", "奎尔港研究"),
    Words("Northmere Securities", "北湖岭证券"),
    Words("Aldwyth Capital Markets", "奥德维资本"),
)

ANALYSTS = (
    Words("Ines Varga", "林知远"),
    Words("Tomas Okoye", "周若棠"),
    Words("Leila Brandt", "沈牧云"),
    Words("Piet Amador", "许清岚"),
    Words("Hanna Sorel", "顾闻笛"),
)

REGIONS = (
    Words("North America", "北美"),
    Words("Europe", "欧洲"),
    Words("Asia Pacific", "亚太"),
    Words("Latin America", "拉丁美洲"),
    Words("Middle East", "中东"),
    Words("Africa", "非洲"),
)


@dataclass(frozen=True, kw_only=True)
class Year:
    """A year's income in tenths of a million dollars, whole numbers so that sums are exact.

    Attributes:
        year: Financial year.
        revenue: Sales.
        cost: Of what was sold.
        operating: Selling, research and administration.
        interest: Paid.
        tax: On the profit.
    """

    year: int
    revenue: int
    cost: int
    operating: int
    interest: int
    tax: int

    @property
    def gross(self) -> int:
        """Revenue less cost."""
        return self.revenue - self.cost

    @property
    def operating_profit(self) -> int:
        """Gross profit less operating expenses."""
        return self.gross - self.operating

    @property
    def before_tax(self) -> int:
        """Operating profit less interest."""
        return self.operating_profit - self.interest

    @property
    def net(self) -> int:
        """Profit after tax."""
        return self.before_tax - self.tax


def accounts(random: Random, years: Sequence[int]) -> tuple[Year, ...]:
    """Make a company's income for consecutive years, growing or shrinking by some per cent from one to the next."""
    revenue = random.randint(6_000, 60_000)
    margin, spending = random.uniform(0.28, 0.52), random.uniform(0.10, 0.20)
    made = []
    for year in years:
        cost = round(revenue * (1 - margin + random.uniform(-0.02, 0.02)))
        operating = round(revenue * (spending + random.uniform(-0.01, 0.01)))
        interest = round(revenue * random.uniform(0.004, 0.012))
        tax = round((revenue - cost - operating - interest) * random.uniform(0.18, 0.25))
        made.append(Year(year=year, revenue=revenue, cost=cost, operating=operating, interest=interest, tax=tax))
        revenue = round(revenue * random.uniform(0.93, 1.18))
    return tuple(made)


def shares_of_hundred(random: Random, parts: int) -> tuple[float, ...]:
    """Make `parts` different shares in per cent, with one place after the point, that add up to 100, largest first.

    Every share is 4 at least, so that its slice of a pie has room for its label.
    """
    least = 40
    while True:
        cuts = sorted(random.sample(range(1, 1000 - least * parts), parts - 1))
        tenths = [
            after - before + least for before, after in zip([0, *cuts], [*cuts, 1000 - least * parts], strict=True)
        ]
        if len(set(tenths)) == parts:
            return tuple(share / 10 for share in sorted(tenths, reverse=True))
