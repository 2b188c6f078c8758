"""Monty: what it cannot run is unscored, what no tier could run is the program's failure."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fin_tasks.sandbox import Runner, Status, open_runner
from fin_tasks.sandbox.monty import is_installed


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    pytest.importorskip("pydantic_monty")
    with open_runner(tier="monty", workers=1) as opened:
        yield opened


@pytest.mark.parametrize(
    ("program", "status"),
    [
        ("import numpy as np\ndef solution(): return 1", Status.unsupported),
        ("from scipy.stats import norm\ndef solution(): return 1", Status.unsupported),
        ("import math, statistics\ndef solution(): return 1", Status.unsupported),
        ("class A(int): pass\ndef solution(): return 1", Status.unsupported),
        ("import nonexistent_xyz\ndef solution(): return 1", Status.exception),
        ("import scipy.nonexistent_xyz\ndef solution(): return 1", Status.exception),
        ("from . import numpy\ndef solution(): return 1", Status.exception),
        (
            f"import {', '.join(f'x{n}' for n in range(5_000))}\ndef solution(): 1",
            Status.exception,
        ),
        (
            "try:\n    import nonexistent_xyz\nexcept ImportError:\n    pass\n"
            "def solution(): return 1",
            Status.ok,
        ),
        ("'''\nimport the numbers\n'''\ndef solution(): return 1", Status.ok),
        ("import os.path, json\ndef solution(): return 1", Status.ok),
    ],
)
def test_unsupported_is_only_what_another_tier_runs(
    program: str, status: Status, runner: Runner
) -> None:
    (outcome,) = runner.run([program])
    assert outcome.status is status, outcome


@pytest.mark.parametrize(
    ("module", "installed"),
    [
        ("math", True),
        ("os.path", True),
        ("importlib.metadata", True),
        ("scipy.stats", True),
        ("fin_tasks_package.deeper.module", True),
        ("fin_tasks_package.deeper.other", False),
        ("math.nonexistent", False),
        ("nonexistent.math", False),
        ("own_module", False),
        ("", False),
        (".", False),
        ("os..path", False),
    ],
)
def test_a_module_is_looked_for_and_not_executed(
    module: str, installed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site-packages" / "fin_tasks_package" / "deeper"
    folder.mkdir(parents=True)  # a namespace package
    (folder / "module.py").write_text("raise SystemExit('executed')")
    (tmp_path / "own_module.py").write_text("raise SystemExit('executed')")
    monkeypatch.setattr(
        sys, "path", [str(tmp_path), *sys.path, str(tmp_path / "site-packages")]
    )
    assert is_installed(module) is installed
    assert "fin_tasks_package" not in sys.modules
