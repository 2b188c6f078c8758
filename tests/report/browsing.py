"""Pages of reports: written from small runs, opened from disk, and looked at."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fin_tasks.report import read
from fin_tasks.report.leaderboard import board
from fin_tasks.report.site.page import write_page

SCREENS = [(1400, "light"), (390, "dark")]
"""Widths and color schemes of a screen and of a phone."""

AXE = {"preload": False, "resultTypes": ["violations"]}
"""Axe loads no files, and describes no rule that is kept."""


def write_page_of(folder: Path, **options: Any) -> str:
    """Write the page of the runs below a folder, without tables and figures; returns its address."""
    out = folder / "out"
    out.mkdir(exist_ok=True)
    found = read([folder / "runs"], page=out / "page")
    write_page(found, board(found, **{"papers": False, **options}), out)
    return (out / "index.html").as_uri()


def show(page: Any, address: str, where: str = "") -> None:
    """Open a page, or draw it anew where it is open, and wait until it is drawn."""
    if page.url.partition("#")[0] == address:
        go = "where => { history.replaceState(null, '', `#${where}`); return onhashchange(); }"
        page.evaluate(go, where)
    else:
        page.goto(f"{address}#{where}")
    page.wait_for_selector("#main[aria-busy=false]")


def wait_for_status(page: Any, beginning: str) -> None:
    """Wait until the line of the status begins with a text."""
    status = "text => document.getElementById('status').textContent.startsWith(text)"
    page.wait_for_function(status, arg=beginning)


def check_access(
    page: Any, address: str, places: Sequence[str], screen: tuple[int, str]
) -> None:
    """Check that views fit the screen, and that axe finds no fault, also below what can be opened."""
    from axe_playwright_python.sync_playwright import Axe

    width, scheme = screen
    page.set_viewport_size({"width": width, "height": 850})
    page.emulate_media(color_scheme=scheme)
    for place in places:
        show(page, address, place)
        for summary in page.locator("#main summary:visible").all():
            summary.click()
        found = Axe().run(page, options=AXE)
        assert found.violations_count == 0, f"{place}: {found.generate_report()}"
        assert page.evaluate("document.documentElement.scrollWidth") <= width, place
