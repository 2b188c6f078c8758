"""A page over 100,000 samples: how large it is, how long it takes to make, to open and to search.

    python perf/page.py [--samples N] [--keep FOLDER]

Runs are made first as in `report.py`, outside the clock: 24 over the test set of XFinBench, with texts as long as real
ones. Then the page and the files beside it are written, and Chromium opens it from disk: until the table stands, until
the list of a run's samples stands, until a sample stands, until a search in what lists show is done, and until one in
whole texts is; with the memory that its scripts hold after each, once what is no longer used was freed. Goals:
`index.html` below 50 MB, open in less than 2 s, and below 50 MB of memory throughout.
"""

import argparse
import shutil
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from report import make  # beside this file

from fin_tasks.report.collect import collect
from fin_tasks.report.old_leaderboard import document
from fin_tasks.report.site.page import write_page
from fin_tasks.report.site.sample_store import write_samples
from fin_tasks.settings import Settings

ROWS = 4235


def main() -> None:
    """Make runs and page, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--keep", type=Path, help="make the runs here and leave them; they are used again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        runs = arguments.keep or Path(temporary) / "runs"
        if not runs.exists():
            make(runs, runs=-(-arguments.samples // ROWS), rows=ROWS)
        out = Path(temporary) / "out"
        out.mkdir()
        write(runs, out, cache=Path(temporary) / "cache")
        if (chromium := shutil.which("chromium")) is None:
            print("no chromium here, so the page is not opened")
            return
        browse(out / "index.html", chromium)


def write(runs: Path, out: Path, *, cache: Path) -> None:
    """Write page and samples; print seconds and sizes."""
    found = collect([runs], settings=replace(Settings.from_environ(), cache_dir=cache), published=False)
    begun = time.perf_counter()
    index = write_samples(found, out, folders=[])
    seconds = time.perf_counter() - begun
    write_page(document(found), out, samples=index)
    files = [file for file in (out / "samples").rglob("*") if file.is_file()]
    size, largest = sum(file.stat().st_size for file in files), max(file.stat().st_size for file in files)
    rows = sum(run.rows for run in index.runs)
    print(f"{rows:,} samples of {len(index.runs)} runs: written in {seconds:.1f} s")
    print(f"index.html: {(out / 'index.html').stat().st_size / 1e6:.2f} MB")
    print(f"samples/: {size / 1e6:,.0f} MB in {len(files):,} files, the largest {largest / 1e6:.2f} MB")


def browse(path: Path, chromium: str) -> None:
    """Open the page as a user does; print seconds."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        page = browser.new_page()
        inside = page.context.new_cdp_session(page)
        inside.send("Performance.enable")

        def timed(name: str, act: Any) -> None:
            measured(name, act, inside)

        timed("open", lambda: (page.goto(path.as_uri()), page.wait_for_selector("table.board td")))
        page.evaluate("location.hash = ''")
        timed("list of samples", lambda: (page.click("#tab-samples"), page.wait_for_selector(".samples-list td")))
        timed("a sample", lambda: (page.click(".samples-list a >> nth=3"), page.wait_for_selector("#sample-title")))
        page.keyboard.press("Escape")
        timed("the next run", lambda: (choose_task(page), page.wait_for_selector(".samples-list td")))
        timed("search of lists", lambda: search(page, "_12"))
        page.check("text=Search whole texts")
        timed("search of whole texts", lambda: search(page, "portfolio duration option"))
        browser.close()


def choose_task(page: Any) -> None:
    """Open the last task of the model."""
    page.wait_for_selector(".samples-list td")
    select = page.get_by_label("Task")
    select.select_option(index=select.locator("option").count() - 1)


def search(page: Any, text: str) -> None:
    """Type a search; wait until the list is of all that is found."""
    page.evaluate("() => { document.getElementById('status').textContent = '' }")
    page.get_by_label("Find in samples").fill(text)
    page.wait_for_function(
        "text => location.hash.includes(new URLSearchParams({find: text}).toString()) && "
        "document.getElementById('status').textContent.match(/^[0-9,]+ sample/)",
        arg=text,
    )


def measured(name: str, act: Any, inside: Any) -> None:
    """Print how long something takes, and what the page's scripts hold then."""
    begun = time.perf_counter()
    act()
    seconds = time.perf_counter() - begun
    inside.send("HeapProfiler.collectGarbage")
    metrics = {one["name"]: one["value"] for one in inside.send("Performance.getMetrics")["metrics"]}
    print(f"{name}: {seconds:.2f} s, {metrics['JSHeapUsedSize'] / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
