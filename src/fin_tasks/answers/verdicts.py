"""Read whether a text calls a statement true or false."""

import re
from collections.abc import Sequence

from .phrases import Phrases
from .read import Rules, read_response
from .text import plain, split_sentences
from .types import Candidate, Extraction, Style
from .unannounced import lines_and_sentences

Verdict = Candidate[int] | None
"""1 for true or 0 for false; None if the text does not say."""
Terms = Sequence[re.Match[str]]
"""The verdict words of a sentence."""

_VERDICTS = Phrases("verdicts", tables=["frames", "short_forms"])
_FRAMES = _VERDICTS.tables["frames"]
_SHORT_FORMS = _VERDICTS.tables["short_forms"]
_IDIOMS = {
    name: (_VERDICTS.pattern(idiom["pattern"]), idiom["replacement"])
    for name, idiom in _VERDICTS.sources["idioms"].items()
}


def read_verdict(response: str) -> Extraction[int]:
    """Read whether a statement is called true (1) or false (0)."""
    rules = Rules(
        announced=_announced_verdict,
        unannounced=_unannounced_verdicts,
        corrections=_sentence_verdicts,
        is_same=int.__eq__,
    )
    return read_response(response, rules)


def _unannounced_verdicts(reply: str) -> list[Candidate[int]]:
    return lines_and_sentences(
        reply,
        announced=_announced_verdict,
        line=_line_verdict,
        sentences=_sentence_verdicts,
    )


def _announced_verdict(
    text: str,
    style: Style,
) -> Verdict:
    # 1 (true) or 0 (false) behind an announcement; None if the verdict contradicts itself.
    text = _without_letter(plain(text))
    short_form = _short_form(text, alone=False)
    if short_form:
        return short_form
    for sentence in split_sentences(text):
        words, idiom = _in_verdict_words(sentence.text)
        if _VERDICTS.unclear.search(words):
            return None
        terms = list(_VERDICTS.term.finditer(words))
        leads = _leads(words, terms)
        if style in ("label", "working", "conclusion") and not leads:
            return _framed(words, idiom)
        if terms:
            return _candidate(words, terms, rule=idiom or "verdict word", leads=leads)
    return None


def _line_verdict(
    text: str,
    is_last: bool,
) -> Verdict:
    # The verdict with which a line opens or, if it is the last line, ends.
    text = _without_letter(plain(text))
    if is_last:
        short_form = _short_form(text, alone=True)
        if short_form:
            return short_form
    sentences = [sentence.text for sentence in split_sentences(text)]
    outer = sentences[:1]
    if is_last:
        outer += sentences[-1:]
    for sentence in outer:
        words, _ = _in_verdict_words(sentence)
        if _VERDICTS.opening.match(words):
            return _announced_verdict(sentence, "prose")
    return None


def _sentence_verdicts(text: str) -> list[Candidate[int]]:
    # The verdict of each sentence that calls the statement true or false.
    candidates = []
    for sentence in split_sentences(text):
        if not _VERDICTS.any_word.search(sentence.text):
            continue
        candidate = _framed(*_in_verdict_words(plain(sentence.text)))
        if candidate:
            candidates.append(candidate._replace(start=sentence.start))
    return candidates


def _without_letter(text: str) -> str:
    # `(B) No` without the letter of the choice.
    letter = _VERDICTS.lettered.match(text)
    return text[letter.end() :] if letter else text


def _short_form(
    text: str,
    *,
    alone: bool,
) -> Verdict:
    # Read a sign at the start; `alone` means that no words may follow it.
    for name, pattern in _SHORT_FORMS.items():
        match = pattern.match(text)
        if match is None:
            continue
        has_words = re.search(r"\w", text[match.end() :])
        if not (alone and has_words):
            return Candidate(int(match["true"] is not None), name)
    return None


def _in_verdict_words(sentence: str) -> tuple[str, str]:
    # Put idioms into verdict words, and remove verdict words that do not judge the statement.
    # Also return the name of the last idiom.
    name = ""
    for idiom, (pattern, replacement) in _IDIOMS.items():
        if pattern.search(sentence):
            sentence = pattern.sub(replacement, sentence)
            name = idiom
    words = _VERDICTS.ignored.sub(" ", sentence)
    return " ".join(words.split()), name


def _framed(
    words: str,
    idiom: str,
) -> Verdict:
    # Read a sentence that is about the statement, or says what the model would answer.
    if _VERDICTS.unclear.search(words):
        return None
    for name, frame in _FRAMES.items():
        match = frame.search(words)
        if match and not _VERDICTS.hypothetical.search(words[: match.end()]):
            group = "negation" if match["negation"] else "verdict"
            start = match.start(group)
            terms = list(_VERDICTS.term.finditer(words, start))
            return _candidate(words, terms, rule=idiom or name, leads=True)
    return None


def _leads(
    sentence: str,
    terms: Terms,
) -> bool:
    # Whether a sentence begins with its first verdict.
    lead = _VERDICTS.lead.match(sentence)
    return bool(terms and lead and lead.end() >= terms[0].start())


def _candidate(
    sentence: str,
    terms: Terms,
    *,
    rule: str,
    leads: bool,
) -> Verdict:
    # The first verdict counts. A later one counts only behind a correction. Verdict words in a reason do not count.
    if not terms:
        return None
    verdict = _value(terms[0])
    end = terms[0].end()
    for term in terms[1:]:
        between = sentence[end : term.start()]
        reason = _VERDICTS.reason.search(between)
        correction = _VERDICTS.correction.search(between)
        is_corrected = correction and not (
            reason and reason.start() < correction.start()
        )
        is_contrary = _value(term) != verdict
        is_explained = is_contrary and leads and _VERDICTS.explanation.match(between)
        if is_explained or (reason and not is_corrected):
            break
        if is_contrary and not correction:
            return None
        verdict = _value(term)
        end = term.end()
    return Candidate(verdict, rule)


def _value(term: re.Match[str]) -> int:
    is_true = term["true"] is not None
    if term["negation"]:
        is_true = not is_true
    if term["denial"]:
        is_true = not is_true
    return int(is_true)
