"""The outcome of a program, and how it is made of a server's report.

Only this file interprets bytes that come out of the sandbox. The program may have written them.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from signal import SIGKILL, SIGXCPU
from typing import NamedTuple

from fin_tasks.errors import escape

from .server import LOCKED, MAX_TEXT, TOO_MUCH, WALL


class Status(StrEnum):
    """How a program ended."""

    ok = "ok"
    no_code = "no_code"
    """The response held no program."""
    syntax = "syntax"
    exception = "exception"
    """The program raised, ended its own process, or crashed the interpreter."""
    timeout = "timeout"
    memory = "memory"
    forbidden = "forbidden"
    """The program asked the operating system for something, or wrote a result that is not one."""
    broken = "broken"
    """The runner failed, not the program; the response stays unscored."""


REASONS = ("no_code", "syntax", "exception", "timeout", "memory", "forbidden")
"""Why a program gave no value."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of one program."""

    status: Status
    value: str | None = None
    """The recorded text: `repr(round(float(x), 3))` of an int or a float, `str(x)` of the rest.

    The text of the rest is cut and may hold any character; use `errors.escape` before you show it.
    """
    number: float | None = None
    """`float(x)` at full precision; None where Python cannot convert the result."""
    is_number: bool = False
    """Whether the result was exactly an int or a float, so that `value` is a rounded number."""
    detail: str = ""
    """The class and message of the exception, or what else went wrong; printable."""

    @property
    def is_unscored(self) -> bool:
        """Whether the fault is the sandbox's, and not the program's."""
        return self.status is Status.broken


class Ran(NamedTuple):
    """A response with the outcomes of its programs."""

    response: str
    outcomes: tuple[Outcome, ...]


_NOT_A_RESULT = Outcome(
    status=Status.forbidden, detail="wrote something that is not a result"
)
_FAILURES = ("syntax", "exception", "memory", "forbidden")
"""The failures that the child reports itself; the server and the runner report the others."""
_FLOAT = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?(e[+-]?[0-9]{1,3})?|-?inf|nan")
_LARGE_INTEGER = re.compile(r"integer of [0-9]{1,12} bits")


class Report(NamedTuple):
    """What a server reports about one program."""

    data: bytes
    """The bytes that the child wrote."""
    wait_status: int
    """The status of the child as in `os.wait`."""
    ending: int
    """`server.ENDED`, `server.WALL` or `server.TOO_MUCH`."""
    cpu_s: float


class Attempt(NamedTuple):
    """The outcome of running a program once."""

    outcome: Outcome
    worth_repeating: bool = False
    """Whether a second attempt could end differently."""


def classify(report: Report, *, cpu_limit_s: float) -> Attempt:
    """Turn the report on a program into its outcome."""
    if not report.data.startswith(LOCKED):
        return _failure(
            Status.broken, "the child could not be locked down", worth_repeating=True
        )
    if report.ending == WALL:  # a second attempt would only sleep again
        return _failure(Status.timeout, "ran out of wall time")
    if report.ending == TOO_MUCH:
        return _failure(Status.forbidden, "wrote more than a result takes")
    frame = report.data.removeprefix(LOCKED)
    if frame:
        return Attempt(decode_frame(frame))
    # The program ended its process without a result.
    signal_number = report.wait_status & 0x7F
    if signal_number == 0:
        exit_code = report.wait_status >> 8 & 0xFF
        return _failure(
            Status.exception, f"ended its own process (exit code {exit_code})"
        )
    if signal_number not in (SIGKILL, SIGXCPU):
        return _failure(
            Status.exception, f"crashed the interpreter (signal {signal_number})"
        )
    # The kernel counts whole ticks towards the limit, so on a busy machine it may kill well before
    # the limit. With less CPU time than that, a busy machine may be to blame, not the program.
    if report.cpu_s >= 0.5 * cpu_limit_s:
        return _failure(Status.timeout, "ran out of CPU time")
    detail = f"killed by the system after {report.cpu_s:.2f} s of CPU"
    return _failure(Status.memory, detail, worth_repeating=True)


def decode_frame(frame: bytes) -> Outcome:
    """Decode the four lines of `server.run_program`; all other bytes are `forbidden`."""
    try:
        status, is_number, number_text, text = frame.decode("utf-8").split("\n", 3)
    except ValueError:
        return _NOT_A_RESULT
    if status in _FAILURES and (is_number, number_text) == ("0", ""):
        return Outcome(status=Status(status), detail=escape(text[:500]))
    number = None
    if _FLOAT.fullmatch(number_text):
        number = float(number_text)
    elif number_text:
        return _NOT_A_RESULT
    if (status, is_number) == ("ok", "0"):
        return Outcome(status=Status.ok, value=text[:MAX_TEXT], number=number)
    if (status, is_number) != ("ok", "1"):
        return _NOT_A_RESULT
    if number is not None and not text:
        # The child does not round, because the program may have replaced the function `round`.
        text = repr(round(number, 3))
    elif number is not None or not _LARGE_INTEGER.fullmatch(text):
        return _NOT_A_RESULT
    return Outcome(status=Status.ok, value=text, number=number, is_number=True)


def _failure(status: Status, detail: str, *, worth_repeating: bool = False) -> Attempt:
    return Attempt(Outcome(status=status, detail=detail), worth_repeating)
