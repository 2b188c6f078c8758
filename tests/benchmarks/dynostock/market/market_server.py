"""Yahoo, Alpha Vantage and the encyclopedia on the loopback interface, in the shapes their answers have."""

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

NEW_YORK = "America/New_York"
KEY = "K3Y-OF-OURS"


@dataclass(frozen=True)
class Answer:
    body: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def as_json(value: Any, status: int = 200) -> Answer:
    return Answer(json.dumps(value), status, {"Content-Type": "application/json"})


class MarketServer(ThreadingHTTPServer):
    """Answers by path; a list of answers is given one after the other, the last one for ever."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.answers: dict[str, deque[Answer]] = defaultdict(deque)
        self.route: Callable[[str, Mapping[str, str]], Answer | None] = lambda path, query: None
        self.asked: list[tuple[str, dict[str, str]]] = []
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> "MarketServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()
        self._thread.join()

    def says(self, path: str, *answers: Answer) -> None:
        self.answers[path] = deque(answers)

    def times(self, path: str) -> int:
        return sum(asked == path for asked, _ in self.asked)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: MarketServer

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.server.asked.append((parts.path, query))
        queue = self.server.answers.get(parts.path)
        answer = self.server.route(parts.path, query)
        if answer is None and queue:
            answer = queue.popleft() if len(queue) > 1 else queue[0]
        answer = answer or Answer(status=404)
        body = answer.body.encode()
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(body)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def chart(
    ticker: str,
    rows: Sequence[tuple[str, float | None]],
    *,
    zone: str = NEW_YORK,
    splits: Mapping[str, tuple[int, int]] | None = None,
    factor: float = 0.5,
) -> Answer:
    """Yahoo's v8 chart: rows of day and close (None for a day without figures)."""

    def stamp(day: str) -> int:
        return int(datetime.fromisoformat(f"{day}T09:30").replace(tzinfo=ZoneInfo(zone)).timestamp())

    closes = [close for _, close in rows]
    meta = {
        "currency": "USD",
        "symbol": ticker,
        "instrumentType": "EQUITY",
        "exchangeTimezoneName": zone,
        "timezone": "EST",
        "gmtoffset": -18000,
        "regularMarketTime": 1700000000,
        "firstTradeDate": 0,
        "dataGranularity": "1d",
        "range": "",
        "validRanges": ["1d", "5d", "1mo", "max"],
        "priceHint": 2,
    }
    events = {
        str(stamp(day)): {"date": stamp(day), "numerator": new, "denominator": old, "splitRatio": f"{new}:{old}"}
        for day, (new, old) in (splits or {}).items()
    }

    def times(scale: float) -> list[float | None]:
        return [None if close is None else close * scale for close in closes]

    quote = {
        "open": times(0.99),
        "high": times(1.02),
        "low": times(0.98),
        "close": closes,
        "volume": [None if close is None else 1000 for close in closes],
    }
    result = {
        "meta": meta,
        "timestamp": [stamp(day) for day, _ in rows],
        "events": {"splits": events} if events else {},
        "indicators": {"quote": [quote], "adjclose": [{"adjclose": times(factor)}]},
    }
    return as_json({"chart": {"result": [result], "error": None}})


def no_such_stock() -> Answer:
    error = {"code": "Not Found", "description": "No data found, symbol may be delisted"}
    return as_json({"chart": {"result": None, "error": error}}, status=404)


def earnings(ticker: str, *rows: tuple[str, str, str, str]) -> Answer:
    """Alpha Vantage's EARNINGS: rows of fiscal end, report day, reported and estimated EPS, all text."""
    quarters = [
        {
            "fiscalDateEnding": end,
            "reportedDate": day,
            "reportedEPS": eps,
            "estimatedEPS": estimate,
            "surprise": "None" if "None" in (eps, estimate) else f"{float(eps) - float(estimate):.4g}",
            "surprisePercentage": "None" if "None" in (eps, estimate) else "1.5",
        }
        for end, day, eps, estimate in rows
    ]
    return as_json({"symbol": ticker, "annualEarnings": [], "quarterlyEarnings": quarters})
