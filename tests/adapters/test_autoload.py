"""The hook that lets a bare `lm_eval` find our tasks."""

import subprocess
import sys
from pathlib import Path

import pytest

from fin_tasks.resources import task_yaml_dir

ROOT = Path(__file__).parents[2]
FAKE_MANAGER = """
class TaskManager:
    def __init__(self, verbosity=None, include_path=None, include_defaults=True, metadata=None):
        self.paths = [str(p) for p in include_path or []]
"""


def python(
    site: Path, code: str, manager: str = FAKE_MANAGER, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run code after the packaged start file, as the interpreter runs it, with a small lm-eval."""
    tasks = site / "lm_eval" / "tasks"
    tasks.mkdir(parents=True)
    (site / "fin_tasks_autoload.pth").write_bytes(
        (ROOT / "src" / "fin_tasks_autoload.pth").read_bytes()
    )
    (tasks.parent / "__init__.py").touch()
    (tasks / "__init__.py").write_text("from lm_eval.tasks.manager import TaskManager\n")
    (tasks / "manager.py").write_text(manager)
    code = f"import site, sys; site.addsitedir({str(site)!r})\n{code}"
    env = {"PYTHONPATH": str(ROOT / "src"), **environ}
    return subprocess.run(
        [sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("arguments", "switch", "paths"),
    [
        ("include_path=['mine']", "1", [str(task_yaml_dir()), "mine"]),
        ("'INFO', 'mine'", "1", [str(task_yaml_dir()), "mine"]),
        ("include_defaults=False", "1", []),
        ("", "0", []),
    ],
)
def test_our_path_comes_before_the_users(
    tmp_path: Path, arguments: str, switch: str, paths: list[str]
) -> None:
    code = f"from lm_eval.tasks import TaskManager; print(TaskManager({arguments}).paths)"
    done = python(tmp_path, code, FIN_TASKS_AUTOLOAD=switch)
    assert (done.stdout.strip(), done.stderr) == (str(paths), "")


def test_an_unknown_harness_warns_and_still_imports(tmp_path: Path) -> None:
    code = "import lm_eval.tasks; print('imported')"
    done = python(tmp_path, code, manager="TaskManager = None\n", PYTHONWARNINGS="error")
    assert done.stdout.strip() == "imported", done.stderr
    assert "--include_path" in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("environ", [{}, {"FIN_TASKS_AUTOLOAD": "0"}, {"PYTHONPATH": ""}])
def test_nothing_is_loaded_without_lm_eval(tmp_path: Path, environ: dict[str, str]) -> None:
    """Also if the package was deleted, and its start file stayed."""
    finders = "sum(type(finder).__name__ == '_Finder' for finder in sys.meta_path)"
    done = python(
        tmp_path,
        f"print({finders}, [m for m in ('lm_eval', 'inspect') if m in sys.modules])",
        **environ,
    )
    assert (done.stdout.strip(), done.stderr) == (f"{int(not environ)} []", "")
