"""A built wheel and an editable install, each in a fresh virtual environment, as a user has them."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lm_eval
import pytest

ROOT = Path(__file__).parents[2]

PROBE = """
import json
from lm_eval.tasks import TaskManager
import fin_tasks
from fin_tasks.resources import folder_of, task_yaml_dir
manager = TaskManager()
places = [fin_tasks.__file__, str(task_yaml_dir()), str(folder_of('judges'))]
print(json.dumps([places, "xfinbench_calc" in manager.all_tasks, manager.include_path is None]))
"""

# What lm-eval's pull request 4015 adds to TaskManager: task folders of packages between its own and the user's.
PLUGINS = """
        from importlib.metadata import entry_points
        from importlib.util import find_spec
        for entry in entry_points(group="lm_eval.tasks"):
            all_paths += map(Path, find_spec(entry.value).submodule_search_locations)
"""


def installed(folder: Path, *what: str) -> Path:
    """Install into a virtual environment that sees this one's packages, but neither fin-tasks nor its .pth files."""
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "zz_dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = folder / "bin" / "python"
    command = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "--quiet",
        "--no-deps",
    ]
    subprocess.run(
        [*command, "--no-build-isolation", "--force-reinstall", *what],
        check=True,
        capture_output=True,
    )
    return python


def probe(python: Path, cwd: Path, **environ: str) -> Any:
    env = {
        k: v for k, v in os.environ.items() if not k.startswith(("FIN_TASKS", "PYTHONPATH"))
    } | environ
    done = subprocess.run(
        [str(python), "-c", PROBE], cwd=cwd, env=env, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout.splitlines()[-1])


def link_newer_lm_eval(folder: Path) -> None:
    """Link the files of lm-eval, without its tasks, and write a task manager that reads entry points."""
    theirs, ours = Path(lm_eval.__file__).parent, folder / "lm_eval"
    (ours / "tasks").mkdir(parents=True)
    for file in [*theirs.iterdir(), *theirs.glob("tasks/*.py")]:
        if file.name not in ("tasks", "manager.py"):
            (ours / file.relative_to(theirs)).symlink_to(file)
    text, mark = (theirs / "tasks" / "manager.py").read_text(), "        if include_path:\n"
    assert text.count(mark) == 1
    (ours / "tasks" / "manager.py").write_text(text.replace(mark, PLUGINS + mark))


@pytest.fixture(scope="module", params=["wheel", "editable"])
def python(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "editable":
        yield installed(folder / "venv", "--editable", str(ROOT))
        return
    build = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(folder),
        str(ROOT),
    ]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    inside = (
        "py.typed",
        "data/pins/xfinbench.json",
        "benchmarks/xfinbench/sample/validation_set.csv",
    )
    outside = ("task_yaml/xfinbench/_base.yaml", "judges/mme_finance_en.yaml")
    assert {"fin_tasks_autoload.pth", "fin_tasks_autoload.start"} <= names
    assert {f"fin_tasks/{one}" for one in inside + outside} <= names
    assert not [name for name in names if name.startswith(("tests/", "perf/"))]
    yield installed(folder / "venv", str(wheel))


def test_lm_eval_finds_our_tasks(python: Path, tmp_path: Path) -> None:
    places, found, untouched = probe(python, tmp_path)
    assert found and not untouched
    home = ROOT if places[0].startswith(str(ROOT)) else python.parents[1]
    assert all(place.startswith(str(home)) for place in places)
    assert probe(python, tmp_path, FIN_TASKS_AUTOLOAD="0")[1:] == [False, True]


def test_an_lm_eval_that_reads_entry_points_finds_them_without_the_hook(
    python: Path, tmp_path: Path
) -> None:
    link_newer_lm_eval(tmp_path)
    for switch in ("0", "1"):
        assert probe(python, tmp_path, FIN_TASKS_AUTOLOAD=switch, PYTHONPATH=str(tmp_path))[1:] == [
            True,
            True,
        ]
