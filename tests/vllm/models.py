"""Builds the two small models that `run.py` serves: a text model and a vision-language model, without any hub.

The text model is SmolLM2-135M-Instruct from a GGUF file, turned into the folder of safetensors, tokenizer and chat
template that servers expect. The vision-language model is the same text model behind a tiny vision tower with random
weights: it understands no picture, but every picture passes through all the parts a real one would pass through.
"""

from pathlib import Path

import torch
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3ImageProcessorPil,
    Idefics3Processor,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerBase,
)

__all__ = ["IMAGE_TOKENS", "build_text_model", "build_vision_model"]

_IMAGE_SIZE, _PATCH_SIZE, _SHUFFLE = 112, 14, 2
_IMAGE_SLOTS = (_IMAGE_SIZE // _PATCH_SIZE // _SHUFFLE) ** 2
_FENCE_TOKENS = ("<fake_token_around_image>", "<global-img>")
IMAGE_TOKENS = _IMAGE_SLOTS + 3
"""Prompt tokens one picture takes: its slots, the mark of a whole picture, and a fence on either side."""

# Messages come as plain text or as a list of parts, pictures among them. A message looks as in the text model's own
# template, so that the language side behaves as it was trained to.
_CHAT_TEMPLATE = """\
{%- for message in messages -%}
<|im_start|>{{ message['role'] }}
{% if message['content'] is string %}{{ message['content'] }}{% else -%}
{%- for part in message['content'] -%}
{% if part['type'] == 'text' %}{{ part['text'] }}{% else %}<image>{% endif %}
{%- endfor -%}
{%- endif %}<|im_end|>
{% endfor -%}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif -%}
"""


def build_text_model(gguf: Path, folder: Path) -> None:
    """Write the text model.

    Args:
        gguf: SmolLM2 (or another Llama) as a GGUF file with its tokenizer inside.
        folder: Where to write; made if need be.
    """
    tokenizer = AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name)
    read = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
    settings = read.config.to_dict()
    # The weights are plain float32 by now, but the model still counts as quantised, which it refuses to save.
    for name in ("quantization_config", "_name_or_path", "_model_name_or_path"):
        settings.pop(name, None)
    model = LlamaForCausalLM(LlamaConfig(**settings))
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def build_vision_model(text_folder: Path, folder: Path, *, seed: int = 0) -> None:
    """Write the vision-language model around a text model.

    Args:
        text_folder: What `build_text_model` wrote, or any Llama folder whose tokenizer marks turns the same way.
        folder: Where to write; made if need be.
        seed: Seed of the random weights.
    """
    torch.manual_seed(seed)
    text_model = LlamaForCausalLM.from_pretrained(text_folder, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(text_folder)
    processor = _processor(tokenizer)
    text_model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    model = Idefics3ForConditionalGeneration(_config(text_model.config, processor.image_token_id))
    model.model.text_model.load_state_dict(text_model.model.state_dict())
    model.lm_head.load_state_dict(text_model.lm_head.state_dict())
    model.generation_config = text_model.generation_config
    model.to(torch.float32).save_pretrained(folder)
    processor.save_pretrained(folder)


def _config(text: LlamaConfig, image_token: int) -> Idefics3Config:
    vision = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": _IMAGE_SIZE,
        "patch_size": _PATCH_SIZE,
        # Larger than usual: an untrained tower that whispers would make all pictures look alike to the text model.
        "initializer_range": 0.5,
    }
    return Idefics3Config(
        text_config=text.to_dict(),
        vision_config=vision,
        image_token_id=image_token,
        scale_factor=_SHUFFLE,
        tie_word_embeddings=text.tie_word_embeddings,
        pad_token_id=text.pad_token_id,
    )


def _processor(tokenizer: PreTrainedTokenizerBase) -> Idefics3Processor:
    tokenizer.add_special_tokens({"additional_special_tokens": [*_FENCE_TOKENS, "<image>"]})
    # The plain image processor needs torchvision, the one on Pillow does not.
    side = {"longest_edge": _IMAGE_SIZE}
    images = Idefics3ImageProcessorPil(size=side, max_image_size=side, do_image_splitting=False)
    return Idefics3Processor(images, tokenizer, image_seq_len=_IMAGE_SLOTS, chat_template=_CHAT_TEMPLATE)
