"""Write the reference of all commands and environment variables into docs/reference.md, from the code.

The schema of a report's leaderboard.json goes into docs/leaderboard.schema.json.
"""

import inspect
import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import typer

from fin_tasks import cli
from fin_tasks.report.leaderboard_model import Leaderboard
from fin_tasks.settings import Settings

NOT_IN_SETTINGS = {
    "FIN_TASKS_AUTOLOAD": "0: turn off the hook that shows our tasks to lm-eval and VLMEvalKit; default 1."
}


def commands(command: Any, name: str = "fin-tasks") -> Iterator[tuple[str, Any]]:
    """Yield all commands that do something, with the words that call them."""
    children = getattr(command, "commands", {})
    if not children:
        yield name, command
    for word, child in sorted(children.items()):
        yield from commands(child, f"{name} {word}")


def variables() -> Iterator[tuple[str, str]]:
    """Yield the environment variables with their meaning, from the fields of the settings."""
    for field in Settings.__pydantic_fields__.values():
        alias = field.validation_alias
        names = getattr(alias, "choices", [alias])
        if alias:
            yield " or ".join(names), field.description or ""
    yield from NOT_IN_SETTINGS.items()


def option_row(parameter: Any) -> str:
    """Return a row of the table of a command's arguments and options."""
    names = ", ".join(
        f"`{name}`" for name in [*parameter.opts, *parameter.secondary_opts]
    )
    if parameter.param_type_name == "argument":
        names = f"`{parameter.metavar or parameter.name.upper()}`"
    default = parameter.default
    if isinstance(default, datetime):
        default = default.date()
    is_shown = default not in (None, "", False, ...) and not callable(default)
    suffix = f" Default: `{default}`." if is_shown else ""
    help_text = (getattr(parameter, "help", None) or "").replace("|", "\\|")
    return f"| {names} | {help_text}{suffix} |"


def section(name: str, command: Any) -> list[str]:
    """Return the lines of a command: what it does, its arguments and options."""
    text = inspect.cleandoc(command.help or "").replace("\b", "")
    text = re.sub(
        r"^Example: (.+?)(?=\n\n|\Z)",
        r"```bash\n\1\n```",
        text,
        flags=re.DOTALL | re.MULTILINE,
    )
    rows = [
        option_row(parameter)
        for parameter in command.params
        if parameter.name != "help"
    ]
    table = ["| Option | Meaning |", "|---|---|", *rows, ""] if rows else []
    return [f"## {name}", "", text, "", *table]


def reference() -> str:
    """Return the page."""
    lines = [
        "# Reference",
        "",
        "This page is written from the code, by `make docs`.",
        "",
    ]
    lines += ["## Environment variables", "", "| Variable | Meaning |", "|---|---|"]
    lines += [f"| `{name}` | {meaning} |" for name, meaning in variables()]
    lines.append("")
    for name, command in commands(typer.main.get_command(cli.app)):
        lines += section(name, command)
    return "\n".join(lines)


def files() -> dict[Path, str]:
    """Return the texts of both files."""
    schema = Leaderboard.model_json_schema(mode="serialization")
    return {
        Path(__file__).with_suffix(".md"): reference(),
        Path(__file__).with_name(
            "leaderboard.schema.json"
        ): f"{json.dumps(schema, indent=1)}\n",
    }


if __name__ == "__main__":
    for file, text in files().items():
        file.write_text(text, encoding="utf-8")
