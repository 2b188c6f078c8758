"""A built wheel and an editable install, each in a fresh virtual environment, as a user has them."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

PROBE = """
import json
import sys
from lm_eval.tasks import TaskManager
import fin_tasks
from fin_tasks.resources import folder_of, task_yaml_dir
manager = TaskManager()
facts = {
    "places": [fin_tasks.__file__, str(task_yaml_dir()), str(folder_of("judges"))],
    "has_our_tasks": "xfinbench_calc" in manager.all_tasks,
    "is_untouched": manager.include_path is None,
    "n_finders": sum(type(finder).__name__ == "HarnessFinder" for finder in sys.meta_path),
}
print(json.dumps(facts))
"""

# A TaskManager that keeps what it gets, without the time and the packages that lm-eval's own needs.
SMALL_LM_EVAL = """
class TaskManager:
    all_tasks = ()
    def __init__(self, verbosity=None, include_path=None, include_defaults=True):
        self.all_tasks = ["xfinbench_calc"] * len(include_path or ())
        self.include_path = include_path
"""


def other_interpreters() -> list[Path]:
    """Return other Pythons of 3.11 to 3.13, from beside this one (pyenv, uv) or from PATH."""
    others = []
    for minor in {11, 12, 13} - {sys.version_info.minor}:
        name = f"python3.{minor}"
        beside = sorted(Path(sys.base_prefix).parent.glob(f"*3.{minor}*/bin/{name}"))
        candidates = [*map(str, beside), shutil.which(name)]
        working = [Path(path) for path in candidates if path and starts(path)]
        others += working[:1]
    return others


def starts(python: str) -> bool:
    """Return whether this is an interpreter; pyenv has a script of each name that may be none."""
    done = subprocess.run(
        [python, "-c", "import venv"], capture_output=True, check=False
    )
    return done.returncode == 0


def installed(folder: Path, *what: str, interpreter: Path | None = None) -> Path:
    """Install into a virtual environment that sees this one's packages, but neither fin-tasks nor its .pth files.

    An environment of another interpreter sees no packages: those here are not made for it.
    """
    made_by = interpreter or sys.executable
    subprocess.run([made_by, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    if interpreter is None:
        (site / "zz_dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    options = ["--no-deps", "--no-build-isolation", "--force-reinstall"]
    subprocess.run([*pip, *options, *what], check=True, capture_output=True)
    return python


def environment(**environ: str) -> dict[str, str]:
    names = [
        name for name in os.environ if not name.startswith(("FIN_TASKS", "PYTHONPATH"))
    ]
    return {name: os.environ[name] for name in names} | environ


def probe(python: Path, cwd: Path, **environ: str) -> Any:
    done = subprocess.run(
        [str(python), "-c", PROBE],
        cwd=cwd,
        env=environment(**environ),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "overrides existing task" not in done.stderr
    assert "fin-tasks: " not in done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def write_small_lm_eval(folder: Path) -> None:
    """Write a package lm_eval that is imported at once."""
    tasks = folder / "lm_eval" / "tasks"
    tasks.mkdir(parents=True)
    # Without this file a real lm_eval that is installed too would be imported.
    (folder / "lm_eval" / "__init__.py").touch()
    (tasks / "manager.py").write_text(SMALL_LM_EVAL)
    (tasks / "__init__.py").write_text(
        "from lm_eval.tasks.manager import TaskManager\n"
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir"]
    subprocess.run([*build, str(folder), str(ROOT)], check=True, capture_output=True)
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def wheel_python(wheel: Path) -> Path:
    return installed(wheel.parent / "venv", str(wheel))


@pytest.fixture(scope="module", params=["wheel", "editable"])
def python(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    if request.param == "wheel":
        return Path(request.getfixturevalue("wheel_python"))
    folder = tmp_path_factory.mktemp("editable")
    return installed(folder / "venv", "--editable", str(ROOT))


def test_a_wheel_has_everything_and_no_tests(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    inside = (
        "py.typed",
        "data/pins/xfinbench.json",
        "benchmarks/xfinbench/sample/validation_set.csv",
    )
    outside = ("task_yaml/xfinbench/_base.yaml", "judges/mme_finance_en.yaml")
    assert {
        f"fin_tasks_autoload.{suffix}" for suffix in ("pth", "py", "start")
    } <= names
    assert {f"fin_tasks/{name}" for name in inside + outside} <= names
    assert not [name for name in names if name.startswith(("tests/", "perf/"))]


def test_lm_eval_finds_our_tasks(python: Path, tmp_path: Path) -> None:
    """The first command, below, finds them in the real lm-eval."""
    write_small_lm_eval(tmp_path)
    path = {"PYTHONPATH": str(tmp_path)}
    facts = probe(python, tmp_path, **path)
    assert facts["has_our_tasks"] and not facts["is_untouched"]
    assert facts["n_finders"] == 1
    home = ROOT if facts["places"][0].startswith(str(ROOT)) else python.parents[1]
    assert all(place.startswith(str(home)) for place in facts["places"])
    facts = probe(python, tmp_path, FIN_TASKS_AUTOLOAD="0", **path)
    assert facts["is_untouched"] and not facts["has_our_tasks"]
    assert facts["n_finders"] == 0


@pytest.mark.parametrize(
    "interpreter", other_interpreters(), ids=lambda path: path.name
)
def test_a_virtual_environment_has_one_finder(
    wheel: Path, interpreter: Path, tmp_path: Path
) -> None:
    """Python handles the `.pth` files of a virtual environment twice."""
    fresh = installed(tmp_path / "venv", str(wheel), interpreter=interpreter)
    write_small_lm_eval(tmp_path)
    facts = probe(fresh, tmp_path, PYTHONPATH=str(tmp_path))
    assert (facts["n_finders"], facts["has_our_tasks"]) == (1, True)


def test_the_first_command_prints_no_warning_of_ours(
    wheel_python: Path, tmp_path: Path
) -> None:
    options = {
        "--model": "dummy",
        "--tasks": "xfinbench_calc",
        "--metadata": '{"source":"sample"}',
    }
    arguments = [text for option in options.items() for text in option]
    done = subprocess.run(
        [str(wheel_python), "-m", "lm_eval", *arguments],
        cwd=tmp_path,
        env=environment(HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert "|xfinbench_calc|" in done.stdout
    assert (
        len([line for line in done.stdout.splitlines() if line.startswith("|")]) <= 14
    )
    assert [line for line in done.stderr.splitlines() if "WARNING" in line] == []
