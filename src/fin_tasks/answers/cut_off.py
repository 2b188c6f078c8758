"""Responses that ended at the limit of tokens before they were complete, and responses that never came."""

# What APIs, servers and harnesses call it when the limit of tokens ended a response.
_LIMIT_REASONS = frozenset(
    ("length", "max_tokens", "max_output_tokens", "model_length")
)


class CutOffResponse(str):
    """A response that ended at the limit of tokens, as the backend says.

    Harnesses hand responses on as texts, so the type of the text is the mark. The cache of lm-eval
    stores this type by its name: do not rename or move it.
    """

    __slots__ = ()


class FailedResponse(str):
    """An empty response in place of one that the model did not give, with the reason.

    `paper` counts it as an empty response, `robust` leaves it unscored.
    """

    reason: str

    def __new__(cls, reason: str) -> "FailedResponse":
        """Make the empty text."""
        text = super().__new__(cls)
        text.reason = reason
        return text

    def __getnewargs__(self) -> tuple[str]:
        """Return what `pickle` makes the text of."""
        return (self.reason,)


def mark_response(
    response: str,
    finish_reason: object,
) -> str:
    """Return the response, marked if its finish reason names the limit of tokens."""
    if str(finish_reason).lower() in _LIMIT_REASONS:
        return CutOffResponse(response)
    return response
