"""Compare runs on the same rows: difference, interval and test of each pair, and ranks."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import bdtr, betaincinv, stdtr, stdtrit

from .means import NORMAL_QUANTILE, Codes, Floats, cluster_codes

ALPHA = 0.05
"""Level of a significant difference, after Holm's correction."""
MIN_CLUSTERS = 10
"""With fewer clusters of rows in common, two runs are not tested."""
_NOISE = 1e-12  # differences below this come from rounding
_NUMBERS = {
    "n": int,
    "clusters": int,
    "difference": float,
    "stderr": float,
    "only_first": int,
    "only_second": int,
}
"""What is computed row by row: the columns of a table and their types."""


@dataclass(frozen=True, kw_only=True)
class Pair:
    """First less second on the rows that both have scored, with a 95 % interval and a test.

    The interval excludes 0 only if `p` is below 0.05; it is NaN if there is none.
    """

    first: str = ""
    second: str = ""
    n: int
    """Rows that both have scored."""
    clusters: int
    difference: float
    low: float
    high: float
    p: float
    """Two-sided p-value; 1 if there are too few clusters for a test."""
    p_holm: float = 1.0
    """`p` after the correction over the pairs of one `compare_all`."""
    only_first: int = 0
    """Rows on which the first has the larger value."""
    only_second: int = 0
    """Rows on which the second has it."""
    test: str
    """`McNemar`, `t`, `clustered t` or `sign`; empty with less than 10 clusters."""


class Place(NamedTuple):
    """A run's rank, and the best and worst rank that the tests leave possible."""

    run: str
    rank: int
    best: int
    worst: int


def compare_pair(
    first: Floats,
    second: Floats,
    *,
    clusters: Codes | None = None,
) -> Pair:
    """Compare two runs row by row; the result depends on these two alone.

    Independent rows of 0 and 1 are tested by McNemar's exact test. Their interval is that of
    Agresti and Min. Where the exact conditional interval (Clopper-Pearson) is wider, the interval
    is widened to it, so that it excludes 0 only if the test rejects. Other rows are tested by a t
    test of the differences with a cluster-robust standard error, and have its interval. If all
    differences are equal, or their sums over clusters, there is no interval, and the signs are
    tested. With less than 10 clusters there is neither test nor interval.

    Args:
        first: A value for each row; NaN if unscored.
        second: The values of the other run for the same rows.
        clusters: As in `means.estimate`.

    References:
        McNemar (1947), Psychometrika 12; Agresti and Min (2005), Statistics in Medicine 24; Clopper
        and Pearson (1934), Biometrika 26; Cameron and Miller (2015), section II.

    Example:
        >>> pair = compare_pair(np.array([1.0] * 8 + [0, 1]), np.array([0.0] * 8 + [1, 1]))
        >>> round(pair.difference, 3), round(pair.p, 3), pair.test
        (0.7, 0.039, 'McNemar')
        >>> round(pair.low, 3), round(pair.high, 3)
        (0.032, 0.981)
    """
    pairs = compare_all(
        {"first": first, "second": second},
        clusters=clusters,
    )
    (pair,) = pairs.to_dict("records")
    return Pair(**pair)


def compare_all(
    scores: Mapping[str, Floats],
    *,
    clusters: Codes | None = None,
) -> pd.DataFrame:
    """Compare each pair of runs, with Holm's correction over these pairs as one family of tests.

    Return a row for each pair. The columns are the fields of `Pair`.
    """
    names = [field.name for field in fields(Pair)]
    if len(scores) < 2:
        return pd.DataFrame(columns=names)
    values = np.array(list(scores.values()), dtype=np.float64)
    n_rows = values.shape[1]
    codes = cluster_codes(clusters, n_rows)
    unique_codes, columns = np.unique(codes, return_inverse=True)
    places = (np.arange(n_rows), columns)
    shape = (n_rows, len(unique_codes))
    members = csr_array((np.ones(n_rows), places), shape=shape)
    blocks = []
    for index, run_values in enumerate(values[:-1]):
        others = values[index + 1 :]
        blocks.append(_differences(run_values, others, members))
    numbers = np.vstack(blocks)
    pairs = pd.DataFrame(numbers, columns=list(_NUMBERS))
    pairs = pairs.astype(_NUMBERS)
    first, second = np.triu_indices(len(values), 1)
    runs = np.array(list(scores), dtype=object)
    pairs["first"] = runs[first]
    pairs["second"] = runs[second]
    is_unscored = np.isnan(values)
    is_share = is_unscored | (values == 0) | (values == 1)
    is_binary = is_share.all(axis=1)
    pairs["is_binary"] = is_binary[first] & is_binary[second]
    _add_tests(pairs)
    pairs["p_holm"] = holm(pairs["p"])
    return pairs[names]


