"""What `fin-tasks judge` found, as tables for people."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["show"]

_FAILURES = {
    "response": "no response of the model",
    "judge": "no reply of the judge",
    "reply": "no reply that is a score",
}


def show(found: Mapping[str, Any]) -> None:
    """Print a summary; see `fin-tasks judge --json` for its keys."""
    from rich.console import Console

    console = Console(highlight=False)
    console.print(_overview(found))
    console.print(_groups(found))
    console.print("Score: over scored responses. Paper: unscored ones count 0, as the authors have it.", style="dim")


def _overview(found: Mapping[str, Any]) -> "Table":
    from rich.table import Table

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column(overflow="fold")
    for name, text in _lines(found):
        table.add_row(name, _plain(text))
    return table


def _lines(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    failures = [f"{_FAILURES[kind]} {count}" for kind, count in found["failed"].items() if count]
    lines = [
        ("Judge", f"{found['judge']}, rubric {found['rubric']}, {_pictures(found)}"),
        ("Predictions", f"{found['file']}{' of ' + found['model'] if found['model'] else ''}"),
        ("Overall", f"{_score(found['overall'])} over {found['n'] - found['unscored']} of {found['n']} responses"),
        ("Overall, paper", f"{_score(found['overall_paper'])} over all"),
        ("Unscored", f"{found['unscored']}{' (' + ', '.join(failures) + ')' if failures else ''}"),
        ("Spent", _spent(found)),
    ]
    if injection := found.get("injection"):
        lines.append(("Injection", _injection(injection)))
    if found["defects"]:
        from fin_tasks.judging.predictions import DEFECTS

        for kind, count in found["defects"].items():
            lines.append(("Note", f"{count} x {kind}: {DEFECTS[kind]}"))
    return lines


def _pictures(found: Mapping[str, Any]) -> str:
    return f"{found['pictures']} of {found['n']} with the picture" if found["pictures"] else "without pictures"


def _spent(found: Mapping[str, Any]) -> str:
    tokens = found["prompt_tokens"] + found["completion_tokens"]
    cost = "" if found["cost"] is None else f", ${found['cost']:.2f}"
    told = f"{tokens:,} tokens{cost}" if tokens or not found["requests"] else "tokens not told by the server"
    return f"{found['requests']:,} requests, {found['cached']:,} replies from the cache, {told}"


def _injection(found: Mapping[str, Any]) -> str:
    if not found["affected"]:
        return "no response addresses the judge"
    mean = found["mean_difference"]
    change = (
        "none of them scored both ways"
        if mean is None
        else f"with those sentences {mean:+.2f} points of the scale on average"
    )
    return f"{found['affected']} responses address the judge; {change}"


def _groups(found: Mapping[str, Any]) -> "Table":
    """One table over categories, types and styles, so that numbers stand below each other."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column("Category", overflow="fold")
    for name in ("n", "Unscored", "Score", "Paper"):
        table.add_column(name, justify="right", no_wrap=True)
    for by, title in (("by_category", None), ("by_type", "Picture"), ("by_style", "Style")):
        if title is not None and found[by]:
            table.add_section()
            table.add_row(title, style="bold")
        for name, score in found[by].items():
            count = found[f"counts_{by}"][name]
            numbers = (str(count["n"]), str(count["unscored"]), _score(score), _score(count["score_paper"]))
            table.add_row(_plain(name), *numbers)
    return table


def _score(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def _plain(text: str) -> str:
    """Text of a stranger's file, safe for a terminal and without markup."""
    from rich.markup import escape as as_text

    from fin_tasks.sandbox import escape

    return as_text(escape(text))
