"""The mean of people's scores, from a judge's scores of all rows and people's scores of some."""

import math

import numpy as np
from scipy.special import stdtr, stdtrit

from .means import Codes, Estimate, Floats, clustered_mean
from .pairs import MIN_CLUSTERS


def corrected_mean(
    judge: Floats,
    people: Floats,
    *,
    clusters: Codes,
) -> Estimate:
    """Correct a judge's mean by people's scores of rows that were drawn at random.

    The mean is w * mean(judge) + mean(people - w * judge); the last mean is over the labeled rows.
    The weight w from 0 to 1 makes the variance least if rows are independent. The t interval has
    the cluster-robust standard error, and a degree of freedom less than labeled clusters. `n`
    counts labels. With one labeled cluster there is no interval, without labels no mean.

    Args:
        judge: A score for each row, none NaN.
        people: A score for each labeled row; NaN elsewhere.
        clusters: As in `means.estimate`.

    References:
        Angelopoulos, Duchi, Zrnic (2023), PPI++: Efficient Prediction-Powered Inference,
        arXiv 2311.01453.
    """
    is_labeled = ~np.isnan(people)
    rated = people[is_labeled]
    judged = judge[is_labeled]
    n = len(rated)
    mean, _, n_clusters = clustered_mean(rated, clusters[is_labeled], np.ones(n))
    stderr = math.nan
    reach = math.nan
    if n_clusters > 1:
        weight = _weight_of(judge, judged, rated)
        errors = rated - weight * judged
        # The mean of these values is the corrected one. Their residuals show how it varies.
        values = weight * judge + errors.mean()
        share = n / len(judge)
        values[is_labeled] += (errors - errors.mean()) / share
        mean, stderr, _ = clustered_mean(values, clusters, np.ones(len(values)))
        stderr *= math.sqrt(n_clusters / (n_clusters - 1))
        reach = float(stdtrit(n_clusters - 1, 0.975)) * stderr
    return Estimate(
        mean=mean,
        low=mean - reach,
        high=mean + reach,
        stderr=stderr,
        n=n,
        clusters=n_clusters,
        method="prediction-powered",
    )


def _weight_of(judge: Floats, judged: Floats, rated: Floats) -> float:
    """Return what the judge's scores count, from 0 to 1; `judged` and `rated` are those of the labeled rows."""
    variance = judge.var(ddof=1)
    if variance == 0:
        return 0.0
    covariance = np.cov(rated, judged, ddof=0)[0, 1]
    return float(np.clip(covariance / variance, 0, 1))


def labels_needed(
    judge: Floats, people: Floats, mean: Estimate, within: float
) -> int | None:
    """Return how many labels in all narrow the interval of a corrected mean to plus or minus `within`.

    None if even a label for each row would not, or if nothing is known of the spread. The clustering of the rows to
    come is taken to be that of the labeled ones.

    Args:
        judge: As in `corrected_mean`.
        people: As in `corrected_mean`.
        mean: What `corrected_mean` returned for them.
        within: Half of the interval's width, in units of the scores.
    """
    n_rows = len(judge)
    is_labeled = ~np.isnan(people)
    rated = people[is_labeled]
    if not mean.stderr > 0:
        return None
    judged = judge[is_labeled]
    weight = _weight_of(judge, judged, rated)
    spread = (rated - weight * judged).var(ddof=1)
    # The part of the variance that labels do not lower, and the part that is divided by their number.
    fixed = (rated.var(ddof=1) - spread) / n_rows
    observed = fixed + spread / mean.n
    design = mean.stderr**2 / observed if observed > 0 else math.nan
    for n in range(2, n_rows + 1):
        reach = float(stdtrit(n - 1, 0.975))
        if reach * math.sqrt(max(0.0, design * (fixed + spread / n))) <= within:
            return n
    return None


def p_value(difference: Estimate) -> float:
    """Return the two-sided p-value of a corrected difference; 1 with too few labeled clusters for a test."""
    if difference.clusters < MIN_CLUSTERS or not difference.stderr > 0:
        return 1.0
    ratio = abs(difference.mean) / difference.stderr
    return float(2 * stdtr(difference.clusters - 1, -ratio))
