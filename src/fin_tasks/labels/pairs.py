"""How far each two people agree, and whether two sheets look like one."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pandas as pd

from .agreement import alpha_of_votes
from .study import Question

_SAME_SHARE = 0.98
"""Two sheets are alike if this share of their cells is equal."""
_FEWEST_CELLS = 20
_LARGEST_CHANCE = 0.8
"""Where labels hardly vary, equal sheets say nothing: this share would be equal by chance."""


def agreement_by_pair(
    values: pd.DataFrame, questions: Mapping[str, Question]
) -> pd.DataFrame:
    """Return a line for each two sheets and question: rows that both labelled, the equal share, and alpha."""
    lines: list[dict[str, Any]] = []
    for name, question in questions.items():
        votes = values.xs(name, level="question")
        for first, second in combinations(votes.columns, 2):
            both = votes[[first, second]].dropna()
            equal = both[first] == both[second]
            lines.append(
                {
                    "question": name,
                    "first": first,
                    "second": second,
                    "rows": len(both),
                    "equal": equal.mean() if len(both) else None,
                    "alpha": alpha_of_votes(both, question),
                }
            )
    return pd.DataFrame(lines)


def sheets_alike(values: pd.DataFrame) -> list[str]:
    """Return a sentence for each two sheets that agree in nearly all cells, as one that was sent twice does."""
    sentences = []
    for first, second in combinations(values.columns, 2):
        both = values[[first, second]].dropna().astype(str)
        n_equal = int((both[first] == both[second]).sum())
        n = len(both)
        is_alike = n >= _FEWEST_CELLS and n_equal >= _SAME_SHARE * n
        if is_alike and _equal_by_chance(both) <= _LARGEST_CHANCE:
            sentences.append(
                f"{first} and {second} are equal in {n_equal} of {n} cells. Is one a copy of the other? "
                "Then leave one out, because a label needs two people."
            )
    return sentences


def _equal_by_chance(both: pd.DataFrame) -> float:
    """Return the share of cells that two sheets with these labels share by chance, question by question."""
    chance = 0.0
    for _, cells in both.groupby(level="question"):
        shares = [cells[name].value_counts(normalize=True) for name in cells.columns]
        common = shares[0].mul(shares[1], fill_value=0).sum()
        chance += float(common) * len(cells) / len(both)
    return chance
