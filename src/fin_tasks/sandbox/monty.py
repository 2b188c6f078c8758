"""The tier without kernel protection: pydantic-monty, an interpreter in Rust without numpy."""

import contextlib
import re
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any

from fin_tasks.errors import SandboxError

from .outcome import Outcome, Status, escape
from .process import Limits, library_folders
from .report import Attempt, decode_frame

_FROM_IMPORT = r"from[ \t]+([\w.]+)[ \t]+import"
_PLAIN_IMPORT = r"import[ \t]+([^\n;#]+)"
_IMPORT = re.compile(rf"(?:^|;)[ \t]*(?:{_FROM_IMPORT}|{_PLAIN_IMPORT})", re.MULTILINE)
_STATUS_BY_ERROR = {
    "SyntaxError": Status.syntax,
    "TimeoutError": Status.timeout,
    "MemoryError": Status.memory,
}
# This runs inside Monty, where the program has a namespace of its own. The last line is the frame
# that reaches the evaluator; its four lines are those of `server.run_program`.
_WRAPPER = r"""
def exact_round(number, ndigits=None):
    # Monty rounds the decimal digits of a float, CPython its exact binary value.
    if type(number) is float and ndigits in range(99):
        return float(f'{number:.{ndigits}f}')
    return round(number, ndigits)

def room_left(value, room):
    # Subtract the size of a value; a list that shares its parts can have 10**19 of them.
    parts = ()
    if type(value) is dict:
        parts = value.items()
    elif type(value) in (list, tuple, set, frozenset):
        parts = value
    for part in parts:
        if room >= 0:
            room = room_left(part, room)
    if type(value) in (str, bytes):
        return room - len(value)
    return room - 1

def result_text(result):
    if type(result) is not str and room_left(result, 900) < 0:
        return 'more than 900 parts'
    return f'{result!s:.900}'

status = 'exception'
is_number = 0
number = ''
try:
    names = {'round': exact_round}
    # Monty obeys a `return` outside of functions, which CPython refuses; then the name is missing.
    exec(source + '\n_fin_tasks_end = solution\n', names)
    result = names['_fin_tasks_end']()
    text = result_text(result)
    status = 'ok'
    number = repr(float(result))
    if type(result) in (int, float):
        is_number = 1
        text = ''
except BaseException as error:
    # A result that `float` refuses is a result nevertheless.
    if status != 'ok':
        text = f'{type(error).__name__}: {error!s:.500}'
f'{status}\n{is_number}\n{number}\n{text}'
"""


class MontyServer:
    """A Monty process, with the interface of `process.Server`."""

    def __init__(self, limits: Limits) -> None:
        self._limits = {
            "max_feed_duration_secs": limits.cpu_s,
            "max_total_sleep_secs": limits.wall_s,
            "max_memory": limits.memory_mb * 2**20,
        }
        self._resources = contextlib.ExitStack()
        try:
            self._monty = import_module("pydantic_monty")
            pool = self._monty.Monty(max_processes=1, request_timeout=limits.wall_s)
            self._pool = self._resources.enter_context(pool)
        except (ImportError, AttributeError, OSError, RuntimeError) as error:
            raise SandboxError(
                f"monty: expected pydantic-monty 1.4 or newer, got {error!r}"
            ) from error

    def run(self, source: str) -> Attempt:
        """Run a program; a second attempt would never help."""
        source = source.encode(errors="replace").decode()
        try:
            with self._pool.checkout(limits=self._limits) as session:
                refusal = self._refusal(session, source)
                if refusal:
                    return _failure(Status.unsupported, refusal)
                frame = session.feed_run(
                    _WRAPPER, inputs={"source": source}, print_callback=lambda *_: None
                )
                return Attempt(decode_frame(frame.encode()))
        except self._monty.MontyError as error:
            kind = type(error.exception()).__name__
            if getattr(error, "timed_out", False):
                kind = "TimeoutError"
            return _failure(_STATUS_BY_ERROR.get(kind, Status.exception), str(error))

    def _refusal(self, session: Any, source: str) -> str:
        """Return why Monty cannot run a program that CPython can run; empty if it can."""
        modules = filter(is_installed, named_modules(source))
        imports = "".join(f"import {module}\n" for module in modules)
        try:
            session.feed_run(imports)
            # Monty parses the whole program, then it stops at the division.
            session.feed_run(f"0 / 0\n{source}")
        except self._monty.MontyRuntimeError as error:
            if isinstance(error.exception(), ModuleNotFoundError | NotImplementedError):
                return str(error)
        return ""

    def close(self) -> None:
        """End the process."""
        self._resources.close()


def _failure(status: Status, detail: str) -> Attempt:
    return Attempt(Outcome(status=status, detail=escape(detail[:500])))


def named_modules(source: str) -> list[str]:
    """Return the modules that a program seems to import.

    Example:
        >>> named_modules("import os.path as path, math" + chr(10) + "from scipy import stats")
        ['os.path', 'math', 'scipy']
    """
    modules: dict[str, None] = {}
    for package, names in _IMPORT.findall(source):
        for name in (package or names).split(","):
            words = name.split()
            if len(words) == 1 or words[1:2] == ["as"]:
                modules[words[0]] = None
    return list(modules)


def is_installed(module: str) -> bool:
    """Return whether CPython finds a module in its library or packages, without executing any.

    Example:
        >>> is_installed("os.path"), is_installed("json.decoder"), is_installed("json.coder")
        (True, True, False)
    """
    if module in ("os.path", *sys.stdlib_module_names):  # some of these have no file
        return True
    folders = library_folders()
    for name in module.split("."):
        # Not the dotted name: for a namespace package, its parent would have to be imported.
        spec = PathFinder.find_spec(name, folders)
        if spec is None:
            return False
        folders = list(spec.submodule_search_locations or ())
    return True
