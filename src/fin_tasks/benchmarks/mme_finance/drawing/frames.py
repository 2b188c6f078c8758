"""What is round a picture's contents: a browser's window, or an app on a phone held upright or sideways."""

from random import Random

from fin_tasks.benchmarks.mme_finance.drawing.look import LIGHT, Box
from fin_tasks.benchmarks.mme_finance.drawing.sheet import Sheet, text_width
from fin_tasks.benchmarks.mme_finance.scene_making.wording import Words
from fin_tasks.benchmarks.mme_finance.scenes import CandleScene, DocumentScene, IndicatorScene, MixedScene, Scene

__all__ = ["desktop", "sideways", "upright"]

_BRAND = Words("Tidemark", "观潮财经")
_ADDRESS = "tidemark.example"
_MENU = (
    Words("Markets", "行情"),
    Words("Watchlist", "自选"),
    Words("Companies", "公司"),
    Words("Research", "研报"),
    Words("Calendar", "日历"),
)
_TABS = (Words("Home", "首页"), *_MENU[:2], Words("News", "资讯"), Words("Me", "我的"))
_DATA, _REPORT = Words("Company data", "公司数据"), Words("Research", "研报正文")
_PERIOD = Words("Daily", "日K")


def desktop(scene: Scene, sheet: Sheet, random: Random) -> Box:
    """Draw a browser's window with a site's bar, and return the room for the contents."""
    theme, width, height = sheet.look.theme, sheet.image.width, sheet.image.height
    sheet.box(Box(0, 0, width, 42), fill=theme.stripe)
    for at, colour in enumerate(("#f25f57", "#f8bd30", "#2ac440")):
        sheet.circle((24 + 24 * at, 21), 7, colour)
    sheet.box(Box(112, 8, 432, 52), fill=theme.bar, radius=10)
    sheet.circle((134, 26), 7, theme.accent)
    sheet.text((152, 26), _shortened(_title(scene), 15, 250, sheet), size=15, anchor="lm")
    sheet.box(Box(0, 42, width, 90), fill=theme.bar)
    for x, ends in ((30, -1), (62, 1)):
        sheet.line((x - 5 * ends, 58), (x + 3 * ends, 66), (x - 5 * ends, 74), colour=theme.muted, width=2)
    sheet.box(Box(98, 50, width - 40, 82), fill=theme.page, radius=16)
    page = f"{_ADDRESS}/{_section(scene)}/{random.randint(10_000, 99_999)}"
    sheet.text((120, 66), page, size=15, colour=theme.muted, anchor="lm")
    sheet.box(Box(0, 90, width, 140), fill=LIGHT.accent)
    sheet.text((40, 115), _BRAND.of(sheet.look.language), size=21, bold=True, colour="#ffffff", anchor="lm")
    x = 220
    for entry in _MENU:
        text = entry.of(sheet.look.language)
        sheet.text((x, 115), text, size=16, colour="#e8effa", anchor="lm")
        x += text_width(text, 16, sheet.look.language) + 40
    card = Box(24, 158, width - 24, height - 18)
    sheet.box(card, fill=theme.card, line=theme.grid)
    return _headed(scene, sheet, card.inside(26, 20))


