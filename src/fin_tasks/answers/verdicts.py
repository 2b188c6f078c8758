"""Read whether a text calls a statement true or false."""

import re
from functools import partial

from fin_tasks.answers.locate import Kind, end_lines
from fin_tasks.answers.notation import plain

__all__ = ["verdict_in"]

_re = partial(re.compile, flags=re.IGNORECASE)
_POSITIVE = "true|correct|right|accurate|valid|yes|agree|holds?"
_NEGATIVE = "false|incorrect|wrong|inaccurate|invalid|untrue|no|disagree"
_STATEMENT = "statement|claim|assertion|proposition"
_TOKEN = _re(rf"(?<![\w-])(?:({_POSITIVE})|{_NEGATIVE})(?![\w-])")
_FILLERS = (
    rf"{_STATEMENT}|be|been|being|considered|said|to|regarded|as|seen|called|deemed|entirely|always|necessarily|completely"
    "|strictly|fully|quite|exactly|generally|actually|really|an?|the|factually|technically|universally|totally|wholly|in|fact"
    "|all|case|that|this|it|is|for|above|given|very|so|strongly|holds?"
)
_LEAD = _re(
    rf"(?:[\W_]|\b(?:{_FILLERS}|not|cannot|(?:is|does|do|ca)n't|does|do|original|stated|was|clearly|therefore|thus|hence|would"
    r"|i(?:'d|'m)?|we|must|say|(?:it|that)'s|answer|my|final|verdict)\b)*"
)
_DENIED = _re(
    r"(?:\b(?:not|never|cannot|hardly|neither|nor|anything\s+but|far\s+from|no\s+longer|impossible|fails|doubtful|unlikely"
    rf"|rather\s+than|instead\s+of|unable)|n't)(?!\s+only\b)(?:\s+(?:{_FILLERS})){{0,9}}\s+['\"(\[]*\Z"
)
_DENIED_BEHIND = _re(
    r"['\"]?\s+(?:is|was|would\s+be|can)\s?(?:n't|not)\s+(?:be\s+)?(?:(?:the|a)\s+)?"
    r"(?:correct|right|accurate|true|valid|my|answer)\b(?:\s+answer)?"
)
_EITHER = r"\b(?:true|false|correct|incorrect|right|wrong|yes|no|agree|disagree)\b"
# An echo of the question, a concession, and what is not said of the statement.
_IGNORED = _re(
    rf"{_EITHER}\s{{0,2}}(?:or|/|nor)\s{{0,2}}(?:not\s+)?{_EITHER}|\b(?:whether|if)\b[^.;:\n]{{0,60}}?{_EITHER}"
    r"|\A\W*(?:although|though|while|whereas|even\s+(?:if|though))\b[^,.]{1,150},"
    r"|(?<!not the )(?<!not a )\b(?:correct|right|wrong|incorrect|true|valid|accurate)\s+(?:answer|choice|option"
    r"|response|judge?ment|verdict|term|formula|value|way|to|side|now|away)\b"
)
_UNCLEAR = _re(
    r"\bneither\s+(?:\w+\s+)?(?:true|correct)\s+nor\b|\b(?:part(?:ly|ially)|both|half|sometimes)[\s-]+(?:true|correct)\b"
    r"|\b(?:but|though)\s+not\s+(?:for|in|under|when|if|with|at|on|during|always)\b"
)
_REASON = _re(
    r"[;:]|\s-\s"
    r"|\s(?:because|since|as(?! a whole)|given|due to|(?:al)?though|whereas|while|when|(?:only )?if|unless|provided)\b"
)
_SCOPE = _re(r"['\"]?\s+(?:only\s+|just\s+)?(?:in|for|under|over|during|with|within|when|if|before|after|at|on)\b")
_CORRECTION = _re(r"\b(?:no|wait|actually|rather|correction|sorry|i mean|hmm|on second thought|answer)\b")
_CONTRAST = _re(r"\b(?:but|yet|however|while|whereas|although|though|and|or|otherwise|except)\b")
_WHOLE = _re(rf"\b(?:{_STATEMENT}|answer|overall|therefore|thus|hence|so)\b")
_EXPLAINED = _re(r"['\"]?\s?[,(]\s?(?!(?:no|yes|not|or)\b)(?:[\w'-]+\s+){2}")
_NOT_THAT = _re(r"\s+that\s+(?:(?:the|this|above|given|statement|claim|it|is)\s+){1,6}")
_SENTENCE = re.compile(r"(?<=[.!?])[\s\"')*]+|\n+")
_LETTER = re.compile(r"[\W_]*(?:(?<=')([TF])(?=')|([TF])(?![\w']))")
_STANDS_ALONE = _re(r"[^\w.,;:!?-]*(?:[.,;:!?-]|\Z|(?:because|since|as)\b)")
_SPEAKER = _re(r"(?:\A\W*|\b(?:i|we)(?:\s+[\w']+){0,3}\s+)\Z")
_HOLDER = _re(rf"(?:\A\W*|\b(?:{_STATEMENT}|it|this|that)(?:\s+[\w']+){{0,5}}\s+)\Z")
_HELD = _re(r"[\W_]*\Z|[\"')*]*[.,;:!?]|\s+(?:true|in|for|under|with|because|as|since|when|even|if|up|good|water)\b")
_ONLY = _re(rf"[\W_]*(?:{_POSITIVE}|{_NEGATIVE}|T|F)[\W_]*")
_FINISHED = _re(rf"[.!*)\"'\]}}>]\Z|(?:\A|[^\w-])(?:{_POSITIVE}|{_NEGATIVE})[\W_]*\Z")
_GIVEN = _re(r"[\W_]*\Z|[\"')*]*[.,;:!]|\s-\s|\s(?:because|since|as|with)\b")
_OPENS = _re(r"[\W_]*(?:true|false|incorrect)\b")
_JUDGED = _re(rf"\b(?:{_STATEMENT})\b[^.\n]{{0,60}}\b(?:{_POSITIVE}|{_NEGATIVE})\b")


