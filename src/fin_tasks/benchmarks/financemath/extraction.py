r"""Reads the number a chain-of-thought response gives as its answer.

The authors had a language model read the responses; these are rules. They look where an answer is announced, else in
a bare or boxed answer, else in a finished closing sentence, and give up on refusals, on ranges and on responses that
were cut off before any answer, where a language model tends to hand over the last number it saw.
"""

import re

from fin_tasks.answers.marker import committed_text
from fin_tasks.answers.notation import CURRENCY, boxed, plain
from fin_tasks.answers.numbers import FoundNumber, Number, find_numbers
from fin_tasks.answers.quantities import read_bare, read_number, read_quantity
from fin_tasks.answers.reasoning import strip_reasoning

__all__ = ["as_written", "read_answer"]

_LONGEST = 2000
_ABBREVIATION = re.compile(
    r"\b(Corp|Inc|Co|Ltd|Mr|Mrs|Ms|Dr|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|U\.S|approx|incl|resp)\.(?=\s|['’]s)"
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_YEAR = r"(?:19|20)\d\d(?![\d%]|[.,]\d|\s?(?:x|\*|/|=))"
_DATE = re.compile(
    rf"\b{_MONTH}\.?\s\d{{1,2}}(?:,?\s{_YEAR})?(?!\d)|\b(?:\d{{1,2}}\s)?{_MONTH}\.?,?\s{_YEAR}"
    rf"|\b(?:in|for|of|by|during|since|year|fy|the|and|to|from|until|fiscal)\s{_YEAR}",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:can\s?not|can['’]t|could\snot|couldn['’]t|unable|im?possible\sto|not\s(?:possible|provided|enough|given|mentioned)"
    r"|insufficient|indeterminate|undetermined)\b",
    re.IGNORECASE,
)
_RANGE = re.compile(r"\bbetween\b|\branges?\b|\bfrom\b.{0,60}\bto\b", re.IGNORECASE)
_LEAD = re.compile(
    rf"(?:[\s*_:,.'\"`>#-]|{CURRENCY}|\\\(|\\\[|\b(?:a|an|the|is|be|to|that|about|approximately|approx|around|roughly|nearly"
    r"|exactly|equal|equals|sell|buy|purchase|short|long|gain|profit)\b)*",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    rf"\s*(?:[-+x*/^=≈]|,\s*{CURRENCY}?\d|to\b|or\b|and\b|through\b|of\b|out\b|(?:divided|multiplied|times|plus|minus)\b)\s*{CURRENCY}?",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])[\s)\"'*]+|\n+")
