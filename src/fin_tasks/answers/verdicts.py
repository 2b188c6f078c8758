"""Read whether a text calls a statement true or false."""

import re
from dataclasses import replace

from fin_tasks.answers.notation import plain
from fin_tasks.answers.phrases.announced import Style
from fin_tasks.answers.phrases.verdicts import (
    CORRECTION,
    EXPLANATION,
    FRAMES,
    HYPOTHETICAL,
    IDIOMS,
    IGNORED,
    LEAD,
    OPENING,
    REASON,
    SHORT_FORMS,
    TERM,
    UNCLEAR,
)
from fin_tasks.answers.sentences import split_sentences
from fin_tasks.answers.types import Candidate


def announced_verdict(text: str, style: Style) -> Candidate[int] | None:
    """Read 1 (true) or 0 (false) behind an announcement; None if the verdict contradicts itself."""
    text = plain(text)
    short_form = _short_form(text, alone=False)
    if short_form:
        return short_form
    for sentence in split_sentences(text):
        words, idiom = _in_verdict_words(sentence.text)
        if UNCLEAR.search(words):
            return None
        terms = list(TERM.finditer(words))
        leads = _leads(words, terms)
        if style in ("label", "conclusion") and not leads:
            return _framed(words, idiom)
        if terms:
            return _candidate(words, terms, rule=idiom or "verdict word", leads=leads)
    return None


def line_verdict(text: str, is_last: bool) -> Candidate[int] | None:
    """Read the verdict with which a line opens or, if it is the last line, ends."""
    text = plain(text)
    if is_last:
        short_form = _short_form(text, alone=True)
        if short_form:
            return short_form
    sentences = [sentence.text for sentence in split_sentences(text)]
    places = (0, -1) if is_last else (0,)
    for place in places:
        if sentences and OPENING.match(_in_verdict_words(sentences[place])[0]):
            return announced_verdict(sentences[place], "prose")
    return None


def sentence_verdicts(text: str) -> list[Candidate[int]]:
    """Read each sentence that calls the statement true or false."""
    candidates = []
    for sentence in split_sentences(text):
        candidate = _framed(*_in_verdict_words(plain(sentence.text)))
        if candidate:
            candidates.append(replace(candidate, start=sentence.start))
    return candidates


def _short_form(text: str, *, alone: bool) -> Candidate[int] | None:
    # Read a sign at the start; `alone` means that no words may follow it.
    for name, pattern in SHORT_FORMS.items():
        match = pattern.match(text)
        if match and not (alone and re.search(r"\w", text[match.end() :])):
            return Candidate(int(match["true"] is not None), name)
    return None


def _in_verdict_words(sentence: str) -> tuple[str, str]:
    # Put idioms into verdict words, and remove verdict words that do not judge the statement.
    # Also return the name of the last idiom.
    name = ""
    for idiom, (pattern, replacement) in IDIOMS.items():
        if pattern.search(sentence):
            sentence = pattern.sub(replacement, sentence)
            name = idiom
    words = IGNORED.sub(" ", sentence)
    return " ".join(words.split()), name


def _framed(words: str, idiom: str) -> Candidate[int] | None:
    # Read a sentence that is about the statement, or says what the model would answer.
    for name, frame in FRAMES.items():
        match = frame.search(words)
        if match and not HYPOTHETICAL.search(words[: match.end()]):
            start = match.start("negation") if match["negation"] else match.start("verdict")
            terms = list(TERM.finditer(words, start))
            return _candidate(words, terms, rule=idiom or name, leads=True)
    return None


def _leads(sentence: str, terms: list[re.Match[str]]) -> bool:
    # Whether a sentence begins with its first verdict.
    lead = LEAD.match(sentence)
    return bool(terms and lead and lead.end() >= terms[0].start())


def _candidate(
    sentence: str, terms: list[re.Match[str]], *, rule: str, leads: bool
) -> Candidate[int] | None:
    # The first verdict counts, and a later one only behind a correction. A reason is not read.
    if not terms:
        return None
    verdict = _value(terms[0])
    end = terms[0].end()
    for term in terms[1:]:
        between = sentence[end : term.start()]
        reason = REASON.search(between)
        correction = CORRECTION.search(between)
        is_corrected = correction and not (reason and reason.start() < correction.start())
        is_contrary = _value(term) != verdict
        is_explained = is_contrary and leads and EXPLANATION.match(between)
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
