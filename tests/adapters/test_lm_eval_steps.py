"""The filter that asks a judge about all responses of a task at once."""

import json
import pickle
from typing import Any

import pytest
from chat_server import completion, serve
from lm_eval.utils import sanitize_list

from fin_tasks.adapters.lm_eval_steps import AskAnswerReader, AskJudge, SampleReading
from fin_tasks.answers.types import Reading
from fin_tasks.errors import ConfigError
from fin_tasks.judging.item import Item, Judged
from fin_tasks.sandbox import Outcome, Ran, Status


def item_of(doc: dict[str, Any], response: str) -> Item | None:
    if doc.get("easy"):
        return None
    return Item(question="Which day?", answer="Friday", response=response, category="OCR")


def number_item(doc: dict[str, Any], response: str) -> Item:
    """Show the end of a response."""
    return Item(question="?", answer="-", response=response[-4:], category="number")


DOCS = [{"id": "1"}, {"id": "2", "easy": True}]
STEP = {"rubric": "mme_finance_{language}", "item": item_of}
OPTIONS = {"language": "zh"}


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path))
    monkeypatch.delenv("FIN_TASKS_JUDGE_MODEL", raising=False)


def judged(metadata: dict[str, Any], **more: Any) -> tuple[list[list[Any]], AskJudge]:
    judging = AskJudge({**STEP, **more}, metadata, OPTIONS)
    first, again = [judging.apply([["Friday", None], ["text"]], DOCS) for _ in range(2)]
    assert first == again
    return first, judging


def test_both_variants_ask_once() -> None:
    with serve(lambda _: completion("4", usage=(90, 1))) as served:
        found, judging = judged({"judge_model": "m", "judge_base_url": served.base_url})
    assert [[type(one) for one in of] for of in found] == [[Judged, Judged], [Judged]]
    assert [reply.text for reply in found[0][0].replies] == ["4"]
    assert found[0][1] == Judged("")
    assert found[1] == [Judged("text")]
    assert len(served.bodies) == 1
    assert "最低 0 分" in served.bodies[0]["messages"][1]["content"]
    assert judging.facts["usage"]["prompt_tokens"] == 90
    assert judging.facts["rubric"] == judging.rubric.label


def test_no_judge() -> None:
    assert judged({})[0][0][0] == Judged("Friday")


def test_an_answer_reader_is_optional_and_has_its_own_keys() -> None:
    step = {"rubric": "final_answer", "item": item_of}
    environment_of_a_judge = {"judge_model": "m", "judge_base_url": "http://127.0.0.1:1/v1"}
    reading = AskAnswerReader(step, {**environment_of_a_judge, "rubric": "mme_finance_en"}, {})
    assert (reading.judge, reading.facts) == (None, {})
    ran = Ran("text", (Outcome(status=Status.ok, number=1.0),))
    assert reading.apply([["Friday", None], [ran]], DOCS) == [["Friday", ""], [ran]]
    with pytest.raises(ConfigError, match="reader_model"):
        AskAnswerReader(step, {"reader_base_url": "http://127.0.0.1:1/v1"}, {})
    with pytest.raises(ConfigError, match="reader_concurrency"):
        AskAnswerReader(step, {"reader_model": "m", "reader_concurrency": 0}, {})


def test_an_answer_reader_leaves_results_of_programs_alone() -> None:
    step = {"rubric": "final_answer", "item": number_item}
    ran = Ran("12.5", (Outcome(status=Status.ok, number=1.0),))
    with serve(lambda _: completion("12.5")) as served:
        metadata = {"reader_model": "m", "reader_base_url": served.base_url}
        reading = AskAnswerReader(step, metadata, {})
        (answers,) = reading.apply([[ran, Ran("either 12.5", ())]], DOCS[:1])
    assert answers[0] == ran
    assert isinstance(answers[1], Judged) and answers[1].response == "either 12.5"
    assert [reply.text for reply in answers[1].replies] == ["12.5"]
    assert len(served.bodies) == 1
    assert (reading.facts["model"], reading.facts["image"]) == ("m", False)


def test_a_judge_that_is_down_leaves_all_unscored() -> None:
    with serve(lambda _: (400, {}, {"error": {"message": "no"}})) as served:
        found, judging = judged({"judge_model": "m", "judge_base_url": served.base_url})
    assert "failed on 1 of 1" in found[0][0].error
    assert judging.rubric.read(found[0][1]).score is None


@pytest.mark.parametrize(
    "metadata",
    [
        {"judge_base_url": "http://127.0.0.1:1/v1"},
        {"judge_model": "m", "judge_modle": "m"},
        {"judge_model": "m", "judge_base_url": "http://127.0.0.1:1/v1?api_key=secret"},
        {"judge_model": "m", "judge_key": "sk-secret"},
        {"judge_model": "m", "judge_concurrency": 0},
        {"judge_model": "m", "rubric": "no_such"},
        {"judge_model": "m", "rubric": "mme_finance_mt_zh"},
    ],
)
def test_wrong_metadata(metadata: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as error:
        AskJudge(STEP, metadata, OPTIONS)
    assert "secret" not in str(error.value)


def test_samples_hold_the_fields_of_a_reading() -> None:
    reading = Reading(variant="robust", answer="\u4e00", replies=("B",))
    text = SampleReading(reading)
    ((written,),) = sanitize_list([[text]])  # as lm-eval writes it
    assert json.loads(written) == reading.to_dict()
    again = pickle.loads(pickle.dumps(text))  # noqa: S301 - as processes gather samples
    assert (again, again.reading) == (text, reading)
