"""A built wheel and an editable install, each in a fresh virtual environment, as a user has them."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]

PROBE = """
import json
from lm_eval.tasks import TaskManager
import fin_tasks
from fin_tasks.resources import judges_dir, task_yaml_dir
tasks = TaskManager().all_tasks
places = [fin_tasks.__file__, str(task_yaml_dir()), str(judges_dir())]
print(json.dumps([places, "xfinbench_calc" in tasks, "hellaswag" in tasks]))
"""


def installed(folder: Path, *what: str) -> Path:
    """Install into a virtual environment that sees this one's packages, but neither fin-tasks nor its .pth files."""
    venv.create(folder, with_pip=False, symlinks=True)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "zz_dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = folder / "bin" / "python"
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--no-build-isolation", "--force-reinstall", *what], check=True, capture_output=True)
    return python


def probe(python: Path, cwd: Path, **environ: str) -> tuple[list[str], bool, bool]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("FIN_TASKS", "PYTHONPATH"))} | environ
    done = subprocess.run([str(python), "-c", PROBE], cwd=cwd, env=env, capture_output=True, text=True, check=True)
    places, ours, theirs = json.loads(done.stdout.splitlines()[-1])
    return places, ours, theirs


def test_a_wheel_carries_all_and_is_found_by_lm_eval(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    inside = ("py.typed", "data/pins/xfinbench.json", "benchmarks/xfinbench/sample/validation_set.csv")
    outside = ("task_yaml/xfinbench/_base.yaml", "judges/mme_finance_en.yaml")
    wanted = {"fin_tasks_autoload.pth", "fin_tasks_autoload.start", *(f"fin_tasks/{one}" for one in inside + outside)}
    assert wanted <= names
    assert not [name for name in names if name.startswith(("tests/", "perf/"))]
    python = installed(tmp_path / "venv", str(wheel))
    places, ours, theirs = probe(python, tmp_path)
    assert ours and theirs and all(place.startswith(str(tmp_path)) for place in places)
    assert probe(python, tmp_path, FIN_TASKS_AUTOLOAD="0")[1:] == (False, True)


def test_an_editable_install_is_found_by_lm_eval(tmp_path: Path) -> None:
    places, ours, theirs = probe(installed(tmp_path / "venv", "--editable", str(ROOT)), tmp_path)
    assert ours and theirs
    assert places[0].startswith(str(ROOT / "src")) and places[1] == str(ROOT / "task_yaml")
