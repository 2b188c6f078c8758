"""The runner: picks a tier, keeps its servers alive, and runs batches of programs."""

import os
import queue
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

from fin_tasks.errors import SandboxError
from fin_tasks.sandbox.canary import escaped_canaries
from fin_tasks.sandbox.monty import MontyWorker
from fin_tasks.sandbox.outcome import Outcome, Status
from fin_tasks.sandbox.process import Limits, Report, Server, ServerDied
from fin_tasks.sandbox.tiers import NUMERIC_PRELOAD, PLAIN_PRELOAD
from fin_tasks.sandbox.wire import MAX_PROGRAM
from fin_tasks.settings import SANDBOX_TIERS

__all__ = ["Runner", "TierReport", "describe_tiers", "open_runner"]

_SAFE_TIERS = ("bwrap", "landlock", "monty")
_UNSAFE = "unsafe-local-exec"
_NUMERIC = re.compile(r"numpy|scipy|sympy|mpmath|pandas")
_HOW = {
    "bwrap": "bubblewrap, seccomp and Landlock around a fork server",
    "landlock": "seccomp and Landlock around a fork server",
    "monty": "pydantic-monty; programs that need more than it has come back as unsupported",
    _UNSAFE: "no protection, as asked for",
}


@dataclass(frozen=True, kw_only=True)
class TierReport:
    """Whether a tier can be used on this machine, and why (not)."""

    name: str
    usable: bool
    reason: str


class _Worker(Protocol):
    def run(self, source: str) -> Outcome: ...

    def close(self) -> None: ...


class _ForkWorker:
    """Two servers, started when first needed and again when they die.

    Forking costs in proportion to the memory of the parent, so programs that name no numeric library go to a server
    without any and run about twice as fast. The two differ in nothing else.
    """

    def __init__(self, tier: str, limits: Limits) -> None:
        self._tier, self._limits = tier, limits
        self._servers: dict[tuple[str, ...], Server] = {}
        self._server(PLAIN_PRELOAD)

    def run(self, source: str) -> Outcome:
        """Run one program, a second time where the first says nothing about it."""
        program, refusal = _encode(source)
        if refusal is not None:
            return refusal
        preload = NUMERIC_PRELOAD if _NUMERIC.search(source) else PLAIN_PRELOAD
        report = self._try(program, preload)
        if report is None or report.cut_short or report.outcome.status is Status.broken:
            report = self._try(program, preload) or Report(
                outcome=Outcome(status=Status.forbidden, detail="its server died twice with it"), cut_short=False
            )
        return report.outcome

    def run_once(self, source: str) -> Outcome:
        """Run one program without a second try or a restart, for the canaries.

        Raises:
            ServerDied: The program took its server along.
        """
        return self._server(PLAIN_PRELOAD).run(_encode(source)[0]).outcome

    def _server(self, preload: tuple[str, ...]) -> Server:
        if preload not in self._servers:
            self._servers[preload] = Server(tier=self._tier, limits=self._limits, preload=preload)
        return self._servers[preload]

    def _try(self, program: bytes, preload: tuple[str, ...]) -> Report | None:
        server = self._server(preload)
        try:
            return server.run(program)
        except ServerDied:
            server.close()
            del self._servers[preload]
            return None

    def close(self) -> None:
        """End both servers."""
        while self._servers:
            self._servers.popitem()[1].close()


def _encode(source: str) -> tuple[bytes, Outcome | None]:
    try:
        program = source.encode("utf-8")
    except UnicodeEncodeError as error:
        return b"", Outcome(status=Status.syntax, detail=f"UnicodeEncodeError: {error.reason} at {error.start}")
    if len(program) > MAX_PROGRAM:
        return b"", Outcome(status=Status.forbidden, detail=f"the program is longer than {MAX_PROGRAM} bytes")
    return program, None


def _start(tier: str, limits: Limits) -> _Worker:
    return MontyWorker(limits) if tier == "monty" else _ForkWorker(tier, limits)


def _start_checked(tier: str, limits: Limits) -> _Worker:
    """Start a tier's first worker and see its canaries fail.

    Raises:
        SandboxError: It does not start, or something got through.
    """
    worker = _start(tier, limits)
    if tier == _UNSAFE:
        return worker
    run = worker.run_once if isinstance(worker, _ForkWorker) else worker.run
    try:
        escaped = escaped_canaries(run)
    except BaseException:
        worker.close()
        raise
    if escaped:
        worker.close()
        raise SandboxError(f"{tier}: expected every canary to fail, but these did not: {', '.join(escaped)}")
    return worker


