"""Make the pictures of docs/images: `make pictures`.

Charts come from the packaged sample. The other pictures show recorded responses, which are in ../shared/data (see
`fin-tasks recordings --from`). The pictures of the page are taken in Chromium.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from page_pictures import take_pictures
from PIL import Image

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
RECORDED = ROOT.parent / "shared" / "data"
CHARTS = {
    "chart.png": ("AAPL", "2011-03-21", "2012-01-24"),
    "chart_20.png": ("IBM", "2008-03-17", "2013-01-22"),
}
DRAWN = (*CHARTS, "compare.png", "bias_by_window.png")
COLORS = 64
COMPARED = {"gpt-4o": "gpt-4o", "claude": "claude-3-5-sonnet-20240620"}


def run(*words: object) -> None:
    """Run a command of fin-tasks."""
    command = [sys.executable, "-m", "fin_tasks", *map(str, words)]
    subprocess.run(command, check=True)  # noqa: S603 - our own command line


def draw_charts() -> None:
    """Draw what a model sees in DynoStock."""
    for name, (ticker, start, end) in CHARTS.items():
        days = ("--start", start, "--end", end)
        run("chart", ticker, *days, "--sample", "--out", IMAGES / name)


def draw_comparison(folder: Path) -> None:
    """Draw the differences of two recorded models by topic, as docs/reports.md shows."""
    data = RECORDED / "financemath"
    for model, file in COMPARED.items():
        responses = data / "pot" / f"{file}.json"
        options = ("--mode", "pot", "--model", model, "--data-dir", data)
        run("replay", "financemath", responses, *options, "--out", folder / model)
    runs = [folder / model for model in COMPARED]
    run("compare", *runs, "--by", "topic", "--out", folder / "comparison")
    (picture,) = (folder / "comparison").glob("*.png")
    shutil.copy(picture, IMAGES / "compare.png")


def draw_windows(folder: Path) -> None:
    """Draw DynoStock's bias index of three recorded models by window size."""
    run("replay", "dynostock", RECORDED / "dynostock" / "recordings", "--out", folder)
    run("report", folder, "--out", folder / "report")
    picture = folder / "report" / "figures" / "dynostock_recency_paper.png"
    shutil.copy(picture, IMAGES / "bias_by_window.png")


def shrink(picture: Path) -> None:
    """Keep the most frequent colors alone, which makes a file of a third of the size."""
    with Image.open(picture) as drawn:
        drawn.convert("RGB").quantize(COLORS).save(picture, optimize=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        draw_charts()
        draw_comparison(Path(temporary, "financemath"))
        draw_windows(Path(temporary, "dynostock"))
    for name in DRAWN:
        shrink(IMAGES / name)
    take_pictures(IMAGES)
