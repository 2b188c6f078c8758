"""A task's options as they come in lm-eval's metadata: checked, and names that mean nothing to anybody told."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache
from typing import TypeVar

from fin_tasks.benchmarks.dynostock.narrative import Frequency, Text
from fin_tasks.benchmarks.dynostock.prompts import Style
from fin_tasks.benchmarks.dynostock.statements import Arm
from fin_tasks.benchmarks.dynostock.window import BiasType
from fin_tasks.errors import ConfigError

__all__ = ["ARGUMENTS_OF_OTHERS", "Options", "arm_of", "flag", "one_of", "positive", "warn_of_unknown"]

_log = logging.getLogger(__name__)
_T = TypeVar("_T", bound=str)

_NAMES_OF_OTHERS = """
    version config_source
    subset split style blank_image
    add_bos_token api_version auth_token autogptq backend base_url batch_size ca_cert_path chat_template_args
    chunked_prefill_size context_length convert_img_format custom_prefix_token_id data_parallel_size delta device
    dp_size dtype enable_thinking eos_string gguf_file gptqmodel header image_height image_max_side image_string
    image_token_id image_width interleave kv_cache_dtype load_format logits_cache lora_local_path max_batch_size
    max_cpu_memory max_gen_toks max_images max_length max_lora_rank max_memory_per_gpu max_model_len max_pixels
    max_retries max_tokens_to_sample mem_fraction_static min_pixels mixed_precision_dtype model num_concurrent
    offload_folder parallelize peft prefix_token_id pretrained quantization revision seed softmax_dtype subfolder
    temperature tensor_parallel_size think_end_token timeout tokenized_requests tokenizer tokenizer_backend
    tokenizer_mode tokenizer_path tokenizer_revision tp_plan tp_size truncate truncation truncation_side
    trust_remote_code use_fast_tokenizer verify_certificate write_out
    attn_implementation bnb_4bit_compute_dtype bnb_4bit_quant_type bnb_4bit_use_double_quant cache_dir device_map
    load_in_4bit load_in_8bit local_files_only low_cpu_mem_usage token torch_dtype use_safetensors
    compilation_config cpu_offload_gb disable_custom_all_reduce disable_log_stats distributed_executor_backend
    enable_chunked_prefill enable_expert_parallel enable_lora enable_prefix_caching enforce_eager generation_config
    gpu_memory_utilization hf_overrides limit_mm_per_prompt max_num_batched_tokens max_num_seqs mm_processor_kwargs
    pipeline_parallel_size reasoning_parser swap_space
"""
# Block by block: what lm-eval itself adds, other tasks of ours, the constructors of lm-eval's models, and what hf and
# vllm hand on to their libraries.

ARGUMENTS_OF_OTHERS = frozenset(_NAMES_OF_OTHERS.split())
"""Names in the metadata that are meant for somebody else: lm-eval merges the model's arguments into it."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """How windows are shown; checked."""

    mode: str
    arm: Arm
    style: Style
    text: Text
    frequency: Frequency
    anonymise: bool
    dpi: int


def one_of(name: str, value: str, allowed: Sequence[_T]) -> _T:
    """Return the allowed word that `value` is.

    Raises:
        ConfigError: It is none.
    """
    for known in allowed:
        if known == value:
            return known
    raise ConfigError(f"metadata {name}: expected one of {', '.join(allowed)}, got {value!r}.")


def flag(name: str, value: object) -> bool:
    """Return `value`, which is true or false.

    Raises:
        ConfigError: It is neither.
    """
    if not isinstance(value, bool):
        raise ConfigError(f"metadata {name}: expected true or false, got {value!r}.")
    return value


def positive(name: str, value: object) -> int:
    """Return `value`, which is a whole number from 1 on.

    Raises:
        ConfigError: It is not.
    """
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ConfigError(f"metadata {name}: expected a whole number from 1 on, got {value!r}.")
    return value


def arm_of(arm: Arm, bias: BiasType, style: Style) -> Arm:
    """Return the arm there is: what has no statement is the arm without one.

    Raises:
        ConfigError: The arm is one that there cannot be without a statement.
    """
    if bias != "plain" and style != "naive":
        return arm
    if arm in ("aligned", "flipped"):
        what = "a naive prompt" if style == "naive" else "a plain window"
        raise ConfigError(f"metadata arm: {what} has no statement, so expected none, got {arm!r}.")
    return "none"


def warn_of_unknown(names: Collection[str], ours: Collection[str]) -> None:
    """Log a warning for each name in the metadata that is neither an option of ours nor known as somebody else's.

    It cannot be an error, as models hand arguments on to libraries whose names nobody knows in full.

    Args:
        names: What the metadata holds.
        ours: The options there are.
    """
    for name in sorted(set(names) - set(ours) - ARGUMENTS_OF_OTHERS):
        _warn(name, tuple(sorted(ours)))


@lru_cache(maxsize=256)
def _warn(name: str, ours: tuple[str, ...]) -> None:
    # Cached: each task of a group is given the same metadata, and one warning is enough.
    close = get_close_matches(name, ours, n=1)
    if close:
        _log.warning("metadata %r: DynoStock has no such option, so it changes nothing. Is %s meant?", name, close[0])
        return
    _log.warning(
        "metadata %r: expected one of DynoStock's options (%s) or an argument of a model, and know it as neither. "
        "It changes nothing of what is asked.",
        name,
        ", ".join(ours),
    )
