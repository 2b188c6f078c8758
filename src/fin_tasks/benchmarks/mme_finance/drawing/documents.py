"""Pages of reports."""

from fin_tasks.benchmarks.mme_finance.drawing.look import Box
from fin_tasks.benchmarks.mme_finance.drawing.sheet import Sheet, line_height, text_width, wrapped
from fin_tasks.benchmarks.mme_finance.scene_making.wording import Words
from fin_tasks.benchmarks.mme_finance.scenes import DocumentScene

__all__ = ["paint"]

_KIND = Words("Equity research", "股票研究")


def paint(scene: DocumentScene, sheet: Sheet, box: Box) -> None:
    """Set the page: head, title, the box of figures beside or above the text, and the text as large as fits."""
    theme, size = sheet.look.theme, sheet.look.letter
    bar = Box(box.left, box.top, box.right, box.top + round(2.2 * size))
    sheet.box(bar, fill=theme.accent)
    middle = (bar.top + bar.bottom) // 2
    sheet.text((bar.left + size, middle), scene.publisher, colour="#ffffff", bold=True, anchor="lm")
    sheet.text((bar.right - size, middle), _KIND.of(scene.language), colour="#ffffff", anchor="rm")
    large, top = round(size * 1.5), bar.bottom + size
    for line in wrapped(scene.title, large, scene.language, box.width, bold=True):
        sheet.text((box.left, top), line, size=large, bold=True)
        top += line_height(large)
    sheet.text((box.left, top), scene.day, size=round(size * 0.9), colour=theme.muted)
    top += round(1.8 * size)
    if sheet.look.arrangement == "across":
        side = box.right - round(box.width * 0.27)
        _beside(scene, sheet, Box(side, top, box.right, box.bottom))
        _text(scene, sheet, Box(box.left, top, side - 2 * size, box.bottom))
    else:
        _text(scene, sheet, box.below(_above(scene, sheet, box.below(top)) + size))


def _beside(scene: DocumentScene, sheet: Sheet, box: Box) -> None:
    """Print the figures one below the other."""
    theme, size = sheet.look.theme, sheet.look.letter
    step = min(round(2.2 * size), (box.height - size) // len(scene.box))
    sheet.box(Box(box.left, box.top, box.right, box.top + step * len(scene.box) + size // 2), fill=theme.stripe)
    for at, (label, value) in enumerate(scene.box.items()):
        y = box.top + size // 4 + at * step + step // 2
        _figure(sheet, (box.left + size // 2, box.right - size // 2), y, label, value, size=round(size * 0.9))


def _above(scene: DocumentScene, sheet: Sheet, box: Box) -> int:
    """Print the figures in two columns; return the pixel where they end."""
    theme, size = sheet.look.theme, sheet.look.letter
    step, half = round(1.9 * size), box.width // 2
    lines = -(-len(scene.box) // 2)
    end = box.top + step * lines + size // 2
    sheet.box(Box(box.left, box.top, box.right, end), fill=theme.stripe)
    for at, (label, value) in enumerate(scene.box.items()):
        left = box.left + (at % 2) * half + size // 2
        y = box.top + size // 4 + (at // 2) * step + step // 2
        _figure(sheet, (left, left + half - size), y, label, value, size=round(size * 0.82))
    return end


def _figure(sheet: Sheet, between: tuple[int, int], y: int, label: str, value: str, *, size: int) -> None:
    """Print a label at the left and its value at the right, smaller where they would touch."""
    language, room = sheet.look.language, between[1] - between[0]
    while size > 8 and text_width(label, size, language) + text_width(value, size, language, bold=True) > room - size:
        size -= 1
    sheet.text((between[0], y), label, size=size, colour=sheet.look.theme.muted, anchor="lm")
    sheet.text((between[1], y), value, size=size, bold=True, anchor="rm")


def _text(scene: DocumentScene, sheet: Sheet, box: Box) -> None:
    """Set the paragraphs with the largest letters that let all of them fit."""
    largest = round(sheet.look.letter * 1.15)
    for size in range(largest, 7, -1):
        lines = [wrapped(text, size, scene.language, box.width) for text in scene.paragraphs]
        rows = sum(len(paragraph) for paragraph in lines) + len(scene.headings)
        gap = size // 2
        if rows * line_height(size) + gap * (len(lines) - 1) <= box.height:
            break
    y = box.top
    for heading, paragraph in zip(scene.headings, lines, strict=True):
        sheet.text((box.left, y), heading, size=size, bold=True, colour=sheet.look.theme.accent)
        for line in paragraph:
            y += line_height(size)
            sheet.text((box.left, y), line, size=size)
        y += line_height(size) + gap
