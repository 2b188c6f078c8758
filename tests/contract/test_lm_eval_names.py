"""The names of lm-eval that we use and that it does not document: a release that drops one says here which."""

import inspect
from dataclasses import fields
from pkgutil import resolve_name

import pytest
from lm_eval import evaluator
from lm_eval.api import model, task
from lm_eval.api.instance import Instance
from lm_eval.filters import build_filter_ensemble

# Each with the parameters that we name.
NAMES = {
    "lm_eval.api.model:CachingLM": {"lm"},
    "lm_eval.api.model:LM.all_gather": set(),
    "lm_eval.api.model:hash_args": set(),
    "lm_eval.api.task:ConfigurableTask.construct_requests": {"doc", "ctx"},
    "lm_eval.api.task:ConfigurableTask.download": set(),
    "lm_eval.api.task:ConfigurableTask.fewshot_context": {
        "doc",
        "num_fewshot",
        "chat_template",
    },
    "lm_eval.api.task:ConfigurableTask.fewshot_docs": set(),
    "lm_eval.api.task:Task.apply_filters": set(),
    "lm_eval.api.task:Task.build_all_requests": {
        "world_size",
        "chat_template",
        "apply_chat_template",
        "system_instruction",
    },
    "lm_eval.api.task:Task.dump_config": set(),
    "lm_eval.api.task:Task.override_metric": {"metric_name"},
    "lm_eval.models.api_models:JsonChatStr": {"prompt"},
    "lm_eval.models.api_models:TemplateAPI.parse_generations": set(),
    "lm_eval.models.huggingface:HFLM._model_generate": {"context", "max_length"},
    "lm_eval.models.huggingface:postprocess_generated_text": {
        "generation",
        "stop",
        "think_end_token",
    },
    "lm_eval.tasks.manager:TaskManager": {
        "verbosity",
        "include_path",
        "include_defaults",
    },
}
PIECES_OF_CODE = [
    (evaluator.evaluate, "getattr(lm, reqtype)(cloned_reqs)"),
    (model.CachingLM, "self.dbdict"),
    (task.Task, "self._instances = "),
    (task.ConfigurableTask, "self._filters.append"),
    (build_filter_ensemble, "partial(get_filter(func)"),
]


@pytest.mark.parametrize("name", NAMES)
def test_lm_eval_has_the_name(name: str) -> None:
    assert NAMES[name] <= set(inspect.signature(resolve_name(name)).parameters)


@pytest.mark.parametrize(("owner", "code"), PIECES_OF_CODE)
def test_lm_eval_does_it_this_way(owner: object, code: str) -> None:
    assert code in inspect.getsource(owner)


def test_what_an_instance_holds() -> None:
    names = {field.name for field in fields(Instance)}
    assert {"resps", "filtered_resps", "arguments", "request_type"} <= names
    assert hasattr(Instance, "repeats") and hasattr(model.LM, "world_size")
