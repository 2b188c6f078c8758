"""An invented company: three statements that tie, and segments that add up to its revenue."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import yaml

Facts = dict[str, Any]
"""Numbers, tables and words by the names that formulas and texts use."""

LANGUAGES = ("en", "zh")
"""In the order of the pairs of texts in our files."""

_N_YEARS = 5
"""Years of a company; the first one opens the balances, and statements show the others."""
_N_SEGMENTS = 4
_GROWTH = (0.93, 1.18)
"""Revenue as a multiple of the year before."""
_DRIFT = (0.93, 1.07)
"""By what factor a share of revenue may differ from year to year."""


@cache
def read_texts(name: str, language: str) -> Any:
    """Return a YAML file in a language; lists have the same order in both languages."""
    text = Path(__file__).with_name(f"{name}.yaml").read_text("utf-8")
    return _in_language(yaml.safe_load(text), language)


def _in_language(node: Any, language: str) -> Any:
    """Return a tree in which each pair of texts, English and Chinese, is the one of a language."""
    if isinstance(node, dict):
        return {key: _in_language(child, language) for key, child in node.items()}
    if not isinstance(node, list):
        return node
    if [type(child) for child in node] == [str, str]:
        return node[LANGUAGES.index(language)]
    return [_in_language(child, language) for child in node]


def evaluate(formula: str, facts: Mapping[str, Any]) -> Any:
    """Return the value of a formula of facts, in the language of `pandas.eval`."""
    return pd.eval(formula, local_dict=facts, engine="python")


def make_company(words: Any, random: Random) -> Facts:
    """Make the facts of a company; the same random numbers make the same one in both languages.

    They hold the accounts of the last year by name, those of the year before as `..._before`, those
    of all `years`, and the revenue of its `segments` by year, all in USD million.
    """
    name = random.choice(words["names"])
    industry = random.choice(words["industries"])
    first_year = random.randint(2005, 2019)
    labels = [words["year"].format(year=first_year + age) for age in range(_N_YEARS)]
    noise = np.random.default_rng(random.getrandbits(32))
    accounts = _draw_accounts(words, labels, noise)
    names = random.sample(words["segments"], _N_SEGMENTS)
    segments = _draw_segments(names, accounts["revenue"], noise)
    growth = segments[labels[-1]] / segments[labels[-2]]
    return {
        **accounts.iloc[-1],
        **accounts.iloc[-2].add_suffix("_before"),
        "company": words["company"].format(name=name, industry=industry),
        "year": labels[-1],
        "year_before": labels[-2],
        "last_year": first_year + _N_YEARS - 1,
        "years": accounts.iloc[1:],
        "segments": segments,
        "best": growth.idxmax(),
        "worst": growth.idxmin(),
        "unknown": random.choice(words["unknown"]),
    }


def _draw_accounts(
    words: Any,
    labels: Sequence[str],
    noise: np.random.Generator,
) -> pd.DataFrame:
    growth = noise.uniform(*_GROWTH, _N_YEARS)
    revenue = 10 ** noise.uniform(2.3, 4) * growth.cumprod()
    accounts = pd.DataFrame({"revenue": revenue}, index=labels)
    accounts["is_first"] = [1, *[0] * (_N_YEARS - 1)]
    for account, bounds in words["shares"].items():
        shares = noise.uniform(*bounds) * noise.uniform(*_DRIFT, _N_YEARS)
        accounts[account] = revenue * shares
    return accounts.round(1).eval(words["formulas"], engine="python").round(1)


def _draw_segments(
    names: Sequence[str],
    revenue: "pd.Series[float]",
    noise: np.random.Generator,
) -> pd.DataFrame:
    sizes = noise.uniform(1, 4, (_N_SEGMENTS, 1))
    drifts = noise.uniform(0.85, 1.2, (_N_SEGMENTS, _N_YEARS)).cumprod(axis=1)
    weights = pd.DataFrame(sizes * drifts, names, revenue.index)
    segments = (weights / weights.sum() * revenue).round(1)
    segments.iloc[-1] += revenue - segments.sum()
    return segments.round(1)
