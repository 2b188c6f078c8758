"""Many questions of one's own: a list of stocks and periods becomes a table of probabilities by statement."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
from anyio.from_thread import start_blocking_portal

from fin_tasks.data.locate import write_file
from fin_tasks.data.tables import quote_formulas, read_table
from fin_tasks.endpoints.chat import Endpoint, ask_all, open_chat
from fin_tasks.errors import DataError, EndpointError
from fin_tasks.settings import Settings

from .data import Document
from .market import Market
from .own_window import own_window
from .predict import messages_of, own_question, result_of
from .statements import Statement, chosen_statement

Statements = Mapping[str, Statement | None]
"""Statements by name; None stands for a question without one."""
_TOKENS = 1024


@dataclass
class StockPeriod:
    """A row of a list: a stock and a period, what a model is asked about them, and what it said."""

    line: int
    """The number of the row that a spreadsheet program shows."""
    ticker: str
    start: str
    end: str
    docs: dict[str, Document] = field(default_factory=dict)
    """The question under each statement that the period allows."""
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Response and forecast under each statement."""
    problems: list[str] = field(default_factory=list)


def read_periods(path: Path, start: date | None) -> list[StockPeriod]:
    """Read a table with the columns `ticker` and `end`, and `start` if that is not the same for all rows."""
    columns = ("ticker", "end") if start else ("ticker", "start", "end")
    periods = []
    for record in read_table(path, columns):
        cells = {name: text.strip() for name, text in record.cells.items()}
        first = cells.get("start") or (f"{start}" if start else "")
        ticker = cells["ticker"].upper()
        periods.append(StockPeriod(record.line, ticker, first, cells["end"]))
    if not periods:
        raise DataError(f"{path}: expected a row for each stock and period, got none.")
    return periods


def statements_named(names: str, file: Path | None = None) -> Statements:
    """Return the statements that are named, separated by commas: those of a file, or ours."""
    statements: dict[str, Statement | None] = {}
    for name in names.replace(" ", "").split(","):
        statements[name] = None
        if name != "none":
            _, statements[name] = chosen_statement(name, file)
    return statements


def word_questions(
    market: Market,
    periods: Sequence[StockPeriod],
    statements: Statements,
    *,
    text: bool,
    folder: Path,
) -> None:
    """Add the questions about each period; what a period does not allow is a problem of its row."""
    for period in periods:
        for name, statement in statements.items():
            kind: Any = statement.windows if statement else "plain"
            try:
                start = _day_of(period.start)
                end = _day_of(period.end)
                window = own_window(market, period.ticker, start, end, bias=kind)
                period.docs[name] = own_question(
                    market, window, text=text, folder=folder, statement=statement
                )
            except DataError as error:
                period.problems.append(f"{name}: {error}")
                if statement is None:
                    break  # no statement would help


def _day_of(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        problem = f"expected a day such as 2020-10-30, got {text!r}"
        raise DataError(f"{problem}.") from error


def ask_about(
    periods: Sequence[StockPeriod], model: str, base_url: str, settings: Settings
) -> None:
    """Ask a model all questions, and add its forecasts; a request that fails is a problem of its row."""
    endpoint = Endpoint(model=model, base_url=(base_url,))
    questions = []
    for period in periods:
        questions += [(period, statement) for statement in period.docs]

    async def respond() -> None:
        async with open_chat(endpoint, settings) as chat:

            async def ask(question: tuple[StockPeriod, str]) -> None:
                period, statement = question
                doc = period.docs[statement]
                try:
                    reply = await chat.ask(
                        messages_of(doc), temperature=0.0, max_tokens=_TOKENS
                    )
                except EndpointError as error:
                    period.problems.append(f"{statement}: {error}")
                    return
                result = result_of(doc, reply.text)
                period.results[statement] = result
                if result["robust"] is None:
                    problem = f"{statement}: no probability in the response"
                    period.problems.append(problem)

            await ask_all(ask, questions, title="Forecasts")

    with start_blocking_portal() as portal:
        portal.call(respond)


def write_predictions(
    periods: Sequence[StockPeriod], statements: Statements, model: str, folder: Path
) -> Path:
    """Write `predictions.csv`, a row for each period, and `responses.jsonl` with what the model was told and said."""
    rows = []
    lines = []
    for period in periods:
        rows.append(_row_of(period, statements))
        for statement, result in period.results.items():
            facts = {"row": period.line, "model": model, "statement_name": statement}
            prompt = period.docs[statement]["prompt"]
            lines.append(json.dumps({**facts, "prompt": prompt, **result}))
    file = folder / "predictions.csv"
    write_file(file, pd.DataFrame(rows).to_csv(index=False).encode())
    responses = "".join(f"{line}\n" for line in lines)
    write_file(folder / "responses.jsonl", responses.encode())
    return file


def _row_of(period: StockPeriod, statements: Statements) -> Mapping[str, object]:
    results = list(period.results.values())
    row: dict[str, object] = {
        "ticker": quote_formulas(period.ticker),
        "start": quote_formulas(period.start),
        "end": quote_formulas(period.end),
        "reports": results[0]["window"] if results else None,
    }
    for statement in statements:
        result = period.results.get(statement, {})
        row[f"probability_{statement}"] = result.get("robust")
    row["happened"] = results[0]["happened"] if results else None
    row["problem"] = quote_formulas(" ".join(period.problems))
    return row


def problems_of(periods: Sequence[StockPeriod], path: Path) -> list[str]:
    """Return a sentence for each problem of a row of the list."""
    problems = []
    for period in periods:
        for problem in period.problems:
            problems.append(f"{path}, row {period.line}: {problem}")
    return problems
