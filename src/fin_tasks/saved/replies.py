"""Records that hold a response deeper than in a column: batches of providers, chats, samples of inspect_ai."""

from collections.abc import Sequence
from typing import Any

from pydantic import AliasChoices, BaseModel, Field, ValidationError

from .columns import Json, candidates

_TEXT_PARTS = ("", "text", "output_text")
_SPEAKERS = ("assistant", "gpt", "model")
_ASKERS = ("user", "human")
_CHATS = ("messages", "conversations", "conversation")


class _Part(BaseModel):
    type: str = ""
    text: str | None = None


_Content = str | list[str | _Part] | None


class _Message(BaseModel):
    """A message as OpenAI, or as ShareGPT, writes it."""

    role: str = Field("", validation_alias=AliasChoices("role", "from"))
    content: _Content = Field(None, validation_alias=AliasChoices("content", "value"))


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = Field(
        None, validation_alias=AliasChoices("finish_reason", "stop_reason")
    )


class _Incomplete(BaseModel):
    reason: str | None = None


class _Body(BaseModel):
    """A reply of OpenAI's chat completions, of its responses, or of Anthropic's messages."""

    choices: list[_Choice] = []
    output: list[_Message] = []
    content: _Content = None
    incomplete_details: _Incomplete | None = None
    stop_reason: str | None = None


class _Outcome(BaseModel):
    body: _Body | None = Field(None, validation_alias=AliasChoices("body", "message"))


class _BatchLine(BaseModel):
    custom_id: str
    response: _Outcome | None = None
    result: _Outcome | None = None


class _Chat(BaseModel):
    messages: list[_Message]


class _Sample(BaseModel):
    """A sample of inspect_ai, without what nobody needs for scoring."""

    id: int | str
    input: str | list[_Message]
    target: str | list[str] = ""
    metadata: dict[str, Any] = {}
    output: _Body = _Body()
    error: object = None


def unfolded(record: Json) -> Json:
    """Return a record with columns for the response, the question and the finish reason that are deeper in it.

    Any other record is returned as it is.
    """
    try:
        if "custom_id" in record and {"response", "result"} & record.keys():
            line = _BatchLine.model_validate(record)
            return {"custom_id": line.custom_id, **_reply_of(line)}
        if {"id", "input", "output"} <= record.keys():
            return _record_of_sample(_Sample.model_validate(record))
        for name in _CHATS:
            if name in record and not candidates(record, "response"):
                chat = _Chat.model_validate({"messages": record[name]})
                return {**_facts_of_chat(chat.messages), **record}
    except ValidationError:
        pass  # columns of the same names that hold something else
    return record


def _reply_of(line: _BatchLine) -> Json:
    """Return the reply in a line of a batch; a request that failed has None."""
    outcome = line.response or line.result
    if outcome is None or outcome.body is None:
        return {"response": None, "finish_reason": None}
    return _facts_of_body(outcome.body)


def _facts_of_body(body: _Body) -> Json:
    if body.choices:
        choice = body.choices[0]
        text = _text_of(choice.message.content)
        return {"response": text, "finish_reason": choice.finish_reason}
    texts = [_text_of(message.content) for message in body.output]
    texts.append(_text_of(body.content))
    parts = [text for text in texts if text is not None]
    reason = body.stop_reason
    if body.incomplete_details:
        reason = body.incomplete_details.reason
    return {"response": "".join(parts) if parts else None, "finish_reason": reason}


def _record_of_sample(sample: _Sample) -> Json:
    """Return a sample's id, question and response; the metadata of our own tasks are the document."""
    facts = _facts_of_body(sample.output)
    if sample.error is not None:
        facts["response"] = None
    question = sample.input
    if not isinstance(question, str):
        question = _last(question, _ASKERS) or ""
    asked = {"id": sample.id, "question": question, "target": sample.target}
    return {**asked, **sample.metadata, **facts}


def _facts_of_chat(messages: Sequence[_Message]) -> Json:
    """Return the last question of a chat, and the response to it, which is the last message."""
    is_answered = bool(messages) and messages[-1].role in _SPEAKERS
    response = _text_of(messages[-1].content) if is_answered else None
    return {"question": _last(messages, _ASKERS), "response": response}


def _last(messages: Sequence[_Message], roles: Sequence[str]) -> str | None:
    for message in reversed(messages):
        if message.role in roles:
            return _text_of(message.content)
    return None


def _text_of(content: _Content) -> str | None:
    """Return the text in the parts of a message; None if there is no text."""
    if content is None or isinstance(content, str):
        return content
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif part.type in _TEXT_PARTS and part.text is not None:
            texts.append(part.text)
    return "".join(texts) if texts else None
