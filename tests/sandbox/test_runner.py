"""The runner: order, repeats, restarts, tiers."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import fin_tasks
from fin_tasks.errors import SandboxError
from fin_tasks.sandbox import Outcome, Runner, Status, describe_tiers, open_runner, run_programs
from fin_tasks.sandbox import runner as runner_module
from fin_tasks.sandbox.process import Server
from fin_tasks.settings import SANDBOX_TIERS, Settings

Need = Callable[[str], None]
SETTINGS = Settings.from_environ({"FIN_TASKS_SANDBOX": "landlock", "FIN_TASKS_SANDBOX_WORKERS": "1"})


@pytest.fixture(scope="module")
def runner(need_tier: Need) -> Iterator[Runner]:
    need_tier("landlock")
    with open_runner(workers=2, cpu_limit_s=2, wall_limit_s=10) as opened:
        yield opened


def _value(runner: Runner, source: str) -> str | None:
    return runner.run([source])[0].value


def test_order_is_kept_and_repeats_run_once(runner: Runner) -> None:
    settled: list[int] = []
    threads = set()

    def note(done: int) -> None:
        settled.append(done)
        threads.add(threading.get_ident())

    outcomes = runner.run([None, *(f"def solution(): return {n % 7}" for n in range(40)), None], on_done=note)
    assert [o.value for o in outcomes] == [None, *(f"{n % 7}.0" for n in range(40)), None]
    assert outcomes[0].status is outcomes[-1].status is Status.no_code
    assert settled == sorted(settled)
    assert (settled[0], settled[-1], len(settled)) == (2, 42, 8)  # two without a program, then seven distinct ones
    assert threads == {threading.get_ident()}
    assert runner.run([]) == []


def test_random_numbers_repeat_and_print_as_in_the_records(runner: Runner) -> None:
    draw = "import random\nimport numpy as np\ndef solution():\n    return random.random() + np.random.rand() # {}\n"
    first, second = runner.run([draw.format(1), draw.format(2)])
    assert first.number == second.number is not None
    assert _value(runner, "import numpy as np\ndef solution(): return (np.float64(0.5), 1)") == "(0.5, 1)"


@pytest.mark.parametrize(
    ("program", "status"),
    [("def solution(): return '\ud800'", Status.syntax), ("#" * (1 << 20) + "\n", Status.forbidden)],
    ids=["lone surrogate", "too long"],
)
def test_programs_that_cannot_be_sent(runner: Runner, program: str, status: Status) -> None:
    outcome, after = runner.run([program, "def solution(): return 1"])
    assert (outcome.status, after.value) == (status, "1.0")


def test_a_server_that_dies_is_replaced(runner: Runner) -> None:
    for servers in runner._idle.values():
        for server in servers:
            assert isinstance(server, Server)
            assert server._process is not None
            os.kill(server._process.pid, signal.SIGKILL)
    outcomes = runner.run([f"def solution(): return {n}" for n in (91, 92, 93)])
    assert [o.value for o in outcomes] == ["91.0", "92.0", "93.0"]


def test_a_program_that_takes_its_server_along_twice_is_forbidden(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(_self: Server, *_: object) -> object:
        tries.append(1)
        raise ConnectionError

    tries: list[int] = []
    started = runner_module.Server("landlock", runner._limits, ())
    started.run("def solution(): return 1")
    monkeypatch.setattr(Server, "_exchange", die)
    outcome, again = started.run("def solution(): return 1")
    assert (outcome.status, again, started._process, len(tries)) == (Status.forbidden, True, None, 1)


def test_a_kill_of_a_busy_machine_is_tried_once_more_but_sleep_is_not(
    runner: Runner, monkeypatch: pytest.MonkeyPatch, need_tier: Need
) -> None:
    killed = Outcome(status=Status.memory)
    answers = [(killed, True), (Outcome(status=Status.ok, value="5.0"), False)]
    with monkeypatch.context() as patch:
        patch.setattr(Server, "run", lambda _self, _source: answers.pop(0))
        assert _value(runner, "def solution(): return 5") == "5.0"
    need_tier("landlock")
    with open_runner(tier="landlock", workers=1, wall_limit_s=2) as short:
        started = time.monotonic()
        (slept,) = short.run(["import time\ndef solution(): time.sleep(60)"])
        assert slept.status is Status.timeout
        assert time.monotonic() - started < 3.8


def test_what_a_broken_sandbox_did_not_run_is_broken(need_tier: Need, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(server: Server) -> object:
        if "numpy" in server._preload:
            raise SandboxError("no \x1b memory left")
        return real(server)

    need_tier("landlock")
    real = Server._start
    monkeypatch.setattr(Server, "_start", start)
    programs = ["def solution(): return 1", None, "import numpy\ndef solution(): return 2"]
    outcomes = run_programs(programs, settings=SETTINGS)
    assert [o.status for o in outcomes] == [Status.ok, Status.no_code, Status.broken]
    assert outcomes[2].detail == r"no \x1b memory left"
    monkeypatch.setattr(Server, "_start", lambda _server: start(Server("", None, ("numpy",))))  # type: ignore[arg-type]
    with pytest.raises(SandboxError, match="memory left"):
        run_programs(programs, settings=SETTINGS)


def test_a_tier_whose_canaries_escape_is_refused(need_tier: Need, monkeypatch: pytest.MonkeyPatch) -> None:
    need_tier("landlock")
    monkeypatch.setitem(runner_module.CANARIES, "harmless", "def solution(): return 1")
    with pytest.raises(
        SandboxError, match=r"cannot be run safely here.*bwrap.*landlock.*harmless.*Install the package"
    ):
        open_runner()
    with open_runner(tier="unsafe-local-exec", workers=1) as unsafe:  # only if asked for
        assert unsafe.reason.startswith("no protection")
        assert unsafe.run([runner_module.CANARIES["read a file"].format(bait=__file__)])[0].ran


def test_auto_goes_down_the_tiers(need_tier: Need, monkeypatch: pytest.MonkeyPatch) -> None:
    need_tier("landlock")
    monkeypatch.setenv("PATH", "/nonexistent")
    with open_runner(workers=1) as found:
        assert found.tier == "landlock"
        assert "bwrap: expected the program" in found.reason
    reports = describe_tiers()
    assert ("auto", *(report.name for report in reports)) == SANDBOX_TIERS
    assert [report.usable for report in reports][:2] == [False, True]
    assert all(report.reason for report in reports)


@pytest.mark.parametrize("wrong", [{"tier": "docker"}, {"workers": 0}, {"cpu_limit_s": -1}, {"memory_mb": 0}])
def test_wrong_settings(wrong: dict[str, object]) -> None:
    with pytest.raises(SandboxError, match=r"expected .* got"):
        open_runner(**wrong)  # type: ignore[arg-type]


def test_a_killed_evaluator_takes_its_servers_along(need_tier: Need) -> None:
    need_tier("landlock")
    script = (
        "import time; from fin_tasks.sandbox import open_runner\n"
        "r = open_runner(tier='landlock', workers=1)\n"
        "print(next(iter(r._idle.values()))[0]._process.pid, flush=True); time.sleep(60)\n"
    )
    evaluator = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert evaluator.stdout is not None
    with evaluator, evaluator.stdout:
        status = Path(f"/proc/{int(evaluator.stdout.readline())}/status")
        assert "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000" in status.read_text() or os.getuid() != 0
        evaluator.kill()
    deadline = time.monotonic() + 60
    while status.exists() and "State:\tZ" not in status.read_text():
        assert time.monotonic() < deadline, "the server outlived its evaluator"
        time.sleep(0.01)


@pytest.mark.parametrize("tier", ["bwrap", "landlock"])
def test_an_installed_package_hides_its_samples(need_tier: Need, tmp_path: Path, tier: str) -> None:
    need_tier(tier)
    venv = tmp_path / "venv"  # under /tmp, where bubblewrap mounts a folder of its own
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True, timeout=180)
    (site,) = venv.glob("lib/python*/site-packages")
    source = Path(fin_tasks.__file__).parent
    for name in ("__init__.py", "errors.py", "settings.py", "sandbox", "benchmarks/xfinbench/sample"):
        copy = shutil.copytree if (source / name).is_dir() else shutil.copy
        (site / "fin_tasks" / name).parent.mkdir(parents=True, exist_ok=True)
        copy(source / name, site / "fin_tasks" / name)
    (site / "library.py").write_text("number = 7")
    sample = site / "fin_tasks/benchmarks/xfinbench/sample/validation_set.csv"
    assert sample.exists()
    programs = [
        f"def solution(): return open({str(sample)!r}).read()",
        "import library\ndef solution(): return library.number",
    ]
    script = (
        "from fin_tasks.sandbox import open_runner\n"
        f"with open_runner(tier={tier!r}, workers=1) as r: print(*(o.status.value for o in r.run({programs})))\n"
    )
    command = [str(venv / "bin" / "python"), "-c", script]
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, env=environ)
    assert done.stdout.split() == ["forbidden", "ok"], done.stderr
