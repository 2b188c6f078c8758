"""The runner: order, repeats, restarts, tiers."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_machine import need_tier

from fin_tasks.errors import SandboxError
from fin_tasks.sandbox import Runner, Status, describe_tiers, open_runner
from fin_tasks.sandbox import client as client_module
from fin_tasks.sandbox.canary import CANARIES, escaped_canaries
from fin_tasks.sandbox.process import Limits, Server, ServerDied
from fin_tasks.settings import SANDBOX_TIERS

LIMITS = Limits(cpu_s=1.0, wall_s=5.0, memory_mb=128)
SOURCE = Path(client_module.__file__).parents[2]


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    need_tier("landlock")
    with open_runner(workers=2, cpu_limit_s=2, wall_limit_s=10) as opened:
        yield opened


def _light_server(tier: str = "landlock", limits: Limits = LIMITS) -> Server:
    need_tier(tier)
    return Server(tier=tier, limits=limits, preload=())


def test_order_is_kept_and_repeats_run_once(runner: Runner) -> None:
    programs = [f"def solution(): return {n % 7}" for n in range(40)]
    settled: list[int] = []
    outcomes = runner.run([None, *programs, None], on_done=settled.append)
    assert [o.value for o in outcomes] == [None, *(f"{n % 7}.0" for n in range(40)), None]
    assert outcomes[0].status is outcomes[-1].status is Status.no_code
    assert len(settled) == 8  # the two that need no run, then seven distinct programs
    assert settled[0] == 2
    assert settled[-1] == 42
    assert settled == sorted(settled)


def test_on_done_is_called_in_the_calling_thread(runner: Runner) -> None:
    threads = set()
    runner.run(["def solution(): return 'thread'"], on_done=lambda _: threads.add(threading.get_ident()))
    assert threads == {threading.get_ident()}


def test_an_empty_batch(runner: Runner) -> None:
    assert runner.run([]) == []


def test_random_numbers_repeat(runner: Runner) -> None:
    draw = "import random\nimport numpy as np\ndef solution():\n    return random.random() + np.random.rand() # {}\n"
    first, second = runner.run([draw.format(1), draw.format(2)])
    assert first.ran
    assert first.number == second.number


def test_numbers_in_containers_print_as_in_the_records(runner: Runner) -> None:
    (outcome,) = runner.run(["import numpy as np\ndef solution(): return (np.float64(0.5), 1)"])
    assert outcome.value == "(0.5, 1)"


@pytest.mark.parametrize(
    ("program", "status"),
    [("def solution(): return '\ud800'", Status.syntax), ("#" * (1 << 20) + "\n", Status.forbidden)],
    ids=["lone surrogate", "too long"],
)
def test_programs_that_cannot_be_sent(runner: Runner, program: str, status: Status) -> None:
    outcome, after = runner.run([program, "def solution(): return 1"])
    assert outcome.status is status
    assert after.value == "1.0"


def test_a_server_that_dies_is_replaced(runner: Runner) -> None:
    worker = runner._idle.get()
    assert isinstance(worker, client_module._ForkWorker)
    for server in worker._servers.values():
        os.kill(server._process.pid, signal.SIGKILL)
    runner._idle.put(worker)
    assert [o.value for o in runner.run([f"def solution(): return {n}" for n in (91, 92, 93)])] == [
        "91.0",
        "92.0",
        "93.0",
    ]


def test_a_program_that_takes_its_server_along_twice_is_forbidden(monkeypatch: pytest.MonkeyPatch) -> None:
    need_tier("landlock")
    worker = client_module._ForkWorker("landlock", LIMITS)
    starts = []

    def die(_self: Server, _program: bytes) -> object:
        starts.append(1)
        raise ServerDied("ended")

    monkeypatch.setattr(Server, "run", die)
    outcome = worker.run("def solution(): return 1")
    monkeypatch.undo()
    assert (outcome.status, len(starts)) == (Status.forbidden, 2)
    assert worker.run("def solution(): return 1").value == "1.0"
    worker.close()


def test_a_kill_with_little_cpu_is_tried_again() -> None:
    with _light_server(limits=Limits(cpu_s=2.0, wall_s=0.3, memory_mb=128)) as server:
        slept = server.run(b"import time\ndef solution(): time.sleep(60)")
        assert (slept.cut_short, slept.outcome.status) == (True, Status.timeout)
    with _light_server() as server:
        burnt = server.run(b"def solution():\n    while True: pass")
        assert (burnt.cut_short, burnt.outcome.status) == (False, Status.timeout)
        assert server.run(b"def solution(): return 1").cut_short is False


def test_a_second_try_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    need_tier("landlock")
    worker = client_module._ForkWorker("landlock", LIMITS)
    real, tries = Server.run, []

    def slow_at_first(self: Server, program: bytes) -> client_module.Report:
        report = real(self, program)
        tries.append(1)
        if len(tries) == 1:
            outcome = client_module.Outcome(status=Status.timeout)
            return client_module.Report(outcome=outcome, cut_short=True)
        return report

    monkeypatch.setattr(Server, "run", slow_at_first)
    assert worker.run("def solution(): return 5").value == "5.0"
    assert len(tries) == 2
    worker.close()


@pytest.mark.parametrize("tier", ["bwrap", "landlock"])
def test_canaries_fail_inside(tier: str) -> None:
    with _light_server(tier) as server:
        assert escaped_canaries(lambda program: server.run(program.encode()).outcome) == []


def test_canaries_get_through_where_nothing_protects() -> None:
    with Server(tier="unsafe-local-exec", limits=LIMITS, preload=()) as server:
        escaped = escaped_canaries(lambda program: server.run(program.encode()).outcome)
    # RLIMIT_FSIZE and RLIMIT_NPROC hold even here, the latter for ordinary users only
    assert {"read a file", "open a socket", "kill the parent"} <= set(escaped) <= set(CANARIES)
    assert "write a file" in escaped


def test_a_tier_whose_canaries_escape_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "escaped_canaries", lambda _run: ["fork"])
    with pytest.raises(SandboxError, match="expected every canary to fail, but these did not: fork"):
        open_runner(tier="landlock")


def test_auto_goes_down_the_tiers(monkeypatch: pytest.MonkeyPatch) -> None:
    need_tier("landlock")
    monkeypatch.setenv("PATH", "/nonexistent")
    with open_runner(workers=1) as runner:
        assert runner.tier == "landlock"
        assert "bwrap: expected the program" in runner.reason
        assert runner.run(["def solution(): return 3"])[0].value == "3.0"


def test_auto_never_runs_unprotected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "escaped_canaries", lambda _run: ["fork"])
    with pytest.raises(SandboxError, match=r"cannot be run safely here.*bwrap.*landlock.*Install the package"):
        open_runner()


def test_unprotected_only_when_asked_for() -> None:
    with open_runner(tier="unsafe-local-exec", workers=1) as runner:
        assert runner.reason == "no protection, as asked for"
        assert runner.run(["import os\ndef solution(): return len(os.listdir('/'))"])[0].number > 0  # type: ignore[operator]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tier": "docker"}, "sandbox tier: expected one of auto, bwrap, .*, got 'docker'"),
        ({"workers": 0}, "sandbox workers: expected 1 or more, got 0"),
        ({"cpu_limit_s": 0}, "sandbox limit cpu_s: expected a number above 0, got 0"),
        ({"wall_limit_s": float("nan")}, "sandbox limit wall_s: .* got nan"),
        ({"memory_mb": -1}, "sandbox limit memory_mb: .* got -1"),
    ],
)
def test_bad_options(options: dict[str, object], message: str) -> None:
    with pytest.raises(SandboxError, match=message):
        open_runner(**options)  # type: ignore[arg-type]


def test_a_closed_runner_says_so() -> None:
    with open_runner(tier="unsafe-local-exec", workers=1) as runner:
        pass
    with pytest.raises(SandboxError, match="expected an open one"):
        runner.run(["def solution(): return 1"])


def test_closing_leaves_no_process() -> None:
    with _light_server("bwrap") as server:
        pid = server._process.pid
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="PDEATHSIG is Linux's")
def test_a_killed_evaluator_takes_its_servers_along() -> None:
    need_tier("landlock")
    script = (
        "import sys, time; from fin_tasks.sandbox.process import Limits, Server\n"
        "s = Server(tier='landlock', limits=Limits(cpu_s=1, wall_s=5, memory_mb=64), preload=())\n"
        "print(s._process.pid, flush=True); time.sleep(60)\n"
    )
    evaluator = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert evaluator.stdout is not None
    with evaluator, evaluator.stdout:
        server = int(evaluator.stdout.readline())
        evaluator.kill()
    deadline = time.monotonic() + 60
    while _alive(server):
        assert time.monotonic() < deadline, "the server outlived its evaluator"
        time.sleep(0.01)


def _alive(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_describe_tiers_tells_of_every_tier(monkeypatch: pytest.MonkeyPatch) -> None:
    reports = describe_tiers()
    assert ("auto", *(report.name for report in reports)) == SANDBOX_TIERS
    assert all(report.reason for report in reports)
    monkeypatch.setenv("PATH", "/nonexistent")
    assert describe_tiers()[0].usable is False


def test_a_virtual_environment_under_tmp_works(tmp_path: Path) -> None:
    need_tier("bwrap")
    need_tier("landlock")
    venv = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=180)
    script = (
        "import sys; from fin_tasks.sandbox import open_runner\n"
        "assert 'numpy' not in sys.modules\n"
        "for tier in ('bwrap', 'landlock'):\n"
        "    with open_runner(tier=tier, workers=1) as r:\n"
        "        print(r.tier, *(o.value for o in r.run(['import sys\\ndef solution(): return sys.prefix'])))\n"
    )
    command = [str(venv / "bin" / "python"), "-c", script]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environment)
    assert done.stdout.splitlines() == [f"bwrap {venv}", f"landlock {venv}"], done.stderr
