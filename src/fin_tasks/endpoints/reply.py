"""A reply of a chat model, decoded from whatever a server sends."""

from pydantic import BaseModel, Field, NonNegativeInt


class ChatReply(BaseModel, frozen=True):
    """One reply."""

    text: str
    reason: str
    """OpenAI's `finish_reason`; `length` if the reply was cut."""
    prompt_tokens: NonNegativeInt = 0
    completion_tokens: NonNegativeInt = 0
    cached: bool = Field(default=False, exclude=True)


class _Message(BaseModel):
    content: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Usage(BaseModel):
    prompt_tokens: NonNegativeInt | None = None
    completion_tokens: NonNegativeInt | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = Field(min_length=1)
    usage: _Usage | None = None


def read_completion(body: bytes) -> ChatReply:
    """Decode the body of a chat completion; raise ValueError if it is anything else."""
    completion = _Completion.model_validate_json(body)
    choice = completion.choices[0]
    usage = completion.usage or _Usage()
    return ChatReply(
        text=choice.message.content or "",
        reason=choice.finish_reason or "",
        prompt_tokens=usage.prompt_tokens or 0,
        completion_tokens=usage.completion_tokens or 0,
    )
