"""Read which choice a text names, by letter, place or text."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from string import ascii_uppercase

from fin_tasks.answers.notation import plain
from fin_tasks.answers.phrases import Phrases
from fin_tasks.answers.sentences import split_sentences
from fin_tasks.answers.types import Candidate, Style

_CHOICES = Phrases("choices")
_FRAMES = _CHOICES.table("frames")

Choice = Candidate[str] | None
"""The letter of a choice; None if the text names none."""

_LETTERS = "ABCDEFGH"
_PLACES = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth"]
_LABEL = re.compile(r"\s{0,9}\(?([A-Ha-h])\s?[.):]\s{1,9}")
_CAPITAL = re.compile(r"\b[A-H]\b")
_ARTICLE = re.compile(r"\AA\s+|\b(?:[Tt]he|[Aa]n|a)\s+")
_WORD = re.compile(r"[^\W_]+(?:\.\d+)?%?")
_TEXT_LENGTH = 600
# In the last line, more characters than these behind a letter may be an item of a list.
_SHORT_REST = 40


def lettered(choices: Iterable[str]) -> str:
    """Return choices with their letters, a line each."""
    letters = zip(ascii_uppercase, choices, strict=False)
    return "\n".join(f"{letter}. {text}" for letter, text in letters)


def choice_texts(choices: Sequence[str]) -> tuple[str, ...]:
    """Return the texts of choices without their letters, if all have the right one."""
    for choice, letter in zip(choices, _LETTERS, strict=False):
        label = _LABEL.match(choice)
        if label is None or label[1].upper() != letter:
            return tuple(choices)
    return tuple(_LABEL.sub("", choice, count=1) for choice in choices)


def announced_choice(
    text: str,
    style: Style,
    choices: Sequence[str] = (),
) -> Choice:
    """Read the letter at the start, else a letter in a choosing sentence, else the choice quoted."""
    text = _readable(text, choices)
    letters = _letters_of(choices)
    lone = _lone_letter(text, letters)
    if lone:
        return lone
    first = _CHOICES.first_letter.match(text)
    if first and first["letter"] in letters:
        is_joined = _CHOICES.joined.match(text, first.end())
        return None if is_joined else Candidate(first["letter"], "leading letter")
    sentences = split_sentences(text)
    if not sentences:
        return None
    sentence = sentences[0].text
    candidate = _framed(sentence, letters) or _option(sentence, letters)
    if candidate or (style == "conclusion" and _CHOICES.denial.search(sentence)):
        return candidate
    return _quoted_choice(sentence, choices)


def line_choice(
    text: str,
    is_last: bool,
    choices: Sequence[str] = (),
) -> Choice:
    """Read a line that is a letter, begins with one like an item of a list, or is a choice's text."""
    if _CHOICES.crossed.match(text):
        return None
    text = _readable(text, choices)
    letters = _letters_of(choices)
    lone = _lone_letter(text, letters)
    if lone:
        return lone
    if _CHOICES.listed.match(text):
        return _listed_choice(text, is_last, choices)
    sentences = split_sentences(text)
    return _whole_choice(sentences[0].text, choices) if sentences else None


def sentence_choices(
    text: str,
    choices: Sequence[str] = (),
) -> list[Candidate[str]]:
    """Read each sentence that chooses."""
    letters = _letters_of(choices)
    candidates = []
    for sentence in split_sentences(text):
        words = _readable(sentence.text, choices)
        candidate = _framed(words, letters) or _left_over(sentence.text, choices)
        if candidate is not None:
            candidates.append(replace(candidate, start=sentence.start))
    checked = list(_CHOICES.checked.finditer(text))
    if len(checked) == 1:
        match = checked[0]
        letter = match[1] or match[2]
        candidates.append(Candidate(letter, "check mark", match.start()))
    return candidates


def _letters_of(choices: Sequence[str]) -> str:
    return _LETTERS[: len(choices) or 4]


