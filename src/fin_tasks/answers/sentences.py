"""Split a text into sentences."""

import re
from typing import NamedTuple

_SENTENCE_END = re.compile(
    r"""
    (?<= [.!?] ) (?<! \bvs\. ) (?<! \bca\. ) (?<! \bNo\. ) (?<! approx\. )
    (?<! [Ii]\.e\. ) (?<! e\.g\. )
    [\s"')*\]]{1,9} (?= [\W_]{0,3} [A-Z0-9] )
  | \n{1,9}
    """,
    re.VERBOSE,
)
_WORD_CHARACTER = re.compile(r"\w")


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
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    for end in [*ends, len(text)]:
        sentence = text[start:end].strip()
        if _WORD_CHARACTER.search(sentence):
            sentences.append(Sentence(sentence, start))
        start = end
    return sentences
