"""The outcome of a program. Only this file interprets bytes that come out of the sandbox."""

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from fin_tasks.sandbox.server import LOCKED, MAX_TEXT, TOO_MUCH, WALL


class Status(str, Enum):
    """How a program ended."""

    ok = "ok"
    no_code = "no_code"  # the response held no program
    syntax = "syntax"
    exception = "exception"  # it raised, ended its own process, or crashed the interpreter
    timeout = "timeout"
    memory = "memory"
    forbidden = (
        "forbidden"  # it asked the operating system for something, or tampered with the runner
    )
    unsupported = "unsupported"  # this tier cannot run it, another one could: unscored
    broken = "broken"  # the runner failed, not the program: unscored


REASONS = ("no_code", "syntax", "exception", "timeout", "memory", "forbidden", "unsupported")
"""Why a program gave no value."""
_CLAIMABLE = (
    Status.ok,
    Status.syntax,
    Status.exception,
    Status.memory,
    Status.forbidden,
)  # the runner says the rest


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of one program."""

    status: Status
    value: str | None = (
        None  # int or float as `repr(round(float(x), 3))`, else `str(x)`, cut; escape it to show it
    )
    number: float | None = None  # `float(x)` at full precision where that works
    is_number: bool = False  # whether the result was exactly an int or a float
    detail: str = ""  # the exception's class and message, or what else went wrong; printable

    @property
    def ran(self) -> bool:
        """Whether the program returned a result."""
        return self.status is Status.ok


class Ran(NamedTuple):
    """A response with the outcomes of its programs."""

    response: str
    outcomes: tuple[Outcome, ...]


def execution_values(status: str) -> dict[str, float | None]:
    """Return the execution rate and the share of each reason for one program; None if the program does not count."""
    ran = None if status in ("broken", "unsupported") else float(status == "ok")
    return {"execution_rate": ran} | {
        one: None if status == "broken" else float(status == one) for one in REASONS
    }


def escape(text: str) -> str:
    """Make text safe to print: every character that is not printable becomes a backslash escape."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )


def parse_frame(data: bytes) -> Outcome | None:
    """Read the four lines of `run_program`; None if they are not, because the program may write bytes of its own."""
    try:
        name, is_number, number, text = data.decode("utf-8").split("\n", 3)
        status, x = Status(name), float(number[:64]) if number else None
    except ValueError:
        return None
    if status not in _CLAIMABLE or is_number not in ("0", "1"):
        return None
    if status is Status.ok:
        return Outcome(status=status, value=text[:MAX_TEXT], number=x, is_number=is_number == "1")
    return Outcome(status=status, detail=escape(text[:500]))


def classify(
    data: bytes, wait_status: int, ending: int, cpu_s: float, cpu_limit_s: float
) -> tuple[Outcome, bool]:
    """Turn the server's report and the child's bytes into an outcome; True if a second try could end differently."""
    again, caught = False, wait_status & 0x7F
    status, detail = (
        Status.exception,
        f"ended its own process (exit code {wait_status >> 8 & 0xFF})",
    )
    if not data.startswith(LOCKED):
        status, detail, again = Status.broken, "the child could not be locked down", True
    elif ending == WALL:  # no second try: it would only sleep again
        status, detail = Status.timeout, "ran out of wall time"
    elif ending == TOO_MUCH:
        status, detail = Status.forbidden, "wrote more than a result takes"
    elif len(data) > len(LOCKED):
        frame = parse_frame(data[len(LOCKED) :])
        if frame is not None:
            return frame, False
        status, detail = Status.forbidden, "wrote something that is not a result"
    elif caught in (9, 24) and cpu_s >= 0.5 * cpu_limit_s:  # SIGKILL, SIGXCPU
        # The kernel counts whole ticks towards the limit, so on a busy machine it may kill well before the limit.
        status, detail = Status.timeout, "ran out of CPU time"
    elif caught in (9, 24):  # a busy machine may be to blame rather than the program
        status, detail, again = (
            Status.memory,
            f"killed by the system after {cpu_s:.2f} s of CPU",
            True,
        )
    elif caught:
        detail = f"crashed the interpreter (signal {caught})"
    return Outcome(status=status, detail=detail), again
