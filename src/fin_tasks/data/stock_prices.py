"""Real daily prices that the package `bokeh-sampledata` brings: five stocks, the longest from 2000 to 2013."""

from importlib.util import find_spec
from pathlib import Path

from fin_tasks.data.checksums import digest
from fin_tasks.errors import ConfigError, DataError

__all__ = ["stock_prices_file"]

_SHA256 = "5abadf99b2d394f920120a27de6f0df129859d71d4cfb0bf661bcc99446ab1fd"


def stock_prices_file(needed_by: str, *, otherwise: str = "") -> Path:
    """Return the file, the very one that ours was made for.

    Args:
        needed_by: What needs it, for messages.
        otherwise: What else a user can do about another file.

    Raises:
        ConfigError: `bokeh-sampledata` is not installed.
        DataError: Its file is another one.
    """
    path = _installed_file()
    if path is None:
        raise ConfigError(
            f"{needed_by}: expected the package bokeh-sampledata with its stocks.csv.gz, found none. "
            "Install it: pip install 'bokeh-sampledata>=2026.1'"
        )
    if (found := digest(path)).sha256 != _SHA256:
        remedy = f"Reinstall bokeh-sampledata{', or ' + otherwise if otherwise else ''}."
        raise DataError(f"{needed_by}, {path}: expected sha256 {_SHA256}, got {found}. {remedy}")
    return path


def _installed_file() -> Path | None:
    # the package's own modules would read the file into a dictionary when imported
    spec = find_spec("bokeh_sampledata")
    folders = (spec.submodule_search_locations or ()) if spec else ()
    places = (Path(folder) / "_data" / "stocks.csv.gz" for folder in folders)
    return next((path for path in places if path.is_file()), None)
