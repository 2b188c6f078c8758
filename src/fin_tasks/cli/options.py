"""Options that several commands share."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from fin_tasks import workers
from fin_tasks.errors import ConfigError
from fin_tasks.report import Json
from fin_tasks.settings import Settings

from .output import warn

if TYPE_CHECKING:
    from fin_tasks.benchmarks.dynostock.market import Market

Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Write the results to this folder."),
]
OutDir = Annotated[
    Path, typer.Option(metavar="DIR", help="Write the results to this folder.")
]
ShowAll = Annotated[bool, typer.Option("--all", help="Print all rows of long tables.")]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of tables.")
]
Prices = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE|DIR",
        help="Daily prices; by default what `fin-tasks fetch dynostock` stored.",
    ),
]
Earnings = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE|DIR",
        help="Earnings reports; by default what `fin-tasks fetch dynostock` stored.",
    ),
]
Sample = Annotated[
    bool, typer.Option("--sample", help="Use the packaged sample market.")
]
Tickers = Annotated[
    str | None,
    typer.Option(metavar="AAPL,MSFT", help="DynoStock: use only these stocks."),
]
Ticker = Annotated[
    str, typer.Argument(metavar="TICKER", help="The stock, such as AAPL.")
]
Seed = Annotated[int, typer.Option(help="Random seed.")]
AskedModel = Annotated[str, typer.Option(metavar="NAME", help="The model to ask.")]
AnsweringModel = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The model that gave the responses."),
]
BaseUrl = Annotated[
    str,
    typer.Option(metavar="URL", help="OpenAI-compatible address of the model."),
]
TokenPrices = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="YAML file with the prices of models' tokens."),
]
Scoring = Annotated[Literal["paper", "robust"], typer.Option(help="The scores to use.")]
CorrectionFile = Annotated[
    Path | None,
    typer.Option(
        "--corrections",
        metavar="FILE",
        help="YAML file of questions to leave out and truths to replace (docs/questions.md).",
    ),
]
Corrected = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="corrected.json of `fin-tasks label agree`: judges' values that people corrected.",
    ),
]
SourceName = Literal["auto", "upstream", "data_dir", "sample"]
Source = Annotated[SourceName, typer.Option(help="Where the files come from.")]
DataDir = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Folder of your files. Default: FIN_TASKS_DATA."),
]
Metadata = Annotated[
    str,
    typer.Option(metavar="JSON", help="Options of the task, as lm_eval --metadata."),
]
Sheets = Annotated[
    list[Path],
    typer.Argument(metavar="SHEET...", help="Filled sheets, one for each person."),
]
Responses = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE...", help="Saved responses; for dynostock also folders."
    ),
]
ColumnNames = Annotated[
    str,
    typer.Option(
        "--columns",
        metavar="id=NAME,response=NAME",
        help="What the file calls its columns, if their names are unusual; also question, truth, finish_reason.",
    ),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Refuse a file with rows that do not fit, instead of leaving them out.",
    ),
]
Engine = Annotated[
    workers.Engine,
    typer.Option(
        help="Where processes run: local, or ray for all CPUs of a Ray cluster."
    ),
]


def task_options(metadata: str = "{}", **more: object) -> Json:
    """Return the options of a task: the JSON object of --metadata, and other options if they are given."""
    try:
        options = dict(json.loads(metadata))
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"--metadata: expected a JSON object, got {metadata!r:.80}."
        ) from error
    for name, value in more.items():
        if value is not None:
            options[name] = str(value)
    return options


def tickers_of(text: str | None) -> list[str]:
    """Read the tickers that an option gives, separated by commas; none if it is not given."""
    return text.replace(" ", "").upper().split(",") if text else []


def market_of(
    prices: Path | None, earnings: Path | None, *, sample: bool, tickers: str | None
) -> "Market":
    """Read the market that a command names, by default what `fin-tasks fetch dynostock` stored."""
    from fin_tasks.benchmarks.dynostock.files.read import read_market
    from fin_tasks.benchmarks.dynostock.market import sample_market

    names = tickers_of(tickers)
    if sample:
        if prices or earnings:
            raise ConfigError("--sample: expected no --prices or --earnings beside it.")
        return sample_market(*names)
    store = Settings.from_environ().cache_dir / "dynostock" / "market"
    prices = prices or store
    earnings = earnings or store
    if store in (prices, earnings) and not store.is_dir():
        raise ConfigError(
            "market data: expected --prices and --earnings, or the folder of `fin-tasks fetch dynostock` "
            f"at {store}; found neither. --sample uses the packaged sample."
        )
    market = read_market(prices, earnings, tickers=names)
    for split in market.facts.get("adjusted_for_splits", []):
        ticker, day, ratio = split.split()
        warn(
            f"{ticker}: its prices before {day} were divided by {ratio}, because they jump where Close / Adj Close "
            "jumps."
        )
    return market
