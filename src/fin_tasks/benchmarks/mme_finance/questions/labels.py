"""Names in charts and tables, and the other ways people write them."""

import re
from collections.abc import Sequence

__all__ = ["forms_of", "names_of", "others"]

_YEAR = re.compile(r"(?:FY)?(\d{4})年?")
_QUARTER = re.compile(r"Q([1-4]) (\d{4})|(\d{4})Q([1-4])")
_CHINESE_QUARTERS = "一二三四"
_BARE_QUARTER = re.compile(r"Q([1-4])|([一二三四])季度")


def forms_of(name: str) -> list[str]:
    """Return a label as printed and the other ways to write it.

    Example:
        >>> forms_of("FY2021")
        ['FY2021', '2021', 'FY 2021', '2021年']
        >>> forms_of("Cloud")
        ['Cloud']
    """
    forms = [name]
    if year := _YEAR.fullmatch(name):
        forms += [year[1], f"FY{year[1]}", f"FY {year[1]}", f"{year[1]}年"]
    elif match := _QUARTER.fullmatch(name):
        number, full = match[1] or match[4], match[2] or match[3]
        chinese = _CHINESE_QUARTERS[int(number) - 1]
        forms += [f"Q{number} {full}", f"{full}Q{number}", f"{full} Q{number}", f"{full}年第{chinese}季度"]
        forms += [f"{full}年{chinese}季度", f"{full}年Q{number}", f"{full}年第{number}季度"]
    elif match := _BARE_QUARTER.fullmatch(name):
        number = match[1] or str(_CHINESE_QUARTERS.index(match[2]) + 1)
        chinese = _CHINESE_QUARTERS[int(number) - 1]
        forms += [f"Q{number}", f"{chinese}季度", f"第{chinese}季度"]
    return list(dict.fromkeys(forms))


def names_of(names: Sequence[str]) -> list[str]:
    """Return all forms of all names."""
    return [form for name in names for form in forms_of(name)]


def others(names: Sequence[str], right: str) -> list[str]:
    """Return all forms of the names that are not the right one."""
    own = set(forms_of(right))
    return [form for form in names_of([name for name in names if name != right]) if form not in own]
