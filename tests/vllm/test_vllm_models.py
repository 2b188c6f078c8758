"""The vision model of the vLLM run, built here around a text model of two small layers."""

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("transformers", minversion="5.0", reason="transformers 5 is not installed")

import torch
from models import IMAGE_TOKENS, build_vision_model
from PIL import Image
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    AutoModelForImageTextToText,
    AutoProcessor,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
)

_QUESTION = "Which company grew?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    text, vision = tmp_path_factory.mktemp("text"), tmp_path_factory.mktemp("vision")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: number for number, letter in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    fast.add_special_tokens({"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"})
    fast.save_pretrained(text)
    torch.manual_seed(1)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        tie_word_embeddings=True,
        bos_token_id=fast.bos_token_id,
        eos_token_id=fast.eos_token_id,
        pad_token_id=fast.eos_token_id,
    )
    LlamaForCausalLM(config).save_pretrained(text)
    build_vision_model(text, vision)
    return vision


def _encode(folder: Path, picture: Image.Image | None) -> dict[str, torch.Tensor]:
    processor = AutoProcessor.from_pretrained(folder)
    parts = [{"type": "image"}] if picture else []
    messages = [{"role": "user", "content": [*parts, {"type": "text", "text": _QUESTION}]}]
    prompt = processor.apply_chat_template(messages, add_generation_prompt=True)
    return dict(processor(text=[prompt], images=[[picture]] if picture else None, return_tensors="pt"))


def test_a_picture_takes_its_tokens(folder: Path) -> None:
    bare, shown = _encode(folder, None), _encode(folder, Image.new("RGB", (300, 90), "white"))
    assert shown["input_ids"].shape[1] - bare["input_ids"].shape[1] == IMAGE_TOKENS


def test_the_answer_depends_on_the_picture(folder: Path) -> None:
    model = AutoModelForImageTextToText.from_pretrained(folder, dtype=torch.float32)
    with torch.no_grad():
        white, again, red = (
            model(**_encode(folder, Image.new("RGB", (300, 90), colour))).logits[0, -1]
            for colour in ("white", "white", "red")
        )
    assert torch.equal(white, again)
    assert not torch.allclose(white, red, atol=1e-3)


@pytest.mark.parametrize("content", [_QUESTION, [{"type": "text", "text": _QUESTION}]])
def test_text_alone_reads_as_the_text_model_was_trained(folder: Path, content: object) -> None:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": content}]
    prompt = AutoProcessor.from_pretrained(folder).apply_chat_template(messages, add_generation_prompt=True)
    assert prompt == (
        f"<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n{_QUESTION}<|im_end|>\n<|im_start|>assistant\n"
    )
