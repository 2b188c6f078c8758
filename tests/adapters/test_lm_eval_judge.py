"""Which judge a task's filters are told, and what becomes of a judge that is down."""

from pathlib import Path
from typing import Any

import pytest

from fin_tasks.adapters.lm_eval_judge import AskJudge, with_judge
from fin_tasks.benchmarks.financemath.reading import read_with
from fin_tasks.errors import ConfigError

PIPELINES = [{"name": "paper", "filter": [{"function": "fin_tasks_judge", "read": read_with}, {"function": "other"}]}]
DOWN = "http://127.0.0.1:9/v1"  # the port of a service that nobody runs


def test_only_the_judge_s_filter_is_told_and_the_pipelines_stay_as_they_are() -> None:
    (told,) = with_judge(PIPELINES, {"judge_model": "m", "judge_base_url": DOWN})
    judge = {"model": "m", "base_url": DOWN, "key_variable": "OPENAI_API_KEY"}
    assert told["filter"] == [{"function": "fin_tasks_judge", "read": read_with, "judge": judge}, {"function": "other"}]
    assert "judge" not in PIPELINES[0]["filter"][0]
    assert with_judge(PIPELINES, {"source": "sample"}) == PIPELINES


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
        with_judge(PIPELINES, metadata)


def test_nobody_is_asked_without_a_judge() -> None:
    ((first,), (second, third)) = AskJudge(read=read_with).apply(
        [["Therefore, the answer is 5."], ["I cannot say.", "The answer is 6."]], [{}, {}]
    )
    assert [reading.number and reading.number.value for reading in (first, second, third)] == [5.0, None, 6.0]
    assert {reading.read_by for reading in (first, second, third)} == {"rules"}


def test_a_judge_that_is_down_loses_no_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path))
    monkeypatch.setattr("openai._base_client.BaseClient._calculate_retry_timeout", lambda *_, **__: 0.0)
    judge = {"model": "m", "base_url": DOWN, "key_variable": "OPENAI_API_KEY"}
    filters = AskJudge(read=read_with, judge=judge)
    ((read,), (unread,)) = filters.apply([["The answer is 5."], ["I cannot say that."]], [{}, {}])
    assert (read.read_by, read.judge_error) == ("rules", None)
    assert (unread.read_by, unread.number) == (None, None)
    assert "no connection" in unread.judge_error
    assert "1 of 2 responses could not be judged" in caplog.text
