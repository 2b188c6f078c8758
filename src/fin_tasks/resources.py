"""Where `task_yaml/` and `judges/` are: inside an installed wheel, or at the top of a checkout."""

from pathlib import Path

from fin_tasks.errors import ConfigError

__all__ = ["judges_dir", "task_yaml_dir"]

_PACKAGE = Path(__file__).resolve().parent


def task_yaml_dir() -> Path:
    """Return the folder with lm-eval's task definitions."""
    return _find("task_yaml")


def judges_dir() -> Path:
    """Return the folder with the rubric packs."""
    return _find("judges")


def _find(name: str) -> Path:
    candidates = (_PACKAGE / name, _PACKAGE.parents[1] / name)
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    looked = " and ".join(str(c) for c in candidates)
    raise ConfigError(
        f"{name}/: expected a folder that ships with fin-tasks, found none at {looked}. Reinstall fin-tasks."
    )
