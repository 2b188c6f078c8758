"""Reads a judge's reply: strictly, as a number that is guessed from a sentence is nobody's verdict."""

import re

from fin_tasks.answers.reasoning import strip_reasoning
from fin_tasks.judging.old_rubric import Rubric

__all__ = ["read_score"]

_SHOWN = 80
"""Characters of a reply that an error repeats."""
_WHOLE = re.compile("[0-9]{1,3}")


def read_score(reply: str, rubric: Rubric) -> tuple[int | None, str | None]:
    r"""Read a score: a whole number on the scale, alone.

    What a judge thinks before its reply is dropped (see `answers.reasoning`), as judges that reason say it aloud, and
    so is space around it. What is left has to be ASCII digits: neither `4/5` nor `4.` nor `**4**` nor `Score: 4` is
    read, nor a digit of Chinese type. A reply that is cut after three tokens may be the start of something else, and
    the judge is simply asked again.

    Args:
        reply: What the judge wrote.
        rubric: The scale.

    Returns:
        The score and None, or None and what is wrong with the reply.

    Example:
        >>> from fin_tasks.judging.old_rubric import load_rubric
        >>> read_score(" 4\n", load_rubric("mme_finance_en"))
        (4, None)
        >>> read_score("4.5", load_rubric("mme_finance_en"))
        (None, "the judge replied '4.5', expected a whole number from 0 to 5 alone")
    """
    text = strip_reasoning(reply).strip()
    # a leading zero belongs to some other number, a date or a decimal
    if _WHOLE.fullmatch(text) and len(text) == len(str(int(text))) and rubric.lowest <= int(text) <= rubric.highest:
        return int(text), None
    shown = text[:_SHOWN] + "..." * (len(text) > _SHOWN)
    return None, f"the judge replied {shown!r}, expected a whole number from {rubric.lowest} to {rubric.highest} alone"
