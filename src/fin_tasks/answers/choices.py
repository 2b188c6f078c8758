"""Read which choice a text names, by letter, place or text."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from string import ascii_uppercase

from .phrases import Phrases
from .read import Rules, TwoAnswersError, read_response
from .text import SIGNS, first_sentence, plain, split_sentences
from .types import Candidate, Extraction, Style
from .unannounced import is_unfinished, lines_and_sentences

_CHOICES = Phrases("choices", tables=["frames"])
_PLACES = _CHOICES.sources["places"]
_REJECTED_WORDS: list[str] = _CHOICES.sources["rejected_words"]

Choice = Candidate[str] | None
"""The letter of a choice; None if the text names none."""

# Letters without a question, and the most that the patterns of the file know.
_DEFAULT_LETTERS = 4
_USUAL_LETTERS = 8
# A reply of more characters than these weighs the choices.
_SHORT_REPLY = 200
_TEXT_LENGTH = 600
# In the last line, more characters than these behind a letter may be an item of a list.
_SHORT_REST = 40
_QUOTED = "text of a choice"


def lettered(choices: Iterable[str]) -> str:
    """Return choices with their letters, a line each."""
    letters = zip(ascii_uppercase, choices, strict=False)
    return "\n".join(f"{letter}. {text}" for letter, text in letters)


def choice_texts(choices: Sequence[str]) -> tuple[str, ...]:
    """Return the texts of choices without their letters, if all have the right one."""
    for choice, letter in zip(choices, ascii_uppercase, strict=False):
        label = _CHOICES.label.match(choice)
        if label is None or label[1].upper() != letter:
            return tuple(choices)
    texts = []
    for choice in choices:
        texts.append(_CHOICES.label.sub("", choice, count=1))
    return tuple(texts)


def read_choice(
    response: str,
    choices: Sequence[str] = (),
) -> Extraction[str]:
    """Read the letter of a choice, given by letter, by place or by text."""
    reader = _ChoiceReader(choices)
    rules = Rules(
        announced=reader.announced,
        unannounced=reader.unannounced,
        corrections=reader.sentences,
        is_same=str.__eq__,
    )
    return read_response(response, rules)


@cache
def _phrases(last: str) -> Phrases:
    # The wordings for questions whose last choice has this letter.
    if last <= ascii_uppercase[_USUAL_LETTERS - 1]:
        return _CHOICES
    return Phrases("choices", tables=["frames"], _any_letter=f"[A-{last}]")


class _ChoiceReader:
    """Reads which of some choices a text names."""

    def __init__(
        self,
        choices: Sequence[str],
    ) -> None:
        self._n_choices = len(choices)
        self._letters = ascii_uppercase[: len(choices) or _DEFAULT_LETTERS]
        self._phrases = _phrases(self._letters[-1])
        self._letter_by_place = dict(zip(_PLACES, ascii_uppercase, strict=False))
        self._letter_by_place["middle"] = self._letters[len(self._letters) // 2]
        self._letter_by_place["last"] = self._letters[-1]
        self._letter_by_text: dict[str, str] = {}
        for letter, text in zip(ascii_uppercase, choice_texts(choices), strict=False):
            words = _normal(text)
            if words.strip():
                self._letter_by_text.setdefault(words, letter)

    def announced(
        self,
        text: str,
        style: Style,
    ) -> Choice:
        """Read the letter at the start, else the letter that the sentence chooses, else the choice that it quotes."""
        text = self._readable(text)
        lone = self._lone_letter(text)
        if lone:
            return lone
        first = self._phrases.first_letter.match(text)
        if first and first["letter"] in self._letters:
            if self._phrases.joined.match(text, first.end()):
                # `Answer: A, C` chooses several.
                raise TwoAnswersError
            if self._phrases.next_item.match(text, first.end()):
                return None
            if self._phrases.conditional.match(text, first.end()):
                return None
            return Candidate(first["letter"], "leading letter")
        sentence = first_sentence(text)
        candidate = self._framed(sentence) or self._option(sentence)
        if candidate or (
            style == "conclusion" and self._phrases.denial.search(sentence)
        ):
            return candidate
        return self._quoted(sentence)

    def unannounced(
        self,
        reply: str,
    ) -> list[Candidate[str]]:
        """Return the choices of framed and concluding sentences and of the outer lines."""
        # The lines of a list that judges each choice are no answer.
        is_itemized = len(self._judgments(reply)) > 1
        candidates = lines_and_sentences(
            reply,
            announced=self.announced,
            line=(lambda *_: None) if is_itemized else self.line,
            sentences=self.sentences,
        )
        if candidates and candidates[-1].rule == "last line: letter":
            # The text of a choice may stand above it as a result of the working.
            return [one for one in candidates if not one.rule.endswith(_QUOTED)]
        return candidates or self._marked(reply)

    def line(
        self,
        text: str,
        is_last: bool,
    ) -> Choice:
        """Read a line that is a letter, begins with one like an item of a list, or is a choice."""
        if self._phrases.crossed.match(text):
            return None
        text = self._readable(text)
        lone = self._lone_letter(text)
        if lone:
            return lone
        first = self._phrases.first_letter.match(text)
        is_reasoned = self._phrases.reasoned.match(text)
        if not (is_reasoned or self._phrases.listed.match(text)):
            return self._whole(first_sentence(text))
        if not first or first["letter"] not in self._letters:
            return None
        if is_reasoned:
            return Candidate(first["letter"], "letter with its reason")
        # The last line may be the last item of a list of choices. It then has a long text.
        rest = text[first.end() :]
        may_be_item = is_last and len(rest) > _SHORT_REST and not self._whole(rest)
        if may_be_item or self._phrases.joined.match(text, first.end()):
            return None
        return Candidate(first["letter"], "leading letter")

    def sentences(
        self,
        text: str,
    ) -> list[Candidate[str]]:
        """Return the choice of each sentence that names one as right."""
        candidates = []
        for sentence in split_sentences(text):
            if not self._phrases.any_choice.search(sentence.text):
                continue
            words = self._readable(sentence.text)
            candidate = self._framed(words) or self._left_over(sentence.text)
            if candidate:
                candidates.append(candidate._replace(start=sentence.start))
        checked = list(self._phrases.checked.finditer(text))
        if len(checked) == 1:
            match = checked[0]
            letter = match[1] or match[2]
            candidates.append(Candidate(letter, "check mark", match.start()))
            return candidates
        judgments = self._judgments(text)
        right = [letter for letter, is_right in judgments.items() if is_right]
        if len(right) == 1 and len(judgments) == len(self._letters) > 2:
            candidates.append(Candidate(right[0], "options judged one by one"))
        return candidates

    def _judgments(self, text: str) -> dict[str, bool]:
        # What a list says of each choice: whether it is right. Empty without a wrong one.
        judgments: dict[str, bool] = {}
        is_echo = any(map(self._phrases.verdict.match, self._letter_by_text))
        if not is_echo and self._phrases.wrong_item.search(text):
            for match in self._phrases.judged_item.finditer(f"\n{text}"):
                judgments[match["letter"]] = match["right"] is not None
        return judgments

    def _marked(
        self,
        reply: str,
    ) -> list[Candidate[str]]:
        # The only letter in bold type or in brackets, else the only choice that a short reply quotes.
        letters: dict[str, int] = {}
        for pattern in (self._phrases.bold, self._phrases.in_brackets):
            for match in pattern.finditer(reply):
                if match["letter"] in self._letters:
                    letters.setdefault(match["letter"], match.start())
        if len(letters) == 1:
            ((letter, start),) = letters.items()
            return [Candidate(letter, "marked letter", start)]
        is_short = (
            len(reply) <= _SHORT_REPLY
            and self._phrases.letter_in_text.search(reply) is None
        )
        reply = self._phrases.condition.sub(" ", reply)
        weighing = (
            SIGNS.refusal,
            self._phrases.denial,
            self._phrases.hypothetical,
            self._phrases.mention,
        )
        is_weighing = any(pattern.search(reply) for pattern in weighing)
        if not is_short or is_weighing or is_unfinished(reply):
            return []
        quoted = self._quoted(reply)
        return [quoted] if quoted else []

    def _readable(
        self,
        text: str,
    ) -> str:
        # Plain text, without rejected letters, in which `the second option` is `option B`.
        text = plain(text[:_TEXT_LENGTH]).strip()
        small = self._phrases.small_letter.match(text)
        if small:
            # `(c)` and `c) the rate rises` are (C).
            start, end = small.span("letter" if small["letter"] else "open")
            text = text[:start] + text[start:end].upper() + text[end:]
        lower_case = text.lower()
        if any(word in lower_case for word in _REJECTED_WORDS):
            text = self._phrases.rejected.sub(" ", text)
        if any(place in lower_case for place in self._letter_by_place):
            text = self._phrases.place.sub(self._option_at_place, text)
        return text

    def _option_at_place(
        self,
        match: re.Match[str],
    ) -> str:
        letter = self._letter_by_place[match["place"].lower()]
        return f"option {letter} " if match[0].endswith(" ") else f"option {letter}"

    def _lone_letter(
        self,
        text: str,
    ) -> Choice:
        match = self._phrases.only_letter.match(text)
        if match and match["letter"].upper() in self._letters:
            return Candidate(match["letter"].upper(), "letter")
        return None

    def _framed(
        self,
        sentence: str,
    ) -> Choice:
        # The letter on which all frames in the sentence agree.
        if self._phrases.alternatives.search(sentence):
            return None
        rules: dict[str, str] = {}
        for name, frame in self._phrases.tables["frames"].items():
            for match in frame.finditer(sentence):
                before = sentence[: match.start()]
                clause = self._phrases.clause_end.split(before)[-1]
                is_meant = not (
                    self._phrases.hypothetical.search(clause)
                    or self._phrases.conditional.match(sentence, match.end())
                )
                if is_meant and match["letter"] in self._letters:
                    rules.setdefault(match["letter"], name)
        rule = next(iter(rules.values()), "")
        return _only_candidate(set(rules), rule)

    def _option(
        self,
        sentence: str,
    ) -> Choice:
        # The only letter that the sentence calls an option.
        named = set()
        for match in self._phrases.option.finditer(sentence):
            if match["letter"] in self._letters:
                named.add(match["letter"])
        return _only_candidate(named, "option")

    def _left_over(
        self,
        sentence: str,
    ) -> Choice:
        # `It is neither A nor B` leaves C.
        text = plain(sentence[:_TEXT_LENGTH])
        rest = set(self._letters)
        for match in self._phrases.rejected.finditer(text):
            rest.difference_update(self._phrases.capital.findall(match[0]))
        if self._n_choices <= 2:
            return None
        return _only_candidate(rest, "only choice left")

    def _quoted(
        self,
        sentence: str,
    ) -> Choice:
        # The only choice whose text stands in the sentence. A text that is part of a longer quoted one does not count.
        words = _normal(sentence)
        quoted = [text for text in self._letter_by_text if text in words]
        letters = set()
        for text in quoted:
            is_part = any(text != longer and text in longer for longer in quoted)
            if not is_part:
                letters.add(self._letter_by_text[text])
        return _only_candidate(letters, _QUOTED)

    def _whole(
        self,
        sentence: str,
    ) -> Choice:
        letter = self._letter_by_text.get(_normal(sentence))
        if letter and not sentence.endswith("?"):
            return Candidate(letter, _QUOTED)
        return None


def _only_candidate(
    letters: set[str],
    rule: str,
) -> Choice:
    # The letter, if it is the only one.
    if len(letters) != 1:
        return None
    (letter,) = letters
    return Candidate(letter, rule)


def _normal(text: str) -> str:
    # Lower case, no articles, and one space around each word, so that only whole words match.
    text = plain(text).strip()
    text = _CHOICES.article.sub("", text).casefold()
    return f" {' '.join(_CHOICES.word.findall(text))} "