def _differences(
    first: Floats,
    others: Floats,
    members: csr_array,
) -> Floats:
    """Return the numbers `_NUMBERS` for a run and each of some others.

    `members` is 1 where the row of a document and the column of its cluster meet.
    """
    differences = first - others
    is_common = ~np.isnan(differences)
    n = is_common.sum(axis=1)
    sizes = is_common @ members
    clusters = np.count_nonzero(sizes, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.nansum(differences, axis=1) / n
        residuals = differences - mean[:, None]
        residuals[~is_common] = 0
        sums = residuals @ members
        squares = np.square(sums).sum(axis=1)
        stderr = np.sqrt(squares * clusters / (clusters - 1)) / n
    only_first = (differences > 0).sum(axis=1)
    only_second = (differences < 0).sum(axis=1)
    return np.column_stack(
        [
            n,
            clusters,
            mean,
            stderr,
            only_first,
            only_second,
        ]
    )


def _add_tests(pairs: pd.DataFrame) -> None:
    """Add the test, its p-value and the interval of each pair."""
    n = pairs["n"]
    clusters = pairs["clusters"]
    difference = pairs["difference"]
    stderr = pairs["stderr"]
    is_tested = clusters >= MIN_CLUSTERS
    is_mcnemar = pairs["is_binary"] & is_tested & (clusters == n)
    noise = _NOISE * (1 + difference.abs())
    is_t = is_tested & (stderr > noise)
    has_interval = [is_mcnemar, is_t]
    kinds = [*has_interval, is_tested]
    t_name = np.where(clusters == n, "t", "clustered t")
    pairs["test"] = np.select(kinds, ["McNemar", t_name, "sign"], "")

    freedom = np.maximum(clusters - 1, 1)
    ratio = difference.abs() / stderr.where(is_t)
    p_mcnemar = mcnemar(pairs["only_first"], pairs["only_second"])
    p_t = 2 * stdtr(freedom, -ratio)
    p_sign = np.minimum(1, 2 * 0.5**clusters)
    p_sign[difference.abs() <= _NOISE] = 1
    pairs["p"] = np.select(kinds, [p_mcnemar, p_t, p_sign], 1)

    reach = stdtrit(freedom, 0.975) * stderr
    low, high = _binary_intervals(pairs)
    pairs["low"] = np.select(has_interval, [low, difference - reach], np.nan)
    pairs["high"] = np.select(has_interval, [high, difference + reach], np.nan)


def _binary_intervals(pairs: pd.DataFrame) -> tuple[Floats, Floats]:
    """Return the lower and the upper bound of each difference of shares."""
    only_first = pairs["only_first"]
    only_second = pairs["only_second"]
    untied = only_first + only_second
    n = np.maximum(pairs["n"], 1)
    size = n + 2  # Agresti and Min add half a row to each of the four kinds
    middle = (only_first - only_second) / size
    variance = (untied + 1) / size - middle**2
    reach = NORMAL_QUANTILE * np.sqrt(variance / size)
    share_low = betaincinv(only_first, only_second + 1, 0.025)
    share_low[only_first == 0] = 0
    share_high = betaincinv(only_first + 1, only_second, 0.975)
    share_high[only_second == 0] = 1
    exact_low = (2 * share_low - 1) * untied / n
    exact_high = (2 * share_high - 1) * untied / n
    low = np.maximum(-1, middle - reach)
    high = np.minimum(1, middle + reach)
    return np.minimum(low, exact_low), np.maximum(high, exact_high)


def mcnemar(
    only_first: npt.ArrayLike,
    only_second: npt.ArrayLike,
) -> Floats:
    """Return the two-sided p-values of McNemar's exact test.

    Args:
        only_first: Rows that only the first run has right.
        only_second: Rows that only the second run has right.
    """
    fewer = np.minimum(only_first, only_second)
    tail = bdtr(fewer, np.add(only_first, only_second), 0.5)
    p_values: Floats = np.minimum(1.0, 2 * tail)
    return p_values


def holm(p_values: Sequence[float] | Floats) -> list[float]:
    """Adjust the p-values of one family of tests by Holm's method.

    NaN counts as no test and stays NaN.

    References:
        Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal
        of Statistics 6.
    """
    values = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(values, kind="stable")  # NaN comes last
    n_tests = np.count_nonzero(~np.isnan(values))
    factors = n_tests - np.arange(len(values))
    increasing = np.maximum.accumulate(factors * values[order])
    adjusted = np.empty(len(values))
    adjusted[order] = np.minimum(1.0, increasing)
    return list(adjusted.tolist())


def rank(
    scores: Mapping[str, Floats] | pd.DataFrame,
    pairs: pd.DataFrame,
    *,
    higher_is_better: bool = True,
) -> list[Place]:
    """Rank runs, the best first.

    A run's rank is one more than the number of runs that are better on the rows in common. Its best
    rank is one more than the number of those that are significantly better. Its worst rank leaves
    room for all runs but those that are significantly worse.

    Args:
        scores: A value for each row of each run; NaN if unscored.
        pairs: All pairs of these runs, from `compare_all`.
        higher_is_better: Whether the larger value wins.

    Example:
        >>> scores = {"a": np.ones(40), "b": np.array([1.0] * 38 + [0] * 2), "c": np.zeros(40)}
        >>> ranking = rank(scores, compare_all(scores))
        >>> [(entry.run, entry.rank, entry.best, entry.worst) for entry in ranking]
        [('a', 1, 1, 2), ('b', 2, 1, 2), ('c', 3, 3, 3)]
    """
    sign = 1 if higher_is_better else -1
    lead = sign * pairs["difference"]
    pairs = pairs[lead.abs() > _NOISE]  # NaN is no lead either
    first_leads = lead[pairs.index] > 0
    winners = pairs["first"].where(first_leads, pairs["second"])
    losers = pairs["second"].where(first_leads, pairs["first"])
    is_sure = pairs["p_holm"] < ALPHA
    n_better = Counter(losers.value_counts().to_dict())
    n_surely_better = Counter(losers[is_sure].value_counts().to_dict())
    n_surely_worse = Counter(winners[is_sure].value_counts().to_dict())
    means = sign * pd.DataFrame(scores).mean()
    means = means.fillna(-math.inf)
    order = sorted(scores, key=lambda run: (n_better[run], -means[run]))
    return [
        Place(
            run,
            1 + n_better[run],
            1 + n_surely_better[run],
            len(means) - n_surely_worse[run],
        )
        for run in order
    ]
