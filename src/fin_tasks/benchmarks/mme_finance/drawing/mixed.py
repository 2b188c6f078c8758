"""Pages with several parts."""

from fin_tasks.benchmarks.mme_finance.drawing import candles, documents, indicators, statistics_charts, tables
from fin_tasks.benchmarks.mme_finance.drawing.look import Box
from fin_tasks.benchmarks.mme_finance.drawing.sheet import Sheet, line_height, wrapped
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
    top = box.top
    for line in wrapped(scene.title, large, scene.language, box.width, bold=True):
        sheet.text((box.left, top), line, size=large, bold=True)
        top += line_height(large)
    sheet.look = look.scaled(0.92)
    for at, (part, place) in enumerate(zip(scene.parts, _places(scene, sheet, box.below(top)), strict=True)):
        paint(part, sheet, place)
        if at and look.arrangement == "across":
            sheet.line((place.left - whole, top), (place.left - whole, box.bottom))
        elif at:
            sheet.line((box.left, place.top - whole), (box.right, place.top - whole))
    sheet.look = look


def _places(scene: MixedScene, sheet: Sheet, box: Box) -> list[Box]:
    """Divide the room; a chart of prices gets more of it than other parts."""
    gap, across = 2 * sheet.look.letter, sheet.look.arrangement == "across"
    weights = [1.3 if isinstance(part, CandleScene | IndicatorScene) else 1.0 for part in scene.parts]
    room = (box.width if across else box.height) - gap * (len(weights) - 1)
    places, start = [], box.left if across else box.top
    for weight in weights:
        end = start + round(room * weight / sum(weights))
        places.append(box._replace(left=start, right=end) if across else box._replace(top=start, bottom=end))
        start = end + gap
    return places
