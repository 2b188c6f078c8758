"""The logic of VLMEvalKit's adapter, with a stand-in for the kit; `tests/contract` runs the real one."""

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from chat_server import completion, serve

from fin_tasks.errors import ConfigError


class ImageBaseDataset:
    """What the kit's class does for ours."""

    def __init__(self, dataset: str) -> None:
        self.dataset_name = dataset
        self.data: Any = self.load_data(dataset)  # type: ignore[attr-defined]


@pytest.fixture
def adapter(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("FIN_TASKS_METADATA", '{"source": "sample"}')
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
    kit = ModuleType("vlmeval")
    files = ModuleType("vlmeval.smp.file")
    files.load = files.dump = lambda *_: None  # type: ignore[attr-defined]
    data_sets = ModuleType("vlmeval.dataset")
    facts = {"ImageBaseDataset": ImageBaseDataset}
    vars(data_sets).update(facts, DATASET_CLASSES=[], SUPPORTED_DATASETS=[])
    kit.__version__ = "1"  # type: ignore[attr-defined]
    modules = {"": kit, ".dataset": data_sets, ".smp.file": files}
    for name, module in {".smp": ModuleType("vlmeval.smp"), **modules}.items():
        monkeypatch.setitem(sys.modules, f"vlmeval{name}", module)
    yield importlib.import_module("fin_tasks.adapters.vlmeval")
    del sys.modules["fin_tasks.adapters.vlmeval"]


def evaluated(adapter: Any, folder: Path, name: str, **options: Any) -> Any:
    """Return the totals of a model that gives the right answers to all but one question, and its run's files."""
    data_set = adapter.FinTasks(name)
    (missing, *_) = data_set.docs
    lines: list[Any] = [{"provenance": data_set.provenance}]
    for index, (doc,) in data_set.docs.items():
        if index != missing:
            lines.append({"index": index, "prediction": doc["target"]})
    responses = folder / f"model_{name}_responses.jsonl"
    responses.write_text("\n".join(map(json.dumps, lines)))
    totals = data_set.evaluate(str(folder / f"model_{name}.xlsx"), **options)
    assert totals["missing"] == 1 and totals["n"] == len(data_set.docs) - 1
    return SimpleNamespace(**totals, files=[path.name for path in folder.iterdir()])


def test_a_data_set_without_a_judge(adapter: Any, tmp_path: Path) -> None:
    done = evaluated(adapter, tmp_path, "XFinBench_MCQ_V")
    assert done.overall == done.acc_paper == 100
    assert "model_XFinBench_MCQ_V_run" in done.files


def test_a_data_set_with_a_judge(adapter: Any, tmp_path: Path) -> None:
    with serve(lambda _: completion("4")) as served:
        judge = {"model": "m", "api_base": f"{served.base_url}/chat/completions"}
        done = evaluated(adapter, tmp_path, "MMEFinance", **judge, nproc=2)
    # Points are out of 100 as they are.
    assert done.overall == done.score_robust == 80
    assert "model_MMEFinance_m_mme_finance_en_run" in done.files


def test_data_sets_of_another_class_are_refused(adapter: Any) -> None:
    conversations = adapter.FinTasksConversations
    for data_set, name in (
        (adapter.FinTasks, "MMEFinance_MT"),
        (adapter.FinTasks, "mine"),
        (conversations, "MMEFinance"),
    ):
        with pytest.raises(ConfigError, match="expected one of"):
            data_set(name)


def test_the_chart_may_stand_behind_the_text(
    adapter: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {"source": "sample", "pixels": 256, "sample_n": 1}
    for place, kinds in (("first", ["image", "text"]), ("last", ["text", "image"])):
        monkeypatch.setenv("FIN_TASKS_METADATA", json.dumps({**few, "picture": place}))
        data_set = adapter.FinTasks("DynoStock_Recency_W4")
        (index,) = data_set.docs
        parts = data_set.build_prompt({"index": index})
        assert [part["type"] for part in parts] == kinds
        assert "<image>" not in str(parts)


def test_a_conversation_has_the_answers_to_earlier_turns(adapter: Any) -> None:
    data_set = adapter.FinTasksConversations("MMEFinance_MT")
    (index, docs) = max(data_set.docs.items(), key=lambda item: len(item[1]))
    messages = data_set.build_prompt({"index": index})
    assert [message["role"] for message in messages] == ["user", "assistant"] * len(
        docs
    )
    for doc, asked, said in zip(docs, messages[::2], messages[1::2], strict=True):
        assert said["content"] == [{"type": "text", "value": doc["answer"]}]
        assert doc["question"] in "".join(part["value"] for part in asked["content"])


def test_arguments_of_the_kit_come_before_settings(
    adapter: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = adapter._judge_options
    monkeypatch.setenv("FIN_TASKS_JUDGE_MODEL", "usual")
    monkeypatch.setenv("VLMEVALKIT_JUDGE_KEY", "")
    assert options({})["judge_model"] == "usual"
    given = options({"rubric": "mine", "timeout": 7, "nproc": 2, "model": None})
    assert (given["rubric"], given["judge_timeout"]) == ("mine", 7)
    assert (given["judge_concurrency"], given["judge_model"]) == (2, "usual")
    assert options({"model": "other"})["judge_model"] == "other"
    assert options({"key": "MY_KEY"})["judge_key"] == "MY_KEY"
    assert options({"key": "sk-made-up"})["judge_key"] == "VLMEVALKIT_JUDGE_KEY"
