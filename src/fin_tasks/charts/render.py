"""One chart as PNG bytes.

The plain way with mplfinance draws twice, as a tight bounding box is known only after drawing; makes an object of every
volume bar; lets ticks be found while drawing; and compresses thoroughly. Here every place is computed beforehand
(`compose`), so one drawing into a buffer of the final size is enough, and the same input gives the same bytes.
"""

import matplotlib as mpl
import numpy as np

from fin_tasks.charts import png, style
from fin_tasks.charts.compose import Composer, Picture
from fin_tasks.charts.spec import ChartSpec

__all__ = ["compose", "render"]


def render(spec: ChartSpec) -> bytes:
    """Draw a chart.

    Returns:
        A PNG without transparency and without metadata, `spec.pixels` large. The bytes depend on the spec and on the
        versions in its key, not on locale, time zone, matplotlib's configuration or what was drawn before.

    Raises:
        DataError: There are more marks than can be labelled in a picture of this size.
    """
    with mpl.rc_context(style.settings()):
        canvas = Composer(spec).compose().canvas
        canvas.draw()  # type: ignore[no-untyped-call]
        return png.encode(np.asarray(canvas.buffer_rgba()), dpi=spec.dpi)  # type: ignore[no-untyped-call]


def compose(spec: ChartSpec) -> Picture:
    """Work out where everything in a chart lies without drawing it; for tests and for a look at the parts.

    Raises:
        DataError: As for `render`.
    """
    with mpl.rc_context(style.settings()):
        return Composer(spec).compose()
