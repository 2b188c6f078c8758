"""What became of a program: the outcome, and the one place where bytes out of the sandbox are interpreted."""

import json
import signal
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from fin_tasks.sandbox.child import FRAME_KEYS, TEXT_LIMIT
from fin_tasks.sandbox.wire import LOCKED, RAN_ON, TOO_MUCH, WALL

__all__ = ["ENOUGH_CPU", "Outcome", "Ran", "Status", "classify", "escape", "parse_frame"]

ENOUGH_CPU = 0.5
"""Share of the CPU limit from which a kill is put down to it; below, a busy machine or want of memory may be why."""
_NUMBER_TEXT_LIMIT = 64
_DETAIL_LIMIT = 600


class Status(str, Enum):
    """How a program ended."""

    ok = "ok"
    """It ran and returned."""
    no_code = "no_code"
    """The response held no program."""
    syntax = "syntax"
    """It is not Python."""
    exception = "exception"
    """It raised, ended its own process, or crashed the interpreter."""
    timeout = "timeout"
    """It used up its CPU or wall time."""
    memory = "memory"
    """It wanted more memory than there is for it."""
    forbidden = "forbidden"
    """It asked the operating system for something, or tampered with the runner."""
    unsupported = "unsupported"
    """This tier cannot run it; another one could."""
    broken = "broken"
    """The runner failed, not the program: leave the item unscored."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one program gave.

    Attributes:
        status: How it ended.
        value: The result in the authors' terms: a plain int or float as `repr(round(float(x), 3))`, anything else as
            `str(x)`, cut at 2,000 characters. It is the program's own text: escape it before you show it.
        number: `float(x)` at full precision where that works, numpy and sympy scalars included.
        is_number: Whether the result was exactly an int or a float.
        detail: The exception's class and message, or what else went wrong, with control characters escaped.
        cpu_s: CPU seconds used.
    """

    status: Status
    value: str | None = None
    number: float | None = None
    is_number: bool = False
    detail: str = ""
    cpu_s: float = 0.0

    @property
    def ran(self) -> bool:
        """Whether the program returned a result."""
        return self.status is Status.ok

    @property
    def told(self) -> dict[str, str | None]:
        """What the samples of a run show of it."""
        return {"status": self.status.value, "value": self.value, "detail": self.detail}


class Ran(NamedTuple):
    """A response with the outcomes of its programs."""

    response: str
    outcomes: tuple[Outcome, ...]


def escape(text: str) -> str:
    r"""Make text safe to print: whatever is not printable becomes a backslash escape.

    Example:
        >>> print(escape("red \x1b[31m\nnext"))
        red \x1b[31m\nnext
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def parse_frame(data: bytes) -> Outcome | None:
    """Read a child's frame; total, as the bytes may be the program's own.

    Args:
        data: Anything.

    Returns:
        The outcome, without CPU time, or None where the bytes are not a frame.

    Example:
        >>> parse_frame(b'{"status":"ok","value":"3.0","number":"3.0","is_number":"1","detail":""}').number
        3.0
        >>> parse_frame(b"[1]") is None
        True
    """
    try:
        fields = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or tuple(fields) != FRAME_KEYS or not _well_typed(fields):
        return None
    number = _number(fields["number"])
    if number is None and fields["number"] is not None:
        return None
    value = fields["value"]
    return Outcome(
        status=Status(fields["status"]),
        value=None if value is None else value.encode("utf-8", "backslashreplace").decode("utf-8"),
        number=number,
        is_number=fields["is_number"] == "1",
        detail=escape(fields["detail"]),
    )


def _well_typed(fields: dict[str, Any]) -> bool:
    told = ("ok", "syntax", "exception", "memory", "forbidden")  # the rest is for the runner to say
    return (
        fields["status"] in told
        and all(text is None or isinstance(text, str) for text in (fields["value"], fields["number"]))
        and fields["is_number"] in ("0", "1")
        and isinstance(fields["detail"], str)
        and len(fields["value"] or "") <= TEXT_LIMIT
        and len(fields["detail"]) <= _DETAIL_LIMIT
        and (fields["status"] == "ok") == (fields["value"] is not None)
    )


def _number(text: str | None) -> float | None:
    if text is None or len(text) > _NUMBER_TEXT_LIMIT:
        return None
    try:
        return float(text)
    except ValueError:
        return None


def classify(*, data: bytes, wait_status: int, ending: int, cpu_s: float, cpu_limit_s: float) -> Outcome:
    """Turn what the server reports about a child into an outcome.

    Args:
        data: The child's bytes, as they came.
        wait_status: Its wait status.
        ending: One of the server's `ENDED`, `WALL`, `TOO_MUCH`, `RAN_ON`.
        cpu_s: CPU seconds it used.
        cpu_limit_s: CPU seconds it was allowed.
    """
    if not data.startswith(LOCKED):
        return Outcome(status=Status.broken, detail="the child could not be locked down", cpu_s=cpu_s)
    status, detail = Status.exception, ""
    if ending == WALL:
        status, detail = Status.timeout, "ran out of wall time"
    elif ending == TOO_MUCH:
        status, detail = Status.forbidden, "wrote more than a result takes"
    elif len(data) > len(LOCKED):
        frame = parse_frame(data[len(LOCKED) :])
        if frame is not None:
            return _with_cpu(frame, cpu_s)
        status, detail = Status.forbidden, "wrote something that is not a result"
    elif ending == RAN_ON:
        status, detail = Status.forbidden, "closed its result pipe and ran on"
    else:
        status, detail = _death(wait_status, cpu_s, cpu_limit_s)
    return Outcome(status=status, detail=detail, cpu_s=cpu_s)


def _death(wait_status: int, cpu_s: float, cpu_limit_s: float) -> tuple[Status, str]:
    """Say why a child ended without a word."""
    caught = wait_status & 0x7F
    if not caught:
        return Status.exception, f"ended its own process (exit code {wait_status >> 8 & 0xFF})"
    name = next(
        (known.name for known in signal.Signals if known == caught), f"signal {caught}"
    )  # 35 to 63 have no name
    if name in ("SIGKILL", "SIGXCPU"):
        # The kernel counts whole ticks towards the limit, so on a busy machine it may kill well before the limit.
        if cpu_s >= ENOUGH_CPU * cpu_limit_s:
            return Status.timeout, "ran out of CPU time"
        return Status.memory, f"killed by the system ({name}) after {cpu_s:.2f} s of CPU"
    return Status.exception, f"crashed the interpreter ({name})"


def _with_cpu(frame: Outcome, cpu_s: float) -> Outcome:
    return Outcome(
        status=frame.status,
        value=frame.value,
        number=frame.number,
        is_number=frame.is_number,
        detail=frame.detail,
        cpu_s=cpu_s,
    )
