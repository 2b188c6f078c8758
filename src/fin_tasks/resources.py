"""Where `task_yaml/` and `judges/` are: inside an installed wheel, or at the top of a checkout."""

import re
from pathlib import Path

from fin_tasks.errors import ConfigError

__all__ = ["judges_dir", "task_version", "task_yaml_dir"]

_PACKAGE = Path(__file__).resolve().parent


def task_yaml_dir() -> Path:
    """Return the folder with lm-eval's task definitions."""
    return _find("task_yaml")


def judges_dir() -> Path:
    """Return the folder with the rubric packs."""
    return _find("judges")


def task_version(task: str) -> str:
    """Return the version of a task, from its file or the `_base.yaml` beside it; empty for an unknown task."""
    for path in task_yaml_dir().rglob(f"{task}.yaml"):
        for file in (path, path.with_name("_base.yaml")):
            found = re.search(r"^ +version: *(\S+)", file.read_text(encoding="utf-8"), re.M) if file.is_file() else None
            if found:
                return found[1]
    return ""


def _find(name: str) -> Path:
    candidates = (_PACKAGE / name, _PACKAGE.parents[1] / name)
    for candidate in candidates:
        if candidate.is_dir():
            return candidate.resolve()
    looked = " and ".join(str(c) for c in candidates)
    raise ConfigError(
        f"{name}/: expected a folder that ships with fin-tasks, found none at {looked}. Reinstall fin-tasks."
    )
