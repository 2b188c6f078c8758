"""Which of the listed names, or which text, a short answer gives."""

import re
from collections.abc import Sequence

from fin_tasks.benchmarks.mme_finance.exact_words import lines_of, marked_sentence, tokens

__all__ = ["gives_all", "gives_choice", "gives_text"]

_ROOM = 14
"""Words a text may have beside the one asked for; Chinese characters are words, and take their sentence's."""

_COMPARED = re.compile(
    r"\s(?:than|instead\sof|rather|compared|versus|vs|followed\sby|while|whereas|above|below|over|under|not"
    r"|but\snot|高\s于|低\s于|大\s于|小\s于|多\s于|少\s于|强\s于|弱\s于|比|而\s不\s是|而\s非|不\s是|相\s比|其\s次|位\s于|在)\s"
)
_UNDECIDED = re.compile(r"\s(?:both|neither|either|equal|same|都|均|两\s者|一\s样|相\s等|相\s同)\s")
_DENIED = re.compile(
    r"\s(?:not|isn\st|wasn\st|no|rather\sthan|instead\sof|不\s是|并\s非|而\s非|非)(?:\s(?:the|be|a|an))?\s\Z"
)


def gives_text(text: str, accepted: Sequence[str]) -> bool:
    """Whether readable text gives one of the accepted texts, and little beside it.

    Example:
        >>> gives_text("The title is 'Net  Revenue'.", ["Net revenue"]), gives_text("Costs", ["Net revenue"])
        (True, False)
    """
    marked = marked_sentence(text)
    said = tokens(text if marked is None else marked)
    for form in filter(str.strip, map(tokens, accepted)):
        if said == form:
            return True
        rest = said.replace(form, " ", 1)
        if form in said and len(rest.split()) <= _ROOM and not _DENIED.search(said[: said.index(form) + 1]):
            return True
    return marked is not None and gives_text(lines_of(text)[-1].partition(":")[2], accepted)


def gives_choice(text: str, accepted: Sequence[str], wrong: Sequence[str]) -> bool:
    """Whether readable text names the right choice and no wrong one.

    Of a comparison the subject counts (`A is higher than B` names A); what is denied does not.

    Example:
        >>> gives_choice("MA5 is above MA20", ["MA5"], ["MA20"]), gives_choice("MA5 and MA20", ["MA5"], ["MA20"])
        (True, False)
        >>> gives_choice("Not MA20 but MA5", ["MA5"], ["MA20"])
        True
    """
    if not text:
        return False
    options = (*accepted, *wrong)
    for part in _parts(text):
        said = tokens(part)
        if _names(said, options):
            break
    else:
        return False
    own = " ".join(map(tokens, options))
    subject = said
    for cut in _COMPARED.finditer(said):
        if f" {cut[0].strip()} " not in own and _names(head := said[: cut.start() + 1], options):
            subject = head
            break
    undecided = _UNDECIDED.search(subject)
    if undecided is not None and f" {undecided[0].strip()} " not in own:
        return False
    named = _names(subject, options)
    return any(place < len(accepted) for place in named) and all(place < len(accepted) for place in named)


def gives_all(text: str, parts: Sequence[Sequence[str]], wrong: Sequence[str]) -> bool:
    """Whether readable text names every part, in one of its forms, and nothing wrong.

    Example:
        >>> gives_all("K, D and J", [["K"], ["D"], ["J"]], ["DEA"]), gives_all("K and D", [["K"], ["D"], ["J"]], [])
        (True, False)
    """
    forms = [form for part in parts for form in part]
    owners = [owner for owner, part in enumerate(parts) for _ in part]
    named = _names(tokens(text), (*forms, *wrong))
    if any(place >= len(forms) for place in named):
        return False
    return {owners[place] for place in named} == set(range(len(parts)))


def _parts(text: str) -> list[str]:
    """Where the answer may stand, the surest place first."""
    marked = marked_sentence(text)
    lines = lines_of(text)
    return [*([marked] if marked else []), *([lines[-1], lines[0], text] if lines else [])]


def _names(said: str, options: Sequence[str]) -> set[int]:
    """Places of the options that a text names and does not deny; of one inside another the longer one counts."""
    forms = sorted(enumerate(map(tokens, options)), key=lambda option: -len(option[1]))
    named = set()
    for place, form in forms:
        start = said.find(form) if form.strip() else -1
        while start >= 0:
            if not _DENIED.search(said[: start + 1]):
                named.add(place)
            said = f"{said[: start + 1]}{'·' * (len(form) - 2)}{said[start + len(form) - 1 :]}"
            start = said.find(form)
    return named
