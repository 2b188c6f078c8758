"""The pictures people have looked at. After a change that is meant: `pytest tests/charts --update-golden`, and look."""

import io
import json
import platform
import sys
import zlib
from datetime import date
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fin_tasks.benchmarks.dynostock.charting import chart_between
from fin_tasks.benchmarks.dynostock.market import sample_market
from fin_tasks.charts.render import compose, render
from fin_tasks.charts.spec import ChartSpec

GOLDEN = Path(__file__).parents[1] / "golden"
DRAWN_BY = GOLDEN / "charts.json"
HERE = {
    "matplotlib": version("matplotlib"),
    "mplfinance": version("mplfinance"),
    "zlib": zlib.ZLIB_RUNTIME_VERSION,
    "machine": f"{sys.platform} {platform.machine()}",
}
TOLERANCE = 3.0  # mean difference in grey levels of 255; other versions of freetype move letters by parts of a pixel


def real(ticker: str, start: str, end: str, dpi: int) -> ChartSpec:
    return chart_between(sample_market(), ticker, date.fromisoformat(start), date.fromisoformat(end), dpi=dpi)


def closes(spec: ChartSpec) -> ChartSpec:
    return ChartSpec(
        title=spec.title,
        stem=spec.stem,
        prices=spec.prices[["close"]],
        marks=spec.marks,
        width=spec.width,
        height=spec.height,
        dpi=spec.dpi,
    )


CHARTS = {
    "chart_w4": ("candle", lambda: real("AAPL", "2011-03-21", "2012-01-24", 150)),
    "chart_w12": ("candle", lambda: real("IBM", "2008-06-16", "2011-04-19", 160)),
    "chart_w20": ("line", lambda: real("MSFT", "2005-06-21", "2010-04-22", 90)),
    "chart_closes": ("line", lambda: closes(real("AAPL", "2009-03-23", "2010-01-25", 100))),
}


@pytest.mark.parametrize("name", CHARTS)
def test_golden(name: str, request: pytest.FixtureRequest) -> None:
    kind, make = CHARTS[name]
    spec, file = make(), GOLDEN / f"{name}.png"
    assert compose(spec).kind == kind
    image = render(spec)
    if request.config.getoption("--update-golden", default=False):
        file.write_bytes(image)
        DRAWN_BY.write_text(json.dumps(HERE, indent=2) + "\n")
    with Image.open(file) as golden, Image.open(io.BytesIO(image)) as drawn:
        expected, found = (np.asarray(picture, dtype=float) for picture in (golden, drawn))
    assert found.shape == expected.shape
    assert np.abs(found - expected).mean() < TOLERANCE
    if json.loads(DRAWN_BY.read_text()) == HERE:
        assert image == file.read_bytes()
