"""What importing the package costs and pulls in."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fin_tasks import resources

HEAVY = ("lm_eval", "torch", "pandas", "matplotlib", "numpy", "datasets", "dataclasses")


@pytest.mark.parametrize("module", ["fin_tasks", "fin_tasks.adapters.autoload"])
def test_import_is_light(module: str) -> None:
    code = f"import sys; before = set(sys.modules); import {module}; print(sorted(set(sys.modules) - before))"
    env = {
        **os.environ,
        "FIN_TASKS_AUTOLOAD": "0",
        "PYTHONPATH": str(Path(resources.__file__).parents[1]),
    }
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        env=env,
        capture_output=True,
        text=True,
        check=True,
    )
    imported = done.stdout
    assert module in imported
    assert [name for name in HEAVY if f"'{name}'" in imported] == []


def test_the_command_line_imports_nothing_heavy_before_it_is_used() -> None:
    heavy = ("lm_eval", "torch", "pandas", "matplotlib")
    code = f"import sys; import fin_tasks.cli; print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
