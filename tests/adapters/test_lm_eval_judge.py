"""Which judge a task's filters are told, and what becomes of a judge that is down."""

from pathlib import Path
from typing import Any

import pytest

from fin_tasks.adapters.lm_eval_judge import AskJudge, with_judges
from fin_tasks.benchmarks.financemath.judge import read_by_judge
from fin_tasks.endpoints.client import Endpoint
from fin_tasks.errors import ConfigError

STEPS: list[dict[str, Any]] = [{"function": "fin_tasks_judge", "read": read_by_judge}, {"function": "other"}]
PIPELINES = [{"name": "paper", "filter": STEPS}]
DOWN = "http://127.0.0.1:9/v1"  # the port of a service that nobody runs


ENDPOINT = Endpoint(model="m", base_url=DOWN, key_variable="OPENAI_API_KEY")


def given(metadata: dict[str, Any]) -> Any:
    return with_judges(PIPELINES, metadata, task="financemath", options={})[0]


def test_only_the_filter_of_the_judge_gets_it_and_the_pipelines_stay_as_they_are() -> None:
    (made,) = given({"judge_model": "m", "judge_base_url": DOWN})
    assert made["filter"][0]["judge"] == ENDPOINT
    assert made["filter"][1] == {"function": "other"}
    assert "judge" not in STEPS[0]
    assert given({"source": "sample"})[0]["filter"][0]["judge"] is None


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"judge_base_url": DOWN}, "judge_base_url: expected judge_model beside it"),
        ({"judge_model": "m", "judge_base_url": "nowhere"}, "expected an address"),
        ({"judge_model": "m", "judge_key": "sk-123"}, "ends in _KEY"),
    ],
)
def test_a_judge_that_cannot_be_is_refused(metadata: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        given(metadata)


def test_nobody_is_asked_without_a_judge() -> None:
    texts = [["Therefore, the answer is 5."], ["I cannot say.", "The answer is 6."]]
    assert AskJudge(read=read_by_judge).apply(texts, [{}, {}]) == texts


def test_a_judge_that_is_down_loses_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path))
    monkeypatch.setattr("openai._base_client.BaseClient._calculate_retry_timeout", lambda *_, **__: 0.0)
    filters = AskJudge(read=read_by_judge, judge=ENDPOINT)
    ((read,), (unread,)) = filters.apply([["The answer is 5."], ["I cannot say that."]], [{}, {}])
    assert read == "The answer is 5."
    assert unread.number is None and "no connection" in unread.judge_error
    assert "The judge failed on 1 of 2 responses" in caplog.text
