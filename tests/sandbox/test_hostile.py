"""Nothing gets through, every program is classified, and the program after it runs as if nothing had happened."""

import platform
import re
import resource
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from fin_tasks.sandbox import Outcome, Runner, Status, open_runner
from fin_tasks.sandbox.policy import landlock_abi
from fin_tasks.sandbox.process import Limits

PROGRAMS: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    Path(__file__).with_name("hostile.yaml").read_text(encoding="utf-8")
)
CASES = PROGRAMS["ending"]
ENDLESS = PROGRAMS["endless"]
ESCAPES: dict[str, list[str]] = yaml.safe_load(
    Path(__file__).with_name("escapes.yaml").read_text(encoding="utf-8")
)
SECRET = "bait-7d1f"  # noqa: S105 - bait, not a password
BENIGN = "import json, math\ndef solution():\n    return math.sqrt(36.0) + len(json.dumps([])) - 1  # {}\n"
NUMERIC = "import numpy as np\ndef solution():\n    return float(np.sqrt(np.float64(49)))  # {}\n"
CALLS = {
    "x86_64": {"VFORK": "58", "MEMBARRIER": "324"},
    "aarch64": {"VFORK": "1071", "MEMBARRIER": "283"},
}


def missing(tier: str) -> str:
    # Asked without our own code: a tier that we broke must fail its tests, not skip them.
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "aarch64"):
        return f"no table of system calls for {platform.system()} {platform.machine()}"
    if tier == "landlock":
        return "" if landlock_abi() else "the kernel has no Landlock"
    bwrap = shutil.which("bwrap") or "true"
    namespaces = "--unshare-user --unshare-pid --unshare-net --ro-bind / /"
    probe = [bwrap, *namespaces.split(), "true"]
    done = subprocess.run(probe, capture_output=True, check=False, timeout=30)
    if done.returncode or bwrap == "true":
        return "bubblewrap cannot make namespaces here"
    return ""


@pytest.fixture(scope="module", params=["bwrap", "landlock"])
def tier(request: pytest.FixtureRequest) -> str:
    if reason := missing(request.param):
        pytest.skip(f"{request.param}: {reason}")
    return str(request.param)


@pytest.fixture(scope="module")
def any_runner(tier: str) -> Iterator[Runner]:
    """One runner per tier, with tight limits and one worker, so that every program runs where the last one did."""
    limits = Limits(cpu_s=1.0, wall_s=1.2, memory_mb=256)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIN_TASKS_TEST_SECRET", SECRET)
        with open_runner(tier=tier, workers=1, limits=limits) as runner:
            yield runner


@pytest.fixture(scope="module")
def hasty_runner(tier: str) -> Iterator[Runner]:
    """One runner per tier for programs that would never end."""
    limits = Limits(cpu_s=1.0, wall_s=0.4, memory_mb=256)
    with open_runner(tier=tier, workers=1, limits=limits) as runner:
        yield runner


@dataclass(frozen=True)
class Desk:
    """A folder and a server beside the sandbox, which no program may touch."""

    folder: Path
    listener: socket.socket

    def program(self, text: str) -> str:
        """Return a program with the places in it."""
        places = {
            "BAIT": self.folder / "bait",
            "TARGET": self.folder / "target",
            "FOLDER": self.folder,
            "PORT": self.listener.getsockname()[1],
            "TRACE": "wiped-source " * 5_000,
            **CALLS[platform.machine()],
        }
        for name, place in places.items():
            text = text.replace(f"@{name}@", str(place))
        return text

    def state(self) -> tuple[object, ...]:
        """Return what is in the folder, and of the bait all that a program could change."""
        bait = self.folder / "bait"
        facts = bait.stat()
        files = sorted(path.name for path in self.folder.iterdir())
        return files, bait.read_text(), facts.st_mtime_ns, facts.st_mode


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A desk that must be untouched in the end, and nobody may have called."""
    (tmp_path / "bait").write_text(SECRET)
    (tmp_path / "secretmodule.py").write_text(f"secret = {SECRET!r}\n")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        made = Desk(tmp_path, listener)
        before = made.state()
        yield made
        assert made.state() == before
        with pytest.raises(BlockingIOError):
            listener.accept()[0].close()


def check(outcome: Outcome) -> None:
    told = f"{outcome.value} {outcome.detail}"
    assert outcome.status is not Status.broken, told
    assert SECRET not in told
    assert "got through" not in told
    assert outcome.detail.isprintable()


def check_case(runner: Runner, desk: Desk, case: dict[str, Any]) -> None:
    tried = [case["before"], case["program"]] if "before" in case else [case["program"]]
    # Numeric programs have a server of their own.
    honest = NUMERIC if "numpy" in case["program"] else BENIGN
    outcomes = runner.run([*map(desk.program, tried), honest.format(case["id"])])
    *_, hostile, next_one = outcomes
    check(hostile)
    assert hostile.status.value in case["expect"], hostile
    if hostile.status is Status.ok:
        assert re.fullmatch(case["value"], hostile.value or "")
    assert next_one.value == "7.0"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_hostile_program(any_runner: Runner, desk: Desk, case: dict[str, Any]) -> None:
    check_case(any_runner, desk, case)


@pytest.mark.parametrize("case", ENDLESS, ids=lambda case: case["id"])
def test_endless_program(
    hasty_runner: Runner, desk: Desk, case: dict[str, Any]
) -> None:
    check_case(hasty_runner, desk, case)


def program_of(expression: str) -> str:
    """Return a program that returns the value of an expression, whose modules it imports."""
    names = set(
        re.findall(
            r"(?<![\w.'/])([a-z][a-z_0-9]*(?:\.[A-Za-z_0-9]+)*)\.[A-Za-z_]", expression
        )
    )
    lines = []
    for name in sorted(names):
        module = name
        while module:
            lines.append(f"try: import {module}\nexcept Exception: pass")
            module = module.rpartition(".")[0]
    return "\n".join([*lines, f"def solution(): return {expression}"])


@pytest.mark.parametrize("kind", ESCAPES)
def test_escapes(any_runner: Runner, desk: Desk, kind: str) -> None:
    # Behind some expressions, an honest program of each kind runs where they ran.
    for start in range(0, len(ESCAPES[kind]), 8):
        tried = ESCAPES[kind][start : start + 8]
        honest = [text.format(f"{kind} {start}") for text in (BENIGN, NUMERIC)]
        programs = [desk.program(program_of(expression)) for expression in tried]
        *hostile, first, second = any_runner.run([*programs, *honest])
        for outcome in hostile:
            check(outcome)
        assert first.value == second.value == "7.0", tried


@pytest.mark.parametrize(
    "answer", ["shared", "['x' * 10**7] * 100", "'x' * 10**7", "{1: [0] * 10**6}"]
)
def test_answers_cost_the_evaluator_nothing(hasty_runner: Runner, answer: str) -> None:
    started = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grow = ""
    if answer == "shared":
        grow = "shared = [1]\nfor _ in range(63):\n    shared = [shared, shared]\n"
    (outcome,) = hasty_runner.run([f"{grow}def solution(): return {answer}"])
    assert len(outcome.value or "") <= 2000
    assert time.process_time() - started < 0.5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 50_000  # KiB
