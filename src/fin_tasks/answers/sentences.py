"""Split a text into sentences."""

from typing import NamedTuple

from fin_tasks.answers.phrases import Phrases

_SIGNS = Phrases("signs")


class Sentence(NamedTuple):
    """A sentence, and its position in the text."""

    text: str
    start: int


def first_sentence(text: str) -> str:
    """Return the first sentence of a text; empty if it has none."""
    sentences = split_sentences(text)
    return sentences[0].text if sentences else ""


def split_sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text; a line break ends a sentence."""
    sentences = []
    start = 0
    ends = [match.end() for match in _SIGNS.sentence_end.finditer(text)]
    for end in [*ends, len(text)]:
        sentence = text[start:end].strip()
        if _SIGNS.word_character.search(sentence):
            sentences.append(Sentence(sentence, start))
        start = end
    return sentences