class Runner:
    """Runs batches of programs side by side; made by `open_runner`, closed by `with` or `close()`.

    Attributes:
        tier: The tier in use.
        reason: Why this tier, and what the better ones failed at.
        limits: What one program may use.
    """

    def __init__(
        self, *, tier: str, reason: str, limits: Limits, workers: int, first: _Worker, threads: ThreadPoolExecutor
    ) -> None:
        self.tier, self.reason, self.limits = tier, reason, limits
        self._threads = threads
        self._batch = threading.Lock()
        self._idle: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(workers - 1):
            self._idle.put(None)  # started by the thread that first needs it
        self._idle.put(first)

    def run(self, programs: Sequence[str | None], *, on_done: Callable[[int], None] | None = None) -> list[Outcome]:
        """Run a batch; identical programs run once.

        Args:
            programs: Sources that define `solution()`; None stands for a response without a program.
            on_done: Called in this thread, as programs finish, with how many of `programs` are settled so far.

        Returns:
            One outcome per program, in order.

        Raises:
            SandboxError: A server cannot be started again, or the runner is closed.
        """
        places: dict[str, list[int]] = {}
        for index, program in enumerate(programs):
            if program is not None:
                places.setdefault(program, []).append(index)
        outcomes = [Outcome(status=Status.no_code, detail="the response holds no program")] * len(programs)
        settled = len(programs) - sum(len(found) for found in places.values())
        if on_done is not None and settled:
            on_done(settled)
        for program, outcome in self._run_distinct(list(places)):
            for index in places[program]:
                outcomes[index] = outcome
            settled += len(places[program])
            if on_done is not None:
                on_done(settled)
        return outcomes

    def _run_distinct(self, sources: list[str]) -> Iterator[tuple[str, Outcome]]:
        with self._batch:
            try:
                pending = {self._threads.submit(self._run_one, source): source for source in sources}
            except RuntimeError as error:
                raise SandboxError("runner: expected an open one, got one that was closed. Open another.") from error
            try:
                for future in as_completed(pending):
                    yield pending[future], future.result()
            finally:
                for future in pending:
                    future.cancel()

    def _run_one(self, source: str) -> Outcome:
        worker = self._idle.get()
        try:
            worker = worker or _start(self.tier, self.limits)
            return worker.run(source)
        finally:
            self._idle.put(worker)

    def close(self) -> None:
        """End all servers; the runner cannot be used afterwards."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        while not self._idle.empty():
            worker = self._idle.get()
            if worker is not None:
                worker.close()

    def __enter__(self) -> "Runner":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def open_runner(
    *,
    tier: str = "auto",
    workers: int = 2,
    cpu_limit_s: float = 3.0,
    wall_limit_s: float = 12.0,
    memory_mb: int = 512,
) -> Runner:
    """Start a runner in the best tier that works here, or in the one asked for.

    Args:
        tier: One of `fin_tasks.settings.SANDBOX_TIERS`; `auto` never takes `unsafe-local-exec`.
        workers: Servers that run programs side by side.
        cpu_limit_s: CPU seconds per program, rounded up to whole ones; the criterion for a timeout.
        wall_limit_s: Seconds from start to end, against programs that sleep.
        memory_mb: Address space per program in MiB, beyond what the libraries take.

    Raises:
        SandboxError: No tier works here, or the one asked for does not; the message says what each failed at.
    """
    if tier not in SANDBOX_TIERS:
        raise SandboxError(f"sandbox tier: expected one of {', '.join(SANDBOX_TIERS)}, got {tier!r}")
    if workers < 1:
        raise SandboxError(f"sandbox workers: expected 1 or more, got {workers!r}")
    limits = Limits(cpu_s=cpu_limit_s, wall_s=wall_limit_s, memory_mb=memory_mb)
    # A server dies with the thread that started it (PDEATHSIG), so these threads live as long as the runner.
    threads = ThreadPoolExecutor(max_workers=workers, thread_name_prefix="fin-tasks-sandbox")
    failures: list[str] = []
    for name in _SAFE_TIERS if tier == "auto" else (tier,):
        try:
            first = threads.submit(_start_checked, name, limits).result()
        except SandboxError as error:
            failures.append(str(error))
            continue
        reason = "; ".join([_HOW[name], *failures])
        return Runner(tier=name, reason=reason, limits=limits, workers=workers, first=first, threads=threads)
    threads.shutdown()
    raise SandboxError(
        f"programs cannot be run safely here: {'; '.join(failures)}. Install the package `bubblewrap` (Linux) or "
        "pydantic-monty (`pip install 'fin-tasks[monty]'`), or accept the risk with the tier unsafe-local-exec."
    )


def describe_tiers() -> list[TierReport]:
    """Try every tier on this machine, canaries included, best first."""
    limits = Limits(cpu_s=2.0, wall_s=10.0, memory_mb=128)
    reports = []
    for name in _SAFE_TIERS:
        try:
            _start_checked(name, limits).close()
        except SandboxError as error:
            reports.append(TierReport(name=name, usable=False, reason=str(error)))
        else:
            reports.append(TierReport(name=name, usable=True, reason=_HOW[name]))
    reports.append(
        TierReport(name=_UNSAFE, usable=hasattr(os, "fork"), reason=f"{_HOW[_UNSAFE]}; never chosen by auto")
    )
    return reports
