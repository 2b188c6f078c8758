"""Words in both languages, and numbers as either language prints them."""

from datetime import date
from typing import NamedTuple

from fin_tasks.benchmarks.mme_finance.row import Language

__all__ = ["Words", "colon", "day", "millions", "month", "quarter", "shares"]


class Words(NamedTuple):
    """The same words in English and Chinese."""

    en: str
    zh: str

    def of(self, language: Language) -> str:
        """Return those in `language`."""
        return self.en if language == "en" else self.zh


def colon(language: Language) -> str:
    """Return what stands between a name and its value."""
    return "：" if language == "zh" else ": "


def day(value: date, language: Language) -> str:
    """Print a day as a report does.

    Example:
        >>> day(date(2021, 8, 5), "en"), day(date(2021, 8, 5), "zh")
        ('5 August 2021', '2021年8月5日')
    """
    if language == "zh":
        return f"{value.year}年{value.month}月{value.day}日"
    return f"{value.day} {_MONTHS[value.month - 1]} {value.year}"


def month(value: date, language: Language) -> str:
    """Print the month of a day.

    Example:
        >>> month(date(2021, 8, 5), "en"), month(date(2021, 8, 5), "zh")
        ('August 2021', '2021年8月')
    """
    return f"{value.year}年{value.month}月" if language == "zh" else f"{_MONTHS[value.month - 1]} {value.year}"


def quarter(year: int, number: int, language: Language) -> str:
    """Print a quarter, 1 to 4, as text.

    Example:
        >>> quarter(2021, 2, "en"), quarter(2021, 2, "zh")
        ('Q2 2021', '2021年第二季度')
    """
    return f"{year}年第{'一二三四'[number - 1]}季度" if language == "zh" else f"Q{number} {year}"


def millions(amount: int, language: Language) -> str:
    """Print whole million dollars: in hundreds of millions in Chinese, as its readers count.

    Example:
        >>> millions(1284, "en"), millions(1284, "zh")
        ('$1,284 million', '12.84亿美元')
    """
    return f"{amount / 100:,.2f}亿美元" if language == "zh" else f"${amount:,} million"


def shares(number: int, language: Language) -> str:
    """Print a number of shares in short.

    Example:
        >>> shares(9616100, "en"), shares(9616100, "zh"), shares(150340000, "zh")
        ('9.62M', '961.61万', '1.50亿')
    """
    if language == "zh":
        return f"{number / 1e8:.2f}亿" if number >= 1e8 else f"{number / 1e4:.2f}万"
    return f"{number / 1e9:.2f}B" if number >= 1e9 else f"{number / 1e6:.2f}M"


# not those of the locale
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
