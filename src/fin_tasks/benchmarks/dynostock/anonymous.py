"""Windows that show neither ticker nor time, to tell a bias from memory."""

import hashlib
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

from .market import Excerpt
from .windows import Window

ANONYMOUS_TICKER = "ANON"


def anonymous(excerpt: Excerpt, window: Window) -> tuple[Excerpt, Window]:
    """Hide ticker and dates.

    All dates move by the same number of whole weeks, so that the window ends between 1970 and 1989 in a week that a
    hash of its id picks. Prices and earnings stay, so a model that knows them by heart could still recognize them.
    """
    digest = hashlib.sha256(window.id.encode())
    week = int.from_bytes(digest.digest()[:8], "big") % (20 * 52)
    distance = date(1970, 1, 1) + timedelta(weeks=week) - window.end
    shift = timedelta(weeks=distance.days // 7 + 1)
    reports = excerpt.reports.copy()
    reports[["reported", "fiscal_end"]] += shift
    fields: dict[str, Any] = {
        "ticker": ANONYMOUS_TICKER,
        "start": window.start + shift,
        "end": window.end + shift,
    }
    prices = excerpt.prices.shift(freq=shift)
    name = f"anonymous-{digest.hexdigest()[:12]}"
    anonymous = replace(
        excerpt, **fields, prices=prices, reports=reports, filed=reports
    )
    return anonymous, replace(window, id=name, **fields)
