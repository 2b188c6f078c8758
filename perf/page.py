"""Make the page of 100,000 samples and open it in Chromium.

    python perf/page.py [--samples N] [--keep FOLDER]

Runs are made first, as in `report.py`. Goal: the page opens in less than 0.5 s.
"""

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measured import Figure, finish, options
from report import write_run  # beside this file

from fin_tasks.report import read
from fin_tasks.report.leaderboard import board
from fin_tasks.report.site.page import write_page

ROWS, GOAL_S = 4235, 0.5


def main() -> int:
    """Make runs and page, open it, print seconds."""
    parser = options(__doc__)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument(
        "--keep", type=Path, help="make the runs here, or use those that are here"
    )
    arguments = parser.parse_args()
    samples, n_rows = (80, 40) if arguments.tiny else (arguments.samples, ROWS)
    with tempfile.TemporaryDirectory() as temporary:
        runs, out = arguments.keep or Path(temporary) / "runs", Path(temporary) / "out"
        if not runs.exists():
            for number in range(-(-samples // n_rows)):
                write_run(runs / f"org__model-{number:03}", number, n_rows)
        out.mkdir()
        begun = time.perf_counter()
        found = read([runs], page=out / "page")
        made = board(found)
        write_page(found, made, out)
        size = sum(file.stat().st_size for file in out.rglob("*") if file.is_file())
        seconds = time.perf_counter() - begun
        made_of = f"{len(found.rows) // 2:,} samples"
        figures = [
            Figure(what=f"making the page of {made_of}", value=seconds, unit="s"),
            Figure(what="its files", value=size / 1e6, unit="MB"),
        ]
        if chromium := shutil.which("chromium"):
            figures += browse((out / "index.html").as_uri(), chromium)
    return finish(figures, arguments, __file__)


def browse(address: str, chromium: str) -> list[Figure]:
    """Open the page and its views, and return the seconds."""
    from playwright.sync_api import sync_playwright

    figures = []
    with sync_playwright() as play:
        page = play.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        ).new_page()

        def timed(name: str, act: Callable[[], object], shown: str) -> None:
            begun = time.perf_counter()
            act()
            page.wait_for_selector(shown)
            seconds = time.perf_counter() - begun
            most = GOAL_S if name == "opening it" else None
            figures.append(Figure(what=name, value=seconds, unit="s", most=most))

        timed("opening it", lambda: page.goto(address), "table.models tbody tr")
        timed("its list of samples", lambda: page.click("#view-samples"), ".list a")
        timed("a sample", lambda: page.click("#open-3"), "#open-3[aria-current]")
    return figures


if __name__ == "__main__":
    sys.exit(main())
