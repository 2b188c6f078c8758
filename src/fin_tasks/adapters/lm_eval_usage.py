"""How many tokens a task took, counted with the model's tokenizer or estimated from characters."""

from collections.abc import Callable, Sequence
from typing import Any

from lm_eval.models.api_models import JsonChatStr

__all__ = ["usage_of"]

_CHARACTERS_A_TOKEN = 4


def usage_of(requests: Sequence[Any], lm: Any) -> dict[str, Any]:
    """Count the tokens of prompts and responses.

    Args:
        requests: lm-eval's instances with their responses; pictures are not counted.
        lm: The model; None, or one without a tokenizer, gives an estimate.

    Returns:
        `prompt_tokens`, `response_tokens`, and `estimated`: whether they are characters divided by four.
    """
    prompts = [_text(request.args[0]) for request in requests for _ in request.resps]
    responses = [text for request in requests for text in request.resps if isinstance(text, str)]
    count = _counter(lm)
    try:
        tokens = [sum(map(count, texts)) for texts in (prompts, responses)] if count else None
    except Exception:  # noqa: BLE001 - a tokenizer of any model class; the count is never worth a run
        tokens = None
    if tokens is None:
        tokens = [round(sum(map(len, texts)) / _CHARACTERS_A_TOKEN) for texts in (prompts, responses)]
        return {"prompt_tokens": tokens[0], "response_tokens": tokens[1], "estimated": True}
    return {"prompt_tokens": tokens[0], "response_tokens": tokens[1], "estimated": False}


def _counter(lm: Any) -> Callable[[str], int] | None:
    tokenizer = vars(lm).get("tokenizer") if lm is not None else None  # a property may download one
    encode = getattr(tokenizer, "encode", None)
    return (lambda text: len(encode(text))) if encode else None


def _text(prompt: Any) -> str:
    return prompt.prompt if isinstance(prompt, JsonChatStr) else str(prompt)
