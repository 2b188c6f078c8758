"""Read a number with its unit: where it stands, and which number of a sentence is the result."""

import re
from collections.abc import Sequence
from dataclasses import replace

from .numbers import (
    Mention,
    Number,
    chinese_amounts,
    find_numbers,
    merged,
    same_number,
    words_as_digits,
)
from .phrases import Phrases, Table
from .read import PASSAGE_LENGTH, Rules, read_response
from .text import CURRENCY, SIGNS, first_sentence, last_box, plain
from .types import Candidate, Extraction, Style

_QUANTITIES = Phrases("quantities", tables=["result_verbs", "other_verbs"])
_RESULT_VERBS = _QUANTITIES.tables["result_verbs"]
_OTHER_VERBS = _QUANTITIES.tables["other_verbs"]

Quantity = Candidate[Number] | None
"""The number that a text states; None if it states none."""

_EQUALS = re.compile("[=≈]")
_BEFORE_VALUE = re.compile("[=≈]|: ")
# Characters from the start of a number in which its digits are looked for.
_LONGEST_NUMBER = 200
# Characters before a number in which its verb is looked for.
_VERB_DISTANCE = 60


def read_quantity(response: str) -> Extraction[Number]:
    """Read a number with its unit."""
    return read_response(response, _RULES)


# --- Where the number stands ---


def announced_quantity(
    text: str,
    style: Style,
) -> Quantity:
    """Read the number that a text gives as its answer; none of several, of a date or of a range."""
    if SIGNS.no_value.match(text):
        return None
    text = _QUANTITIES.markup.sub(" ", text[:PASSAGE_LENGTH])
    ordinal = _QUANTITIES.ordinal.fullmatch(text)
    if ordinal:
        text = ordinal["number"]
    label = _QUANTITIES.label_lines.match(text)
    if label:
        text = text[label.end() :]
        if _QUANTITIES.item.match(text):
            return None
    words = clean(text)
    brackets = _QUANTITIES.brackets.search(words)
    before = words[: brackets.start()] if brackets else ""
    if brackets and not (before and leading_number(before)):
        if _QUANTITIES.more_brackets.match(words, brackets.end()):
            return None
        return only_number(brackets["content"], rule="brackets", framed=True)
    box = last_box(text)
    if box is not None:
        return only_number(plain(box.content), rule="box", framed=True)
    if _QUANTITIES.listed.match(words):
        return None
    sentence = first_sentence(words)
    return sentence_number(sentence, style) if sentence else None


def _unannounced_quantity(reply: str) -> list[Candidate[Number]]:
    # Loaded here because that file needs the functions of this one.
    from .unannounced_quantities import read_unannounced

    return read_unannounced(reply)


def clean(text: str) -> str:
    """Return plain text without dates, and without numbers of pages, filings and the like."""
    if "亿" in text or "万" in text:
        text = chinese_amounts(text)
    if "{" in text:
        text = _QUANTITIES.braces.sub(r"[\g<content>]", text)
    text = _QUANTITIES.date.sub(" ", plain(text))
    if "(" in text:
        text = _QUANTITIES.negated_amount.sub(r"-\g<currency>\g<amount>", text)
        text = _QUANTITIES.unit_behind_amount.sub(r"(\g<amount> \g<unit>)", text)
    if ":" in text:
        text = _QUANTITIES.ratio_to_one.sub("", text)
    return _QUANTITIES.unit_behind_brackets.sub(r" \1]", text).strip()


# --- Which number of a sentence is the result ---


def sentence_number(
    sentence: str,
    style: Style,
) -> Quantity:
    """Read the number that a sentence states: the leading one, one behind a verb, or the only one."""
    if _QUANTITIES.several.match(sentence) or _QUANTITIES.several_items.match(sentence):
        return None
    text = _without(_QUANTITIES.noise, sentence)
    text = _without(_QUANTITIES.aside, text)
    is_spelled = not find_numbers(text)
    text = words_as_digits(text, single=is_spelled)
    first = leading_number(text)
    if first and not (style == "conclusion" and _goes_on(text, first, is_spelled)):
        return Candidate(_signed(text, first), "leading number")
    if is_spelled:
        return _stated(text)
    if _EQUALS.search(text) and _QUANTITIES.sum_start.match(text):
        return only_number(text, rule="equation")
    if (
        style in ("label", "working")
        or _QUANTITIES.unsolved.search(text)
        or _QUANTITIES.instruction.match(text)
        or _refuses(text)
    ):
        return None
    if style == "conclusion":
        return _concluded(text)
    if not has_numbers(text):
        # `The answer is higher than the 10% hurdle.`
        return None
    candidate = only_number(text, rule="only number")
    candidate = candidate or _stated(_without(_QUANTITIES.adjunct, text))
    return candidate or _in_main_clause(text)


def only_number(
    text: str,
    *,
    rule: str,
    framed: bool = False,
) -> Quantity:
    """Read plain text that should be one number: a number, an equation, or a name and a number.

    `framed` means that the text stood in brackets or a box, where `(5)` is -5.
    """
    text = _without(_QUANTITIES.noise, text)
    sides = re.split("([=≈])", text)
    solved = [side for side in sides if not _QUANTITIES.expression.search(side)]
    text = "".join(solved).rstrip("=≈")
    if framed and not find_numbers(text):
        text = words_as_digits(text)
    parts = re.split(r"[,;]\s|\s(?:and|or)\s", text)
    if sum(bool(_BEFORE_VALUE.search(part)) for part in parts) > 1:  # several values
        return None
    right_side = _BEFORE_VALUE.split(text)[-1]
    for part in (right_side, text):
        mention = merged(find_numbers(part))
        if mention:
            return Candidate(_signed(text, mention, framed=framed), rule)
    return None


