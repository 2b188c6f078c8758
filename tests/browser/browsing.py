"""Opens pages in Debian's Chromium and keeps what they say, ask for and get wrong."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium")
REASON = "needs Chromium: apt-get install chromium"


@contextmanager
def chromium() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@dataclass
class Opened:
    """A page in the browser.

    Attributes:
        page: Playwright's.
        folder: Where the page lies.
        told: Messages on the console, errors, and dialogs.
        asked: Addresses asked for, the page's own among them.
    """

    page: Any
    folder: Path
    told: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def show(self, address: str) -> None:
        """Go to what an address shows."""
        self.page.goto(f"{(self.folder / 'index.html').as_uri()}#{address}")
        self.page.wait_for_selector("#tabs [aria-current]")

    def strangers(self) -> list[str]:
        """Return addresses asked for that are not files of the page."""
        own = self.folder.as_uri() + "/"
        return [url for url in self.asked if not url.startswith(own) and not url.startswith("data:")]


@contextmanager
def opened(browser: Any, folder: Path, *, address: str = "", **options: Any) -> Iterator[Opened]:
    context = browser.new_context(**{"viewport": {"width": 1200, "height": 900}, **options})
    found = Opened(context.new_page(), folder)
    page = found.page
    page.set_default_timeout(60_000)  # milliseconds; a busy machine takes its time
    page.on("console", lambda message: found.told.append(message.text))
    page.on("pageerror", lambda error: found.told.append(str(error)))
    page.on("dialog", lambda dialog: (found.told.append(dialog.message), dialog.dismiss()))
    page.on("popup", lambda popup: found.told.append(f"popup {popup.url}"))
    page.on("request", lambda request: found.asked.append(request.url))
    found.show(address)
    yield found
    assert page.url.startswith((folder / "index.html").as_uri()), "the page was left"
    context.close()


CONTRASTS = (Path(__file__).parent / "contrasts.js").read_text(encoding="utf-8")
