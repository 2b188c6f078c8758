"""A judged run's figures as the tables that lie beside VLMEvalKit's predictions."""

from collections.abc import Mapping
from typing import Any

__all__ = ["score_tables"]


def score_tables(
    found: Mapping[str, Any], counted: Mapping[str, int], **run: str | bool
) -> dict[str, list[dict[str, Any]]]:
    """Lay out figures as rows.

    Args:
        found: As `scores.summary` gives them.
        counted: How many rows there should be, and how many are missing.
        **run: Who judged and how, for the table over all rows.

    Returns:
        `overall`, `category`, `type` and `style` to rows of cells by column; a table may have no rows.
    """
    overall = {
        "n": found["n"],
        **counted,
        "unscored": found["unscored"],
        "score": found["overall"],
        "score_paper": found["overall_paper"],
        **{f"failed_{whose}": count for whose, count in found["failed"].items()},
        **run,
    }
    tables = {"overall": [overall]}
    for name in ("category", "type", "style"):
        counts = found[f"counts_by_{name}"]
        tables[name] = [
            {name: key, "n": counts[key]["n"], "unscored": counts[key]["unscored"], "score": value}
            | {"score_paper": counts[key]["score_paper"]}
            for key, value in found[f"by_{name}"].items()
        ]
    return tables
