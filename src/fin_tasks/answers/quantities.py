"""Read the number that a passage or a line gives as its result."""

from .locate import Line, concluding_passages, outer_lines, placed
from .notation import first_sentence, last_box, plain, split_sentences
from .numbers import Number, find_numbers, same_number
from .phrases import Phrases
from .sentence_numbers import (
    EQUALS,
    Quantity,
    has_numbers,
    leading_number,
    read_number,
    sentence_number,
)
from .types import Candidate, Style

_QUANTITIES = Phrases("quantities")
_SIGNS = Phrases("signs")

_PASSAGE_LENGTH = 1_000


def announced_quantity(
    text: str,
    style: Style,
) -> Quantity:
    """Read the number that a text gives as its answer; None for several numbers, dates and ranges."""
    text = _QUANTITIES.markup.sub(" ", text[:_PASSAGE_LENGTH])
    label = _QUANTITIES.label_lines.match(text)
    if label:
        text = text[label.end() :]
        if _QUANTITIES.item.match(text):
            return None
    box = last_box(text)
    text = _clean(text)
    brackets = _QUANTITIES.brackets.search(text)
    if brackets and not leading_number(text[: brackets.start()]):
        if _QUANTITIES.more_brackets.match(text, brackets.end()):
            return None
        return read_number(brackets["content"], rule="brackets", framed=True)
    if box is not None:
        return read_number(plain(box.content), rule="box", framed=True)
    sentence = first_sentence(text)
    return sentence_number(sentence, style) if sentence else None


def unannounced_quantity(reply: str) -> list[Candidate[Number]]:
    """Read the number of a concluding sentence, else of the last or first line; at most one."""
    conclusions = concluding_passages(reply)
    for passage in reversed(conclusions):
        candidate = announced_quantity(passage.text, passage.style)
        if candidate is not None:
            is_settled = not _is_stated_twice(passage.text, candidate.answer)
            return [placed(candidate, passage)] if is_settled else []
    bodies = [reply]
    if conclusions and not any(_hides_result(passage.text) for passage in conclusions):
        bodies.append(reply[: conclusions[0].start])
    for body in bodies:
        for line in outer_lines(body):
            candidate = _line_quantity(line)
            if candidate is not None:
                return [placed(candidate, line)]
    return []


def _clean(text: str) -> str:
    text = _QUANTITIES.date.sub(" ", plain(text))
    return _QUANTITIES.unit_behind_brackets.sub(r" \1]", text).strip()


def _is_stated_twice(
    passage: str,
    number: Number,
) -> bool:
    # `The growth rate is 2 %. The growth rate is 3 %.`: two values of one quantity.
    paragraph = _clean(passage.strip().split("\n\n")[0])
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
    if verb is None:
        return ""
    subject = sentence[: verb.start()]
    return subject.strip(" ,").casefold()


def _hides_result(conclusion: str) -> bool:
    # After a conclusion that refuses, or whose numbers cannot be read, the text before it is not read.
    is_refusal = _SIGNS.refusal.search(conclusion) is not None
    return is_refusal or has_numbers(first_sentence(_clean(conclusion)))


def _line_quantity(line: Line) -> Quantity:
    # A line that is a number or, if it is the last one, ends with a sentence that states one.
    text = _clean(_QUANTITIES.markup.sub(" ", line.text))
    candidate = _whole_line(text, line.is_last)
    if candidate is None and line.is_last and text.endswith((".", "!", ")", "]")):
        candidate = _in_last_sentences(text)
    if candidate is None:
        return None
    neighbor = _whole_line(_clean(line.neighbor), line.is_last)
    is_item = neighbor and not same_number(neighbor.answer, candidate.answer)
    return None if is_item else candidate


def _whole_line(
    text: str,
    is_last: bool,
) -> Quantity:
    # A line that is a number with its unit or, if it is the last one, an equation or a named value.
    if _is_amount(text):
        return read_number(text, rule="number with unit")
    if not is_last or _QUANTITIES.cut_off.search(text):
        return None
    right_side = EQUALS.split(text)[-1]
    if right_side != text and _is_amount(right_side):
        return read_number(text, rule="equation")
    name = _QUANTITIES.name.match(text)
    if name and _is_amount(text[name.end() :]):
        return read_number(text[name.end() :], rule="name and value")
    return None


def _is_amount(text: str) -> bool:
    first = leading_number(text)
    return (
        first is not None and _QUANTITIES.units.fullmatch(text, first.end) is not None
    )


def _in_last_sentences(text: str) -> Quantity:
    # Read the last sentence that states a number; skip sentences that only mention a number.
    # Once a sentence was skipped, an earlier sentence is read only if it concludes.
    must_conclude = False
    sentences = [sentence.text for sentence in split_sentences(text)]
    for sentence in sentences[::-1]:
        if sentence.startswith("("):
            continue
        if _SIGNS.refusal.search(sentence) or sentence.endswith("?"):
            return None
        mentions = find_numbers(sentence)
        concludes = not must_conclude or _QUANTITIES.concludes.search(sentence)
        if concludes and _QUANTITIES.verb.search(sentence):
            candidate = sentence_number(sentence, "conclusion")
            if candidate or mentions:
                return candidate
        must_conclude = must_conclude or bool(mentions)
    return None
