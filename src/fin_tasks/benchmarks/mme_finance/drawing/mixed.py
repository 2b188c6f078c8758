"""Pages with several parts."""

from fin_tasks.benchmarks.mme_finance.drawing import candles, documents, indicators, statistics_charts, tables
from fin_tasks.benchmarks.mme_finance.drawing.look import Box
from fin_tasks.benchmarks.mme_finance.drawing.sheet import Sheet, line_height
from fin_tasks.benchmarks.mme_finance.scenes import (
    CandleScene,
    DocumentScene,
    IndicatorScene,
    MixedScene,
    Scene,
    StatisticsScene,
)

__all__ = ["paint"]


def paint(scene: Scene, sheet: Sheet, box: Box) -> None:
    """Draw any scene; parts of a mixed one lie side by side where the picture is wide, else one below the other."""
    if isinstance(scene, MixedScene):
        _parts(scene, sheet, box)
    elif isinstance(scene, CandleScene):
        candles.paint(scene, sheet, box)
    elif isinstance(scene, IndicatorScene):
        indicators.paint(scene, sheet, box)
    elif isinstance(scene, StatisticsScene):
        statistics_charts.paint(scene, sheet, box)
    elif isinstance(scene, DocumentScene):
        documents.paint(scene, sheet, box)
    else:
        tables.paint(scene, sheet, box)


def _parts(scene: MixedScene, sheet: Sheet, box: Box) -> None:
    look, whole = sheet.look, sheet.look.letter
    large = round(whole * 1.35)
    sheet.text((box.left, box.top), scene.title, size=large, bold=True)
    top = box.top + line_height(large) + whole // 2
    sheet.look = look.scaled(0.92)
    count, gap = len(scene.parts), round(1.5 * whole)
    for at, part in enumerate(scene.parts):
        if look.arrangement == "across":
            step = (box.width + gap) // count
            place = Box(box.left + at * step, top, box.left + (at + 1) * step - gap, box.bottom)
        else:
            step = (box.bottom - top + gap) // count
            place = Box(box.left, top + at * step, box.right, top + (at + 1) * step - gap)
        paint(part, sheet, place)
        if at:
            line = (
                ((place.left - gap // 2, top), (place.left - gap // 2, box.bottom))
                if look.arrangement == "across"
                else ((box.left, place.top - gap // 2), (box.right, place.top - gap // 2))
            )
            sheet.line(*line)
    sheet.look = look
