"""Find task files, rubrics, studies and the sample prices, in an installed wheel or a checkout."""

import hashlib
import re
from importlib.metadata import distribution
from pathlib import Path

from fin_tasks.errors import ConfigError, DataError

_PACKAGE = Path(__file__).resolve().parent
_STOCK_PRICES = "5abadf99b2d394f920120a27de6f0df129859d71d4cfb0bf661bcc99446ab1fd"


def task_yaml_dir() -> Path:
    """Return the folder with lm-eval's task definitions."""
    return folder_of("task_yaml")


def folder_of(name: str) -> Path:
    """Return the folder `task_yaml`, `judges` (rubrics) or `studies` (labeling studies)."""
    for folder in (_PACKAGE / name, _PACKAGE.parents[1] / name):
        if folder.is_dir():
            return folder.resolve()
    raise ConfigError(f"{name}/: expected a folder in {_PACKAGE}, found none. Reinstall fin-tasks.")


def task_version(task: str) -> str:
    """Return the version of a task, from its file or the `_base.yaml` beside it; empty for an unknown task."""
    for path in task_yaml_dir().rglob(f"{task}.yaml"):
        for file in (path, path.with_name("_base.yaml")):
            found = (
                re.search(r"^ +version: *(\S+)", file.read_text(encoding="utf-8"), re.M)
                if file.is_file()
                else None
            )
            if found:
                return found[1]
    return ""


def stock_prices_file() -> Path:
    """Return the daily prices of five stocks, 2000 to 2013, that the package bokeh-sampledata brings."""
    # to import the package would read all of its data
    path = Path(
        str(distribution("bokeh-sampledata").locate_file("bokeh_sampledata/_data/stocks.csv.gz"))
    )
    if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != _STOCK_PRICES:
        raise DataError(
            "sample prices: expected stocks.csv.gz as in bokeh-sampledata 2026.1, found none or another. "
            "Run `pip install --force-reinstall 'bokeh-sampledata>=2026.1'`."
        )
    return path
