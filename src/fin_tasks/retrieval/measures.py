"""How good a ranking is, for one question whose helpful texts are known. Means over questions are the caller's.

All of them take what was found in its order, best first, and the gold texts; both hold ids, or places in the
collection, each at most once. Under the paper's rule for ties more than k texts may have been found: `accuracy` counts
all of them, as the paper does, while recall and nDCG look at the first k alone, so that retrievers with many ties and
with few are told the same number. Texts that tie stand in the collection's order (`ranking.order`).
"""

import math
from collections.abc import Collection, Hashable, Sequence

__all__ = ["accuracy", "ndcg_at_k", "recall_at_k", "reciprocal_rank"]


def accuracy(found: Collection[Hashable], gold: Collection[Hashable]) -> float:
    """Say whether at least one gold text is among those found.

    Args:
        found: The texts the question gets, all of them.
        gold: At least one.

    Returns:
        1.0 or 0.0; the mean over questions is the XFinBench paper's retriever accuracy.

    Raises:
        ValueError: No gold text: nothing could be found.

    Example:
        >>> accuracy(["bond", "yield"], ["yield", "coupon"])
        1.0
    """
    return float(not _distinct(gold).isdisjoint(found))


def recall_at_k(ranked: Sequence[Hashable], gold: Collection[Hashable], *, k: int) -> float:
    """Return the share of the gold texts that are among the first k.

    Args:
        ranked: What was found, best first; what comes after the first k does not count.
        gold: At least one. With more gold texts than k the share cannot reach 1.
        k: At least 1.

    Returns:
        Within [0, 1].

    Raises:
        ValueError: No gold text, or `k` below 1.

    Example:
        >>> recall_at_k(["bond", "yield", "stock", "coupon"], ["yield", "coupon"], k=3)
        0.5
    """
    wanted = _distinct(gold)
    return len(wanted.intersection(_first(ranked, k))) / len(wanted)


def reciprocal_rank(ranked: Sequence[Hashable], gold: Collection[Hashable]) -> float:
    """Return 1 / rank of the best gold text; the mean over questions is the MRR.

    Args:
        ranked: The whole collection, best first, without texts that have nothing in common with the question
            (`ranking.order`). A shorter list cuts the measure off there. Texts that tie have different ranks, the
            earlier in the collection the better one.
        gold: At least one.

    Returns:
        Within (0, 1], or 0.0 where no gold text is ranked.

    Raises:
        ValueError: No gold text.

    Example:
        >>> reciprocal_rank(["bond", "yield", "stock", "coupon"], ["yield", "coupon"])
        0.5
    """
    wanted = _distinct(gold)
    return next((1 / rank for rank, text in enumerate(ranked, start=1) if text in wanted), 0.0)


def ndcg_at_k(ranked: Sequence[Hashable], gold: Collection[Hashable], *, k: int) -> float:
    """Return the normalised discounted cumulative gain of the first k, every gold text being worth 1.

    DCG = sum of 1 / log2(rank + 1) over the gold texts among the first k; divided by the DCG of a ranking that puts
    the gold texts first.

    Args:
        ranked: What was found, best first; what comes after the first k does not count.
        gold: At least one.
        k: At least 1.

    Returns:
        Within [0, 1]; 1.0 where the first k hold as many gold texts as they can.

    Raises:
        ValueError: No gold text, or `k` below 1.

    References:
        Järvelin, Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques, ACM TOIS 20.

    Example:
        >>> round(ndcg_at_k(["bond", "yield", "stock"], ["yield", "coupon"], k=3), 4)
        0.3869
    """
    wanted = _distinct(gold)
    gain = math.fsum(_discount(rank) for rank, text in enumerate(_first(ranked, k), start=1) if text in wanted)
    return gain / math.fsum(_discount(rank) for rank in range(1, min(k, len(wanted)) + 1))


def _discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def _distinct(gold: Collection[Hashable]) -> frozenset[Hashable]:
    if not gold:
        raise ValueError("expected at least one gold text, got none")
    return frozenset(gold)


def _first(ranked: Sequence[Hashable], k: int) -> Sequence[Hashable]:
    if k < 1:
        raise ValueError(f"k: expected 1 or more, got {k}")
    return ranked[:k]
