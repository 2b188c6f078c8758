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
    page.set_default_timeout(10_000)
    page.on("console", lambda message: found.told.append(message.text))
    page.on("pageerror", lambda error: found.told.append(str(error)))
    page.on("dialog", lambda dialog: (found.told.append(dialog.message), dialog.dismiss()))
    page.on("popup", lambda popup: found.told.append(f"popup {popup.url}"))
    page.on("request", lambda request: found.asked.append(request.url))
    found.show(address)
    yield found
    assert page.url.startswith((folder / "index.html").as_uri()), "the page was left"
    context.close()


CONTRASTS = """
() => {
  // Text whose contrast with what is behind it is below what WCAG 2.2 AA asks for: 4.5, or 3 where it is large.
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((at) => top[at] * top[3] + below[at] * (1 - top[3])).concat(1);
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((one) => one / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    if (!node) return rgba(getComputedStyle(document.documentElement).backgroundColor)[3] ? rgba(getComputedStyle(document.documentElement).backgroundColor) : [255, 255, 255, 1];
    const own = rgba(getComputedStyle(node).backgroundColor);
    return own[3] === 1 ? own : over(own, behind(node.parentElement));
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let looked = 0;
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const node = walker.currentNode.parentElement;
    if (!text || node.closest("script, style, svg, .unseen, noscript, option, dialog:not([open])") || !node.checkVisibility()) continue;
    const style = getComputedStyle(node);
    looked += 1;
    const [a, b] = [over(rgba(style.color), behind(node)), behind(node)].map(light);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) found.push(`${text.slice(0, 40)}: ${ratio.toFixed(2)} (${node.tagName}.${node.className})`);
  }
  return {found, looked};
}
"""
