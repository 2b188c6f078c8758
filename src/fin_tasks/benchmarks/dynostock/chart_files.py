"""The charts of documents, and the files that hold them."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fin_tasks.charts.chart import PIXELS, Chart, Style

from .market import Excerpt


def chart_of(
    excerpt: Excerpt,
    pixels: int = PIXELS,
    style: Style = "house",
) -> Chart:
    """Return the chart of an excerpt."""
    return Chart(
        ticker=excerpt.ticker,
        start=excerpt.start,
        end=excerpt.end,
        prices=excerpt.prices,
        reports=excerpt.reports,
        currency=excerpt.currency,
        pixels=pixels,
        style=style,
    )


def add_charts(
    docs: Sequence[dict[str, Any]],
    charts: Sequence[Chart],
    folder: Path,
    cache_dir: Path,
) -> None:
    """Name each document's chart: that built with the set if the folder holds all of them, else a drawn one."""
    from fin_tasks.charts.pool import draw_charts

    cache = cache_dir / "dynostock" / "charts"
    paths = [folder / item.file_name for item in charts]
    if not all(path.is_file() for path in paths):
        paths, _ = draw_charts(charts, cache)
    # Reports look for pictures in the cache, so those of the set are copied.
    cache.mkdir(parents=True, exist_ok=True)
    for doc, path in zip(docs, paths, strict=True):
        doc["chart"] = str(path)
        copy = cache / path.name
        if not copy.exists():
            shutil.copyfile(path, copy)