def leading_number(text: str) -> Mention | None:
    """Return the number at the start of a text, unless a sum, a list or a range goes on behind it."""
    lead = _QUANTITIES.lead.match(text)
    begin = lead.end() if lead else 0
    mentions = find_numbers(text[: begin + _LONGEST_NUMBER])
    if not mentions or mentions[0].start > begin + 1:
        return None
    first, *later = mentions
    if later:
        second = later[0]
        between = text[first.end : second.start]
        same = merged([first, second])
        if same and _QUANTITIES.in_other_words.fullmatch(between):
            return same._replace(end=second.end)
    return None if _QUANTITIES.joined.match(text, first.end) else first


def has_numbers(text: str) -> bool:
    """Return whether a text has numbers besides those of conditions, years and the like."""
    text = _QUANTITIES.adjunct.sub(" ", text)
    text = _QUANTITIES.noise.sub(" ", text)
    return bool(find_numbers(text))


def _without(
    pattern: re.Pattern[str],
    text: str,
) -> str:
    # Remove what matches a pattern, if another number is left.
    rest, n_matches = pattern.subn(" ", text)
    return rest if n_matches and find_numbers(rest) else text


def _refuses(text: str) -> bool:
    # A refusal behind a result does not count: `It is 5, which cannot be negative`.
    refusal = SIGNS.refusal.search(text)
    return refusal is not None and _stated(text[: refusal.start()]) is None


def _concluded(text: str) -> Quantity:
    # The number of the last part, the only number, or one behind a verb, in this order.
    if _QUANTITIES.opener.match(text) or not has_numbers(text):
        return None
    last_part = _QUANTITIES.last_part_start.split(text)[-1]
    candidate = _stated(last_part) if last_part != text else None
    right_side = _EQUALS.split(text)[-1]
    is_formula = right_side != text and not leading_number(right_side)
    if candidate is None and not is_formula:
        candidate = only_number(text, rule="only number")
    rest = _without(_QUANTITIES.adjunct, text)
    candidate = candidate or _stated(rest)
    return candidate or (_in_main_clause(text) if rest == text else None)


def _in_main_clause(text: str) -> Quantity:
    # The clause before a condition or a reason, if no other result stands behind it.
    clause = _QUANTITIES.clause_end.split(text)[0]
    rest = text[len(clause) :]
    has_condition = _QUANTITIES.condition_with_number.match(rest)
    if has_condition or _EQUALS.search(rest) or _stated(rest):
        return None
    return only_number(_without(_QUANTITIES.adjunct, clause), rule="main clause")


def _goes_on(
    text: str,
    first: Mention,
    is_spelled: bool,
) -> bool:
    # `30 years later it is 56`: the result stands behind the first number.
    rest = text[first.end :]
    if is_spelled:
        return bool(find_numbers(rest))
    stated = _stated(rest)
    return stated is not None and not same_number(first.number, stated.answer)


def _stated(text: str) -> Quantity:
    # The only number behind `is`, `=` and the like. No number counts at which a sum or a list begins.
    mentions = find_numbers(text)
    stated = _behind_verbs(text, mentions, _RESULT_VERBS)
    stated = stated or _behind_verbs(text, mentions, _OTHER_VERBS)
    number = merged(list(stated))
    if number is None or _QUANTITIES.operator.match(text, number.end):
        return None
    is_joined = _QUANTITIES.joined.match(text, number.end)
    for mention in mentions:
        if mention.start < number.end or same_number(number.number, mention.number):
            continue
        before = text[max(0, mention.start - _VERB_DISTANCE) : mention.start]
        if is_joined or _QUANTITIES.verb_before_number.search(before):
            return None
    verb = next(iter(stated.values()))
    return Candidate(_signed(text, number), f"number behind {verb!r}")


def _behind_verbs(
    text: str, mentions: Sequence[Mention], verbs: Table
) -> dict[Mention, str]:
    # The numbers that stand behind a verb, with the name of the first verb.
    stated: dict[Mention, str] = {}
    for mention in mentions:
        before = text[max(0, mention.start - _VERB_DISTANCE) : mention.start]
        for name, verb in verbs.items():
            if verb.search(before):
                stated.setdefault(mention, name)
    return stated


def _signed(
    text: str,
    mention: Mention,
    *,
    framed: bool = False,
) -> Number:
    # `($5)`, `$(5)` and a framed `(5)` are -5. So is `a loss of $5`, which may also be 5.
    number = mention.number
    before = text[: mention.start]
    rest = text[mention.end :]
    is_bare = framed and not re.search(r"\w", before + rest)
    is_bracketed = re.search(r"\(\s?\Z", before) and rest.startswith(")")
    is_amount = is_bare or CURRENCY in text[max(0, mention.start - 2) : mention.end]
    negated = tuple(-value for value in number.values)
    if is_amount and is_bracketed:
        return replace(number, value=-number.value, values=negated)
    if number.value > 0 and _QUANTITIES.loss.search(before):
        return replace(number, value=-number.value, values=negated + number.values)
    return number


# Without a framed sentence, a number behind `wait` may be any number of a remark.
_RULES = Rules(
    announced=announced_quantity,
    unannounced=_unannounced_quantity,
    corrections=lambda _: [],
    is_same=same_number,
)
