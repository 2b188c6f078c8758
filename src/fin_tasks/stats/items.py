"""Statistics of questions from the scores of those who answered them."""

import numpy as np

from .means import Codes, Floats

_MIN_SCORES = 3
_NOISE = 1e-12  # squares of differences below this come from rounding


def rest_means(
    scores: Floats,
    respondents: Codes,
) -> Floats:
    """Return for each score the respondent's mean over all other questions; NaN if there are none.

    Args:
        scores: One for each question and respondent, without NaN.
        respondents: A number from 0 for each score.
    """
    n_scores = np.bincount(respondents)
    sums = np.bincount(respondents, weights=scores)
    n_others = n_scores[respondents] - 1
    rest_sums = sums[respondents] - scores
    with np.errstate(invalid="ignore"):
        means: Floats = rest_sums / n_others
    return means


def item_rest_correlations(
    scores: Floats,
    questions: Codes,
    rests: Floats,
) -> Floats:
    """Return the correlation of each question's scores with the respondents' means over the rest.

    It is NaN for a question that all have right or wrong, or that fewer than three answered.

    Args:
        scores: One for each question and respondent, without NaN.
        questions: A number from 0 for each score.
        rests: What `rest_means` returns.

    References:
        Lord and Novick (1968), Statistical Theories of Mental Test Scores, section 15.3.

    Example:
        >>> scores = np.array([1.0, 1, 0, 0, 1, 0])
        >>> rests = np.array([0.9, 0.8, 0.3, 0.2, 0.9, 0.1])
        >>> item_rest_correlations(scores, np.array([0, 0, 0, 0, 1, 1]), rests).round(2)
        array([0.99,  nan])
    """
    n_questions = questions.max(initial=-1) + 1
    is_known = ~np.isnan(rests)
    known = questions[is_known]
    counts = np.bincount(known, minlength=n_questions)

    def sums(values: Floats) -> Floats:
        totals: Floats = np.bincount(known, values, n_questions).astype(float)
        return totals

    def from_mean(values: Floats) -> Floats:
        means = sums(values) / np.maximum(counts, 1)
        return values - means[known]

    score = from_mean(scores[is_known])
    rest = from_mean(rests[is_known])
    score_squares = sums(score**2)
    rest_squares = sums(rest**2)
    has_spread = (score_squares > _NOISE) & (rest_squares > _NOISE)
    is_measured = has_spread & (counts >= _MIN_SCORES)
    products = sums(score * rest)
    correlations = np.full(n_questions, np.nan)
    root = np.sqrt(score_squares * rest_squares)
    np.divide(products, root, out=correlations, where=is_measured)
    return correlations
