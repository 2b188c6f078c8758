"""What is odd about MME-Finance's rows, and what is done about it."""

import re
import unicodedata
from collections.abc import Iterator, Mapping

from fin_tasks.benchmarks.mme_finance.row import CATEGORIES
from fin_tasks.benchmarks.mme_finance.table import OPTIONAL
from fin_tasks.data.schema import Record

__all__ = ["DEFECTS", "LEFT_OUT", "category_of", "text_defects"]

DEFECTS: Mapping[str, str] = {
    "bom": "byte order mark at the start; ignored",
    "category-spelling": "a category in other words than the published ones; understood",
    "cell-count": "more or fewer cells than the header; row left out",
    "duplicate-index": "the index of an earlier row, so that results could not tell them apart; row left out",
    "empty-answer": "no reference answer to judge by; row left out",
    "empty-image-style": "no image style; asked, and counted under none",
    "empty-image-type": "no image type; asked, and counted under none",
    "empty-index": "no index; row left out",
    "empty-question": "no question; row left out",
    "not-a-picture": "a file that is no JPEG, PNG, WebP, GIF, BMP or TIFF; row left out",
    "picture-broken": "a picture that breaks off or cannot be decoded; row left out",
    "picture-missing": "no picture of that name, or several that could be meant; row left out",
    "picture-too-large": "a picture of more than 64 MiB or 89 million pixels; row left out",
    "unanswerable-without-answer": "no reference answer where none is needed; asked",
    "unknown-category": "a category nobody knows, so that no rubric fits; row left out",
}
"""Kind of defect to what it is and what is done about it."""

LEFT_OUT = frozenset(kind for kind, done in DEFECTS.items() if done.endswith("row left out"))
"""Kinds for which a row cannot be asked or judged."""

_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {
    "Image Caption": ("Image Captioning", "Caption", "图像描述", "图片描述", "图像标题", "图像字幕", "图片说明"),
    "OCR": ("Optical Character Recognition", "文字识别", "文本识别", "字符识别", "光学字符识别", "OCR识别"),
    "Entity Recognition": ("实体识别",),
    "Spatial Awareness": ("空间感知", "空间意识", "空间认知", "空间识别"),
    "Accurate Numerical Calculation": ("精确数值计算", "精准数值计算", "准确数值计算", "精确计算", "准确计算"),
    "Numerical Calculation": (
        "Estimated Numerical Calculation",
        "数值计算",
        "估算数值计算",
        "数值估算",
        "估算",
        "估计数值计算",
    ),
    "Risk Warning": ("Risking Warning", "风险提示", "风险预警", "风险警示", "风险警告"),
    "Investment Advice": ("投资建议",),
    "Explain Reason": (
        *("Reason Explanation", "Reason Explaination", "Explain Reasons"),
        *("原因解释", "解释原因", "原因说明", "归因解释"),
    ),
    "Financial Knowledge": (
        *("Financial Knowledge QA", "Financial Question Answer", "Financial Question Answering"),
        *("金融知识", "金融知识问答", "金融问答", "财经知识", "金融问题回答"),
    ),
    "Not Applicable": ("Hallucination", "无法回答", "不适用", "不可回答", "幻觉"),
}
"""Names the paper, its Chinese readers and other releases have for a category."""


def category_of(text: str) -> str | None:
    """Return the category that a file means, a key of `CATEGORIES`; None where it is none.

    Case, spaces, hyphens and full width do not count; abbreviations and Chinese names are known.

    Example:
        >>> category_of("accurate_numerical-calculation "), category_of("ENC"), category_of("风险提示")
        ('Accurate Numerical Calculation', 'Numerical Calculation', 'Risk Warning')
    """
    return _BY_NAME.get(_plain(text))


def text_defects(record: Record, category: str | None) -> Iterator[tuple[str, str]]:
    """Yield kind and detail of what is odd about a row, its picture aside."""
    cells = record.cells
    lacking = list(cells)[record.surplus :] if record.surplus < 0 else []
    if record.surplus > 0 or not set(lacking) <= set(OPTIONAL):
        yield "cell-count", f"{len(cells) + record.surplus} of {len(cells)} cells"
    if not cells["index"].strip():
        yield "empty-index", f"line {record.line}"
    if not cells["question"].strip():
        yield "empty-question", f"line {record.line}"
    if category is None:
        yield "unknown-category", cells["task_category"][:80]
    elif category != cells["task_category"]:
        yield "category-spelling", cells["task_category"][:80]
    if not cells["answer"].strip():
        unanswerable = category is not None and CATEGORIES[category].kind == "unanswerable"
        yield "unanswerable-without-answer" if unanswerable else "empty-answer", f"line {record.line}"
    for name in ("image_type", "image_style"):
        if not cells[name].strip():
            yield f"empty-{name.replace('_', '-')}", f"line {record.line}"


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


_BY_NAME: Mapping[str, str] = {
    _plain(name): category.name
    for category in CATEGORIES.values()
    for name in (category.name, category.short, *_OTHER_NAMES[category.name])
}
