r"""Reads the number a chain-of-thought response gives as its answer.

The authors had a language model read the responses; these are rules. They look where an answer is announced, else in
a bare or boxed answer, else in a finished closing sentence, and give up on refusals, on ranges and on responses that
were cut off before any answer, where a language model tends to hand over the last number it saw.
"""

import re
from itertools import pairwise

from fin_tasks.answers.marker import committed_text
from fin_tasks.answers.notation import CURRENCY, boxed, plain
from fin_tasks.answers.numbers import FoundNumber, Number, find_numbers
from fin_tasks.answers.quantities import read_bare, read_number, read_quantity
from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.benchmarks.financemath.announced import below_label, read_below
from fin_tasks.benchmarks.financemath.mentions import (
    starts_with_date,
    without_dates,
    without_introduction,
    without_names,
    without_spans,
)
from fin_tasks.benchmarks.financemath.spelt import find_spelt

__all__ = ["as_written", "read_answer"]

_LONGEST = 2000
_ABBREVIATION = re.compile(
    r"\b(Corp|Inc|Co|Ltd|Mr|Mrs|Ms|Dr|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|U\.S|approx|incl|resp)\.(?=\s|['’]s)"
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
_TODAY = re.compile(r"\s(?:today|now|at\spresent|at\stime\s(?:0|zero))\b", re.IGNORECASE)
_ANOTHER = re.compile(r"\b(?:and|while|whereas)\b|;", re.IGNORECASE)
_COUNTS = re.compile(r"[\W_]{0,20}there\s(?:is|are|was|were|will\sbe)\b", re.IGNORECASE)
_SUBJECT = re.compile(r"[\W_]{0,20}(?:the|its|their|our)\b", re.IGNORECASE)
_IS_NUMBER = re.compile(
    rf"\b(?:is|are|was|were|be|equals?)\s(?:about\s|approximately\s)?-?{CURRENCY}?\s?-?\d", re.IGNORECASE
)
_BREAK = re.compile(r"[,;(]\s|[.!?:](?:\s|\Z)|\n")
_LISTED = re.compile(r"\[[^\[\]\n]*[,;][^\[\]\n]*\](?=[^\[\]]*\d)")
_CUT_OFF = re.compile(r"(?:\d,\d{0,2}|\d\s?/\s?\d{1,9}|[-+*/=(^,:]|\n\s{0,9}\d{1,2}\.|\([^()\n]{1,60})\Z")
_END = 200
"""Characters that show whether a response was cut off."""
_CLOSED_BOLD = re.compile(r"(?<=\S)\*{2,3}\Z")
_WORKING = re.compile(r"[\s*_:#]{0,20}\n[\s*_#]{0,20}(?:1[.)]\s|step\s?\d)", re.IGNORECASE)
"""How a solution in steps begins that stands under the heading `Answer`."""
_HASHES = re.compile(r"(?:\A|\n)#{4}[ \t]{0,3}([-+$]{0,2}\d[^\n]{0,80})\s*\Z")
"""How solutions of grade school problems end, which many models have learnt: `#### 42`."""
_EMPTY_MARKER = re.compile(r"[\s*_]{0,8}therefore,?\s(?:the|my)\s(?:final\s)?answer\sis\W{0,6}\Z", re.IGNORECASE)
_DEFINITION = re.compile(r"(?<=\n)[ \t]{0,9}where\b[^\n]{1,400}\Z", re.IGNORECASE)
"""What the signs of the last equation mean."""
_FINISHED = re.compile(r"[.!)\]*`$}]\s*\Z")


def read_answer(response: str) -> Number | None:
    r"""Read the number a response gives as its answer; None where it gives none, or several.

    Reasoning in tags is dropped. Then the first of these that gives a number: the text behind the last announcement
    (`Therefore, the answer is`, `Final answer:`, a closing `Therefore`, ...), the last `\boxed{}`, a bare answer, the
    finished sentence that ends the response. Where an announcement ends in a colon, what stands below it is read, as
    equation, list, table or sentence. A sentence that says of several things what they are (`A is 5 and B is 6`) gives
    several answers, so none. Dates are no answers, nor is anything in a sentence that says the question cannot be
    answered.

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
    reply = _EMPTY_MARKER.sub("\n", strip_reasoning(response).rstrip())
    reply = _DEFINITION.sub("", reply)
    hashed = _HASHES.search(reply)
    committed = committed_text(reply) if hashed is None else hashed[1]
    if committed is not None:
        # The steps come under such a heading, and the answer behind them.
        return read_answer(committed) if _WORKING.match(committed) else _committed(committed)
    if _CUT_OFF.search(_without_closed_bold(reply.rstrip()[-_END:])):
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
    if (announced := below_label(committed)) is not None:
        return read_below(announced, _committed) or _said_above(committed)
    raw = without_names(_ABBREVIATION.sub(r"\1", committed[:_LONGEST]))
    text = plain(raw)
    if (result := _behind_count(text)) is not None:
        return result
    if (leading := _leading(text)) is not None:
        return leading.number
    sentence = _first_sentence(text)
    if _refused(sentence):
        return None
    undated = without_dates(raw)
    if not find_numbers(plain(undated)):
        return _in_words(sentence)
    if _LISTED.search(undated):
        undated = _LISTED.sub(" ", undated)
    stated = without_introduction(_first_sentence(plain(undated)))
    if boxed(raw) is None and _says_several(stated):
        return None
    if (number := read_quantity(undated)) is not None:
        return number
    if boxed(raw) is not None or _RANGE.search(sentence):
        return None
    return _said(stated)


def _closing(reply: str) -> Number | None:
    """Read the last sentence, where it is finished and says of one number that it is something."""
    text = without_dates(_ABBREVIATION.sub(r"\1", reply.strip()[-_LONGEST:]))
    if not _FINISHED.search(text):
        return None
    sentences = [part for part in _SENTENCE.split(plain(text)) if find_numbers(part) or _REFUSAL.search(part)]
    if not sentences or _refused(sentences[-1]) or _RANGE.search(sentences[-1]):
        return None
    last = without_introduction(without_names(sentences[-1]))
    if _says_several(last):
        return None
    return _said(last) if sentences[-1].rstrip("* ").endswith((".", "!")) or len(sentences) > 1 else None


def _said(sentence: str) -> Number | None:
    """The number of which a sentence says that something is it, up to the first clause behind a number."""
    sentence = _main_clause(sentence)
    numbers = find_numbers(sentence)
    said = [found for found in numbers if _SAYS.search(sentence[: found.start])]
    if len({found.number.value for found in said}) == 1:
        return said[0].number
    today = [found for found in numbers if _TODAY.match(sentence, found.end)]
    return today[0].number if len(today) == 1 else read_number(without_spans(sentence))


def _said_above(committed: str) -> Number | None:
    """What a label itself says is the answer, above its parts or reasons: `the cost is 12, made up of:`."""
    label = without_dates(plain(_first_sentence(committed)))
    said = [found for found in find_numbers(label) if _IS.search(label[: found.start])]
    return said[0].number if len(said) == 1 and not _refused(label) else None


def _behind_count(text: str) -> Number | None:
    """The result that follows a sentence which only counts: `There are 3 cases. The mean is 5`."""
    sentences = [part for part in _SENTENCE.split(text.strip()) if any(char.isalnum() for char in part)]
    if not sentences or not _COUNTS.match(sentences[0]):
        return None
    results = [part for part in sentences[1:] if _SUBJECT.match(part) and _IS_NUMBER.search(part)]
    return _said(results[-1]) if results else None


def _main_clause(sentence: str) -> str:
    """A sentence up to the first clause behind a number."""
    numbers = find_numbers(sentence)
    ends = (clause.start() for clause in _CLAUSE.finditer(sentence))
    end = next((end for end in ends if any(found.end <= end for found in numbers)), len(sentence))
    return sentence[:end]


def _says_several(sentence: str) -> bool:
    """Whether a sentence says of several things what they are: `A is 5 and B is 6`."""
    clause = _main_clause(sentence)
    said = [found for found in find_numbers(clause) if _IS.search(clause[: found.start])]
    return any(
        first.number.value != second.number.value and _ANOTHER.search(clause[first.end : second.start])
        for first, second in pairwise(said)
    )


def _without_closed_bold(end: str) -> str:
    """The end of a response without the signs that close bold letters, which a product would look like."""
    line = end.rpartition("\n")[2]
    return _CLOSED_BOLD.sub("", end) if line.count("**") % 2 == 0 else end


def _leading(text: str) -> FoundNumber | None:
    """The number the text starts with, where it is no part of a calculation, a range, a date or a choice."""
    lead = _LEAD.match(text)
    begin = lead.end() if lead else 0
    numbers = find_numbers(text[: begin + 200])
    if not numbers or numbers[0].start > begin or starts_with_date(text, max(0, begin - 4)):
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


def _first_sentence(text: str) -> str:
    parts = [part for part in _SENTENCE.split(text.strip()) if any(char.isalnum() for char in part)]
    return parts[0] if parts else ""


def _in_words(sentence: str) -> Number | None:
    """The number spelt out at the start, as in `sell twelve contracts`."""
    lead = _LEAD.match(sentence)
    begin = lead.end() if lead else 0
    return next((found.number for found in find_spelt(sentence[: begin + 200]) if found.start == begin), None)


def _refused(sentence: str) -> bool:
    """Whether a sentence says that there is no answer, and gives none before it does."""
    refusal = _REFUSAL.search(sentence)
    if refusal is None:
        return False
    before = find_numbers(sentence[: refusal.start()])
    return not any(_IS.search(sentence[: found.start]) for found in before)
