"""Find task files, rubrics and studies, in an installed wheel or a checkout."""

from pathlib import Path

from .errors import ConfigError

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[1]


def task_yaml_dir() -> Path:
    """Return the folder with lm-eval's task definitions."""
    return folder_of("task_yaml")


def folder_of(name: str) -> Path:
    """Return the folder `task_yaml`, `judges` (rubrics) or `studies` (labeling studies)."""
    for parent in (_PACKAGE, _CHECKOUT):
        folder = parent / name
        if folder.is_dir():
            return folder.resolve()
    raise ConfigError(
        f"{name}/: expected a folder in {_PACKAGE}, found none. Reinstall fin-tasks."
    )
