"""The names of lm-eval that we use and that it does not document, each with a test of its own."""

import inspect
from collections.abc import Callable
from dataclasses import fields

import pytest
from lm_eval import evaluator
from lm_eval.api import model, task
from lm_eval.api.instance import Instance
from lm_eval.filters import build_filter_ensemble
from lm_eval.models import api_models, huggingface
from lm_eval.tasks.manager import TaskManager


def parameters(function: Callable[..., object]) -> set[str]:
    return set(inspect.signature(function).parameters)


FIELDS = {field.name for field in fields(Instance)}
NAMES: dict[str, Callable[[], bool]] = {
    "evaluate calls the method that the type of a request names": lambda: (
        "getattr(lm, reqtype)(cloned_reqs)" in inspect.getsource(evaluator.evaluate)
    ),
    "CachingLM.lm": lambda: "lm" in parameters(model.CachingLM),
    "CachingLM.dbdict": lambda: "self.dbdict" in inspect.getsource(model.CachingLM),
    "hash_args": lambda: len(model.hash_args("generate_until", ("a", {}))) == 64,
    "LM.all_gather": lambda: callable(model.LM.all_gather),
    "LM.world_size": lambda: hasattr(model.LM, "world_size"),
    "JsonChatStr.prompt": lambda: api_models.JsonChatStr("x").prompt == "x",
    "LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER": lambda: isinstance(
        api_models.LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER, str
    ),
    "TemplateAPI.parse_generations": lambda: callable(
        api_models.TemplateAPI.parse_generations
    ),
    "HFLM._model_generate": lambda: (
        {"context", "max_length"} <= parameters(huggingface.HFLM._model_generate)
    ),
    "huggingface.postprocess_generated_text": lambda: (
        {"generation", "stop", "think_end_token"}
        <= parameters(huggingface.postprocess_generated_text)
    ),
    "Instance.resps": lambda: "resps" in FIELDS,
    "Instance.filtered_resps": lambda: "filtered_resps" in FIELDS,
    "Instance.arguments": lambda: "arguments" in FIELDS,
    "Instance.repeats": lambda: "repeats" in FIELDS | set(dir(Instance)),
    "Instance.request_type": lambda: "request_type" in FIELDS,
    "Task._instances": lambda: "self._instances = " in inspect.getsource(task.Task),
    "Task.dump_config": lambda: callable(task.Task.dump_config),
    "ConfigurableTask._filters": lambda: (
        "self._filters.append" in inspect.getsource(task.ConfigurableTask)
    ),
    "filters are partials of their classes": lambda: (
        "partial(get_filter(func)" in inspect.getsource(build_filter_ensemble)
    ),
    "Task.override_metric": lambda: (
        "metric_name" in parameters(task.Task.override_metric)
    ),
    "Task.apply_filters": lambda: callable(task.Task.apply_filters),
    "Task.build_all_requests": lambda: (
        {"world_size", "chat_template", "apply_chat_template", "system_instruction"}
        <= parameters(task.Task.build_all_requests)
    ),
    "ConfigurableTask.fewshot_context": lambda: (
        {"doc", "num_fewshot", "chat_template"}
        <= parameters(task.ConfigurableTask.fewshot_context)
    ),
    "ConfigurableTask.construct_requests": lambda: (
        {"doc", "ctx"} <= parameters(task.ConfigurableTask.construct_requests)
    ),
    "ConfigurableTask.download": lambda: callable(task.ConfigurableTask.download),
    "ConfigurableTask.fewshot_docs": lambda: callable(
        task.ConfigurableTask.fewshot_docs
    ),
    "TaskManager takes verbosity, include_path and include_defaults": lambda: (
        list(inspect.signature(TaskManager.__init__).parameters)[1:4]
        == ["verbosity", "include_path", "include_defaults"]
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_lm_eval_has_the_name(name: str) -> None:
    try:
        is_there = NAMES[name]()
    except (AttributeError, TypeError, ValueError):
        is_there = False
    assert is_there, f"lm-eval dropped or changed this: {name}. See lm_eval_private.py."
