"""Each name of lm-eval that is no public interface, one test a name, and what we make of it."""

import importlib
import inspect
import sys
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import pytest
from lm_eval.api.model import CachingLM
from lm_eval.models import api_models
from lm_eval.models.anthropic_llms import AnthropicChat
from lm_eval.models.dummy import DummyLM
from lm_eval.models.openai_completions import LocalChatCompletion, LocalCompletionsAPI
from lm_eval.models.sglang_generate_API import SGLANGGENERATEAPI

from fin_tasks.adapters.lm_eval_private import marking_cut_offs, token_counts
from fin_tasks.answers.text import is_cut_off


@pytest.fixture
def vllm_causallms(monkeypatch: pytest.MonkeyPatch) -> Any:
    """lm-eval's module of vLLM models, with vLLM made up: not every machine can have it."""
    for name in (
        "",
        ".lora",
        ".lora.request",
        ".renderers",
        ".renderers.hf",
        ".tokenizers",
    ):
        monkeypatch.setitem(sys.modules, f"vllm{name}", MagicMock())
    monkeypatch.setattr("importlib.metadata.version", lambda name: "1.0")
    monkeypatch.setattr(
        "lm_eval.api.registry.register_model", lambda *_: lambda cls: cls
    )
    module = "lm_eval.models.vllm_causallms"
    # What is set first is taken away again after the test.
    monkeypatch.setattr(module, None, raising=False)
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, module)
    return importlib.import_module(module)


@pytest.fixture(scope="module")
def huggingface() -> Any:
    """lm-eval's module of Hugging Face models, which takes seconds to import."""
    return importlib.import_module("lm_eval.models.huggingface")


def made(cls: type, **attributes: Any) -> Any:
    """A model that is not set up: no server, no weights."""
    model = cls.__new__(cls)
    vars(model).update(attributes)
    return model


def chat(
    content: str | None, reason: str, index: int = 0, **message: Any
) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **message}
    return {"index": index, "message": message, "finish_reason": reason}


def parsed(cls: type, outputs: Any, **attributes: Any) -> list[tuple[Any, bool]]:
    model = made(cls, **attributes)
    with marking_cut_offs(model) as is_told:
        texts = model.parse_generations(outputs=outputs, contexts=["q"])
    assert is_told
    assert "parse_generations" not in vars(model)
    return [(text, text is not None and is_cut_off(text)) for text in texts]


def test_parse_generations_of_chats() -> None:
    replies = [
        {"choices": [chat("b", "length", 1), chat("a", "stop", 0)]},
        {"choices": [chat(None, "length")]},
        {"choices": [chat("", "length")]},
        {"choices": [chat("", "stop", reasoning_content="First")]},
        {"choices": [chat(None, "stop", reasoning="First")]},
        {"choices": [chat("a", "stop", reasoning_content="First")]},
        {"choices": [chat(None, "content_filter")]},
    ]
    assert parsed(LocalChatCompletion, replies, think_end_token=None) == [
        ("a", False),
        ("b", True),
        ("", True),
        ("", True),
        ("", False),
        (None, False),
        ("a", False),
        ("", False),
    ]


def test_parse_generations_after_the_end_of_thinking() -> None:
    replies = {"choices": [chat("First</think>\n\nThe yield is", "length")]}
    found = parsed(LocalChatCompletion, replies, think_end_token="</think>")  # noqa: S106
    assert found == [("The yield is", True)]


def test_parse_generations_of_completions() -> None:
    choices = [{"index": 0, "text": "a", "finish_reason": "length"}]
    choices.append({"index": 1, "text": "b", "finish_reason": "stop"})
    found = parsed(LocalCompletionsAPI, {"choices": choices})
    assert found == [("a", True), ("b", False)]


def test_parse_generations_of_anthropic() -> None:
    reply = {"content": [{"type": "text", "text": "a"}], "stop_reason": "max_tokens"}
    assert parsed(AnthropicChat, [reply]) == [("a", True)]
    assert parsed(AnthropicChat, [{**reply, "stop_reason": "end_turn"}]) == [
        ("a", False)
    ]


def test_parse_generations_of_sglang() -> None:
    reply = {
        "text": "a",
        "meta_info": {"finish_reason": {"type": "length", "length": 64}},
    }
    assert parsed(SGLANGGENERATEAPI, reply) == [("a", True)]


