"""Nothing gets through, every program is classified, and the program after it runs as if nothing had happened."""

import platform
import re
import resource
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from fin_tasks.sandbox import Runner, Status, open_runner
from fin_tasks.sandbox.policy import landlock_abi
from fin_tasks.sandbox.process import Limits

CASES: list[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("hostile.yaml").read_text(encoding="utf-8")
)
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
    probe = [
        bwrap,
        "--unshare-user",
        "--unshare-pid",
        "--unshare-net",
        "--ro-bind",
        "/",
        "/",
        "true",
    ]
    done = subprocess.run(
        probe, capture_output=True, text=True, check=False, timeout=30
    )
    return (
        "bubblewrap cannot make namespaces here"
        if done.returncode or bwrap == "true"
        else ""
    )


@pytest.fixture(scope="module", params=["bwrap", "landlock"])
def any_runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    """One runner per tier, with tight limits and one worker, so that every program runs where the last one did."""
    if reason := missing(request.param):
        pytest.skip(f"{request.param}: {reason}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIN_TASKS_TEST_SECRET", SECRET)
        with open_runner(
            tier=request.param,
            workers=1,
            limits=Limits(cpu_s=1.0, wall_s=1.2, memory_mb=256),
        ) as runner:
            yield runner


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_hostile_program(
    any_runner: Runner, tmp_path: Path, case: dict[str, Any]
) -> None:
    bait, target = tmp_path / "bait", tmp_path / "target"
    bait.write_text(SECRET)
    (tmp_path / "secretmodule.py").write_text(f"secret = {SECRET!r}\n")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        places = {
            "BAIT": bait,
            "TARGET": target,
            "FOLDER": tmp_path,
            "PORT": port,
            "TRACE": "wiped-source " * 5_000,
        }
        before, program = case.get("before", "x = 1"), case["program"]
        for name, place in {**places, **CALLS[platform.machine()]}.items():
            before, program = (
                source.replace(f"@{name}@", str(place)) for source in (before, program)
            )
        after = [BENIGN, NUMERIC]  # numeric programs have a server of their own
        _, hostile, *benign = any_runner.run(
            [
                f"{before}# {case['id']}",
                program,
                *(source.format(case["id"]) for source in after),
            ]
        )
        with pytest.raises(BlockingIOError):
            listener.accept()[0].close()
    assert hostile.status.value in case["expect"], hostile
    assert SECRET not in f"{hostile.value} {hostile.detail}"
    assert "got through" not in f"{hostile.value} {hostile.detail}"
    assert hostile.detail.isprintable()
    assert bait.read_text() == SECRET
    assert not target.exists()
    if hostile.status is Status.ok:
        assert re.fullmatch(case["value"], hostile.value or "")
    assert {outcome.value for outcome in benign} == {"7.0"}


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


def batched(items: Sequence[str], n: int) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), n):
        yield items[start : start + n]


@pytest.mark.parametrize("kind", ESCAPES)
def test_escapes(any_runner: Runner, tmp_path: Path, kind: str) -> None:
    bait, target = tmp_path / "bait", tmp_path / "target"
    bait.write_text(SECRET)
    (tmp_path / "secretmodule.py").write_text(f"secret = {SECRET!r}\n")
    before = (bait.stat().st_mtime_ns, bait.stat().st_mode)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        places = {"BAIT": bait, "TARGET": target, "FOLDER": tmp_path, "PORT": port}
        expressions = []
        for expression in ESCAPES[kind]:
            for name, place in places.items():
                expression = expression.replace(f"@{name}@", str(place))
            expressions.append(expression)
        # Behind some expressions, an honest program of each kind runs where they ran.
        for number, tried in enumerate(batched(expressions, 8)):
            honest = [
                program.format(f"{kind} {number}") for program in (BENIGN, NUMERIC)
            ]
            *hostile, first, second = any_runner.run([*map(program_of, tried), *honest])
            for expression, outcome in zip(tried, hostile, strict=True):
                told = f"{outcome.value} {outcome.detail}"
                assert outcome.status is not Status.broken, (expression, told)
                assert SECRET not in told and "got through" not in told, expression
                assert outcome.detail.isprintable(), expression
            assert first.value == second.value == "7.0", tried
        with pytest.raises(BlockingIOError):
            listener.accept()[0].close()
    assert bait.read_text() == SECRET
    assert (bait.stat().st_mtime_ns, bait.stat().st_mode) == before
    assert not target.exists() and not target.is_symlink()


@pytest.mark.parametrize(
    "answer", ["shared", "['x' * 10**7] * 100", "'x' * 10**7", "{1: [0] * 10**6}"]
)
def test_answers_cost_the_evaluator_nothing(any_runner: Runner, answer: str) -> None:
    started, memory = (
        time.process_time(),
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    )
    grow = (
        "shared = [1]\nfor _ in range(63):\n    shared = [shared, shared]\n"
        if answer == "shared"
        else ""
    )
    (outcome,) = any_runner.run([f"{grow}def solution(): return {answer}"])
    assert len(outcome.value or "") <= 2000
    assert time.process_time() - started < 0.5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory < 50_000  # KiB
