"""What several documents share, so that their scores depend on each other: a figure, an exercise, a ticker, a filing.

It is read off the documents that a samples file holds, so that runs made before anyone asked for it have it too.
"""

import hashlib
import re
import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

__all__ = ["EXERCISE_LETTERS", "SOURCES", "SourceOf", "exercise", "file_name", "question_of"]

SourceOf = Callable[[Mapping[str, Any]], str]
"""From a document to the name of what it shares with others; empty where it shares nothing."""

EXERCISE_LETTERS = 30
"""Letters and digits at the beginning of a question that make out its exercise.

Of the 978 text questions of XFinBench's validation set 674 share these with another; 556 exercises are left, of at
most seven questions. With 25 letters all that begin like "Consider the difference between" fall together, whatever
they are about; with 50 statements on one situation, which is told in a few words, fall apart.
"""

_BEGINNING = 400  # characters of a question that surely hold that many letters, its table's markup aside
_ASKED = re.compile(r"\n(?:Statement|Question): ")  # begins with what is rare: few places to look at closely
_DOCUMENT = "Document:\n"
_BEHIND_DOCUMENT = ("\n\nQuestion: ", "\n\nFinish this Python function:\n\n")
_MARKUP = re.compile(r"\\(?:begin|end)\{[^}]*\}(?:\[[^\]]*\])?(?:\{[^}]*\})?|\\[A-Za-z]+")
_NO_LETTER = re.compile(r"[\W_]+")


def file_name(path: Any) -> str:
    """Return the name of a file without its folder, which is another on every machine; empty for no text.

    Example:
        >>> file_name("/data/figures/7.png"), file_name(None)
        ('7.png', '')
    """
    if not isinstance(path, str) or not path:
        return ""
    return sys.intern(path.replace("\\", "/").rstrip("/").rpartition("/")[2] or path)


def question_of(doc: Mapping[str, Any]) -> str:
    r"""Return the question of an XFinBench document; empty where it cannot be told from its prompt.

    Both wordings, ours and the authors', put it behind `Question:` or `Statement:` at the beginning of a line, with
    the finance terms, if any, before that.

    Example:
        >>> question_of({"prompt": "Terms:\n\nIncome Statement: a report\n\nQuestion: What is 2 + 2?\n\nGo on."})
        'What is 2 + 2?\n\nGo on.'
    """
    question, prompt = doc.get("question"), doc.get("prompt")
    if isinstance(question, str) and question:
        return question
    if not isinstance(prompt, str):
        return ""
    text = "\n" + prompt.removeprefix("<image>").lstrip()
    asked = _ASKED.search(text)
    return text[asked.end() :] if asked else ""


@lru_cache(maxsize=2**14)  # a question comes once for every variant and run
def exercise(beginning: str) -> str:
    r"""Name the exercise of a textbook that a question is part of, by the letters and digits it begins with.

    Case, blanks, punctuation and LaTeX's commands do not count: a table in front of a question is told by its cells.

    Args:
        beginning: Of the question, as far as it may matter.

    Returns:
        `EXERCISE_LETTERS` characters, fewer for a question that has fewer.

    Example:
        >>> exercise("\\begin{table}[h] \\textbf{Kettle & Sons} & 2021 \\\\ Sales & 40 & Costs & 31 \\end{table}")
        'kettlesons2021sales40costs31'
        >>> exercise("Kettle & Sons plan a second shop. What does it cost?")
        'kettlesonsplanasecondshopwhatd'
    """
    return sys.intern(_NO_LETTER.sub("", _MARKUP.sub(" ", beginning)).lower()[:EXERCISE_LETTERS])


def _figure_or_exercise(doc: Mapping[str, Any]) -> str:
    return file_name(doc.get("figure")) or exercise(question_of(doc)[:_BEGINNING])


def _document(doc: Mapping[str, Any]) -> str:
    """Name the extract of a report that a question is about; empty for a question that comes without."""
    prompt = doc.get("prompt")
    if not isinstance(prompt, str) or not prompt.startswith(_DOCUMENT):
        return ""
    end = max(prompt.rfind(mark) for mark in _BEHIND_DOCUMENT)
    text = prompt[len(_DOCUMENT) : end] if end > 0 else ""
    return sys.intern(hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]) if text else ""


def _ticker(doc: Mapping[str, Any]) -> str:
    ticker = doc.get("ticker")
    return sys.intern(ticker) if isinstance(ticker, str) else ""


def _picture(doc: Mapping[str, Any]) -> str:
    return file_name(doc.get("image_path"))


SOURCES: Mapping[str, SourceOf] = {
    "xfinbench": _figure_or_exercise,
    "bizbench": _document,
    "dynostock": _ticker,
    "mme_finance": _picture,
}
"""By benchmark; the questions of those that are not here stand each on its own."""