def _readable(text: str, choices: Sequence[str]) -> str:
    # Plain text, without rejected letters, in which `the second option` is `option B`.
    text = plain(text[:_TEXT_LENGTH]).strip()
    text = _CHOICES.rejected.sub(" ", text)
    n_choices = len(_letters_of(choices))
    outer_places = {"middle": n_choices // 2, "last": n_choices - 1}

    def option_at_place(match: re.Match[str]) -> str:
        place = match["place"].lower()
        index = _PLACES.index(place) if place in _PLACES else outer_places[place]
        space = " " if match[0].endswith(" ") else ""
        return f"option {_LETTERS[index]}{space}"

    return _CHOICES.place.sub(option_at_place, text)


def _lone_letter(
    text: str,
    letters: str,
) -> Choice:
    match = _CHOICES.only_letter.match(text)
    if match and match["letter"].upper() in letters:
        return Candidate(match["letter"].upper(), "letter")
    return None


def _listed_choice(text: str, is_last: bool, choices: Sequence[str]) -> Choice:
    # The last line may be the last item of a list of choices. It then has a long text.
    first = _CHOICES.first_letter.match(text)
    if (
        not first
        or first["letter"] not in _letters_of(choices)
        or _CHOICES.joined.match(text, first.end())
    ):
        return None
    rest = text[first.end() :]
    may_be_item = is_last and len(rest) > _SHORT_REST
    if may_be_item and not _whole_choice(rest, choices):
        return None
    return Candidate(first["letter"], "leading letter")


def _framed(sentence: str, letters: str) -> Choice:
    # The letter on which all frames in the sentence agree.
    if _CHOICES.alternatives.search(sentence):
        return None
    rules: dict[str, str] = {}
    for name, frame in _FRAMES.items():
        for match in frame.finditer(sentence):
            before = sentence[: match.start()]
            clause = _CHOICES.clause_end.split(before)[-1]
            is_meant = not _CHOICES.hypothetical.search(clause)
            if is_meant and match["letter"] in letters:
                rules.setdefault(match["letter"], name)
    return _only_candidate(rules)


def _option(sentence: str, letters: str) -> Choice:
    # The only letter that the sentence calls an option.
    rules = {}
    for match in _CHOICES.option.finditer(sentence):
        if match["letter"] in letters:
            rules[match["letter"]] = "option"
    return _only_candidate(rules)


def _left_over(sentence: str, choices: Sequence[str]) -> Choice:
    # `It is neither A nor B` leaves C.
    rejected: set[str] = set()
    text = plain(sentence[:_TEXT_LENGTH])
    for match in _CHOICES.rejected.finditer(text):
        rejected.update(_CAPITAL.findall(match[0]))
    rest = set(_letters_of(choices)) - rejected
    is_enough = len(choices) > 2
    return _only_candidate(dict.fromkeys(rest, "only choice left")) if is_enough else None


def _quoted_choice(sentence: str, choices: Sequence[str]) -> Choice:
    # The only choice whose text stands in the sentence, and in no longer choice that does.
    words = _normal(sentence)
    shown = choice_texts(choices)[: len(_LETTERS)]
    texts = list(map(_normal, shown))
    quoted = [text for text in texts if text.strip() and text in words]
    rules = {}
    for text in quoted:
        is_part = any(text != longer and text in longer for longer in quoted)
        if not is_part:
            rules[_LETTERS[texts.index(text)]] = "text of a choice"
    return _only_candidate(rules)


def _whole_choice(
    sentence: str,
    choices: Sequence[str],
) -> Choice:
    if sentence.endswith("?"):
        return None
    words = _normal(sentence)
    for letter, text in zip(_LETTERS, choice_texts(choices), strict=False):
        if words.strip() and words == _normal(text):
            return Candidate(letter, "text of a choice")
    return None


def _only_candidate(rules: dict[str, str]) -> Choice:
    # The letter, if it is the only one; `rules` gives the rule of each letter.
    if len(rules) != 1:
        return None
    ((letter, rule),) = rules.items()
    return Candidate(letter, rule)


def _normal(text: str) -> str:
    # Lower case, no articles, and one space around each word, so that only whole words match.
    text = plain(text).strip()
    text = _ARTICLE.sub("", text).casefold()
    return f" {' '.join(_WORD.findall(text))} "
