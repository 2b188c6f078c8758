"""Read the number of a response that nothing announces. In doubt, read none.

A concluding sentence is read first, then the last line, and then a short reply in which all
sentences state the same number. What a response was about to say when it was cut off is not read.
"""

import re

from .numbers import Number, find_numbers, same_number
from .phrases import Phrases
from .quantities import (
    Quantity,
    announced_quantity,
    clean,
    has_numbers,
    leading_number,
    only_number,
    sentence_number,
)
from .read import read_passages
from .text import SIGNS, first_sentence, split_sentences
from .types import Candidate
from .unannounced import Line, concluding_passages, is_unfinished, outer_lines

_QUANTITIES = Phrases("quantities")
_UNANNOUNCED = Phrases("unannounced")

_EQUALS = re.compile("[=≈]")
# A reply of more characters than these has working, so that its numbers differ.
_SHORT_REPLY = 1_000
# Characters of a number that does not occur twice by chance.
_SURE_LENGTH = 3


def read_unannounced(reply: str) -> list[Candidate[Number]]:
    """Return the number of a concluding sentence or of the last or first line; at most one."""
    if is_unfinished(reply) or _trails_off(reply):
        return []
    conclusions = concluding_passages(reply)
    for passage in reversed(conclusions):
        candidates = read_passages([passage], announced_quantity)
        if candidates:
            number = candidates[0].answer
            if _is_stated_twice(passage.text, number):
                return []
            if _ends_in_digits(reply) and _is_last(passage.text):
                return []
            later = _later_result(passage.text, number)
            return candidates if later is None else later
    if _UNANNOUNCED.no_answer.search(reply):
        return []
    bodies = [reply]
    if conclusions and not any(_hides_result(passage.text) for passage in conclusions):
        bodies.append(reply[: conclusions[0].start])
    for body in bodies:
        for line in outer_lines(body):
            candidate = _line_quantity(line, reply)
            if candidate is not None:
                return [line.place(candidate)]
    candidate = None if conclusions else _only_statement(reply)
    return [candidate] if candidate else []


# --- Whether the response was complete ---


def _trails_off(reply: str) -> bool:
    # The last line is the start of a sentence without a number: `Therefore, the convexity of the`.
    last_line = reply.rstrip().rpartition("\n")[2]
    is_fragment = _UNANNOUNCED.fragment.fullmatch(last_line) is not None
    return is_fragment and SIGNS.sentence_end.search(reply) is not None


def _ends_in_digits(reply: str) -> bool:
    # A reply of several lines may have been cut off in its last number. Bold numbers are complete.
    # If the number also stands somewhere else, it is complete.
    text = reply.strip()
    number = _UNANNOUNCED.digits_at_end.search(text, max(0, len(text) - 60))
    if number is None or "\n" not in text:
        return False
    is_repeated = len(number[0]) >= _SURE_LENGTH and text.count(number[0]) > 1
    return not is_repeated


def _is_last(passage: str) -> bool:
    return "\n" not in passage.strip()


def _is_stated_twice(
    passage: str,
    number: Number,
) -> bool:
    # `The growth rate is 2 %. The growth rate is 3 %.`: two values of one quantity.
    paragraph = clean(passage.strip().split("\n\n")[0])
    sentences = [sentence.text for sentence in split_sentences(paragraph)]
    subject = _subject(sentences[0]) if sentences else ""
    for sentence in sentences[1:]:
        if subject and _subject(sentence).startswith(subject):
            second = sentence_number(sentence, "conclusion")
            if second is not None and not same_number(number, second.answer):
                return True
    return False


def _subject(sentence: str) -> str:
    verb = _QUANTITIES.is_verb.search(sentence)
    subject = sentence[: verb.start()] if verb else ""
    return subject.strip(" ,").casefold()


def _later_result(
    passage: str,
    number: Number,
) -> list[Candidate[Number]] | None:
    # What a later line concludes: `The share is thus 0.25.` Nothing, if a later line only states
    # another number as the result of a sum; None if no later line states one.
    rest = passage.strip().partition("\n")[2]
    for line in outer_lines(rest):
        if not line.is_last:
            continue
        text = clean(line.text)
        if not _EQUALS.search(text) and not _QUANTITIES.concludes.search(text):
            continue
        candidate = _in_last_sentences(text) or _whole_line(text, is_last=True)
        if candidate is None or same_number(candidate.answer, number):
            continue
        concludes = _QUANTITIES.concludes.search(text)
        return [line.place(candidate)] if concludes else []
    return None


