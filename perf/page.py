"""Make the page of 100,000 samples and open it in Chromium.

    python perf/page.py [--samples N] [--keep FOLDER]

Runs are made first, as in `report.py`. Goal: the page opens in less than 0.5 s.
"""

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from report import write_run  # beside this file

from fin_tasks.report import read
from fin_tasks.report.leaderboard import board
from fin_tasks.report.site.page import write_page

ROWS = 4235


def main() -> None:
    """Make runs and page, open it, print seconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument(
        "--keep", type=Path, help="make the runs here, or use those that are here"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        runs, out = arguments.keep or Path(temporary) / "runs", Path(temporary) / "out"
        if not runs.exists():
            for number in range(-(-arguments.samples // ROWS)):
                write_run(runs / f"org__model-{number:03}", number, ROWS)
        out.mkdir()
        begun = time.perf_counter()
        found = read([runs], page=out / "page")
        made = board(found)
        write_page(found, made, out)
        size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
        print(
            f"page of {len(found.rows) // 2:,} samples: {time.perf_counter() - begun:.1f} s, {size / 1e6:,.0f} MB"
        )
        if chromium := shutil.which("chromium"):
            browse((out / "index.html").as_uri(), chromium)


def browse(address: str, chromium: str) -> None:
    """Open the page and its views; print seconds."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        page = play.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        ).new_page()

        def timed(name: str, act: Callable[[], object], shown: str) -> None:
            begun = time.perf_counter()
            act()
            page.wait_for_selector(shown)
            print(f"{name}: {time.perf_counter() - begun:.2f} s")

        timed("open", lambda: page.goto(address), "table.models tbody tr")
        timed("list of samples", lambda: page.click("#view-samples"), ".list a")
        timed("a sample", lambda: page.click("#open-3"), "#open-3[aria-current]")


if __name__ == "__main__":
    main()
