"""Which of the listed names, or which text, a short answer gives."""

import re
from collections.abc import Iterator, Sequence

from fin_tasks.benchmarks.mme_finance.exact_words import lines_of, marked_sentence, tokens

__all__ = ["gives_all", "gives_choice", "gives_text"]

_ROOM = 14
"""Words a text may have beside the one asked for; Chinese characters are words, and take their sentence's."""

_COMPARED = re.compile(
    r"\s(?:than|instead\sof|rather|compared|versus|vs|followed\sby|while|whereas|above|below|over|under|not"
    r"|but\snot|高\s于|低\s于|大\s于|小\s于|多\s于|少\s于|强\s于|弱\s于|比|而\s不\s是|而\s非|不\s是|相\s比|其\s次|位\s于|在)\s"
)
_PANEL = re.compile(
    r"\b(?:lower|upper|bottom|top)\s(?:[A-Za-z()]+\s){0,2}?(?:panels?|panes?|charts?|subplots?|sub-?charts?|windows?|sections?|bands?|graphs?|plots?)\b"
    r"|\bpanels?\s(?:below|above|beneath|under)(?:\sthe\s\w+(?:\s\w+)?)?"
    r"|[上下](?:方|面|边)的?\s*[A-Za-z]*\s*(?:指标)?(?:面板|副图|图表|子图|窗口|区域)",
    re.IGNORECASE,
)
"""Where a line is drawn, which is not where it ends."""
_ASIDE = re.compile(
    r"\s*[,(]?\s*\b(?:which|even\sthough|although|though|while|whereas|despite)\b[^;.!?\n]*|[,]\s*(?:尽管|虽然|但)[^;.!?\n]*",
    re.IGNORECASE,
)
_CONCEDED = re.compile(
    r"(?:\A|(?<=[.;\n]))\s*(?:even\sthough|although|though|while|虽然|尽管)[^,.;\n]*,", re.IGNORECASE
)
_SO = re.compile(
    r"\b(?:so|therefore|thus|hence|consequently)\b(?!\s(?:far|that|much|many|as)\b)|因此|所以|故而|可见", re.IGNORECASE
)
_SENTENCE = re.compile(r"[;!?\n]|\.(?=\s|\Z)")
_RANKED = re.compile(
    r"\b(?:largest|highest|biggest|greatest|most|top|smallest|lowest|least|higher|lower|larger|smaller|bigger|greater|above|below)\b|最|更",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"\b(?:before|previous(?:ly)?|prior|earlier|former(?:ly)?|old)\b|此前|之前|先前|原", re.IGNORECASE)
_NOW = re.compile(
    r"[;,.]\s*(?:and\s|but\s)?(?:(?:it|this)\sis\s)?(?:now|currently)\b|[;,.]\s*(?:现|目前|当前|如今)", re.IGNORECASE
)
_LISTED_DAYS = re.compile(
    r"(?<!\d)\d{1,3}(?:-?(?:,[ ]{0,2}(?:and[ ])?|[ ]?(?:and|和|与|&)[ ]?)\d{1,3}){1,8}(?=[-\s]?(?:days?|日|天))",
    re.IGNORECASE,
)
_JOINED = re.compile(r"(?<=\d) (?:and|和|与|以 及) (?=\d)")
_DAYS = re.compile(r"(?<= )(\d{1,3}) (?:日|天|days) ")
_UNDECIDED = re.compile(r"\s(?:both|neither|either|equal|same|都|均|两\s者|一\s样|相\s等|相\s同)\s")
_DENIED = re.compile(
    r"\s(?:not|isn\st|wasn\st|no|without|excluding|rather\sthan|instead\sof|不\s是|并\s非|而\s非|非|没\s有)(?:\s(?:the|be|a|an))?\s\Z"
)


def gives_text(text: str, accepted: Sequence[str]) -> bool:
    """Whether readable text gives one of the accepted texts, and little beside it.

    Example:
        >>> gives_text("The title is 'Net  Revenue'.", ["Net revenue"]), gives_text("Costs", ["Net revenue"])
        (True, False)
    """
    marked = marked_sentence(text)
    said = _said(text if marked is None else marked)
    for form in filter(str.strip, map(_said, accepted)):
        if said == form:
            return True
        rest = said.replace(form, " ", 1)
        if form in said and len(rest.split()) <= _ROOM and not _DENIED.search(said[: said.index(form) + 1]):
            return True
    return marked is not None and gives_text(lines_of(text)[-1].partition(":")[2], accepted)


