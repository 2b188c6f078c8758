"""`fin-tasks build`."""

from fin_tasks.cli.options import sub_commands

__all__ = ["app"]

app = sub_commands("Make a benchmark's data set from raw data.")
