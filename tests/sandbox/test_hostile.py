"""Nothing gets through, everything is classified, and the program after it is none the wiser."""

import contextlib
import platform
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from fin_tasks.sandbox import Runner, Status

CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("hostile.yaml").read_text(encoding="utf-8"))
SECRET = "bait-7d1f"  # noqa: S105 - bait, not a password
BENIGN = (
    "import json, math, os, random, sys\n"
    "def solution():\n"
    "    return round(float(str(math.sqrt(16.0))), 1) + len(json.dumps([1]))  # {marker}\n"
)
NUMERIC = "import numpy as np\ndef solution():\n    return float(np.sqrt(np.float64(49)))  # {marker}\n"
PLAIN = "def solution():\n    return round(6.999, 1) * 1.0  # {marker}\n"
"""For Monty, which has neither json nor numpy."""
VFORK = {"x86_64": "58", "aarch64": "1071"}  # aarch64 has no vfork: any number that is not on the list will do


@dataclass(frozen=True)
class Surroundings:
    """What the host offers as bait, and how it notices that something bit."""

    folder: Path
    listener: socket.socket

    @property
    def bait(self) -> Path:
        return self.folder / "bait"

    @property
    def target(self) -> Path:
        return self.folder / "target"

    def fill(self, program: str) -> str:
        places = {"BAIT": self.bait, "TARGET": self.target, "FOLDER": self.folder}
        for name, value in places.items():
            program = program.replace(f"@{name}@", str(value))
        port = str(self.listener.getsockname()[1])
        return program.replace("@PORT@", port).replace("@VFORK@", VFORK.get(platform.machine(), "1071"))

    def touched(self) -> list[str]:
        signs = [] if self.bait.read_text(encoding="utf-8") == SECRET else ["the bait was changed"]
        signs += ["the target was made"] if self.target.exists() or self.target.is_symlink() else []
        with contextlib.suppress(BlockingIOError):
            self.listener.accept()[0].close()
            signs.append("somebody connected")
        return signs


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Surroundings]:
    folder = tmp_path_factory.mktemp("surroundings")
    with socket.create_server(("127.0.0.1", 0)) as listener, pytest.MonkeyPatch.context() as patch:
        listener.setblocking(False)
        patch.setenv("FIN_TASKS_TEST_SECRET", SECRET)
        made = Surroundings(folder=folder, listener=listener)
        made.bait.write_text(SECRET, encoding="utf-8")
        (folder / "secretmodule.py").write_text(f"secret = {SECRET!r}\n", encoding="utf-8")
        yield made


def _allowed(case: dict[str, Any], tier: str) -> set[str]:
    if tier == "monty":
        said = case.get("monty", ["unsupported", "exception", "forbidden", "syntax", "timeout", "memory"])
    else:
        said = case["expect"]
    return {said} if isinstance(said, str) else set(said)


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 40
    assert len({case["id"] for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_hostile_program(any_runner: Runner, surroundings: Surroundings, case: dict[str, Any]) -> None:
    runner = any_runner
    # Two kinds, as numeric programs have a server of their own; one of them follows on the hostile program's.
    after = [PLAIN] if runner.tier == "monty" else [BENIGN, NUMERIC]
    programs = [surroundings.fill(case["program"]), *(program.format(marker=case["id"]) for program in after)]
    hostile, *benign = runner.run(programs)
    assert hostile.status.value in _allowed(case, runner.tier), hostile
    told = f"{hostile.value} {hostile.detail}"
    assert SECRET not in told
    assert "got through" not in told
    assert hostile.detail.isprintable()
    assert surroundings.touched() == []
    if hostile.ran and runner.tier != "monty":
        assert hostile.value is not None
        assert re.fullmatch(case["value"], hostile.value)
    assert {outcome.value for outcome in benign} == {"7.0"}


SEARCH = """
import ctypes
def solution():
    libc = ctypes.CDLL(None, use_errno=True)
    libc.sbrk.restype = ctypes.c_void_p
    libc.access.argtypes = (ctypes.c_void_p, ctypes.c_int)
    words = [b"wiped-" + b"source", b"wiped-" + b"result"]
    libc.memmem.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t)
    libc.memmem.restype = ctypes.c_void_p
    end = libc.sbrk(0)
    start = end - end % 4096 - 4096
    while libc.access(start, 0) == 0 or ctypes.get_errno() != 14:  # EFAULT: below the heap
        start -= 4096
    start += 4096
    if end - start < 100_000:
        raise ValueError("this is not the heap")
    return [word.decode() for word in words if libc.memmem(start, end - start, word, len(word))]
"""


def test_a_program_leaves_no_trace_for_the_next(kernel_runner: Runner) -> None:
    # Longer than what the small-object allocator takes, so that both would lie in the heap that is searched, and often
    # enough that what the next child allocates cannot overwrite it all.
    leaves = f"# {'wiped-source ' * 5_000}\ndef solution():\n    return 'wiped-' * 50 + 'result'\n"
    left, found = kernel_runner.run([leaves, SEARCH])
    assert left.value is not None
    assert left.value.endswith("wiped-result")
    assert (found.status, found.value) == (Status.ok, "[]"), found


def test_the_fiftieth_hostile_program_is_like_the_first(kernel_runner: Runner) -> None:
    programs = [f"import os\ndef solution():\n    os.close(3)\n    os._exit({n})\n" for n in range(50)]
    outcomes = kernel_runner.run(programs)
    assert {outcome.status for outcome in outcomes} == {Status.exception}
    assert kernel_runner.run([BENIGN.format(marker="last")])[0].value == "7.0"
