"""Yahoo, Alpha Vantage, Wikipedia and GitHub on the loopback interface."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo


class MarketServer(ThreadingHTTPServer):
    """Answers by path or by path and `symbol`: text, JSON, a status, or a list of these, the last one for ever."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.answers: dict[str, Any] = {"/": "", "/consent": "", "/v1/test/getcrumb": "crumb"}
        self.asked: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: MarketServer

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        symbol = parse_qs(parts.query).get("symbol", [""])[0]
        path = parts.path + (f"?{symbol}" if parts.path == "/query" else "")
        self.server.asked.append(path)
        answer = self.server.answers.get(path, 404)
        if isinstance(answer, list):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        self.send_response(answer if isinstance(answer, int) else 200)
        self.end_headers()
        answer = {} if isinstance(answer, int) else answer
        self.wfile.write((answer if isinstance(answer, str) else json.dumps(answer)).encode())


@contextmanager
def serving() -> Iterator[MarketServer]:
    with MarketServer() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def chart(ticker: str, closes: Mapping[str, float | None], splits: Mapping[str, int] | None = None) -> dict[str, Any]:
    """Return Yahoo's chart of daily closes; a split of n:1 on its day."""

    def stamp(day: str) -> int:
        return int(datetime.fromisoformat(f"{day}T09:30").replace(tzinfo=ZoneInfo("America/New_York")).timestamp())

    names = {"exchangeTimezoneName": "America/New_York", "timezone": "EST", "instrumentType": "EQUITY"}
    meta = {"symbol": ticker, "currency": "USD", "gmtoffset": -18000, "priceHint": 2, "dataGranularity": "1d", **names}
    meta |= {"regularMarketTime": 1700000000, "firstTradeDate": 0, "range": "", "validRanges": ["1d", "max"]}
    figures = list(closes.values())
    quote: dict[str, Any] = dict.fromkeys(("open", "high", "low", "close"), figures)
    events = {
        str(stamp(day)): {"date": stamp(day), "numerator": n, "denominator": 1, "splitRatio": f"{n}:1"}
        for day, n in (splits or {}).items()
    }
    result = {
        "meta": meta,
        "timestamp": [stamp(day) for day in closes],
        "events": {"splits": events} if events else {},
        "indicators": {"quote": [{**quote, "volume": [1000] * len(figures)}], "adjclose": [{"adjclose": figures}]},
    }
    return {"chart": {"result": [result], "error": None}}
