"""An invented company: three statements that tie, and segments that add up to its revenue."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
import yaml

N_YEARS = 4
"""Years that statements show; the year before them opens the balances."""
_N_SEGMENTS = 4
_GROWTH = (-0.07, 0.18)
"""Of revenue from year to year."""
_DRIFT = 0.07
"""By how much a share of revenue may differ from year to year."""


@dataclass(frozen=True)
class Company:
    """A company's accounts in USD million, and its revenue by segment, for years as the picture names them."""

    name: str
    accounts: pd.DataFrame
    """Years down, accounts across, with those of the year before as `..._before`."""
    segments: pd.DataFrame
    """Segments down, years across."""
    facts: Mapping[str, Any]
    """The last year's accounts and the company's words, by the names that texts and questions use."""
    last_year: int


@cache
def read_words(language: str) -> Any:
    """Return the wording in a language; lists have the same order in both languages."""
    text = Path(__file__).with_name("wording.yaml").read_text(encoding="utf-8")
    return in_language(yaml.safe_load(text), language)


def in_language(node: Any, language: str) -> Any:
    """Return a tree of YAML in which each pair of texts, English and Chinese, is the one of a language."""
    if isinstance(node, dict):
        return {
            key: in_language(
                child,
                language,
            )
            for key, child in node.items()
        }
    if not isinstance(node, list):
        return node
    is_pair = len(node) == 2 and all(isinstance(child, str) for child in node)
    if is_pair:
        return node[0 if language == "en" else 1]
    return [in_language(child, language) for child in node]


def evaluate(formula: str, facts: Mapping[str, Any]) -> float:
    """Return the value of a formula of facts."""
    return float(pd.eval(formula, local_dict=facts, engine="python"))


def make_company(words: Any, random: Random) -> Company:
    """Make a company; the same random numbers make the same one in both languages."""
    name = words["company"].format(
        name=random.choice(words["names"]),
        industry=random.choice(words["industries"]),
    )
    first_year = random.randint(2006, 2020)
    years = range(first_year - 1, first_year + N_YEARS)
    labels = [words["year"].format(year=year) for year in years]
    accounts = _draw_accounts(words, labels, random)
    segments = _draw_segments(words, accounts["revenue"], random)
    growth = segments[labels[-1]] / segments[labels[-2]]
    facts = {
        **accounts.iloc[-1].to_dict(),
        "company": name,
        "year": labels[-1],
        "year_before": labels[-2],
        "first_year": labels[1],
        "best": growth.idxmax(),
        "worst": growth.idxmin(),
    }
    return Company(name, accounts, segments, facts, years[-1])


def _draw_accounts(
    words: Any,
    labels: list[str],
    random: Random,
) -> pd.DataFrame:
    revenue = [10 ** random.uniform(2.3, 4)]
    for _ in range(N_YEARS):
        revenue.append(revenue[-1] * (1 + random.uniform(*_GROWTH)))
    accounts = pd.DataFrame({"revenue": revenue}, index=labels)
    accounts["counted"] = [0, *[1] * N_YEARS]
    for account, bounds in words["shares"].items():
        share = random.uniform(*bounds)
        drift = [1 + random.uniform(-_DRIFT, _DRIFT) for _ in labels]
        accounts[account] = accounts["revenue"] * share * drift
        if account.startswith("opening"):
            accounts[account] = accounts[account].iloc[0]
    accounts = accounts.round(1)
    accounts = accounts.eval(words["formulas"], engine="python").round(1)
    before = accounts.shift().add_suffix("_before")
    return accounts.join(before).iloc[1:]


def _draw_segments(
    words: Any,
    revenue: pd.Series,
    random: Random,
) -> pd.DataFrame:
    names = random.sample(words["segments"], _N_SEGMENTS)
    weights = [random.uniform(1, 4) for _ in names]
    segments = pd.DataFrame(index=names)
    for year, total in revenue.items():
        weights = [weight * random.uniform(0.85, 1.2) for weight in weights]
        segments[year] = [total * weight / sum(weights) for weight in weights]
    segments = segments.round(1)
    segments.iloc[-1] += revenue - segments.sum()
    return segments.round(1)
