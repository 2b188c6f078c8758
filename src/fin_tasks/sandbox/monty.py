"""The tier without kernel protection: pydantic-monty, a Python interpreter in Rust without numpy, scipy and sympy."""

import re
from importlib import import_module

from fin_tasks.errors import SandboxError
from fin_tasks.sandbox.outcome import Outcome, Status, escape, parse_frame
from fin_tasks.sandbox.process import Limits

_IMPORT = re.compile(
    r"(?:^|;)[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import|import[ \t]+([^\n;#]+))", re.MULTILINE
)
_ENDINGS = {
    "SyntaxError": Status.syntax,
    "TimeoutError": Status.timeout,
    "MemoryError": Status.memory,
}
# Runs inside Monty, where the program has its own namespace. Only the text in the last line reaches the evaluator.
_WRAPPER = r"""
def exact_round(number, ndigits=None):  # Monty rounds the decimal digits, CPython the exact binary value
    return float(f'{number:.{ndigits}f}') if type(number) is float and ndigits in range(99) else round(number, ndigits)
def count(x, left):  # a list that shares its parts can have 10**19 of them
    for part in x.items() if type(x) is dict else x if type(x) in (list, tuple, set, frozenset) else ():
        left = left if left < 0 else count(part, left)
    return left - (len(x) if type(x) in (str, bytes) else 1)
status, is_number, number, names = 'exception', 0, '', {'round': exact_round}
try:
    exec(source + '\n_fin_tasks_end = solution\n', names)
    answer = names['_fin_tasks_end']()  # missing after a top-level `return`, which Monty obeys and CPython refuses
    text = f'{answer!s:.900}' if type(answer) is str or count(answer, 900) >= 0 else 'more than 900 parts'
    status, is_number = 'ok', int(type(answer) in (int, float))
    number, text = repr(float(answer)), repr(exact_round(float(answer), 3)) if is_number else text
except BaseException as error:
    text = text if status == 'ok' else f'{type(error).__name__}: {error!s:.500}'
f'{status}\n{is_number}\n{number}\n{text}'
"""


class MontyServer:
    """A Monty process, with the interface of `process.Server`."""

    def __init__(self, limits: Limits) -> None:
        self._limits = {
            "max_feed_duration_secs": limits.cpu_s,
            "max_total_sleep_secs": limits.wall_s,
        }
        self._limits["max_memory"] = limits.memory_mb * 2**20
        try:
            self._monty = import_module("pydantic_monty")
            pool = self._monty.Monty(max_processes=1, request_timeout=limits.wall_s)
            self._pool, self.close = pool.__enter__(), lambda: pool.__exit__(None, None, None)
        except (ImportError, AttributeError, OSError, RuntimeError) as error:
            raise SandboxError(
                f"monty: expected pydantic-monty 1.4 or newer, got {error!r}. Install it."
            ) from error

    def run(self, source: str) -> tuple[Outcome, bool]:  # noqa: D102 - as Server.run; a second try never helps
        parts = [
            part.split()
            for one, several in _IMPORT.findall(source)
            for part in (one or several).split(",")
        ]
        imports = "".join(
            f"import {words[0]}\n" for words in parts if len(words) == 1 or words[1:2] == ["as"]
        )
        try:
            with self._pool.checkout(limits=self._limits) as session:
                try:  # Monty parses the whole program and stops at the division
                    session.feed_run(
                        f"exec(imports, {{}})\n0 / 0\n{source}", inputs={"imports": imports}
                    )
                except self._monty.MontyRuntimeError as refusal:
                    if isinstance(refusal.exception(), ImportError | NotImplementedError):
                        return Outcome(
                            status=Status.unsupported, detail=escape(str(refusal)[:500])
                        ), False
                report = session.feed_run(
                    _WRAPPER, inputs={"source": source}, print_callback=lambda *_: None
                )
        except self._monty.MontyError as error:
            ending = (
                "TimeoutError"
                if getattr(error, "timed_out", False)
                else type(error.exception()).__name__
            )
            return Outcome(
                status=_ENDINGS.get(ending, Status.exception), detail=escape(str(error)[:500])
            ), False
        return parse_frame(report.encode()) or Outcome(
            status=Status.forbidden, detail="answered no result"
        ), False
