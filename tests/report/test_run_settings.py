"""What a run was made with, out of files that may say anything."""

from typing import Any

import pytest

from fin_tasks.errors import DataError
from fin_tasks.report.comparability import facts_of
from fin_tasks.report.settings import MAX_FACTS, setting_of


def results(facts: Any, **config: Any) -> dict[str, Any]:
    return {"config": {"model": "hf", **config}, "configs": {"t": {"metadata": {"provenance": facts}}}}


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        (nested(600), "f.json, configs.t, provenance.a.a.a"),
        ({"a": [[nested(900)]]}, "expected values nested less deeply"),
        ({str(place): place for place in range(MAX_FACTS + 1)}, "expected at most 5,000 facts"),
        ({"a": "x" * 1_000_001}, "of 1,000,000 characters"),
        ({"judge": "\ud800"}, "provenance.judge: expected text that is Unicode, got '\\ud800'"),
        ({"\ud800": 1}, "expected text that is Unicode"),
    ],
)
def test_facts_that_could_not_be_written_down_are_refused(facts: Any, message: str) -> None:
    with pytest.raises(DataError) as error:
        setting_of(results(facts), "t", where="f.json")
    assert message in str(error.value)


def test_seeds_tell_runs_apart_and_keep_them_together() -> None:
    one, other = (setting_of(results({"split": "test"}, random_seed=seed, fewshot_seed=1234), "t") for seed in (0, 1))
    assert one != other
    assert facts_of(one) == facts_of(other)


def test_generation_settings_may_be_text() -> None:
    found = setting_of(results({}, gen_kwargs="temperature=0.7,do_sample=True"), "t")
    assert (found["generation.temperature"], found["generation.do_sample"]) == ('"0.7"', '"True"')
