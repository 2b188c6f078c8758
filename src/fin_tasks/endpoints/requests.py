"""What is asked of a chat model, and what comes back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fin_tasks.endpoints.old_cache import request_key
from fin_tasks.endpoints.pictures import Picture, map_leaves

__all__ = ["ChatRequest", "Reply"]


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One thing to ask.

    Attributes:
        messages: In OpenAI's form, JSON-compatible; pictures inside `content`, as `Picture` or as data addresses.
        options: What else is sent: `temperature`, `max_tokens`, `seed`, ... Another temperature is another request.
        about: What else makes a reply another one, JSON-compatible, and is not sent: a rubric's hash, a judge's name.
    """

    messages: Sequence[Mapping[str, Any]]
    options: Mapping[str, Any] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """Return all that is sent, the model's name aside; pictures as they stand in `messages`."""
        return {"messages": list(self.messages), **self.options}

    def key(self, model: str) -> str:
        """Return the name the reply is kept under: over the model, all that is sent, and `about`.

        Raises:
            EndpointError: A picture cannot be read.
        """
        body = map_leaves(self.body(), _named)
        return request_key(model, {"sent": body, "about": dict(self.about)} if self.about else body)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back: a text, or why there is none.

    Attributes:
        text: The reply; None where there is none.
        error: Why not; None where there is one.
        kept: It was on the disk, and nothing was asked.
        own_fault: The server refused this very request, with status 400, 413 or 422, or its picture cannot be used; it
            says nothing of the others.
        lasting: It will be so until somebody changes something: the key, the address, the model, the request.
        wordless: The model did reply, but with no text: it thought until its tokens were used up, or said nothing.
    """

    text: str | None = None
    error: str | None = None
    kept: bool = False
    own_fault: bool = False
    lasting: bool = False
    wordless: bool = False


def _named(leaf: Any) -> Any:
    return {"sha256": leaf.sha256} if isinstance(leaf, Picture) else leaf
