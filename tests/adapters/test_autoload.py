"""The hook that lets a bare `lm_eval` find our tasks."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fin_tasks.resources import task_yaml_dir

ROOT = Path(__file__).parents[2]
START_FILES = ("fin_tasks_autoload.pth", "fin_tasks_autoload.py")
FAKE_MANAGER = """
class TaskManager:
    def __init__(self, verbosity=None, include_path=None, include_defaults=True, metadata=None):
        self.paths = [str(p) for p in include_path or []]
        self.metadata = metadata
"""
PRINT_PATHS = "from lm_eval.tasks import TaskManager; print(TaskManager({}).paths)"
N_FINDERS = "sum(type(finder).__name__ == 'HarnessFinder' for finder in sys.meta_path)"


def python(
    site: Path, code: str, manager: str = FAKE_MANAGER, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run code after the packaged start file, as the interpreter runs it, with a small lm-eval."""
    tasks = site / "lm_eval" / "tasks"
    tasks.mkdir(parents=True)
    for name in START_FILES:
        shutil.copy(ROOT / "src" / name, site)
    (tasks.parent / "__init__.py").touch()
    (tasks / "__init__.py").write_text(
        "from lm_eval.tasks.manager import TaskManager\n"
    )
    (tasks / "manager.py").write_text(manager)
    twice = f"site.addsitedir({str(site)!r}); " * 2  # as in a virtual environment
    env = {"PYTHONPATH": str(ROOT / "src"), **environ}
    return subprocess.run(
        [sys.executable, "-S", "-c", f"import site, sys; {twice}\n{code}"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )


def package(folder: Path, **texts: str) -> str:
    """Write a package named fin_tasks that has these modules; return the folder to put on the path."""
    for name, text in {"__init__": "", "adapters/__init__": "", **texts}.items():
        file = folder / "fin_tasks" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return str(folder)


@pytest.mark.parametrize(
    ("arguments", "switch", "paths"),
    [
        ("include_path=['mine']", "1", [str(task_yaml_dir()), "mine"]),
        ("'INFO', 'mine'", "1", [str(task_yaml_dir()), "mine"]),
        ("None, ['mine'], True, {}", "1", [str(task_yaml_dir()), "mine"]),
        (f"include_path=[{str(task_yaml_dir())!r}]", "1", [str(task_yaml_dir())]),
        ("include_defaults=False", "1", []),
        ("", "0", []),
    ],
)
def test_our_path_comes_once_and_before_the_users(
    tmp_path: Path, arguments: str, switch: str, paths: list[str]
) -> None:
    done = python(tmp_path, PRINT_PATHS.format(arguments), FIN_TASKS_AUTOLOAD=switch)
    assert (done.stdout.strip(), done.stderr) == (str(paths), "")


def test_an_unknown_harness_warns_and_goes_on(tmp_path: Path) -> None:
    code = "import lm_eval.tasks; print('went on')"
    done = python(tmp_path, code, "TaskManager = None\n", PYTHONWARNINGS="error")
    assert done.stdout.strip() == "went on", done.stderr
    assert done.stderr.startswith(
        "fin-tasks: warning: no tasks of ours in lm_eval.tasks.manager"
    )
    assert (done.stderr.count("\n"), "--include_path" in done.stderr) == (1, True)


@pytest.mark.parametrize(
    "module", ["__init__", "adapters/__init__", "adapters/autoload"]
)
@pytest.mark.parametrize(
    "text", ["1 / 0", "raise OSError('two\\nlines')", "not Python"]
)
def test_a_broken_package_costs_one_line(
    tmp_path: Path, module: str, text: str
) -> None:
    folder = package(tmp_path / "broken", **{module: text})
    done = python(
        tmp_path / "site",
        PRINT_PATHS.format("include_path=['mine']"),
        PYTHONPATH=folder,
    )
    assert done.stdout.strip() == "['mine']"
    assert done.stderr.startswith("fin-tasks: warning: no hook: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("text", ["1 / 0", "def task_yaml_dir(): raise ValueError", ""])
def test_a_package_that_breaks_later_costs_one_line(tmp_path: Path, text: str) -> None:
    hook = (ROOT / "src" / "fin_tasks" / "adapters" / "autoload.py").read_text()
    folder = package(
        tmp_path / "broken", **{"adapters/autoload": hook, "resources": text}
    )
    done = python(
        tmp_path / "site",
        PRINT_PATHS.format("include_path=['mine']"),
        PYTHONPATH=folder,
    )
    assert done.stdout.strip() == "['mine']"
    assert done.stderr.startswith(
        "fin-tasks: warning: no tasks of ours in lm_eval.tasks.manager"
    )
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("environ", "n_finders"),
    [({}, 1), ({"FIN_TASKS_AUTOLOAD": "0"}, 0), ({"PYTHONPATH": ""}, 0)],
)
def test_nothing_is_loaded_without_lm_eval(
    tmp_path: Path, environ: dict[str, str], n_finders: int
) -> None:
    """Also if the package was deleted, and its start files stayed."""
    heavy = "[m for m in ('lm_eval', 'inspect', 'pathlib') if m in sys.modules]"
    done = python(tmp_path, f"print({N_FINDERS}, {heavy})", **environ)
    assert (done.stdout.strip(), done.stderr) == (f"{n_finders} []", "")