def gives_choice(text: str, accepted: Sequence[str], wrong: Sequence[str]) -> bool:
    """Whether readable text names the right choice and no wrong one.

    Of a comparison the subject counts (`A is higher than B` names A); what is denied does not. Where a line names right
    and wrong ones, what it concludes counts (`so K is higher`), or the one sentence that ranks (`The largest is ...`).

    Example:
        >>> gives_choice("MA5 is above MA20", ["MA5"], ["MA20"]), gives_choice("MA5 and MA20", ["MA5"], ["MA20"])
        (True, False)
        >>> gives_choice("Not MA20 but MA5", ["MA5"], ["MA20"])
        True
    """
    options = (*accepted, *wrong)
    for part in _parts(text):
        for reading in (_PANEL.sub(" ", part), part):
            if _names(_said(reading), options):
                return _chooses(reading, options, right=len(accepted))
    return False


def gives_all(text: str, parts: Sequence[Sequence[str]], wrong: Sequence[str]) -> bool:
    """Whether readable text names every part, in one of its forms, and nothing wrong.

    Example:
        >>> gives_all("K, D and J", [["K"], ["D"], ["J"]], ["DEA"]), gives_all("K and D", [["K"], ["D"], ["J"]], [])
        (True, False)
    """
    forms = [form for part in parts for form in part]
    owners = [owner for owner, part in enumerate(parts) for _ in part]
    named = _names(_said(_LISTED_DAYS.sub(_each_day, text)), (*forms, *wrong))
    if any(place >= len(forms) for place in named):
        return False
    return {owners[place] for place in named} == set(range(len(parts)))


def _chooses(part: str, options: Sequence[str], *, right: int) -> bool:
    """Whether the first reading of a part that is clear names one of the first `right` options."""
    for said in _readings(part, options):
        named = _committed(said, options)
        if named and (all(place < right for place in named) or all(place >= right for place in named)):
            return min(named) < right
    return False


def _readings(part: str, options: Sequence[str]) -> Iterator[str]:
    """What a part of a response concludes, else the part as a whole, else the only sentence that ranks."""
    if conclusions := list(_SO.finditer(part)):
        end = _plain(part[conclusions[-1].end() :])
        # `K is higher, so J is lower` concludes on the other one
        before = _committed(_plain(part[: conclusions[-1].start()]), options)
        ranks = _RANKED.search(end)
        if len(before) != 1 or ranks is None or ranks[0].casefold() in map(str.casefold, options):
            yield end
    if (now := _NOW.search(part)) and _BEFORE.search(part[: now.start()]):
        yield part[: now.start()]
    yield _plain(part)
    ranked = [sentence for sentence in _SENTENCE.split(part) if _RANKED.search(sentence)]
    if len(ranked) == 1:
        yield _plain(ranked[0])
    yield part


def _plain(part: str) -> str:
    """A part without what it concedes or says of the answer by the way."""
    return _ASIDE.sub(" ", _CONCEDED.sub(" ", part))


def _committed(part: str, options: Sequence[str]) -> set[int]:
    """Places of the options that the subject of a part names; none where it does not decide."""
    said = _said(part)
    own = " ".join(map(_said, options))
    subject = said
    for cut in _COMPARED.finditer(said):
        if f" {cut[0].strip()} " not in own and _names(head := said[: cut.start() + 1], options):
            subject = head
            break
    undecided = _UNDECIDED.search(subject)
    if undecided is not None and f" {undecided[0].strip()} " not in own:
        return set()
    return _names(subject, options)


def _said(text: str) -> str:
    """Tokens in which spans of days are written in one way, and numbers that `and` joins as a list."""
    said = _DAYS.sub(r"\1 day ", _JOINED.sub(" ", tokens(text)))
    return said.replace(" 以 上 ", " 之 上 ").replace(" 以 下 ", " 之 下 ")


def _each_day(match: re.Match[str]) -> str:
    return ", ".join(f"{days}-day" for days in re.findall(r"\d+", match[0]))


def _variants(form: str) -> tuple[str, ...]:
    """Tokens of a name, and those of its singular or of a colour's single character."""
    said = _said(form)
    if len(said) > 6 and said.endswith("s ") and not said.endswith("ss "):
        return said, f"{said[:-2]} "
    if re.fullmatch(r" [\u4e00-\u9fff] 色 ", said):
        return said, said[:3]
    return (said,)


def _parts(text: str) -> list[str]:
    """Where the answer may stand, the surest place first."""
    marked = marked_sentence(text)
    lines = lines_of(text)
    return [*([marked] if marked else []), *([lines[-1], lines[0], text] if lines else [])]


def _names(said: str, options: Sequence[str]) -> set[int]:
    """Places of the options that a text names and does not deny; of one inside another the longer one counts."""
    forms = [(place, form) for place, option in enumerate(options) for form in _variants(option)]
    forms.sort(key=lambda option: -len(option[1]))
    named = set()
    for place, form in forms:
        start = said.find(form) if form.strip() else -1
        while start >= 0:
            if not _DENIED.search(said[: start + 1]):
                named.add(place)
            said = f"{said[: start + 1]}{'·' * (len(form) - 2)}{said[start + len(form) - 1 :]}"
            start = said.find(form)
    return named
