"""Tables as Markdown: names of strangers cannot become markup, links or pictures."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fin_tasks.report.paper_tables import Shapes
from fin_tasks.report.tables import PUBLISHED, Cell, Document, Row, Table, printed
from fin_tasks.sandbox import escape

__all__ = ["markdown", "ranks", "safe", "write_tables"]

_MARKUP = re.compile(r"([\\`*_\[\]|~$#@])|(:)(?=//)")
_LONGEST = 80  # letters of a name
_WINDOWS = 5  # sizes that the paper averages over
_READING = (
    "Best of a column in bold: of the runs that may be compared, or of the published figures where there are none. "
    "*Published* rows are figures that a paper prints; nobody ran them here."
)


def write_tables(document: Document, folder: Path, *, shapes: Shapes) -> list[Path]:
    """Write tables as `<folder>/<name>.md`, and the ranks of the document; return the files."""
    paths = []
    for name, (shape, tables) in shapes.items():
        parts = [f"# {shape.title}", shape.about, _READING, *(markdown(table) for table in tables)]
        path = folder / f"{name}.md"
        path.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        paths.append(path)
    if _of_several(document):
        path = folder / "ranks.md"
        path.write_text(ranks(document), encoding="utf-8")
        paths.append(path)
    return paths


def ranks(document: Document) -> str:
    """Return places with what is uncertain about them, a table for each task, and differences from one model."""
    runs, tasks = ({one["id"]: one for one in document[kind]} for kind in ("runs", "tasks"))
    parts = ["# Ranks", _ranks_about(document)]
    for comparison in _of_several(document):
        parts.append(f"## {safe(tasks[comparison['task']]['title'])}")
        if comparison["ranks"]:
            metric = document["metrics"][comparison["metric"]]
            against = _against(comparison, runs, document["baseline"])
            parts += [_places(comparison, metric, runs, against), _detectable(comparison, metric["unit"])]
        if comparison["left_out"]:
            parts += ["Not ranked:", _left_out(comparison, runs)]
    return "\n\n".join(parts) + "\n"


def _places(
    comparison: Mapping[str, Any], metric: Mapping[str, Any], runs: Mapping[str, Mapping[str, Any]], against: str
) -> str:
    differences = _differences(comparison, against)
    less = f"Less {safe(runs[against]['label'])}"
    lines = [["Rank", "May be", "Model", safe(metric["label"]), "n", "Unscored", less, "p, Holm"]]
    lines.append(["---:", "---:", "---", *["---:"] * 5])
    for one in comparison["ranks"]:
        cell = None if one["value"] is None else Cell(value=one["value"], unit=metric["unit"])
        may_be = str(one["best"]) if one["best"] == one["worst"] else f"{one['best']} to {one['worst']}"
        told = _difference(differences.get(one["run"]), metric["unit"])
        counts = (f"{one['n']:,}", f"{one['unscored']:,}")
        lines.append([str(one["rank"]), may_be, safe(runs[one["run"]]["label"]), _number(cell), *counts, *told])
    return _grid(lines)


def _left_out(comparison: Mapping[str, Any], runs: Mapping[str, Mapping[str, Any]]) -> str:
    return "\n".join(
        f"- {safe(runs[one['run']]['label'])}: {safe(one['reason'], longest=400)}" for one in comparison["left_out"]
    )


def _of_several(document: Document) -> list[Mapping[str, Any]]:
    return [one for one in document["comparisons"] if len(one["ranks"]) + len(one["left_out"]) > 1]


def _ranks_about(document: Document) -> str:
    return (
        "Ranks go by the mean over the rows that each model has scored, differences and tests by those that both of a "
        "pair have. Unscored: rows that others have, and this one has not scored. May be: the ranks that are left when "
        f"only differences count that are certain at {document['alpha']:g} over all pairs of a task together (Holm). "
        f"Differences have {100 * document['confidence']:.0f} % intervals, which are not corrected for the number of "
        "pairs."
    )


def _against(comparison: Mapping[str, Any], runs: Mapping[str, Mapping[str, Any]], baseline: str | None) -> str:
    """Choose the run that others are compared with: the baseline's, else the best."""
    order: list[str] = [one["run"] for one in comparison["ranks"]]
    return next((run for run in order if runs[run]["model"] == baseline), order[0])


def _differences(comparison: Mapping[str, Any], against: str) -> dict[str, Mapping[str, Any]]:
    """Return each run's pair with one of them, as that run less this one."""
    found = {}
    for pair in comparison["pairs"]:
        if pair["second"] == against:
            found[pair["first"]] = pair
        elif pair["first"] == against and pair["difference"] is not None:
            turned = {"difference": 0.0 - pair["difference"], "low": pair["high"], "high": pair["low"]}
            turned |= {side: None if turned[side] is None else 0.0 - turned[side] for side in ("low", "high")}
            found[pair["second"]] = {**pair, **turned}
    return found


