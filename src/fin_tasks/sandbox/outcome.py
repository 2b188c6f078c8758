"""The types for the outcome of a program, and the metrics that follow from its status."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


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
    unsupported = "unsupported"
    """This tier cannot run the program, another tier could; the response stays unscored."""
    broken = "broken"
    """The runner failed, not the program; the response stays unscored."""


_UNSCORED = (Status.broken, Status.unsupported)
REASONS = (
    "no_code",
    "syntax",
    "exception",
    "timeout",
    "memory",
    "forbidden",
    "unsupported",
)
"""Why a program gave no value."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of one program."""

    status: Status
    value: str | None = None
    """The recorded text: `repr(round(float(x), 3))` of an int or a float, `str(x)` of the rest.

    The text of the rest is cut and may hold any character; use `escape` before you show it.
    """
    number: float | None = None
    """`float(x)` at full precision; None where Python cannot convert the result."""
    is_number: bool = False
    """Whether the result was exactly an int or a float, so that `value` is a rounded number."""
    detail: str = ""
    """The class and message of the exception, or what else went wrong; printable."""

    @property
    def ran(self) -> bool:
        """Whether the program returned a result."""
        return self.status is Status.ok

    @property
    def is_unscored(self) -> bool:
        """Whether the fault is the sandbox's, and not the program's."""
        return self.status in _UNSCORED


class Ran(NamedTuple):
    """A response with the outcomes of its programs."""

    response: str
    outcomes: tuple[Outcome, ...]


def execution_rate(status: str) -> float | None:
    """Return 1 if a program returned a result, else 0; None if the fault is not the program's."""
    if status in _UNSCORED:
        return None
    return float(status == Status.ok)


def failure_shares(status: str) -> dict[str, float | None]:
    """Return 1 for the reason why a program gave no value, 0 for others; None if the runner broke."""
    if status == Status.broken:
        return dict.fromkeys(REASONS)
    return {reason: float(status == reason) for reason in REASONS}


def escape(text: str) -> str:
    """Replace every character that is not printable by a backslash escape."""
    for character in set(text):
        if not character.isprintable():
            escaped = character.encode("unicode_escape").decode()
            text = text.replace(character, escaped)
    return text
