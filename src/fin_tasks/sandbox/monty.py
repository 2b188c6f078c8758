"""The tier without the kernel's help: pydantic-monty, a Python interpreter written in Rust.

It knows a part of the language and of the standard library, and no numpy, scipy or sympy. What it cannot run is
`unsupported`, so that nobody reads the gap as a wrong answer; so is every exception that CPython might not have raised.
"""

import builtins
import importlib
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any

from fin_tasks.errors import SandboxError
from fin_tasks.sandbox.child import TEXT_LIMIT, measure
from fin_tasks.sandbox.outcome import Outcome, Status, escape
from fin_tasks.sandbox.process import Limits

__all__ = ["MontyWorker"]

# Monty rounds the decimal digits, CPython the exact binary value; its formatting is exact, so round() goes through it.
_PREAMBLE = """\
_native_round = round
def round(number, ndigits=None):
    if isinstance(number, float) and ndigits is not None and 0 <= ndigits < 100 and abs(number) < 1e22:
        return float(f'{number:.{ndigits}f}')
    if ndigits is None:
        return _native_round(number)
    return _native_round(number, ndigits)
"""
_END = "_fin_tasks_end = 1"
_MISSING = ("ModuleNotFoundError", "ImportError", "NotImplementedError", "AttributeError", "TypeError")
"""What Monty raises where CPython would have gone on; a program's own such mistake counts as unsupported too."""
_REFUSED = ("PermissionError", "OSError", "FileNotFoundError")
_PLAIN = (int, float, bool, str, complex, bytes, Decimal, date, time, timedelta, type(None), type(...))
_NESTING = 20


class MontyWorker:
    """Runs programs one after another in a Monty worker process of its own."""

    def __init__(self, limits: Limits) -> None:
        try:
            self._monty: Any = importlib.import_module("pydantic_monty")
        except ImportError as error:
            raise SandboxError(
                "monty: expected the package `pydantic-monty`, found none. Install it: pip install 'fin-tasks[monty]'."
            ) from error
        if not hasattr(self._monty, "Monty"):
            raise SandboxError(
                "monty: expected pydantic-monty 1.4 or newer. Install it: pip install -U pydantic-monty."
            )
        self._limits = limits
        self._pool: Any = self._monty.Monty(max_processes=1, request_timeout=limits.wall_s)
        self._pool.__enter__()
        self._resources = {
            "max_feed_duration_secs": limits.cpu_s,
            "max_total_sleep_secs": limits.wall_s,
            "max_memory": limits.memory_mb * 1024 * 1024,
        }

    def run(self, source: str) -> Outcome:
        """Run one program and describe the result in the terms of the other tiers."""
        try:
            with self._pool.checkout(limits=self._resources) as session:
                session.feed_run(_PREAMBLE)
                session.feed_run(f"{source}\n{_END}\n", print_callback=_discard)
                if _ended_early(session, self._monty.MontyRuntimeError):
                    return Outcome(status=Status.syntax, detail="SyntaxError: 'return' outside function")
                return _outcome(session.feed_run("solution()", print_callback=_discard))
        except self._monty.MontySyntaxError as error:
            return Outcome(status=Status.syntax, detail=_text("SyntaxError", error))
        except self._monty.MontyRuntimeError as error:
            return _raised(error)
        except self._monty.MontyCrashedError as error:
            status = Status.timeout if error.timed_out else Status.memory
            return Outcome(status=status, detail=_text("MontyCrashedError", error))
        except (self._monty.MontyError, UnicodeEncodeError, RuntimeError, ValueError) as error:
            return Outcome(status=Status.unsupported, detail=_text(type(error).__name__, error))

    def close(self) -> None:
        """End the worker process."""
        self._pool.__exit__(None, None, None)


def _discard(_stream: str, _text: str) -> None:
    """Swallow what a program prints."""


def _ended_early(session: Any, undefined: type[Exception]) -> bool:
    """Say whether the source stopped before its last line: Monty obeys a top-level `return`, which is no Python."""
    try:
        session.feed_run("_fin_tasks_end")
    except undefined:
        return True
    return False


def _outcome(answer: Any) -> Outcome:
    if not _is_plain(answer, _NESTING):
        kind = type(answer).__name__
        return Outcome(status=Status.unsupported, detail=f"returned a {kind}, which Monty cannot hand over")
    fields = measure(answer)
    number = fields["number"]
    return Outcome(
        status=Status.ok,
        value=fields["value"].encode("utf-8", "backslashreplace").decode("utf-8")[:TEXT_LIMIT],
        number=None if number is None else float(number),
        is_number=fields.get("is_number") == "1",
    )


def _is_plain(answer: Any, depth: int) -> bool:
    """Say whether a value came over as CPython has it; functions and coroutines come as texts like `<function ...>`."""
    if isinstance(answer, str) and answer.startswith("<"):
        return False
    if type(answer) in _PLAIN:
        return True
    if depth == 0:
        return False
    if type(answer) in (list, tuple, set, frozenset):
        return all(_is_plain(part, depth - 1) for part in answer)
    if type(answer) is dict:
        return all(_is_plain(part, depth - 1) for pair in answer.items() for part in pair)
    return False


def _raised(error: Any) -> Outcome:
    inner = error.exception()
    name = type(inner).__name__
    message = str(inner)
    if name == "NameError" and "'solution'" in message:
        return Outcome(status=Status.exception, detail="NameError: the program defines no solution()")
    known = name == "NameError" and any(f"'{builtin}'" in message for builtin in dir(builtins))
    if known or name in _MISSING or "not supported" in message:
        status = Status.unsupported
    elif name == "TimeoutError" and "limit exceeded" in message:
        status = Status.timeout
    elif name == "MemoryError":
        status = Status.memory
    else:
        status = Status.forbidden if name in _REFUSED else Status.exception
    return Outcome(status=status, detail=_text(name, inner))


def _text(name: str, error: BaseException) -> str:
    return escape(f"{name}: {str(error)[:500]}")