_CLAUSE = re.compile(
    r",?\s(?:given|assuming|based|which|meaning|indicating|implying|suggesting|whereas?|because|since|while|rounded|so\sthat"
    r"|compared|considering|after|under|when)\b|[,;]\s(?:and|or|but|with|as|so)\b",
    re.IGNORECASE,
)
_BEFORE_IT = (
    r"\s(?:(?:now|then|only|just|about|approximately|approx|around|roughly|nearly|almost|equal\sto|a|an|the)\s)*\Z"
)
_IS = re.compile(rf"\b(?:is|are|was|were|be|been|equals?){_BEFORE_IT}", re.IGNORECASE)
_SAYS = re.compile(
    r"\b(?:is|are|was|were|be|been|equals?|to|of|at|by|paid|earned|received|gained|lost|costs?|pay|receive|need)"
    rf"{_BEFORE_IT}",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[,;(]\s|[.!?:](?:\s|\Z)|\n")
_LISTED = re.compile(r"\[[^\[\]\n]*[,;][^\[\]\n]*\](?=[^\[\]]*\d)")
_CUT_OFF = re.compile(r"(?:\d,\d{0,2}|\d\s?/\s?\d+|[-+*/=(^,:]|\n\s*\d{1,2}\.|\([^()\n]{1,60})\s*\Z")
_WORKING = re.compile(r"[\s*_:#]*\n[\s*_#]*1[.)]\s")
"""How a solution in steps begins that stands under the heading `Answer`."""
_HASHES = re.compile(r"(?:\A|\n)#{4}[ \t]{0,3}([-+$]{0,2}\d[^\n]{0,80})\s*\Z")
"""How solutions of grade school problems end, which many models have learnt: `#### 42`."""
_EMPTY_MARKER = re.compile(r"[\s*_]*therefore,?\s(?:the|my)\s(?:final\s)?answer\sis\W{0,6}\Z", re.IGNORECASE)
_FINISHED = re.compile(r"[.!)\]*`$}]\s*\Z")
_UP_TO_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty"
)
_TENS = "ten twenty thirty forty fifty sixty seventy eighty ninety"
_WORDS = {word: float(value) for value, word in enumerate(_UP_TO_TWENTY.split(" "))} | {
    word: 10.0 * value for value, word in enumerate(_TENS.split(" "), start=1)
}
_WORD = re.compile(rf"(?:{'|'.join(_WORDS)})\b(?!-)", re.IGNORECASE)


def read_answer(response: str) -> Number | None:
    r"""Read the number a response gives as its answer; None where it gives none, or several.

    Reasoning in tags is dropped. Then the first of these that gives a number: the text behind the last announcement
    (`Therefore, the answer is`, `Final answer:`, a closing `Therefore`, ...), the last `\boxed{}`, a bare answer, the
    finished sentence that ends the response. Dates are no answers, nor is anything in a sentence that says the question
    cannot be answered.

    Args:
        response: What the model wrote.

    Returns:
        The number with all the values it may stand for: 0.153 and 15.3 for `15.3%`.

    Example:
        >>> read_answer("Sales doubled.\n\nTherefore, the answer is **$42,000**.").value
        42000.0
        >>> read_answer("Therefore, the answer is a ratio of about 20.8, given growth of 10%.").value
        20.8
        >>> read_answer("Therefore, the loss in 2016 cannot be determined.") is None
        True
    """
    reply = _EMPTY_MARKER.sub("\n", strip_reasoning(response))
    hashed = _HASHES.search(reply)
    committed = committed_text(reply) if hashed is None else hashed[1]
    if committed is not None:
        # The steps come under such a heading, and the answer behind them.
        return read_answer(committed) if _WORKING.match(committed) else _committed(committed)
    if _CUT_OFF.search(reply):
        return None
    return read_bare(reply) or _closing(reply)


def as_written(number: Number) -> float:
    """Return the number with its unit left out, as the authors read it: 15.3 for `15.3%`, 1.2 for `1.2 million`.

    Example:
        >>> as_written(read_answer("Therefore, the answer is 15.3%."))
        15.3
    """
    return number.readings[-1]


def _committed(committed: str) -> Number | None:
    """Read the text behind an announcement."""
    raw = _ABBREVIATION.sub(r"\1", committed[:_LONGEST])
    text = plain(raw)
    if (leading := _leading(text)) is not None:
        return leading.number
    sentence = _first_sentence(text)
    if _refused(sentence):
        return None
    undated = _undated(raw)
    if not find_numbers(plain(undated)):
        return _in_words(sentence)
    if _LISTED.search(undated):
        undated = _LISTED.sub(" ", undated)
    if (number := read_quantity(undated)) is not None:
        return number
    if boxed(raw) is not None or _RANGE.search(sentence):
        return None
    return _said(_first_sentence(plain(undated)))


def _closing(reply: str) -> Number | None:
    """Read the last sentence, where it is finished and says of one number that it is something."""
    text = _undated(_ABBREVIATION.sub(r"\1", reply.strip()[-_LONGEST:]))
    if not _FINISHED.search(text):
        return None
    sentences = [part for part in _SENTENCE.split(plain(text)) if find_numbers(part) or _REFUSAL.search(part)]
    if not sentences or _refused(sentences[-1]) or _RANGE.search(sentences[-1]):
        return None
    return _said(sentences[-1]) if sentences[-1].rstrip("* ").endswith((".", "!")) or len(sentences) > 1 else None


def _said(sentence: str) -> Number | None:
    """The number of which a sentence says that something is it, up to the first clause behind a number."""
    numbers = find_numbers(sentence)
    for clause in _CLAUSE.finditer(sentence):
        if any(found.end <= clause.start() for found in numbers):
            sentence = sentence[: clause.start()]
            break
    numbers = find_numbers(sentence)
    said = [found for found in numbers if _SAYS.search(sentence[: found.start])]
    if len({found.number.value for found in said}) == 1:
        return said[0].number
    return read_number(sentence)


def _leading(text: str) -> FoundNumber | None:
    """The number the text starts with, where it is no part of a calculation, a range, a date or a choice."""
    lead = _LEAD.match(text)
    begin = lead.end() if lead else 0
    numbers = find_numbers(text[: begin + 200])
    if not numbers or numbers[0].start > begin or _DATE.match(text, max(0, begin - 4)):
        return None
    first = numbers[0]
    clause = _BREAK.split(text[first.end :])[0]
    for found in find_numbers(clause):  # `the 95% value at risk is 27.5`
        if _IS.search(clause[: found.start]):
            return found
    return None if _GOES_ON.match(text, first.end) or _is_year(text, first) else first


def _is_year(text: str, found: FoundNumber) -> bool:
    return (
        re.fullmatch(r"(?:19|20)\d\d", text[found.start : found.end]) is not None
        and re.match(r"\s[a-z]+", text[found.end :]) is not None
    )


def _undated(text: str) -> str:
    return _DATE.sub(lambda match: match[0].split()[0] if match[0][:1].isalpha() else " ", text)


def _first_sentence(text: str) -> str:
    parts = [part for part in _SENTENCE.split(text.strip()) if any(char.isalnum() for char in part)]
    return parts[0] if parts else ""


def _in_words(sentence: str) -> Number | None:
    """The number spelt out at the start, as in `sell twelve contracts`."""
    lead = _LEAD.match(sentence)
    word = _WORD.match(sentence, lead.end() if lead else 0)
    if word is None:
        return None
    value = _WORDS[word[0].lower()]
    return Number(value=value, readings=(value,), step=1.0)


def _refused(sentence: str) -> bool:
    """Whether a sentence says that there is no answer, and gives none before it does."""
    refusal = _REFUSAL.search(sentence)
    if refusal is None:
        return False
    before = find_numbers(sentence[: refusal.start()])
    return not any(_IS.search(sentence[: found.start]) for found in before)
