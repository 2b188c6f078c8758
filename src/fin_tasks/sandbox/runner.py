"""The runner: it picks a tier, keeps its servers alive, and runs batches of programs."""

import re
import socket
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from pathlib import Path

from tqdm import tqdm

from fin_tasks.errors import SandboxError, escape
from fin_tasks.settings import SANDBOX_TIERS

from .outcome import Outcome, Status
from .process import DEFAULT_LIMITS, Limits, Server

# Forking takes longer the more memory the parent has, so servers without numeric libraries are
# twice as fast.
_PLAIN = (
    "math",
    "statistics",
    "random",
    "datetime",
    "decimal",
    "fractions",
    "itertools",
    "re",
)
_NUMERIC = (*_PLAIN, "numpy", "scipy.optimize", "scipy.stats", "sympy")
_NUMERIC_NAME = re.compile(r"numpy|scipy|sympy|mpmath|pandas")
_MIN_SHOWN = 10  # programs from which progress is shown
_NO_CODE = Outcome(status=Status.no_code, detail="the response holds no program")
CANARIES = {
    "read a file": "def solution(): return open({bait!r}).read()",
    "write a file": "def solution(): return open({target!r}, 'w').write('x')",
    "open a socket": """\
import socket
def solution(): return str(socket.create_connection(('127.0.0.1', {port}), 2))""",
    "fork": """\
import os
def solution(): return os.fork() or os._exit(0)""",
    "kill the parent": """\
import os
def solution(): return os.kill(os.getppid(), 9)""",
}
"""Programs that try to break out. A tier is trusted only if none of them returns."""


class Runner(AbstractContextManager["Runner"]):
    """Runs batches of programs side by side in one tier.

    Attributes:
        tier: Name of the tier.
        reason: Why no better tier is used.
        facts: Both, as results show them.
    """

    def __init__(self, tier: str, reason: str, limits: Limits, workers: int) -> None:
        self.tier = tier
        self.reason = reason
        self.facts = {"tier": tier, "reason": reason}
        self._limits = limits
        # A server dies with the thread that started it (PDEATHSIG), so the threads live as long
        # as the runner.
        self._threads = ThreadPoolExecutor(
            workers, thread_name_prefix="fin-tasks-sandbox"
        )
        self._idle: dict[tuple[str, ...], list[Server]] = {_PLAIN: [], _NUMERIC: []}

    def run(self, programs: Sequence[str | None]) -> list[Outcome]:
        """Run programs, identical ones once; None stands for a response without a program.

        A terminal shows the progress of ten or more programs.
        """
        program_by_future: dict[Future[Outcome], str] = {}
        for program in dict.fromkeys(programs):
            if program is not None:
                future = self._threads.submit(self._run_program, program)
                program_by_future[future] = program
        bar = tqdm(
            as_completed(program_by_future),
            desc="Running programs",
            total=len(program_by_future),
            unit="program",
            # None hides the bar without a terminal.
            disable=True if len(program_by_future) < _MIN_SHOWN else None,
        )
        outcomes: dict[str | None, Outcome] = {None: _NO_CODE}
        try:
            for future in bar:
                outcomes[program_by_future[future]] = future.result()
        finally:
            # After Ctrl-C, Python waits at its end for all programs that are not canceled.
            for future in program_by_future:
                future.cancel()
        return [outcomes[program] for program in programs]

    def _run_program(self, source: str) -> Outcome:
        preload = _NUMERIC if _NUMERIC_NAME.search(source) else _PLAIN
        try:
            server = self._idle[preload].pop()
        except IndexError:
            server = Server(self.tier, self._limits, preload)
        try:
            attempt = server.run(source)
            if attempt.worth_repeating:
                attempt = server.run(source)
        except (SandboxError, OSError) as error:
            return Outcome(status=Status.broken, detail=escape(str(error)))
        self._idle[preload].append(server)
        return attempt.outcome

    def close(self) -> None:
        """End all servers; the runner cannot be used afterwards."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        for servers in self._idle.values():
            for server in servers:
                server.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def open_runner(
    *, tier: str = "auto", workers: int = 2, limits: Limits = DEFAULT_LIMITS
) -> Runner:
    """Start a runner in a tier, by default in the best one that works here.

    Args:
        tier: One of `SANDBOX_TIERS`.
        workers: How many programs run side by side.
        limits: Limits of one program.

    Raises:
        SandboxError: No tier works; the message has the reasons.
    """
    if tier not in SANDBOX_TIERS:
        raise SandboxError(
            f"sandbox tier: expected one of {', '.join(SANDBOX_TIERS)}, got {tier!r}."
        )
    failures: list[str] = []
    for name in SANDBOX_TIERS[1:] if tier == "auto" else [tier]:
        reason = "; ".join(failures) or "the first tier that was tried"
        runner = Runner(name, reason, limits, workers)
        try:
            _check_tier(runner)
            return runner
        except SandboxError as error:
            runner.close()
            failures.append(str(error))
    raise SandboxError(
        f"programs cannot be run safely here: {'; '.join(failures)}. On Linux, install the "
        "package `bubblewrap`."
    )


def _check_tier(runner: Runner) -> None:
    """Raise SandboxError if a tier cannot run a program, or if a canary gets through."""
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        bait = f"{folder}/bait"
        target = f"{folder}/target"
        Path(bait).write_text("bait")
        places = {"bait": bait, "target": target, "port": listener.getsockname()[1]}
        programs = ["def solution(): return 6 * 7"]
        programs += [canary.format(**places) for canary in CANARIES.values()]
        first, *outcomes = runner.run(programs)
        has_written = Path(target).exists()
    if first.status is Status.broken:
        raise SandboxError(first.detail)
    if first.value != "42.0":
        raise SandboxError(f"{runner.tier}: expected 42.0 for 6 * 7, got {first}")
    for name, outcome in zip(CANARIES, outcomes, strict=True):
        if outcome.ran or has_written or "server died" in outcome.detail:
            raise SandboxError(
                f"{runner.tier}: expected that programs cannot {name}, got {outcome}"
            )


def describe_tiers() -> dict[str, str]:
    """Try every tier on this machine, best first; return `works` or `no` with the reason."""
    states: dict[str, str] = {}
    for name in SANDBOX_TIERS[1:]:
        try:
            open_runner(tier=name, workers=1).close()
            states[name] = "works"
        except SandboxError as error:
            states[name] = f"no: {error}"
    return states
