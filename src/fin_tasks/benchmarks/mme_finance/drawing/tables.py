"""Tables."""

from fin_tasks.benchmarks.mme_finance.drawing.look import Box
from fin_tasks.benchmarks.mme_finance.drawing.sheet import Sheet, line_height, text_width, wrapped
from fin_tasks.benchmarks.mme_finance.scenes import TableScene

__all__ = ["paint"]


def paint(scene: TableScene, sheet: Sheet, box: Box) -> None:
    """Write title and unit, and the rows below, as high as there is room for."""
    theme, size = sheet.look.theme, sheet.look.letter
    large, small, top = round(size * 1.25), round(size * 0.85), box.top
    for line in wrapped(scene.title, large, scene.language, box.width, bold=True):
        sheet.text((box.left, top), line, size=large, bold=True)
        top += line_height(large)
    sheet.text((box.left, top), scene.unit, size=small, colour=theme.muted)
    top += line_height(size)
    room = box.bottom - top
    height = max(min(room // (len(scene.rows) + 1), round(3.4 * size)), line_height(size))
    cells = [list(scene.columns)]
    cells += [[name, *(f"{value:,.{scene.decimals}f}" for value in values)] for name, values in scene.rows.items()]
    letters, rights = _columns(cells, sheet, box)
    for at, row in enumerate(cells):
        place = Box(box.left, top + at * height, box.right, top + (at + 1) * height)
        sheet.box(place, fill=theme.head if at == 0 else theme.stripe if at % 2 == 0 else theme.card)
        middle = (place.top + place.bottom) // 2
        sheet.text((box.left + size // 2, middle), row[0], size=letters, anchor="lm", bold=at == 0)
        for text, right in zip(row[1:], rights, strict=True):
            sheet.text((right, middle), text, size=letters, anchor="rm", bold=at == 0)
    end = top + len(cells) * height
    sheet.line((box.left, end), (box.right - 1, end), colour=theme.grid, width=2)


def _columns(cells: list[list[str]], sheet: Sheet, box: Box) -> tuple[int, list[int]]:
    """Return the letters' size, and the right edges of the columns of numbers: as wide as their text, alike apart."""
    size, widths = sheet.look.letter, _widths(cells, sheet, sheet.look.letter)
    while size > 8 and sum(widths) + size * len(widths) > box.width:
        size -= 1
        widths = _widths(cells, sheet, size)
    gap = (box.width - size - sum(widths)) / (len(widths) - 1)
    rights, edge = [], box.left + size / 2 + widths[0]
    for width in widths[1:]:
        edge += gap + width
        rights.append(round(edge))
    return size, rights


def _widths(cells: list[list[str]], sheet: Sheet, size: int) -> list[int]:
    return [
        max(text_width(row[at], size, sheet.look.language, bold=line == 0) for line, row in enumerate(cells))
        for at in range(len(cells[0]))
    ]
