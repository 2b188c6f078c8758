"""Find task files, rubrics, studies and the sample prices, in an installed wheel or a checkout."""

from importlib.metadata import distribution
from pathlib import Path

from .errors import ConfigError, DataError

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parents[1]
_STOCK_PRICES = "bokeh_sampledata/_data/stocks.csv.gz"


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


def stock_prices_file() -> Path:
    """Return the daily prices of five stocks, 2000 to 2013, in the package bokeh-sampledata."""
    # The package is not imported, because its import reads all of its data.
    path = Path(str(distribution("bokeh-sampledata").locate_file(_STOCK_PRICES)))
    if not path.is_file():
        problem = "expected stocks.csv.gz as in bokeh-sampledata 2026.1, found none"
        remedy = "Run `pip install --force-reinstall 'bokeh-sampledata>=2026.1'`."
        raise DataError(f"sample prices: {problem}. {remedy}")
    return path
