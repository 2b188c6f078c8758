"""`fin-tasks plot`."""

from fin_tasks.cli.options import sub_commands

__all__ = ["app"]

app = sub_commands("Draw results.")
