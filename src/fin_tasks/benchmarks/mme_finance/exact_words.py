"""What a short answer in English or Chinese commits to, in a form that numbers and names can be read from."""

import re
import unicodedata
from decimal import Decimal

from fin_tasks.answers.locate import committed_text
from fin_tasks.answers.notation import boxed
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.benchmarks.mme_finance.exact_chinese import in_digits

__all__ = ["SCALES", "lines_of", "marked_sentence", "readable", "tokens"]

SCALES = {
    "万亿": 12,
    "千亿": 11,
    "百亿": 10,
    "十亿": 9,
    "亿": 8,
    "千万": 7,
    "百万": 6,
    "十万": 5,
    "万": 4,
    "千": 3,
}
"""Chinese scale words as powers of ten, longer ones before those they hold."""

_HAN = "\u4e00-\u9fff"
_SCALED = re.compile(rf"(\d[\d,]{{0,40}}(?:\.\d{{1,40}})?)\s?({'|'.join(SCALES)})")
_PERCENT = re.compile(r"百分之\s?(负?\s?\d[\d,.]{0,30})")
_REWRITTEN = (
    (re.compile(r"(?:最终|正确)?(?:答案|结果)(?:是|为|[::])[::]?"), " The answer is "),
    (re.compile(r"(?:(?<=[。;;!!\n])|\A)\s*(?:因此|所以|综上(?:所述)?|故|由此可得)[,,]?"), " Therefore, "),
    (re.compile(r"个?百分点"), " percentage points "),
    (re.compile(rf"负\s?(?=\d)|(?<=[{_HAN}])负(?=\d)"), "-"),
    (re.compile(r"(?:等于|约为|大约是|大约为|为|是|达到|达)\s*(?=[约-]?\s?[\d¤$¥-])"), " is "),
    (re.compile(r"(?:大约|大概|约|近)\s*(?=[\d$¥-])"), " about "),
    (re.compile(r"。"), ". "),
    (re.compile(r"[!]"), "! "),
    (re.compile(r"[;]"), "; "),
    (re.compile(r"[、]"), ", "),
)
_EMPHASIS = re.compile(r"(?<!\d)(?:\*\*|__)|(?:\*\*|__)(?!\d)|`+")
"""Markdown's, but not the sign of a power (`10**3`)."""
_ARROW = re.compile(r"\\(?:to|rightarrow|Rightarrow|longrightarrow|implies)(?![A-Za-z])")
_BORDER = re.compile(rf"(?<=[{_HAN}])(?=[\dA-Za-z.+-])|(?<=[\dA-Za-z%])(?=[{_HAN}])")
_PARTED = re.compile(r"(?<=\bma)\s(?=\d)|(?<=\bfy)\s(?=\d)")
_ABBREVIATED = re.compile(r"\b(approx|ca|est|no|vs|i\.e|e\.g|Inc|Co|Corp|Ltd)\.(?=\s)", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])[\s\"')*]+|\n+")
_TOKEN = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+(?:\.\d+)?%?|%")


def readable(response: str, *, counted: bool = False) -> str:
    """Return a response without its reasoning, Chinese numbers, units and markers written as English readers know them.

    `3.5亿` becomes `350000000`, a space parts Chinese characters from what digits and Latin letters there are. Emphasis
    in Markdown goes first, so that it hides no such border.

    Args:
        response: What the model wrote.
        counted: A number or a day is looked for: write compound Chinese numbers in digits, which a name would not bear.

    Example:
        >>> readable("答案是3.5亿元。"), readable("涨幅约为2.4个百分点")
        ('The answer is 350000000 元 .', '涨幅 is 2.4 percentage points')
    """
    text = unicodedata.normalize("NFKC", strip_reasoning(response)).replace("\r\n", "\n")
    text = _ARROW.sub("→", _EMPHASIS.sub("", text))
    text = in_digits(text) if counted else text
    text = _PERCENT.sub(r"\1%", text)
    text = _SCALED.sub(_in_full, text)
    for pattern, written in _REWRITTEN:
        text = pattern.sub(written, text)
    return _ABBREVIATED.sub(r"\1", _BORDER.sub(" ", text)).strip()


def _in_full(match: re.Match[str]) -> str:
    return f"{Decimal(match[1].replace(',', '')).scaleb(SCALES[match[2]]):f}"


def marked_sentence(text: str) -> str | None:
    r"""Return the sentence that a readable text announces as its answer, or what it puts in a box; None if neither.

    Example:
        >>> marked_sentence("The answer is Apple. Pears are cheaper."), marked_sentence("Apple")
        ('Apple.', None)
    """
    if (box := boxed(text)) is not None:
        return box
    behind = committed_text(text)
    if behind is None:
        return None
    said = (part.strip() for part in _SENTENCE.split(behind) if part)
    return next((part for part in said if any(map(str.isalnum, part))), None)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text that say anything."""
    return [line.strip() for line in text.split("\n") if any(map(str.isalnum, line))]


def tokens(text: str) -> str:
    """Return words in lower case with single spaces between and around; Chinese characters are words.

    Width, case, spaces and punctuation make no difference then.

    Example:
        >>> tokens("Net  Income (USD)"), tokens("净利润:MA20")
        (' net income usd ', ' 净 利 润 ma20 ')
    """
    words = " ".join(_TOKEN.findall(unicodedata.normalize("NFKC", text).casefold()))
    return f" {_PARTED.sub('', words)} "
