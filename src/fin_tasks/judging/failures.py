"""Tells a response from the traces of a model that gave none: such a row is unscored, and nobody is asked about it."""

import json
import re
from http import HTTPStatus

from fin_tasks.judging.characters import JOINERS, visible

__all__ = ["response_failure"]

_LONGEST = 2_000
"""Characters of the longest trace; servers' error pages and stack traces are cut by whoever writes them."""
_MARKERS = (
    "Failed to obtain answer via API.",
    "Failed to obtain answer via bailingMM API.",
    "Failed to obtain answer BlueLM-V API.",
    "Fail to obtain answer via API.",
    "Error: Bad Response Statuse Code.",
    "Error: Failed to parse the response.",
)
"""What VLMEvalKit's models begin with, letter by letter, where they give up; whatever went wrong may follow at once."""
_CODED = re.compile(r"Error! code [0-9]{3} content: b['\"]")
"""The same of its JT-VL-Chat."""
_OBTAIN = re.compile(
    r"""["']?\s*fail(?:ed|ure)?\s+to\s+(?:obtain|get|fetch|retrieve)\s+(?:an?\s+|the\s+|any\s+)?
    (?:answer|response|reply|prediction|completion)s?
    (?:\s+(?:via|from|by|through|with)\s+[^.:\n]{0,60}|\s+[\w.-]{1,40}\s+API)?
    \s*(?:\.?["']?|\.?\s*:\s[^\n]{0,500}|\.\s+(?P<more>.+))\s*""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
"""VLMEvalKit's `Failed to obtain answer via API.` and its kin: alone, with the cause after a colon, or `more`."""
_REASONS = "|".join(status.phrase for status in HTTPStatus if status >= HTTPStatus.BAD_REQUEST)
_STATUS = re.compile(
    r"(?:(?:api\s*)?error:?\s*)?"
    r"(?:error\s+code|http(?:/\d(?:\.\d)?)?(?:\s+status)?(?:\s+(?:code|error))?|status(?:\s+code)?)"
    rf"\s*[:=]?\s*[45]\d\d\b\.?(?:\s*(?:[-:]\s.*|\(.*|{_REASONS}(?:[\s.:,;(].*)?))?",
    re.IGNORECASE | re.DOTALL,
)
"""`Error code: 429 - {...}` of OpenAI's library, `HTTP 500 Internal Server Error`, `Status code 503`."""
_NUMBERED = re.compile(r"[45]\d\d\s+(?:client|server)\s+error\b", re.IGNORECASE)
"""`502 Server Error: Bad Gateway for url`, of the library requests."""
_EXCEPTION = re.compile(
    r"""(?:[A-Za-z_]\w*\.)*
    (?:API(?:Connection|Timeout|Status|Response)?Error|RateLimitError|InternalServerError|BadRequestError
    |AuthenticationError|PermissionDeniedError|NotFoundError|UnprocessableEntityError|ServiceUnavailableError
    |ContextWindowExceededError|ConnectionError|ConnectTimeout|ReadTimeout(?:Error)?|ConnectionRefusedError|HTTPError
    |JSONDecodeError|OutOfMemoryError)
    \s*(?:[:(].*)?""",
    re.VERBOSE | re.DOTALL,
)
"""An exception's name and text."""
_TRACEBACK = "Traceback (most recent call last):"
_PLAIN = re.compile(
    r"""(?:api\s+)?(?:request\s+timed\s+out|connection\s+error|connection\s+refused|internal\s+server\s+error
    |service\s+(?:temporarily\s+)?unavailable|bad\s+gateway|gateway\s+time-?out|too\s+many\s+requests
    |rate\s+limit\s+(?:exceeded|reached)|cuda\s+out\s+of\s+memory|cuda\s+error:\s.{0,200})[.!]?""",
    re.IGNORECASE | re.VERBOSE,
)
"""What servers and libraries say; only a response that says nothing else."""
_PAGE = re.compile(r"<(?:!doctype\s+html|html)\b.{0,1000}?<title>\s*[45]\d\d\b", re.IGNORECASE | re.DOTALL)
"""An error page of a proxy."""
_ERROR_KEYS = frozenset({"error", "errors"})
_TELLING_KEYS = frozenset({"message", "code", "type", "status", "detail"})


def response_failure(response: object) -> str | None:
    """Say why a response is none.

    Only what is nothing but such a trace counts. An answer that quotes one inside a longer text, a picture of an error
    message read aloud for instance, is an answer. Not so where a text begins with the very words VLMEvalKit has for a
    request that failed: it may put anything behind them, and asks for such a row again itself.

    Args:
        response: What was saved as the model's response; text as a rule, but tables hold NaN for an empty cell.

    Returns:
        The reason; None for a response.

    Example:
        >>> response_failure("Failed to obtain answer via API.")
        'the model failed: Failed to obtain answer via API.'
        >>> response_failure("The log says: Failed to obtain answer via API.") is None
        True
        >>> response_failure(" ")
        'the response is empty'
    """
    if not isinstance(response, str):
        return f"the response is no text but {type(response).__name__}"
    text = visible(response).strip()
    if not text.strip(f"\ufffd{JOINERS}") or text.lower() == "nan":
        return "the response is empty"
    if text.startswith(_MARKERS) or _CODED.match(text) or (len(text) <= _LONGEST and _is_trace(text)):
        return f"the model failed: {' '.join(text.split())[:200]}"
    return None


def _is_trace(text: str) -> bool:
    if obtained := _OBTAIN.fullmatch(text):
        # what follows the sentence has to be a trace too: prose is somebody's account of a failure, and an answer
        return obtained["more"] is None or _is_trace(obtained["more"].strip())
    if any(pattern.fullmatch(text) for pattern in (_EXCEPTION, _PLAIN, _STATUS)):
        return True
    if any(pattern.match(text) for pattern in (_NUMBERED, _PAGE)):
        return True
    return text.startswith(_TRACEBACK) or _is_error_body(text)


def _is_error_body(text: str) -> bool:
    """Whether it is the JSON a server sends instead of a reply: `{"error": {"message": ..., "code": 429}}`."""
    if not text.startswith("{"):
        return False
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(body, dict):
        return False
    if body.keys() & _ERROR_KEYS:
        return body.keys() <= _ERROR_KEYS | _TELLING_KEYS | {"object", "param", "request_id", "success"}
    return body.get("object") == "error"
