"""Our task class in lm-eval: the models that metadata name, and readings in samples."""

import json
import pickle
from typing import Any

import pytest
from in_process import manager
from lm_eval.utils import sanitize_list

from fin_tasks.adapters.lm_eval import FinTask
from fin_tasks.answers.types import Reading
from fin_tasks.benchmarks.scored_task import SampleReading
from fin_tasks.errors import ConfigError

NOBODY = "http://127.0.0.1:1/v1"


def task(name: str, metadata: dict[str, Any]) -> FinTask:
    made: FinTask = manager(**metadata).load([name])["tasks"][name]
    return made


@pytest.mark.parametrize(
    ("name", "metadata"),
    [
        ("mme_finance_zh", {"judge_base_url": NOBODY}),
        ("mme_finance_zh", {"judge_model": "m", "judge_modle": "m"}),
        (
            "mme_finance_zh",
            {"judge_model": "m", "judge_base_url": f"{NOBODY}?api_key=secret"},
        ),
        ("mme_finance_zh", {"judge_model": "m", "judge_key": "sk-secret"}),
        ("mme_finance_zh", {"judge_model": "m", "judge_concurrency": 0}),
        ("mme_finance_zh", {"judge_model": "m", "rubric": "no_such"}),
        ("mme_finance_zh", {"judge_model": "m", "rubric": "mme_finance_mt_zh"}),
        ("xfinbench_calc", {"reader_base_url": NOBODY}),
        ("xfinbench_calc", {"reader_model": "m", "reader_concurrency": 0}),
    ],
)
def test_wrong_metadata(name: str, metadata: dict[str, Any]) -> None:
    with pytest.raises(
        ConfigError, match="|".join(("judge", "reader", "endpoint", "rubric"))
    ) as error:
        task(name, metadata)
    assert "secret" not in str(error.value)


def test_an_answer_reader_is_optional_and_no_judge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FIN_TASKS_JUDGE_MODEL", "m")
    monkeypatch.setenv("FIN_TASKS_JUDGE_BASE_URL", NOBODY)
    metadata = task("xfinbench_calc", {"rubric": "mme_finance_en"}).config.metadata
    assert "judge" not in metadata


def test_samples_hold_the_fields_of_a_reading() -> None:
    reading = Reading(scoring="robust", answer="\u4e00", replies=("B",))
    text = SampleReading(reading)
    ((written,),) = sanitize_list([[text]])  # as lm-eval writes it
    assert json.loads(written) == reading.to_dict()
    again = pickle.loads(pickle.dumps(text))  # noqa: S301 - as processes gather samples
    assert (again, again.reading) == (text, reading)
