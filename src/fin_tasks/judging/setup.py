"""Which judge grades responses, and how it is asked: one description for the command line and both harnesses."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fin_tasks.settings import Settings

__all__ = ["JudgeSetup", "setup_from"]

_PREFIX = "judge_"


@dataclass(frozen=True, kw_only=True)
class JudgeSetup:
    """A judge.

    Attributes:
        model: The chat model's name at its address.
        base_urls: OpenAI-compatible addresses that serve the model; requests go to them in turn.
        rubric: Name of a rubric pack, or the path of one.
        key_variable: The environment variable that holds the key.
        image: Show the judge the picture, where there is one.
        concurrency: Requests under way at the same time.
        requests_per_minute: Most requests to send in a minute; None for no limit.
        tokens_per_minute: Most tokens to send in a minute, estimated; None for no limit.
        max_tokens: Tokens a reply may have; the rubric's number where None.
        timeout: Seconds one attempt may take.
        max_failed: Share of responses that may stay unscored because the judge failed, before it is an error.
        retry_failed: Ask again where earlier replies, kept on the disk, could not be read.
    """

    model: str
    base_urls: tuple[str, ...]
    rubric: str
    key_variable: str = "OPENAI_API_KEY"
    image: bool = True
    concurrency: int = 32
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    max_tokens: int | None = None
    timeout: float = 120.0
    max_failed: float = 0.2
    retry_failed: bool = False


def setup_from(metadata: Mapping[str, Any], settings: Settings, *, rubric: str) -> JudgeSetup | None:
    """Read a judge from a harness's metadata and the environment.

    Args:
        metadata: `judge_model`, `judge_base_url` (an address, several with commas between, or a list), `judge_key` (the
            name of the environment variable), every other field of `JudgeSetup` with `judge_` before it.
        settings: The environment, for what the metadata does not say.
        rubric: The rubric where the metadata names none.

    Returns:
        The judge; None where neither names a model.

    Raises:
        ConfigError: An option that does not exist or has no usable value.
    """
    raise NotImplementedError