def upright(scene: Scene, sheet: Sheet, random: Random) -> Box:
    """Draw an app on an upright phone, and return the room for the contents."""
    theme, width, height = sheet.look.theme, sheet.image.width, sheet.image.height
    sheet.box(Box(0, 0, width, 140), fill=theme.bar)
    _status(sheet, Box(34, 10, width - 30, 58), random)
    sheet.line((44, 84), (30, 100), (44, 116), colour=theme.ink, width=4)
    title = _shortened(_title(scene), 28, width - 200, sheet)
    sheet.text((width // 2, 100), title, size=28, bold=True, anchor="mm")
    for at in range(3):
        sheet.circle((width - 60 + 14 * at, 100), 4, theme.ink)
    foot = height - 118
    sheet.box(Box(0, foot, width, height), fill=theme.bar)
    sheet.line((0, foot), (width - 1, foot))
    active = 1 if _section(scene).startswith("quotes") else 3
    for at, entry in enumerate(_TABS):
        x, colour = (2 * at + 1) * width // (2 * len(_TABS)), theme.accent if at == active else theme.muted
        _icon(sheet, at, (x, foot + 31), colour)
        sheet.text((x, foot + 68), entry.of(sheet.look.language), size=20, colour=colour, anchor="mm")
    sheet.box(Box(width // 2 - 110, height - 18, width // 2 + 110, height - 12), fill=theme.ink, radius=3)
    contents = Box(0, 140, width, foot)
    sheet.box(contents, fill=theme.card)
    return contents.inside(26, 24)


def sideways(scene: Scene, sheet: Sheet, random: Random) -> Box:
    """Draw an app on a phone held sideways, and return the room for the contents."""
    theme, width, height = sheet.look.theme, sheet.image.width, sheet.image.height
    sheet.box(Box(0, 0, width, height), fill=theme.card)
    sheet.box(Box(0, 0, width, 84), fill=theme.bar)
    _status(sheet, Box(70, 2, width - 66, 34), random, size=19)
    sheet.line((92, 46), (80, 58), (92, 70), colour=theme.ink, width=3)
    sheet.text((116, 58), _title(scene), size=24, bold=True, anchor="lm")
    if isinstance(scene, CandleScene | IndicatorScene):
        text = _PERIOD.of(sheet.look.language)
        sheet.text((width - 76, 58), text, size=22, colour=theme.accent, anchor="rm")
    sheet.line((0, 84), (width, 84))
    sheet.box(Box(width // 2 - 150, height - 14, width // 2 + 150, height - 8), fill=theme.ink, radius=3)
    return Box(70, 100, width - 66, height - 26)


def _icon(sheet: Sheet, at: int, middle: tuple[int, int], colour: str) -> None:
    """Draw a tab's icon: a house, bars, a tick in a disc, a page, a person."""
    x, y = middle
    back = sheet.look.theme.bar
    if at == 0:
        sheet.line((x - 15, y), (x, y - 13), (x + 15, y), colour=colour, width=4)
        sheet.box(Box(x - 10, y, x + 10, y + 14), fill=colour)
    elif at == 1:
        for bar, high in enumerate((12, 26, 18)):
            sheet.box(Box(x - 14 + 10 * bar, y + 14 - high, x - 7 + 10 * bar, y + 14), fill=colour)
    elif at == 2:
        sheet.circle(middle, 14, colour)
        sheet.line((x - 6, y), (x - 1, y + 5), (x + 7, y - 5), colour=back, width=3)
    elif at == 3:
        sheet.box(Box(x - 13, y - 14, x + 13, y + 14), fill=colour, radius=4)
        for line in (-7, 0, 7):
            sheet.line((x - 7, y + line), (x + 7, y + line), colour=back, width=2)
    else:
        sheet.circle((x, y - 7), 7, colour)
        sheet.box(Box(x - 13, y + 2, x + 13, y + 15), fill=colour, radius=6)


def _headed(scene: Scene, sheet: Sheet, box: Box) -> Box:
    """Write the stock's name above a chart of prices; other contents bring their own title."""
    if not isinstance(scene, CandleScene | IndicatorScene):
        return box
    sheet.text((box.left, box.top), _title(scene), size=26, bold=True)
    text = _PERIOD.of(sheet.look.language)
    sheet.text((box.right, box.top + 16), text, size=18, colour=sheet.look.theme.accent, anchor="rm")
    return box.below(box.top + 46)


def _status(sheet: Sheet, box: Box, random: Random, *, size: int = 24) -> None:
    """Draw the time, the network and the battery."""
    ink, middle = sheet.look.theme.ink, (box.top + box.bottom) // 2
    sheet.text((box.left, middle), f"{random.randint(7, 21)}:{random.randint(0, 59):02d}", size=size, anchor="lm")
    charge, unit = random.randint(18, 97), size / 24
    wide, high = round(44 * unit), round(20 * unit)
    left, top = box.right - wide, middle - high // 2
    sheet.box(Box(left, top, box.right - 4, top + high), fill=sheet.look.theme.bar, line=ink, radius=round(5 * unit))
    sheet.box(Box(box.right - 3, middle - 4, box.right, middle + 4), fill=ink)
    full = round((wide - 10) * charge / 100)
    sheet.box(Box(left + 3, top + 3, left + 3 + full, top + high - 3), fill=ink)
    sheet.text((left - 12, middle), "5G", size=round(size * 0.85), anchor="rm")
    bars = left - 18 - text_width("5G", round(size * 0.85), sheet.look.language) - round(36 * unit)
    for at in range(4):
        x = bars + round(9 * unit * at)
        sheet.box(
            Box(x, middle + high // 2 - round(5 * unit * (at + 1)), x + round(6 * unit), middle + high // 2), fill=ink
        )


def _title(scene: Scene) -> str:
    if isinstance(scene, MixedScene):
        return _title(scene.parts[0])
    if isinstance(scene, CandleScene | IndicatorScene):
        name, symbol = scene.prices.name, scene.prices.symbol
        return f"{name}（{symbol}）" if scene.language == "zh" else f"{name} ({symbol})"
    return (_REPORT if isinstance(scene, DocumentScene) else _DATA).of(scene.language)


def _section(scene: Scene) -> str:
    if isinstance(scene, MixedScene):
        return _section(scene.parts[0])
    if isinstance(scene, CandleScene | IndicatorScene):
        return f"quotes/{scene.prices.symbol.lower()}"
    return "research" if isinstance(scene, DocumentScene) else "companies"


def _shortened(text: str, size: int, room: int, sheet: Sheet) -> str:
    """Cut a title that does not fit, as browsers do."""
    if text_width(text, size, sheet.look.language, bold=True) <= room:
        return text
    while text_width(f"{text}…", size, sheet.look.language, bold=True) > room:
        text = text[:-1]
    return f"{text.rstrip()}…"
