"""Tables that keep every cell whole, however narrow the terminal is."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

__all__ = ["print_whole"]


def print_whole(console: "Console", table: "Callable[[bool], Table]") -> None:
    """Print a table in the first form that fits: as it is, or narrow; where neither does, narrow and wider than asked.

    Args:
        console: Where to.
        table: Makes the table, whose columns must not wrap; told whether it has to be narrow.
    """
    from rich.measure import Measurement

    def needs(one: "Table") -> int:
        return Measurement.get(console, console.options.update(width=10_000), one).maximum

    shown = table(False)
    if needs(shown) > console.width:
        shown = table(True)
    there = console.width
    console.width = max(there, needs(shown))
    try:
        console.print(shown, crop=False)
    finally:
        console.width = there
