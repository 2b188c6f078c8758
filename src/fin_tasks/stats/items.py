"""Statistics of questions from the scores of those who answered them."""

import numpy as np
import pandas as pd

from .means import Codes, Floats

_MIN_SCORES = 3


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
    if not is_known.any():
        return np.full(n_questions, np.nan)
    table = pd.DataFrame(
        {
            "question": questions[is_known],
            "score": scores[is_known],
            "rest": rests[is_known],
        }
    )
    groups = table.groupby("question")
    matrices = groups.corr(min_periods=_MIN_SCORES)
    correlations = matrices["rest"].xs("score", level=1)
    all_questions = correlations.reindex(np.arange(n_questions))
    values: Floats = all_questions.to_numpy(float)
    return values
