"""Runs one program and tells its result in one frame. Standard library only, for the server imports it.

By the time `run_program` is called the process is locked down; nothing here is part of the boundary. A program that
tampers with this code fakes its own answer, which it could have returned as well.
"""

import errno
import json
import os
from typing import Any

__all__ = ["FRAME_KEYS", "TEXT_LIMIT", "measure", "run_program", "write_all"]

TEXT_LIMIT = 2000
_DETAIL_LIMIT = 500
_FLOAT_TEXT_LIMIT = 100
FRAME_KEYS = ("status", "value", "number", "is_number", "detail")


def run_program(source: bytes) -> bytes:
    """Execute a program, call its `solution()`, and encode what came.

    Args:
        source: The program's text as UTF-8.

    Returns:
        A flat JSON object with the keys of `FRAME_KEYS`; every value is a string or null, so that nothing is lost or
        misread on the way.
    """
    # Bound before the program runs, as it may replace any of them.
    dumps, frame = json.dumps, _frame
    try:
        code = compile(source, "<program>", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        return dumps(frame(status="syntax", detail=_describe(error))).encode()
    except MemoryError as error:
        return dumps(frame(status="memory", detail=_describe(error))).encode()
    try:
        answer = _call(code)
        result = frame(status="ok", **measure(answer))
    except BaseException as error:  # noqa: BLE001 - sys.exit and KeyboardInterrupt are a program's failures too
        result = frame(status=_status_of(error), detail=_describe(error))
    return dumps(result).encode()


def _call(code: Any) -> Any:
    namespace: dict[str, Any] = {"__name__": "program"}
    exec(code, namespace)  # noqa: S102 - this is what the locked-down process is for
    if "solution" not in namespace:
        raise NameError("the program defines no solution()")
    return namespace["solution"]()


def _frame(
    *,
    status: str,
    value: str | None = None,
    number: str | None = None,
    is_number: str = "0",
    detail: str = "",
) -> dict[str, str | None]:
    return {"status": status, "value": value, "number": number, "is_number": is_number, "detail": detail}


def measure(answer: Any) -> dict[str, Any]:
    """Put a result in the authors' terms: plain numbers to three decimals, anything else as its text."""
    number = _as_float(answer)
    if type(answer) in (int, float):
        value = repr(round(number, 3)) if number is not None else f"integer of {answer.bit_length()} bits"
        return {"value": value, "number": _repr(number), "is_number": "1"}
    return {"value": str(answer)[:TEXT_LIMIT], "number": _repr(number)}


def _as_float(answer: Any) -> float | None:
    if isinstance(answer, str | bytes) and len(answer) > _FLOAT_TEXT_LIMIT:
        return None  # parsing a text of a million digits takes minutes
    try:
        return float(answer)
    except Exception:  # noqa: BLE001 - a class of the program's own may raise whatever it likes
        return None


def _repr(number: float | None) -> str | None:
    return None if number is None else repr(number)


def _status_of(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "memory"
    if isinstance(error, OSError):
        # A calculation needs nothing of the operating system, so whatever it was, it was refused.
        return "memory" if error.errno == errno.ENOMEM else "forbidden"
    return "exception"


def _describe(error: BaseException) -> str:
    name = type(error).__name__
    try:
        text = str(error)[:_DETAIL_LIMIT]
    except BaseException:  # noqa: BLE001 - __str__ is the program's
        text = "(its message cannot be shown)"
    return f"{name}: {text}" if text else name


def write_all(fd: int, data: bytes | memoryview) -> None:
    """Write everything to a pipe."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