def test_replies_that_lm_eval_cannot_parse_stay_as_it_reads_them() -> None:
    assert parsed(LocalChatCompletion, [{"choices": [{}]}], think_end_token=None) == [
        ("", False)
    ]
    assert parsed(LocalChatCompletion, [{}], think_end_token=None) == [("", False)]


def test_the_placeholder_of_empty_replies(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(api_models.LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER, str)
    module = sys.modules["fin_tasks.adapters.lm_eval_private"]
    monkeypatch.setattr(module, "LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER", "nothing")
    replies = [{"choices": [chat(None, "length")]}]
    assert parsed(LocalChatCompletion, replies, think_end_token=None) == [
        ("nothing", True)
    ]


def test_generate_until_calls_both_of_the_names(
    vllm_causallms: Any, huggingface: Any
) -> None:
    for function in (
        huggingface.HFLM.generate_until,
        vllm_causallms.VLLM.generate_until,
    ):
        called = {"_model_generate", "postprocess_generated_text"}
        assert called <= set(function.__code__.co_names)
        postprocess = function.__globals__["postprocess_generated_text"]
        arguments = inspect.signature(postprocess).parameters
        assert list(arguments) == ["generation", "stop", "think_end_token"]


def test_model_generate_of_vllm(vllm_causallms: Any) -> None:
    outputs = [
        SimpleNamespace(outputs=[SimpleNamespace(text="a", finish_reason=reason)])
        for reason in ("length", "stop", "length")
    ]
    model = made(vllm_causallms.VLLM, _model_generate=lambda **_: outputs)
    with marking_cut_offs(model) as is_told:
        model._model_generate(requests=[[1]], generate=True)
        texts = [
            vllm_causallms.postprocess_generated_text(text, ["\n\n"], "</think>")
            for text in ("thought</think> a", "a", "a\n\nb")
        ]
    assert is_told
    # The last one had said all at its stop text.
    assert [(text, is_cut_off(text)) for text in texts] == [
        ("a", True),
        ("a", False),
        ("a", False),
    ]
    assert vllm_causallms.postprocess_generated_text("a", None, None) == "a"


@pytest.mark.parametrize("named", [7, [7, 8], None])
def test_model_generate_of_hf(named: Any, huggingface: Any) -> None:
    import torch

    prompt = [5, 5]
    rows = [[*prompt, 1, 2, 3], [*prompt, 1, 7, 0], [*prompt, 1, 2, 7]]
    model = made(
        huggingface.HFLM,
        _model_generate=lambda **_: torch.tensor(rows),
        _model=SimpleNamespace(generation_config=SimpleNamespace(eos_token_id=named)),
        tokenizer=SimpleNamespace(eos_token_id=7, pad_token_id=0),
        backend="causal",
    )
    context = torch.tensor([prompt] * 3)
    found = []
    with marking_cut_offs(model):
        for max_length in (5, 6):
            model._model_generate(context=context, max_length=max_length, stop=[])
            for _ in rows:
                text = huggingface.postprocess_generated_text(
                    generation="a", stop=["</s>"], think_end_token=None
                )
                found.append(is_cut_off(text))
    assert found == [True, False, False, False, False, False]


def test_names_are_put_back_after_an_error(huggingface: Any) -> None:
    before = huggingface.postprocess_generated_text
    model = made(huggingface.HFLM, _model_generate=None)
    with pytest.raises(ZeroDivisionError), marking_cut_offs(model):
        assert huggingface.postprocess_generated_text is not before
        raise ZeroDivisionError
    assert huggingface.postprocess_generated_text is before
    assert vars(model)["_model_generate"] is None


def test_lm_of_a_cache(tmp_path: Any) -> None:
    inner = DummyLM()
    cached = CachingLM(inner, str(tmp_path / "cache.db"))
    assert cached.lm is inner
    with marking_cut_offs(inner) as is_told:
        assert not is_told
    cached.dbdict.close()


def test_the_tokenizer_of_a_model(huggingface: Any) -> None:
    encode = lambda text: [0, *text.split()]  # noqa: E731
    model = made(huggingface.HFLM, tokenizer=SimpleNamespace(encode=encode))
    assert token_counts(model, ["a b", ""]) == [3, 1]
    assert token_counts(DummyLM(), ["a"]) is None
    assert token_counts(made(huggingface.HFLM, tokenizer=None), ["a"]) is None
    assert token_counts(None, ["a"]) is None