def _difference(pair: Mapping[str, Any] | None, unit: str) -> tuple[str, str]:
    if pair is None or pair["difference"] is None:
        return "–", "–"
    factor, digits = (100, 1) if unit == "fraction" else (1, 2)
    shown = f"{factor * pair['difference']:+.{digits}f}"
    if pair["low"] is not None:
        shown += f" ({factor * pair['low']:+.{digits}f} to {factor * pair['high']:+.{digits}f})"
    return shown, "&lt;0.001" if pair["p_holm"] < 0.001 else f"{pair['p_holm']:.3f}"


def _detectable(comparison: Mapping[str, Any], unit: str) -> str:
    test = "McNemar's exact test" if comparison["test"] == "McNemar" else "A t-test of the differences"
    allows = ", which allows for rows that share a source" if comparison["clustered"] else ""
    sources = f" of {comparison['sources']:,} sources" if comparison["clustered"] else ""
    said = f"{test}{allows}; {comparison['rows']:,} rows{sources}."
    for kind, of in (("paired", "two models on these rows"), ("unpaired", "models on rows of their own each")):
        if (value := comparison["detectable"][kind]) is not None:
            shown = _scaled(value, Cell(value=value, unit=unit))
            said += f" A difference of {shown} between {of} would mostly be found, after Holm's correction too."
    return said


def _grid(lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def markdown(table: Table) -> str:
    """Return a table under its title, and a second one with the intervals where there are any."""
    parts = [f"## {safe(table.title)}", _lines(table, table.rows, _values)]
    with_bounds = [row for row in table.rows if any(cell and cell.low is not None for cell in row.cells)]
    if with_bounds:
        parts += ["95 % intervals, and rows they are over:", _lines(table, with_bounds, _bounds)]
    if marks := _marks(table):
        apart = any(row.apart or any(cell and cell.apart for cell in row.cells) for row in table.rows)
        parts.append("Not to be compared with the others:" if apart else "Differ from the others:")
        parts.append("\n".join(f"- ({at}) {safe('; '.join(of), longest=400)}" for at, of in enumerate(marks, 1)))
    return "\n\n".join(parts)


def safe(text: str, *, longest: int = _LONGEST) -> str:
    r"""Write text so that Markdown and HTML show it letter by letter, on one line.

    Example:
        >>> print(safe("<b>a|b</b> [x](http://y)"))
        &lt;b&gt;a\|b&lt;/b&gt; \[x\](http\://y)
    """
    shown = escape(text if len(text) <= longest else f"{text[: longest - 1]}…")
    shown = _MARKUP.sub(r"\\\g<0>", shown)
    shown = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"(?i)\bwww\.", lambda found: f"{found[0][:-1]}\\.", shown)  # GitHub links it otherwise


def _marks(table: Table) -> list[tuple[str, ...]]:
    """Return what rows and cells are marked with, in the order of their numbers."""
    of_rows = (row.marks for row in table.rows)
    of_cells = (cell.marks for row in table.rows for cell in row.cells if cell)
    return [marks for marks in dict.fromkeys((*of_rows, *of_cells)) if marks]


def _numbered(table: Table, marks: tuple[str, ...]) -> str:
    return f" ({_marks(table).index(marks) + 1})" if marks else ""


def _lines(table: Table, rows: Sequence[Row], cells: Callable[[Table, Row], Iterator[str]]) -> str:
    header = ["Model", "Source", *(safe(column.header) for column in table.columns)]
    ruled = ["---", "---", *("---:" for _ in table.columns)]
    body = []
    for row in rows:
        told_by = f", {safe(row.told_by)}" if row.told_by else ""
        source = "*published*" if row.source == PUBLISHED else safe(row.source)
        body.append([f"{safe(row.model)}{told_by}{_numbered(table, row.marks)}", source, *cells(table, row)])
    return _grid([header, ruled, *body])


def _values(table: Table, row: Row) -> Iterator[str]:
    for place, cell in enumerate(row.cells):
        text = _number(cell)
        yield (f"**{text}**" if table.is_best(row, place) else text) + _numbered(table, cell.marks if cell else ())


def _bounds(table: Table, row: Row) -> Iterator[str]:
    for cell in row.cells:
        if cell is None or cell.low is None or cell.high is None:
            yield "–"
        else:
            rows = f"n={cell.n:,}" if cell.n else "n not known"
            yield f"{_scaled(cell.low, cell)} to {_scaled(cell.high, cell)} ({rows})"


def _number(cell: Cell | None) -> str:
    if cell is None:
        return "–"
    spread = "" if cell.deviation is None else f" ± {_scaled(cell.deviation, cell)}"
    fewer = f" ({cell.windows} of {_WINDOWS} windows)" if cell.windows and cell.windows != _WINDOWS else ""
    return f"{_scaled(cell.value, cell)}{spread}{fewer}"


def _scaled(value: float, cell: Cell) -> str:
    return printed(value, cell.unit)
