"""A built wheel and an editable install, each in a fresh virtual environment, as a user has them."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PROBE = """
import json, sys
from lm_eval.tasks import TaskManager
import fin_tasks
from fin_tasks.resources import judges_dir, task_yaml_dir
manager = TaskManager()
print(json.dumps({
    "package": fin_tasks.__file__,
    "task_yaml": str(task_yaml_dir()),
    "judges": str(judges_dir()),
    "ours": sorted(t for t in manager.all_tasks if t.startswith("xfinbench")),
    "theirs": "hellaswag" in manager.all_tasks,
}))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)],
        check=True,
        capture_output=True,
    )
    (built,) = out.glob("*.whl")
    return built


def fresh_environment(path: Path) -> Path:
    """A virtual environment that sees this one's packages, but not its install of fin-tasks nor its .pth files."""
    venv.create(path, with_pip=False, symlinks=True)
    (site,) = path.glob("lib/python*/site-packages")
    (site / "zz_dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return path / "bin" / "python"


def install(python: Path, *what: str) -> None:
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--no-build-isolation", "--force-reinstall", *what], check=True, capture_output=True)


def probe(python: Path, cwd: Path, **environ: str) -> dict[str, object]:
    env = {k: v for k, v in os.environ.items() if not k.startswith(("FIN_TASKS", "PYTHONPATH"))} | environ
    done = subprocess.run([str(python), "-c", PROBE], cwd=cwd, env=env, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_wheel_carries_what_the_package_needs_outside_itself(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "fin_tasks_autoload.pth",
        "fin_tasks_autoload.start",
        "fin_tasks/task_yaml/xfinbench/_base.yaml",
        "fin_tasks/judges/mme_finance_en.yaml",
    } <= names
    assert {
        "fin_tasks/py.typed",
        "fin_tasks/data/pins/xfinbench.json",
        "fin_tasks/benchmarks/xfinbench/sample/validation_set.csv",
    } <= names
    assert not [name for name in names if name.startswith(("tests/", "perf/"))]


def test_installed_wheel_is_found_by_lm_eval(wheel: Path, tmp_path: Path) -> None:
    python = fresh_environment(tmp_path / "venv")
    install(python, str(wheel))
    found = probe(python, tmp_path)
    assert str(found["package"]).startswith(str(tmp_path))
    assert str(found["task_yaml"]).startswith(str(tmp_path))
    assert str(found["judges"]).startswith(str(tmp_path))
    assert "xfinbench_calc" in found["ours"] and found["theirs"]
    assert probe(python, tmp_path, FIN_TASKS_AUTOLOAD="0")["ours"] == []


def test_editable_install_is_found_by_lm_eval(tmp_path: Path) -> None:
    python = fresh_environment(tmp_path / "venv")
    install(python, "--editable", str(ROOT))
    found = probe(python, tmp_path)
    assert str(found["package"]).startswith(str(ROOT / "src"))
    assert found["task_yaml"] == str(ROOT / "task_yaml")
    assert "xfinbench_calc" in found["ours"] and found["theirs"]
