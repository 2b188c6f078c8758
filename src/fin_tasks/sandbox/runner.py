"""Runners: they pick a tier, keep servers alive, and run batches of programs.

Tasks share one runner a process. It starts once, and remembers what programs did.
"""

import atexit
import logging
import math
import re
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock

from tqdm import tqdm

from fin_tasks.errors import ProgramTimeError, SandboxError, escape
from fin_tasks.settings import SANDBOX_TIERS, Settings

from .process import DEFAULT_LIMITS, Limits, Outcome, Server, Status

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
_NUMERIC_TOGETHER = 20
"""So many numeric programs are run by one server: it starts in the time of hundreds of programs."""
_MIN_SHOWN = 10  # programs from which progress is shown
_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)
"""The time, as `time.monotonic` tells it, after which no program counts."""
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


@dataclass(kw_only=True, eq=False)
class Runner(AbstractContextManager["Runner"]):
    """Runs batches of programs side by side in one tier; `open_runner` makes it."""

    tier: str
    facts: dict[str, str]
    """The tier, and the reason why no better one is used, as results show them."""
    limits: Limits
    threads: ThreadPoolExecutor
    """A server dies with the thread that started it, so the threads live as long as the runner."""
    idle: dict[tuple[str, ...], list[Server]]
    """The servers that wait for a program, by the modules that they imported."""

    def run(self, programs: Sequence[str | None]) -> list[Outcome]:
        """Run programs, identical ones once; None stands for a response without a program.

        A terminal shows the progress of ten or more programs.
        """
        is_numeric = {
            program: bool(_NUMERIC_NAME.search(program))
            for program in programs
            if program is not None
        }
        numeric = [program for program in is_numeric if is_numeric[program]]
        starts = range(0, len(numeric), _NUMERIC_TOGETHER)
        jobs = [numeric[start : start + _NUMERIC_TOGETHER] for start in starts]
        jobs += [[program] for program in is_numeric if not is_numeric[program]]
        n_programs = sum(map(len, jobs))
        is_stopped = Event()
        futures = [
            self.threads.submit(self._run_in_turn, job, is_stopped) for job in jobs
        ]
        # None hides the bar without a terminal.
        is_hidden = True if n_programs < _MIN_SHOWN else None
        outcomes: dict[str | None, Outcome] = {None: _NO_CODE}
        try:
            with tqdm(
                desc="Running programs",
                total=n_programs,
                unit="program",
                disable=is_hidden,
            ) as bar:
                for future in as_completed(futures):
                    outcomes.update(future.result())
                    bar.update(len(future.result()))
                    if time.monotonic() > _deadline.get():
                        raise ProgramTimeError(
                            f"{len(outcomes) - 1:,} of {n_programs:,} programs took all the time "
                            "that they may take together"
                        )
        finally:
            # After Ctrl-C, Python waits at its end for all jobs that are not canceled.
            is_stopped.set()
            for future in futures:
                future.cancel()
        return [outcomes[program] for program in programs]

    def _run_in_turn(
        self, programs: Sequence[str], is_stopped: Event
    ) -> dict[str, Outcome]:
        """Run programs of one kind in one server, until the batch is stopped."""
        is_numeric = _NUMERIC_NAME.search(programs[0])
        preload = _NUMERIC if is_numeric else _PLAIN
        try:
            server = self.idle[preload].pop()
        except IndexError:
            server = Server(self.tier, self.limits, preload)
        outcomes = {}
        for program in programs:
            if is_stopped.is_set():
                break
            try:
                attempt = server.run(program)
                if attempt.worth_repeating:
                    attempt = server.run(program)
                outcomes[program] = attempt.outcome
            except (SandboxError, OSError) as error:
                server.close()
                detail = escape(str(error))
                outcomes[program] = Outcome(status=Status.broken, detail=detail)
        self.idle[preload].append(server)
        return outcomes

    def close(self) -> None:
        """End all servers; the runner cannot be used afterwards."""
        self.threads.shutdown(wait=True, cancel_futures=True)
        for servers in self.idle.values():
            for server in servers:
                server.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def open_runner(
    *, tier: str = "", workers: int = 0, limits: Limits = DEFAULT_LIMITS
) -> Runner:
    """Start a runner in a tier, by default in the best one that works here.

    Args:
        tier: One of `SANDBOX_TIERS`. Default: that of `FIN_TASKS_SANDBOX`.
        workers: How many programs run side by side. Default: `FIN_TASKS_SANDBOX_WORKERS`.
        limits: Limits of one program.

    Raises:
        SandboxError: No tier works; the message has the reasons.
    """
    settings = Settings.from_environ()
    tier = tier or settings.sandbox
    workers = workers or settings.sandbox_workers
    if tier not in SANDBOX_TIERS:
        raise SandboxError(
            f"sandbox tier: expected one of {', '.join(SANDBOX_TIERS)}, got {tier!r}."
        )
    failures: list[str] = []
    for name in SANDBOX_TIERS[1:] if tier == "auto" else [tier]:
        reason = "; ".join(failures) or "the first tier that was tried"
        runner = Runner(
            tier=name,
            facts={"tier": name, "reason": reason},
            limits=limits,
            threads=ThreadPoolExecutor(workers, "fin-tasks-sandbox"),
            idle={_PLAIN: [], _NUMERIC: []},
        )
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
        if (
            outcome.status is Status.ok
            or has_written
            or "server died" in outcome.detail
        ):
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


# --- The runner of this process ---

_log = logging.getLogger(__name__)
_MOST_KEPT = 20_000  # outcomes; one takes about 3 kB, most of it its program

_lock = Lock()
_runners: dict[tuple[str, int], Runner] = {}
"""The runners that were opened, by tier and number of workers."""
_outcomes: dict[str, Outcome] = {}
"""What programs did, because both scorings often have the same programs."""


def shared_runner() -> Runner:
    """Return the runner of this process, which is closed when Python ends.

    Raises:
        SandboxError: No tier works. The next call tries again.
    """
    settings = Settings.from_environ()
    key = (settings.sandbox, settings.sandbox_workers)
    with _lock:
        if key not in _runners:
            tier, workers = key
            runner = open_runner(tier=tier, workers=workers)
            atexit.register(runner.close)
            _runners[key] = runner
        return _runners[key]


@contextmanager
def time_for_programs(seconds: float) -> Iterator[None]:
    """Limit the time of all programs together; after it, ProgramTimeError is raised."""
    token = _deadline.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def run_programs(programs: Sequence[str | None]) -> list[Outcome]:
    """Run programs in the shared runner, each one once in this process.

    If the sandbox breaks, the outcomes are `broken`, and nothing raises. The next call tries again.
    """
    if len(_outcomes) > _MOST_KEPT:
        _outcomes.clear()
    found: dict[str | None, Outcome] = {}
    for program in programs:
        if program is not None and program in _outcomes:
            found[program] = _outcomes[program]
    missing = [program for program in programs if program not in found]
    try:
        outcomes = shared_runner().run(missing)
    except (SandboxError, OSError, RuntimeError) as error:
        _log.error("The sandbox broke, its programs stay unscored: %s", error)
        broken = Outcome(status=Status.broken, detail=escape(str(error)))
        outcomes = [broken] * len(missing)
    for program, outcome in zip(missing, outcomes, strict=True):
        found[program] = outcome
        if program is not None and outcome.status is not Status.broken:
            _outcomes[program] = outcome
    return [found[program] for program in programs]