def verdict_in(text: str, kind: Kind) -> int | None:
    """Read 1 (true) or 0 (false).

    The first sentence with a verdict counts, up to its reason. Negations turn a verdict, a correction replaces it, and
    an echo of the question is none. `False in the short run but true in the long run` is no clear verdict.
    """
    if kind == "alone":
        return _alone(text)
    text = plain(text[:1000])
    if letter := _LETTER.match(text):
        return int((letter[1] or letter[2]) == "T")
    sentences = [part for part in _SENTENCE.split(text) if re.search(r"\w", part)]
    for sentence in sentences:
        said = _IGNORED.sub(" ", sentence)
        verdicts = [] if sentence.endswith("?") and len(sentences) > 1 else _verdicts(said)
        lead = _LEAD.match(said)
        if _UNCLEAR.search(sentence) or (kind == "strict" and not (verdicts and lead and lead.end() >= verdicts[0][1])):
            return None
        if verdicts:
            scoped = {value for value, _, end in _verdicts(text) if _SCOPE.match(text, end)}
            return None if len(scoped) > 1 and _SCOPE.match(said, verdicts[0][2]) else _resolved(said, verdicts)
    return None


def _resolved(text: str, verdicts: list[tuple[int, int, int]]) -> int | None:
    verdict, start, end = verdicts[0]
    for value, later, later_end in verdicts[1:]:
        between = text[end:later]
        reason, correction = _REASON.search(between), _CORRECTION.search(between)
        if reason and not (correction and correction.start() < reason.start()):
            return verdict
        if value != verdict and not correction:
            if _CONTRAST.search(between) and not _WHOLE.search(between):
                return None
            if _EXPLAINED.match(between) and not re.search(r"\w", text[:start]):
                return verdict
        verdict, end = value, later_end
    return verdict


def _verdicts(text: str) -> list[tuple[int, int, int]]:
    # Each verdict with its start and end.
    found: list[tuple[int, int, int]] = []
    position = 0
    for token in _TOKEN.finditer(text):
        start, end = token.span()
        if start < position or not _is_verdict(token[0].lower(), text[:start], text[end:]):
            continue
        value = int(token[1] is not None)
        if _DENIED.search(text[max(0, start - 90) : start]):
            value = 1 - value
        if behind := _DENIED_BEHIND.match(text, end):
            value, end = 1 - value, behind.end()
        if found and _NOT_THAT.fullmatch(text[position:start]):  # not true that the statement is false
            value = int(value == found.pop()[0])
        found.append((value, start, end))
        position = end
    return found


def _is_verdict(word: str, before: str, behind: str) -> bool:
    # Not `no effect`, `the right to buy`, `the parties agree`, `holds shares`.
    if word in ("no", "yes", "right"):
        return bool(_STANDS_ALONE.match(behind)) and not (
            word == "right" and before.rstrip().lower().endswith((" the", " a"))
        )
    if word.endswith("agree"):
        return bool(_SPEAKER.search(before[-60:]))
    return not word.startswith("hold") or bool(_HOLDER.search(before[-90:]) and _HELD.match(behind))


def _alone(reply: str) -> int | None:
    # The last or the first line, if it is a verdict or judges the statement.
    for at, (line, beside) in enumerate(end_lines(reply)):
        said = _IGNORED.sub(" ", line)
        verdicts, finished = _verdicts(said), at == 0 and _FINISHED.search(line)
        verdict = None
        if _ONLY.fullmatch(line):
            verdict = verdict_in(line, "loose")
        elif verdicts and _GIVEN.match(said, verdicts[0][2]) and (_OPENS.match(line) or finished):
            verdict = verdict_in(line, "strict")
        if verdict is None and finished and (judged := _JUDGED.search(said)):
            verdict = verdict_in(said[judged.start() :], "loose")
        if verdict is not None and not (_ONLY.fullmatch(beside) and verdict_in(beside, "loose") != verdict):
            return verdict
    return None
