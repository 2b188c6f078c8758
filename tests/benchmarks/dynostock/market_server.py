"""Yahoo, Alpha Vantage and GitHub on the loopback interface."""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pandas as pd

TRICKLE = object()
"""An answer that never ends."""


class MarketServer(ThreadingHTTPServer):
    """Answers by path and `symbol`: text, JSON, a status, or a list of these, the last one for ever."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        crumb = "/v1/test/getcrumb"
        self.answers: dict[str, Any] = {"/": "", "/consent": "", crumb: "crumb"}
        self.asked: list[str] = []
        self.yahoo = self.url  # another address if Yahoo is down
        self.stopped = threading.Event()


class _Handler(BaseHTTPRequestHandler):
    server: MarketServer

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        path = parts.path
        if path in ("/query", "/calendar/earnings"):
            path += f"?{parse_qs(parts.query)['symbol'][0]}"
        self.server.asked.append(path)
        answer = self.server.answers.get(path, 404)
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        self.send_response(answer if isinstance(answer, int) else 200)
        self.end_headers()
        while answer is TRICKLE:
            try:
                self.wfile.write(b" ")
            except OSError:  # the client hangs up
                return
            if self.server.stopped.wait(0.05):
                return
        if isinstance(answer, int):
            answer = {}
        text = answer if isinstance(answer, str) else json.dumps(answer)
        self.wfile.write(text.encode())


@contextmanager
def serving() -> Iterator[MarketServer]:
    with MarketServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server
        server.stopped.set()
        server.shutdown()
        thread.join()


def chart(
    ticker: str,
    closes: Mapping[str, float | None],
    splits: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """Return Yahoo's chart of daily closes; a split of n:1 on its day."""
    stamps = {}
    for day in closes:
        opening = pd.Timestamp(f"{day} 09:30", tz="America/New_York")
        stamps[day] = int(opening.timestamp())
    meta = {
        "symbol": ticker,
        "currency": "USD",
        "exchangeTimezoneName": "America/New_York",
        "instrumentType": "EQUITY",
        "dataGranularity": "1d",
        "validRanges": ["1d", "max"],
        "priceHint": 2,
        "regularMarketTime": 1700000000,
    }
    figures = list(closes.values())
    quote: dict[str, Any] = dict.fromkeys(("open", "high", "low", "close"), figures)
    quote["volume"] = [1000] * len(figures)
    events = {}
    for day, n in (splits or {}).items():
        ratio = {"numerator": n, "denominator": 1, "splitRatio": f"{n}:1"}
        events[str(stamps[day])] = {"date": stamps[day], **ratio}
    result = {
        "meta": meta,
        "timestamp": list(stamps.values()),
        "indicators": {"quote": [quote], "adjclose": [{"adjclose": figures}]},
        "events": {"splits": events},
    }
    return {"chart": {"result": [result], "error": None}}


def earnings_page(ticker: str, rows: Sequence[tuple[str, str, str]]) -> str:
    """Return Yahoo's page of earnings; a row has the moment, the estimate and the reported figure."""
    names = ("Symbol", "Company", "Earnings Date", "EPS Estimate", "Reported EPS")
    head = "".join(f"<th>{name}</th>" for name in (*names, "Surprise (%)"))
    lines = []
    for moment, estimate, eps in rows:
        cells = (ticker, f"{ticker} Inc.", moment, estimate, eps, "1.0")
        lines.append("".join(f"<td>{cell}</td>" for cell in cells))
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<html><table><tr>{head}</tr>{body}</table></html>"
