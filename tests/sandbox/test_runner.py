"""The runner: order, repeats, restarts, tiers."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pydantic
import pytest

import fin_tasks
from fin_tasks.errors import ConfigError, SandboxError
from fin_tasks.sandbox import (
    Outcome,
    Runner,
    Status,
    describe_tiers,
    open_runner,
)
from fin_tasks.sandbox import runner as runner_module
from fin_tasks.sandbox.policy import landlock_abi
from fin_tasks.sandbox.process import Attempt, Limits, Server
from fin_tasks.settings import SANDBOX_TIERS

pytestmark = pytest.mark.skipif(
    landlock_abi() < 1, reason="this kernel has no Landlock"
)


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with open_runner(workers=2, limits=Limits(cpu_s=2, wall_s=10)) as opened:
        yield opened


def test_order_is_kept_and_repeats_run_once(runner: Runner) -> None:
    programs = [None, *(f"def solution(): return {n % 7}" for n in range(40)), None]
    outcomes = runner.run(programs)
    assert [o.value for o in outcomes] == [
        None,
        *(f"{n % 7}.0" for n in range(40)),
        None,
    ]
    assert outcomes[0].status is outcomes[-1].status is Status.no_code
    assert runner.run([]) == []


def test_few_numeric_programs_start_one_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_module, "_NUMERIC", ("math",))  # starts soon
    programs = [f"def solution(): return {n} # numpy" for n in range(15)]
    programs += [f"def solution(): return {n}" for n in range(15)]
    with open_runner(workers=2) as opened:
        outcomes = opened.run(programs)
        numbers_of_servers = [len(servers) for servers in opened.idle.values()]
    assert [outcome.number for outcome in outcomes] == [*range(15), *range(15)]
    assert numbers_of_servers[1] == 1


def test_what_programs_see(runner: Runner) -> None:
    draw = "import random\nimport numpy as np\ndef solution():\n    return random.random() + np.random.rand() # {}\n"
    shown = "import numpy as np\ndef solution(): return (np.float64(0.5), 1)"
    unsendable = "def solution(): return '\ud800'"
    first, second, in_tuple, surrogate = runner.run(
        [draw.format(1), draw.format(2), shown, unsendable]
    )
    assert first.number == second.number is not None
    assert in_tuple.value == "(0.5, 1)"  # as in the published records
    assert surrogate.status is Status.syntax


@pytest.mark.parametrize("tier", ["bwrap", "landlock"])
def test_a_program_of_any_size_is_judged_by_its_run(tier: str) -> None:
    program = "def solution(): return 5\n#" + "x" * (8 << 20)
    with open_runner(tier=tier, workers=1, limits=Limits(memory_mb=128)) as roomy:
        assert roomy.run([program])[0].value == "5.0"
    with open_runner(tier=tier, workers=1, limits=Limits(memory_mb=8)) as narrow:
        assert narrow.run([program])[0].status is Status.memory


def test_a_server_that_dies_is_replaced(runner: Runner) -> None:
    for server in sum(runner.idle.values(), start=[]):  # noqa: RUF017
        os.kill(server.process.pid, signal.SIGKILL)  # type: ignore[union-attr]
    outcomes = runner.run([f"def solution(): return {n}" for n in (91, 92, 93)])
    assert [o.value for o in outcomes] == ["91.0", "92.0", "93.0"]


def test_a_kill_of_a_busy_machine_is_tried_once_more_but_sleep_is_not(
    runner: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [
        Attempt(Outcome(status=Status.memory), worth_repeating=True),
        Attempt(Outcome(status=Status.ok, value="5.0")),
    ]
    with monkeypatch.context() as patch:
        patch.setattr(Server, "run", lambda _self, _source: answers.pop(0))
        assert runner.run(["def solution(): return 5"])[0].value == "5.0"
    with open_runner(tier="landlock", workers=1, limits=Limits(wall_s=0.5)) as short:
        started = time.monotonic()
        (slept,) = short.run(["import time\ndef solution(): time.sleep(60)"])
        assert slept.status is Status.timeout
        assert time.monotonic() - started < 0.9


def test_what_a_broken_sandbox_did_not_run_is_broken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, broken = Server._start, ["numpy"]

    def start(server: Server) -> "subprocess.Popen[bytes]":
        if set(broken) & set(server.preload):
            raise SandboxError("no \x1b memory left")
        return real(server)

    monkeypatch.setattr(Server, "_start", start)
    programs = [
        "def solution(): return 1",
        None,
        "import numpy\ndef solution(): return 2",
    ]
    with open_runner(tier="landlock", workers=1) as runner:
        outcomes = runner.run(programs)
    assert [o.status for o in outcomes] == [Status.ok, Status.no_code, Status.broken]
    assert outcomes[2].detail == r"no \x1b memory left"
    broken.append("math")
    with pytest.raises(SandboxError, match="memory left"):
        open_runner(tier="landlock", workers=1)


def test_an_unknown_tier_and_one_whose_canaries_escape_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(SandboxError, match=r"expected .* got 'docker'"):
        open_runner(tier="docker")
    monkeypatch.setitem(runner_module.CANARIES, "harmless", "def solution(): return 1")
    with pytest.raises(
        SandboxError,
        match=r"cannot be run safely here.*bwrap.*landlock.*harmless.*install",
    ):
        open_runner()


def test_the_environment_names_tier_and_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FIN_TASKS_SANDBOX", "landlock")
    monkeypatch.setenv("FIN_TASKS_SANDBOX_WORKERS", "1")
    with open_runner() as found:
        assert (found.tier, found.threads._max_workers) == ("landlock", 1)
    monkeypatch.setenv("FIN_TASKS_SANDBOX", "docker")
    with pytest.raises(ConfigError, match="FIN_TASKS_SANDBOX"):
        open_runner()


def test_auto_goes_down_the_tiers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with open_runner(workers=1) as found:
        assert found.tier == "landlock"
        assert "bwrap: expected the program" in found.facts["reason"]
    tiers = describe_tiers()
    assert ("auto", *tiers) == SANDBOX_TIERS
    assert tiers["bwrap"].startswith("no: ") and tiers["landlock"] == "works"


def test_a_killed_evaluator_takes_its_servers_along() -> None:
    script = "import time; from fin_tasks.sandbox import open_runner; r = open_runner(tier='landlock', workers=1)\n"
    script += "print(next(iter(r.idle.values()))[0].process.pid, flush=True); time.sleep(20)\n"
    evaluator = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True
    )
    assert evaluator.stdout is not None
    with evaluator, evaluator.stdout:
        status = Path(f"/proc/{int(evaluator.stdout.readline())}/status")
        assert (
            "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000" in status.read_text()
            or os.getuid() != 0
        )
        evaluator.kill()
    deadline = time.monotonic() + 60
    while status.exists() and "State:\tZ" not in status.read_text():
        assert time.monotonic() < deadline, "the server outlived its evaluator"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The packages of an environment with fin-tasks, another package, and a link out of it."""
    # Under /tmp, where bubblewrap mounts a folder of its own.
    venv = tmp_path_factory.mktemp("venv")
    command = [sys.executable, "-m", "venv", "--without-pip", str(venv)]
    subprocess.run(command, check=True, timeout=180)
    (site,) = venv.glob("lib/python*/site-packages")
    shutil.copytree(Path(fin_tasks.__file__).parent, site / "fin_tasks")
    (site / "others.pth").write_text(str(Path(pydantic.__file__).parents[1]))
    (site / "library.py").write_text("number = 7")
    (site / "link").symlink_to("/etc/hostname")
    return site


@pytest.mark.parametrize("tier", ["bwrap", "landlock"])
def test_other_packages_are_not_read(site: Path, tier: str) -> None:
    if tier == "bwrap" and shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    sample = "fin_tasks/benchmarks/xfinbench/sample/validation_set.csv"
    read = [site / sample, site / "link", site / "library.py", Path(pydantic.__file__)]
    read += Path("/usr/src").glob("*")
    programs = [f"def solution(): return open({str(path)!r}).read()" for path in read]
    for modules in ("library", "numpy, scipy.integrate", "pandas"):
        programs.append(f"import {modules}\ndef solution(): return 1")
    # The server imports few packages, as some take seconds.
    script = f"""\
from fin_tasks.sandbox import open_runner, runner as module
module._NUMERIC = ("numpy", "scipy.optimize")
with open_runner(tier={tier!r}, workers=1) as runner:
    print(*(outcome.status.value for outcome in runner.run({programs})))
"""
    command = [str(site.parents[2] / "bin" / "python"), "-c", script]
    environ = dict(os.environ)
    environ.pop("PYTHONPATH", None)
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env=environ
    )
    expected = ["forbidden"] * len(read) + ["exception", "ok", "ok"]
    assert done.stdout.split() == expected, done.stderr
