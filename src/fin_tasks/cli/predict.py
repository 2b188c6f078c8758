"""`fin-tasks predict` and `chart`: ask a model about one stock and period, or draw its chart."""

import json
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from fin_tasks.errors import ConfigError
from fin_tasks.settings import OPENAI, Settings

from .options import AsJson, BaseUrl, Earnings, Out, Prices, Sample, Ticker, market_of
from .output import exit_with, say, show

_Start = Annotated[
    datetime | None,
    typer.Option(
        formats=["%Y-%m-%d"],
        metavar="DATE",
        help="First day shown, such as 2019-01-01.",
    ),
]
_End = Annotated[
    datetime | None,
    typer.Option(
        formats=["%Y-%m-%d"],
        metavar="DATE",
        help="Last day shown; the 8 days after it are forecast.",
    ),
]


def predict(
    ticker: Annotated[
        str | None,
        typer.Argument(metavar="[TICKER]", help="The stock, such as AAPL."),
    ] = None,
    start: _Start = None,
    end: _End = None,
    list_file: Annotated[
        Path | None,
        typer.Option(
            "--list",
            metavar="FILE",
            help="Many questions: CSV or XLSX with the columns ticker, start and end.",
        ),
    ] = None,
    prices: Prices = None,
    earnings: Earnings = None,
    sample: Sample = False,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="The model to ask.")
    ] = None,
    text: Annotated[
        bool, typer.Option("--text", help="Show tables instead of a chart.")
    ] = False,
    print_prompt: Annotated[
        bool,
        typer.Option(
            "--print-prompt",
            help="Print the message and ask no model. This is the default without --model.",
        ),
    ] = False,
    out: Out = None,
    as_json: AsJson = False,
    base_url: BaseUrl = OPENAI,
    bias: Annotated[
        Literal["recency", "authority", "none"],
        typer.Option(help="The biased statement to add."),
    ] = "none",
    statements: Annotated[
        str,
        typer.Option(help="With --list: names of statements, separated by commas."),
    ] = "none,recency,authority",
    statement_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="With --list: YAML with statements of your own (docs/dynostock.md).",
        ),
    ] = None,
) -> None:
    """Ask a model whether a stock's price will rise, and show its forecast and what happened.

    A list gives predictions.csv, with a row for each stock and period and a probability for each statement.

    Example: fin-tasks predict AAPL --sample --start 2009-01-01 --end 2010-10-18 --bias recency --print-prompt

    Example: fin-tasks predict --list stocks.csv --model gpt-4o --out results
    """
    from fin_tasks.benchmarks.dynostock import predict as own
    from fin_tasks.benchmarks.dynostock import predict_list as lists
    from fin_tasks.benchmarks.dynostock.own_window import own_window
    from fin_tasks.benchmarks.dynostock.predict import write_prediction

    settings = Settings.from_environ()
    asks_openai = model and not print_prompt and "api.openai.com" in base_url
    if asks_openai and not settings.api_keys.get("OPENAI_API_KEY"):
        raise ConfigError(
            "predict: expected a key in the variable OPENAI_API_KEY, got none. Set it."
        )
    folder = out or settings.cache_dir / "dynostock"
    if list_file:
        if ticker or end or not model or not out:
            raise ConfigError(
                "--list: expected --model and --out beside it, and no ticker or --end."
            )
        named = lists.statements_named(statements, statement_file)
        periods = lists.read_periods(list_file, start.date() if start else None)
        market = market_of(prices, earnings, sample=sample, tickers=None)
        lists.word_questions(market, periods, named, text=text, folder=out / "charts")
        lists.ask_about(periods, model, base_url, settings)
        file = lists.write_predictions(periods, named, model, out)
        n_responses = sum(len(period.results) for period in periods)
        say(f"{len(periods)} rows, {n_responses} responses of {model}: {file}")
        exit_with(lists.problems_of(periods, list_file))
        return
    if ticker is None or start is None or end is None:
        raise ConfigError(
            "predict: expected a ticker with --start and --end, or --list; got neither."
        )
    market = market_of(prices, earnings, sample=sample, tickers=ticker)
    kind: Any = "plain" if bias == "none" else bias
    window = own_window(market, ticker.upper(), start.date(), end.date(), bias=kind)
    doc = own.own_question(market, window, text=text, folder=folder / "charts")
    if print_prompt or model is None:
        parts = own.parts_of(doc)
        texts = [f"--- {name}\n{part}" for name, part in parts.items()]
        print(json.dumps(parts) if as_json else "\n\n".join(texts))
        return
    reply = own.ask(doc, model, base_url, settings)
    result = {"model": model, **own.result_of(doc, reply)}
    if out:
        file = write_prediction(out, own.parts_of(doc), result)
        say(f"{file} holds the message, the reply and the forecast")
    show(result, as_json)


def chart(
    ticker: Ticker,
    start: Annotated[
        datetime,
        typer.Option(
            formats=["%Y-%m-%d"],
            metavar="DATE",
            help="First day shown, such as 2009-03-24.",
        ),
    ],
    end: Annotated[
        datetime,
        typer.Option(
            formats=["%Y-%m-%d"],
            metavar="DATE",
            help="Last day shown.",
        ),
    ],
    prices: Prices = None,
    earnings: Earnings = None,
    sample: Sample = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Name of the picture. Default: TICKER_START_END.png.",
        ),
    ] = None,
    style: Annotated[
        Literal["house", "paper"], typer.Option(help="Our drawing, or the authors'.")
    ] = "house",
    pixels: Annotated[
        int, typer.Option(min=256, max=8192, help="Width of a house chart.")
    ] = 2048,
) -> None:
    """Draw a stock's prices with its earnings reports, as a model sees them.

    Example: fin-tasks chart AAPL --sample --start 2011-03-21 --end 2012-01-24 --out chart.png
    """
    from fin_tasks.benchmarks.dynostock.chart_files import chart_of
    from fin_tasks.charts.candlestick import draw

    market = market_of(prices, earnings, sample=sample, tickers=ticker)
    excerpt = market.excerpt(ticker.upper(), start.date(), end.date())
    stock_chart = chart_of(excerpt, pixels, style)
    file = out or Path(f"{stock_chart.stem}.png")
    picture = draw(stock_chart)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(picture)
    print(file)
