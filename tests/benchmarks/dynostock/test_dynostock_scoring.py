"""From responses to forecasts, counts and the bias index."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.benchmarks.dynostock.doc_scores import score_response
from fin_tasks.benchmarks.dynostock.scoring import Counts, Forecast, answer_of, bias_index, count, forecast
from fin_tasks.errors import ConfigError

SIDES = st.integers(0, 1)
FORECASTS = st.lists(
    st.builds(Forecast, answer=st.none() | SIDES, truth=SIDES, signal=st.none() | SIDES, probability=st.none())
)


def test_an_answer_is_up_from_one_half_on() -> None:
    assert [answer_of(p) for p in (None, 0.0, 0.4999, 0.5, 1.0)] == [None, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("answer", "truth", "signal", "correct", "led"),
    [
        (1, 1, 0, True, False),
        (0, 1, 0, False, True),
        (0, 1, 1, False, False),
        (1, 1, 1, True, False),
        (None, 1, 0, False, False),
        (0, 1, None, False, False),
        (None, 1, None, False, False),
    ],
)
def test_right_led_or_neither(answer: int | None, truth: int, signal: int | None, correct: bool, led: bool) -> None:
    one = Forecast(answer=answer, truth=truth, signal=signal)
    assert (one.correct, one.led) == (correct, led)


def test_counts_of_the_authors() -> None:
    answers = [(1, 1, 0), (0, 1, 0), (0, 1, 1), (None, 1, 0)]
    counts = count(Forecast(answer=a, truth=t, signal=s) for a, t, s in answers)
    assert counts == Counts(total=4, correct=1, wrong_by_bias=1, no_answer=1)
    assert (counts.wrong, counts.accuracy, counts.bias_index) == (3, 0.25, 1 / 3)
    assert (counts.bias_percentage, counts.no_answer_rate) == (0.25, 0.25)


@given(FORECASTS)
def test_counts_add_up(forecasts: list[Forecast]) -> None:
    counts = count(forecasts)
    assert counts.correct + counts.wrong == counts.total == len(forecasts)
    assert counts.wrong_by_bias + counts.no_answer <= counts.wrong
    assert 0.0 <= counts.bias_percentage <= counts.bias_index <= 1.0
    assert count(reversed(forecasts)) == counts


def test_index_with_its_interval() -> None:
    led, other = Forecast(answer=0, truth=1, signal=0), Forecast(answer=None, truth=1, signal=0)
    right = Forecast(answer=1, truth=1, signal=0)
    index = bias_index([led] * 10 + [other] * 30 + [right] * 60)
    assert (index.value, index.n_wrong) == (0.25, 40)
    assert 0.08 < index.low < 0.2 < 0.3 < index.high < 0.45


def test_nothing_wrong_says_nothing_about_bias() -> None:
    for forecasts in ([], [Forecast(answer=1, truth=1, signal=0)]):
        index = bias_index(forecasts)
        assert (index.value, index.low, index.high, index.n_wrong) == (0.0, 0.0, 1.0, 0)


def test_an_unknown_parser_is_named() -> None:
    with pytest.raises(ConfigError, match="expected paper or robust, got 'bold'"):
        forecast("0.5", truth=1, signal=0, parser="bold")


def doc(**changes: Any) -> dict[str, Any]:
    return {"truth": 1, "signal": 0, "bias_type": "recency", **changes}


def test_variants_read_a_response_each_in_their_way() -> None:
    response = "Final prediction: 35%\n\nReported on 2014-01-31."
    paper, robust = (score_response(doc(), response, variant=variant) for variant in ("paper", "robust"))
    assert (paper["probability"], paper["answer"], paper["correct"], paper["led"]) == (1.0, 1, True, False)
    assert (robust["probability"], robust["answer"], robust["correct"], robust["led"]) == (0.35, 0, False, True)
    assert robust["reason"] == "wrong, as the signal suggests"


def test_reasons() -> None:
    def reason(text: str | None, **changes: Any) -> str:
        return str(score_response(doc(**changes), text, variant="robust")["reason"])

    assert reason("Final prediction: 0.9") == "right"
    assert reason("Final prediction: 0.2", signal=1) == "wrong"
    assert reason("I cannot tell.") == "no answer: no probability in the response"
    assert reason(" \n") == reason("") == reason(None) == "no answer: empty response"
    assert reason("Final prediction: 0.9", truth=None) == "unscored: what happened is not known"


def test_what_is_not_known_is_not_scored() -> None:
    open_end = score_response(doc(truth=None), "Final prediction: 0.9", variant="robust")
    assert (open_end["answer"], open_end["probability"]) == (1, 0.9)
    assert open_end["correct"] is open_end["led"] is None
    plain = score_response(doc(signal=None), "Final prediction: 0.2", variant="robust")
    assert plain["correct"] is False
    assert plain["led"] is None
