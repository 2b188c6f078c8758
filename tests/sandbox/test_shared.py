"""The sandbox of the process: one start, programs once, and failures that pass."""

import logging
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from fin_tasks.errors import SandboxError
from fin_tasks.sandbox import Outcome, Runner, Status, run_programs, shared_runner
from fin_tasks.sandbox import runner as runner_module
from fin_tasks.sandbox.policy import landlock_abi
from fin_tasks.sandbox.process import Server

pytestmark = pytest.mark.skipif(
    landlock_abi() < 1, reason="this kernel has no Landlock"
)
SCRIPT = """\
from fin_tasks.sandbox import run_programs, shared_runner
programs = [f"def solution(): return {n}" for n in range(3)]
print(*(outcome.value for outcome in run_programs(programs)))
servers = [server for idle in shared_runner().idle.values() for server in idle]
print(*(server.process.pid for server in servers), flush=True)
"""
SLOW = """\
programs = [f"import time\\ndef solution(): time.sleep(1) # {n}" for n in range(200)]
run_programs(programs)
"""


@pytest.fixture
def unopened(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[object, Runner]]:
    """Give the test a shared runner of its own, without what earlier programs did."""
    monkeypatch.setenv("FIN_TASKS_SANDBOX", "landlock")
    runners: dict[object, Runner] = {}
    monkeypatch.setattr(runner_module, "_runners", runners)
    monkeypatch.setattr(runner_module, "_outcomes", {})
    yield runners
    for runner in runners.values():
        runner.close()


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[list[str | None]]:
    """Record what reaches a runner."""
    run = Runner.run
    recorded = []

    def recorded_run(runner: Runner, programs: Sequence[str | None]) -> list[Outcome]:
        recorded.append(list(programs))
        return run(runner, programs)

    monkeypatch.setattr(Runner, "run", recorded_run)
    return recorded


def test_it_starts_once_for_facts_and_programs(unopened: object) -> None:
    runner = shared_runner()
    assert runner.facts == {"tier": "landlock", "reason": runner.facts["reason"]}
    one, none = run_programs(["def solution(): return 1", None])
    assert (one.value, none.status) == ("1.0", Status.no_code)
    assert shared_runner() is runner
    assert runner_module._runners == {("landlock", runner.threads._max_workers): runner}


def test_a_program_runs_once_for_both_scorings(
    unopened: object, batches: list[list[str | None]]
) -> None:
    shared_runner()
    batches.clear()
    first = run_programs(["def solution(): return 5", "def solution(): return 6"])
    second = run_programs(
        ["def solution(): return 6", None, "def solution(): return 7"]
    )
    assert [outcome.value for outcome in first] == ["5.0", "6.0"]
    assert [outcome.value for outcome in second] == ["6.0", None, "7.0"]
    assert batches[1] == [None, "def solution(): return 7"]


def test_a_sandbox_that_cannot_start_is_tried_again(
    unopened: object, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    programs = ["def solution(): return 8", None]
    with monkeypatch.context() as patch, caplog.at_level(logging.ERROR):
        patch.setenv("FIN_TASKS_SANDBOX", "bwrap")
        patch.setenv("PATH", "/nonexistent")
        assert {outcome.status for outcome in run_programs(programs)} == {Status.broken}
        assert "expected the program of the package" in caplog.text
        with pytest.raises(SandboxError, match="bubblewrap"):
            shared_runner()
    assert [outcome.value for outcome in run_programs(programs)] == ["8.0", None]


@pytest.mark.parametrize("error", [SandboxError("gone"), OSError("no processes left")])
def test_servers_that_fail_are_tried_again(
    unopened: object, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    shared_runner()

    def fail(server: Server, source: str) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Server, "run", fail)
        (broken,) = run_programs(["def solution(): return 9"])
        assert (broken.status, broken.detail) == (Status.broken, str(error))
    assert run_programs(["def solution(): return 9"])[0].value == "9.0"


def test_a_runner_that_raises_leaves_programs_unscored(
    unopened: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared_runner()

    def fail(runner: Runner, programs: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Runner, "run", fail)
    (outcome,) = run_programs(["def solution(): return 10"])
    assert (outcome.is_unscored, outcome.detail) == (True, "can't start new thread")


def started(script: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-X", "dev", "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def are_gone(pids: str) -> bool:
    """Return whether processes have ended and were waited for."""
    return not any(Path(f"/proc/{pid}").exists() for pid in pids.split())


def test_it_is_closed_when_python_ends() -> None:
    with started(SCRIPT) as process:
        output, errors = process.communicate(timeout=120)
    values, pids = output.splitlines()
    assert (values, errors, process.returncode) == ("0.0 1.0 2.0", "", 0)
    assert are_gone(pids)


def test_it_is_closed_soon_after_an_interrupt() -> None:
    with started(SCRIPT + SLOW) as process:
        assert process.stdout is not None
        process.stdout.readline()
        pids = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert "ResourceWarning" not in errors
    assert are_gone(pids)
