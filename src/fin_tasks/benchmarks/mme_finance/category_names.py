"""What a file may call a category: its published name, the paper's abbreviation, a Chinese name."""

import re
import unicodedata
from collections.abc import Mapping

from fin_tasks.benchmarks.mme_finance.row import CATEGORIES

__all__ = ["category_of"]

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


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


_BY_NAME: Mapping[str, str] = {
    _plain(name): category.name
    for category in CATEGORIES.values()
    for name in (category.name, category.short, *_OTHER_NAMES[category.name])
}
