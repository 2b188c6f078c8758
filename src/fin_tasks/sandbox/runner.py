"""The runner: it picks a tier, keeps its servers alive, and runs batches of programs."""

import contextlib
import re
import socket
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tqdm import tqdm

from fin_tasks.errors import SandboxError
from fin_tasks.sandbox.monty import MontyServer
from fin_tasks.sandbox.outcome import Outcome, Status, escape
from fin_tasks.sandbox.process import Limits, Server
from fin_tasks.sandbox.server import MAX_PROGRAM
from fin_tasks.settings import SANDBOX_TIERS, Settings

_PLAIN = ("math", "statistics", "random", "datetime", "decimal", "fractions", "itertools", "re")
_NUMERIC = (*_PLAIN, "numpy", "scipy.optimize", "scipy.stats", "sympy")
_MANY = 10  # programs whose progress is shown
_NAMES_NUMERIC = re.compile(r"numpy|scipy|sympy|mpmath|pandas")
CANARIES = {  # a tier is trusted only if none of these programs returns
    "read a file": "def solution(): return open({bait!r}).read()",
    "write a file": "def solution(): return open({target!r}, 'w').write('x')",
    "open a socket": "import socket\ndef solution(): return str(socket.create_connection(('127.0.0.1', {port}), 2))",
    "fork": "import os\ndef solution(): return os.fork() or os._exit(0)",
    "kill the parent": "import os\ndef solution(): return os.kill(os.getppid(), 9)",
}


class Runner(contextlib.AbstractContextManager["Runner"]):
    """Runs batches of programs side by side in `tier`; `reason` says why no better tier is used."""

    def __init__(self, tier: str, reason: str, limits: Limits, workers: int) -> None:
        self.tier, self.reason, self._limits = tier, reason, limits
        # A server dies with the thread that started it (PDEATHSIG), so the threads live as long as the runner.
        self._threads = ThreadPoolExecutor(
            max_workers=workers, thread_name_prefix="fin-tasks-sandbox"
        )
        # Forking takes longer the more memory the parent has: servers without numeric libraries are twice as fast.
        self._idle: dict[tuple[str, ...], list[Server | MontyServer]] = {_PLAIN: [], _NUMERIC: []}

    def run(self, programs: Sequence[str | None]) -> list[Outcome]:
        """Run programs, identical ones once; None is a response without one. A terminal shows progress of many."""
        places: dict[str | None, list[int]] = {}
        for index, program in enumerate(programs):
            places.setdefault(program, []).append(index)
        outcomes = [Outcome(status=Status.no_code, detail="the response holds no program")] * len(
            programs
        )
        places.pop(None, None)
        pending = {
            self._threads.submit(self._run_one, source or ""): indexes
            for source, indexes in places.items()
        }
        hidden = True if len(pending) < _MANY else None  # None: unless there is a terminal
        for future in tqdm(
            as_completed(pending), "Running programs", len(pending), unit="program", disable=hidden
        ):
            for index in pending[future]:
                outcomes[index] = future.result()
        return outcomes

    def _run_one(self, source: str) -> Outcome:
        try:
            if len(source.encode()) > MAX_PROGRAM:
                return Outcome(
                    status=Status.forbidden,
                    detail=f"the program is longer than {MAX_PROGRAM} bytes",
                )
        except UnicodeEncodeError as error:
            return Outcome(
                status=Status.syntax, detail=f"UnicodeEncodeError: {error.reason} at {error.start}"
            )
        preload = _NUMERIC if _NAMES_NUMERIC.search(source) else _PLAIN
        try:
            try:
                server = self._idle[preload].pop()
            except IndexError:
                monty = self.tier == "monty"
                server = (
                    MontyServer(self._limits) if monty else Server(self.tier, self._limits, preload)
                )
            outcome, again = server.run(source)
            if again:
                outcome, _ = server.run(source)
        except SandboxError as error:
            return Outcome(status=Status.broken, detail=escape(str(error)))
        self._idle[preload].append(server)
        return outcome

    def close(self) -> None:
        """End all servers; the runner cannot be used afterwards."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        for server in (*self._idle[_PLAIN], *self._idle[_NUMERIC]):
            server.close()

    def __exit__(self, *_: object) -> None:
        self.close()


def open_runner(
    *,
    tier: str = "auto",
    workers: int = 2,
    cpu_limit_s: float = 3.0,
    wall_limit_s: float = 12.0,
    memory_mb: int = 512,
) -> Runner:
    """Start a runner in the best tier that works here, or in the one asked for; SandboxError says why none works.

    Each program has its own CPU seconds (rounded up), wall seconds, and MiB beyond the libraries.
    """
    if tier not in SANDBOX_TIERS:
        raise SandboxError(
            f"sandbox tier: expected one of {', '.join(SANDBOX_TIERS)}, got {tier!r}"
        )
    failures: list[str] = []
    for name in SANDBOX_TIERS[1:] if tier == "auto" else (tier,):
        reason = "; ".join(failures) or "the first tier that was tried"
        runner = Runner(name, reason, Limits(cpu_limit_s, wall_limit_s, memory_mb), workers)
        try:
            _check_tier(runner)
        except SandboxError as error:
            runner.close()
            failures.append(str(error))
        else:
            return runner
    raise SandboxError(
        f"programs cannot be run safely here: {'; '.join(failures)}. Install the package `bubblewrap` (Linux) or "
        "pydantic-monty (`pip install 'fin-tasks[monty]'`)."
    )


def _check_tier(runner: Runner) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        socket.create_server(("127.0.0.1", 0)) as listener,
    ):
        bait, target = Path(folder, "bait"), Path(folder, "target")
        bait.write_text("bait")
        places = {"bait": str(bait), "target": str(target), "port": listener.getsockname()[1]}
        programs = [program.format_map(places) for program in CANARIES.values()]
        works, *outcomes = runner.run(["def solution(): return 6 * 7", *programs])
        if works.value != "42.0":
            raise SandboxError(
                works.detail
                if works.status is Status.broken
                else f"{runner.tier}: 6 * 7 gave {works}"
            )
        escaped = [
            name
            for name, o in zip(CANARIES, outcomes, strict=True)
            if o.ran or "server died" in o.detail
        ]
        if escaped or target.exists():
            raise SandboxError(
                f"{runner.tier}: expected every canary to fail, but these did not: {escaped}"
            )


def run_programs(programs: Sequence[str | None], *, settings: Settings) -> list[Outcome]:
    """Run programs with the tier and workers of the settings; raise SandboxError if no runner can be opened."""
    with open_runner(tier=settings.sandbox, workers=settings.sandbox_workers) as runner:
        return runner.run(programs)


def describe_tiers() -> dict[str, str]:
    """Try every tier on this machine, best first; return `works` or `no` with the reason."""
    found: dict[str, str] = {}
    for name in SANDBOX_TIERS[1:]:
        try:
            open_runner(tier=name, workers=1).close()
            found[name] = "works"
        except SandboxError as error:
            found[name] = f"no: {error}"
    return found
