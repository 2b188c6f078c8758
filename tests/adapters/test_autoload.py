"""The hook that lets a bare `lm_eval` find our tasks."""

import subprocess
import sys
import types
import warnings
from pathlib import Path

import pytest

from fin_tasks.adapters import autoload
from fin_tasks.resources import task_yaml_dir

ROOT = Path(__file__).parents[2]
FAKE_MANAGER = """
class TaskManager:
    def __init__(self, verbosity=None, include_path=None, include_defaults=True, metadata=None):
        self.paths = [str(p) for p in include_path or []]
        self.defaults = include_defaults
"""


@pytest.fixture
def fake_lm_eval(tmp_path: Path) -> Path:
    tasks = tmp_path / "lm_eval" / "tasks"
    tasks.mkdir(parents=True)
    (tmp_path / "lm_eval" / "__init__.py").write_text("")
    (tasks / "__init__.py").write_text("from lm_eval.tasks.manager import TaskManager\n")
    (tasks / "manager.py").write_text(FAKE_MANAGER)
    return tmp_path


def python(code: str, *paths: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run code in an interpreter of its own, in which the hook is installed first."""
    env = {
        "PYTHONPATH": ":".join(str(p) for p in (*paths, ROOT / "src")),
        "PATH": "",
        "FIN_TASKS_AUTOLOAD": "1",
        **environ,
    }
    code = "import fin_tasks.adapters.autoload as hook; hook.install()\n" + code
    return subprocess.run([sys.executable, "-S", "-c", code], env=env, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "switch", "paths"),
    [
        ("include_path=['mine']", "1", [str(task_yaml_dir()), "mine"]),
        ("'INFO', 'mine'", "1", [str(task_yaml_dir()), "mine"]),
        ("include_defaults=False", "1", []),
        ("", "0", []),
    ],
)
def test_our_path_comes_before_the_users(fake_lm_eval: Path, arguments: str, switch: str, paths: list[str]) -> None:
    code = f"from lm_eval.tasks import TaskManager; print(TaskManager({arguments}).paths)"
    done = python(code, fake_lm_eval, FIN_TASKS_AUTOLOAD=switch)
    assert done.stdout.strip() == str(paths), done.stderr


@pytest.mark.parametrize("warnings", ["default", "error"])
def test_an_unknown_harness_warns_and_still_imports(fake_lm_eval: Path, warnings: str) -> None:
    (fake_lm_eval / "lm_eval" / "tasks" / "manager.py").write_text("TaskManager = None\n")
    (fake_lm_eval / "lm_eval" / "tasks" / "__init__.py").write_text("import lm_eval.tasks.manager\n")
    done = python("import lm_eval.tasks; print('imported')", fake_lm_eval, PYTHONWARNINGS=warnings)
    assert done.stdout.strip() == "imported", done.stderr
    assert "RuntimeWarning: fin-tasks could not add its tasks" in done.stderr
    assert "--include_path" in done.stderr and "Traceback" not in done.stderr


def start(site: Path, code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run code after the packaged start file, as the interpreter runs it."""
    site.mkdir(exist_ok=True)
    (site / "fin_tasks_autoload.pth").write_bytes((ROOT / "src" / "fin_tasks_autoload.pth").read_bytes())
    code = f"import site; site.addsitedir({str(site)!r})\n{code}"
    return subprocess.run([sys.executable, "-S", "-c", code], env=environ, capture_output=True, text=True, check=False)


COUNT = "import sys; print(sum(type(finder).__name__ == '_Finder' for finder in sys.meta_path))"


@pytest.mark.parametrize(
    ("environ", "finders"),
    [
        ({"PYTHONPATH": str(ROOT / "src")}, "1"),
        ({"PYTHONPATH": str(ROOT / "src"), "FIN_TASKS_AUTOLOAD": "0"}, "0"),
        ({}, "0"),  # the package was deleted
    ],
)
def test_the_start_file_installs_the_hook(tmp_path: Path, environ: dict[str, str], finders: str) -> None:
    done = start(tmp_path / "site", COUNT, **environ)
    assert (done.stdout.strip(), done.stderr) == (finders, "")


def test_nothing_happens_without_lm_eval() -> None:
    done = python("import json, sys; print([m for m in sys.modules if m.startswith(('lm_eval', 'dataclasses'))])")
    assert done.stdout.strip() == "[]", done.stderr


def test_missing_task_folder_warns_and_keeps_the_users_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("lm_eval.tasks.manager")
    exec(FAKE_MANAGER, module.__dict__)  # noqa: S102 - the text above
    autoload._patch(module)
    autoload._patch(module)

    def broken() -> Path:
        raise OSError("gone")

    monkeypatch.setattr("fin_tasks.resources.task_yaml_dir", broken)
    with pytest.warns(RuntimeWarning, match="gone"):
        assert module.TaskManager(include_path=["mine"]).paths == ["mine"]
    monkeypatch.undo()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert module.TaskManager(include_path="mine").paths == [str(task_yaml_dir()), "mine"]