def _hides_result(conclusion: str) -> bool:
    # After a conclusion that refuses, or whose numbers cannot be read, the text before it is not read.
    is_refusal = SIGNS.refusal.search(conclusion) is not None
    return is_refusal or has_numbers(first_sentence(clean(conclusion)))


# --- The last line ---


def _line_quantity(
    line: Line,
    reply: str,
) -> Quantity:
    # A line that is a number or, if it is the last one, ends with a sentence that states one.
    text = clean(_QUANTITIES.markup.sub(" ", line.text))
    if _QUANTITIES.identity.fullmatch(text):
        return None
    candidate = _whole_line(text, line.is_last)
    if candidate and line.is_last and _may_be_cut(line, reply):
        return None
    if candidate is None and line.is_last and text.endswith((".", "!", ")", "]")):
        is_alone = "\n" not in reply.strip()
        candidate = _in_last_sentences(text, is_alone=is_alone)
    if candidate is None:
        return None
    neighbor = _whole_line(clean(line.neighbor), line.is_last)
    is_item = neighbor and not same_number(neighbor.answer, candidate.answer)
    return None if is_item else candidate


def _may_be_cut(
    line: Line,
    reply: str,
) -> bool:
    # Whether the last line may go on: an equation or a step with nothing behind its digits.
    text = line.text.strip()
    is_at_end = reply.rstrip().endswith(text)
    if not is_at_end:
        return False
    if "\n" not in reply.strip():
        return _QUANTITIES.sum_start.match(text) is not None
    if text.isdigit() and len(text) < _SURE_LENGTH:
        # Behind `1.` and `2.` a lone 3 begins the next item of a list.
        return re.search(rf"(?m)^\W{{0,6}}{int(text) - 1}[.)]", reply) is not None
    if _UNANNOUNCED.lone_number.fullmatch(text):
        return False
    return _ends_in_digits(reply) or _UNANNOUNCED.open_end.search(text) is not None


def _whole_line(
    text: str,
    is_last: bool,
) -> Quantity:
    # A line that is a number with its unit or, if it is the last one, an equation or a named value.
    if _is_amount(text):
        return only_number(text, rule="number with unit")
    if not is_last or _QUANTITIES.cut_off.search(text):
        return None
    right_side = _EQUALS.split(text)[-1]
    if right_side != text and _is_amount(right_side):
        return only_number(text, rule="equation")
    name = _QUANTITIES.name.match(text)
    if name and _is_amount(text[name.end() :]):
        return only_number(text[name.end() :], rule="name and value")
    return None


def _is_amount(text: str) -> bool:
    first = leading_number(text)
    return first is not None and bool(_QUANTITIES.units.fullmatch(text, first.end))


def _in_last_sentences(
    text: str,
    *,
    is_alone: bool = False,
) -> Quantity:
    # Read the last sentence that states a number; skip sentences that only mention a number.
    # Once a sentence was skipped, an earlier sentence is read only if it concludes, because it may
    # be a remark below the result. Of a reply of one line, only a skipped number matters.
    must_conclude = False
    sentences = [sentence.text for sentence in split_sentences(text)]
    for sentence in sentences[::-1]:
        if sentence.startswith("("):
            continue
        if SIGNS.refusal.search(sentence) or sentence.endswith("?"):
            return None
        mentions = find_numbers(sentence)
        concludes = not must_conclude or _QUANTITIES.concludes.search(sentence)
        if concludes and _QUANTITIES.verb.search(sentence):
            candidate = sentence_number(sentence, "conclusion")
            if candidate or mentions:
                return candidate
        must_conclude = must_conclude or bool(mentions) or not is_alone
    return None


def _only_statement(reply: str) -> Quantity:
    # The number of a short reply, if all of its sentences with numbers state the same one.
    if len(reply) > _SHORT_REPLY or _ends_in_digits(reply):
        return None
    found: Quantity = None
    for sentence in split_sentences(clean(reply)):
        if SIGNS.refusal.search(sentence.text):
            return None
        if not has_numbers(sentence.text):
            continue
        candidate = sentence_number(sentence.text, "conclusion")
        *left, right_side = _EQUALS.split(sentence.text)
        is_sum = _QUANTITIES.sum_start.match(sentence.text) is not None
        is_formula = bool(left) and (is_sum or not _is_amount(right_side))
        is_list = sentence.text.count(":") > 1
        is_statement = _QUANTITIES.verb.search(
            sentence.text
        ) or _UNANNOUNCED.statement.search(sentence.text)
        if candidate is None or is_formula or is_list or not is_statement:
            return None
        if found and not same_number(found.answer, candidate.answer):
            return None
        found = found or candidate._replace(start=sentence.start)
    if found is None:
        return None
    return found._replace(rule=f"only statement: {found.rule}")
