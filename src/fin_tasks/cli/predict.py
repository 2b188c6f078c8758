"""`fin-tasks predict` and `chart`: ask a model about one stock and period, or draw its chart."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from fin_tasks.cli.options import Adjust, market_of, show
from fin_tasks.errors import ConfigError
from fin_tasks.settings import OPENAI, Settings


def predict(
    ticker: str,
    start: datetime,
    end: datetime,
    model: str | None = None,
    base_url: str = OPENAI,
    bias: Literal["recency", "authority", "none"] = "none",
    text: bool = False,
    print_prompt: bool = False,
    prices: Path | None = None,
    earnings: Path | None = None,
    sample: bool = False,
    adjust: Adjust = "none",
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Ask a model whether a stock's price will rise, and show its forecast and what happened.

    Example: fin-tasks predict AAPL --sample --start 2009-01-01 --end 2010-10-18 --bias recency --print-prompt
    """
    if not (model or print_prompt):
        raise ConfigError(
            "predict: expected --model with the name of a model, or --print-prompt."
        )
    from fin_tasks.benchmarks.dynostock import predict as own
    from fin_tasks.benchmarks.dynostock.own_window import own_window
    from fin_tasks.endpoints.address import shown_address
    from fin_tasks.endpoints.chat import Chat
    from fin_tasks.report.run_folder import write_run

    settings = Settings.from_environ()
    needs_key = "api.openai.com" in base_url and not print_prompt
    if needs_key and not settings.api_keys.get("OPENAI_API_KEY"):
        raise ConfigError(
            f"predict: expected a key for {shown_address(base_url)} in the variable OPENAI_API_KEY, got none. Set it."
        )
    market = market_of(
        prices,
        earnings,
        adjust=adjust,
        sample=sample,
        tickers=None if sample else ticker,
    )
    kind: Any = "plain" if bias == "none" else bias
    window = own_window(market, ticker.upper(), start.date(), end.date(), bias=kind)
    doc = own.own_question(
        market,
        window,
        text=text,
        folder=(out or settings.cache_dir / "dynostock") / "charts",
    )
    if print_prompt or model is None:
        parts = own.parts_of(doc)
        text_of_parts = "\n\n".join(
            f"--- {name}\n{part}" for name, part in parts.items()
        )
        print(json.dumps(parts) if as_json else text_of_parts)
        return
    with Chat(model, [base_url], settings) as chat:
        reply = chat.ask(own.messages_of(doc), temperature=0.0, max_tokens=1024).text
    result = {"model": model, **own.result_of(doc, reply)}
    if out is not None:
        task = own.scored(doc, reply)
        facts = {"mode": doc["mode"], "arm": doc["arm"], "data": dict(market.facts)}
        run = write_run(
            out,
            [task],
            model=model,
            made_by="fin-tasks predict",
            provenance={task.name: facts},
        )
        result["run"] = str(run)
    show(result, as_json=as_json)


def chart(
    ticker: str,
    start: datetime,
    end: datetime,
    prices: Path | None = None,
    earnings: Path | None = None,
    sample: bool = False,
    adjust: Adjust = "none",
    style: Literal["house", "paper"] = "house",
    pixels: int = 2048,
    out: Path | None = None,
) -> None:
    """Draw a stock's prices with its earnings reports, as a model sees them.

    Example: fin-tasks chart AAPL --sample --start 2011-03-21 --end 2012-01-24 --out chart.png
    """
    from fin_tasks.benchmarks.dynostock.data import chart_of
    from fin_tasks.charts.candlestick import draw

    market = market_of(prices, earnings, adjust=adjust, sample=sample)
    excerpt = market.excerpt(ticker.upper(), start.date(), end.date())
    shown = chart_of(excerpt, pixels, style)
    file = out or Path(f"{shown.stem}.png")
    picture = draw(shown)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(picture)
    print(file)
