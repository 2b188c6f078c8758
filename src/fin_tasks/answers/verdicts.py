"""Read whether a text calls a statement true or false."""

import re
from functools import partial

from fin_tasks.answers.locate import Kind
from fin_tasks.answers.notation import plain

_re = partial(re.compile, flags=re.IGNORECASE)
_STATEMENT = "statement|claim|assertion|proposition"
# Not `no effect`, `the right to buy`.
_ALONE = r"(?=[^\w.,;:!?-]*(?:[.,;:!?-]|\Z|(?:because|since|as)\b))"
_VERDICT = (
    rf"(?:(true|correct|accurate|valid|(?:yes|right){_ALONE})"
    rf"|false|incorrect|wrong|inaccurate|invalid|untrue|no{_ALONE})(?![\w-])"
)
_FILLER = (
    rf"(?:{_STATEMENT}|be|been|being|considered|said|to|regarded|as|seen|called|deemed|entirely|always|necessarily|fully"
    r"|quite|completely|strictly|exactly|generally|really|an?|the|in|fact|all|case|that|this|it|is|for|above|given|very)"
)
_NOT = r"(?:\b(?:not|never|cannot|hardly|neither|nor|far\s+from|fails|unlikely|rather\s+than|instead\s+of)|n't)"
# A verdict with a negation before it or behind it (`"true" is not the correct answer`).
_TOKEN = _re(
    rf"(?P<not>{_NOT}(?:\s+{_FILLER}){{0,9}}\s+['\"(\[]*)?(?<![\w-])(?P<verdict>{_VERDICT})"
    r"(?P<turned>['\"]?\s+(?:is|was|can)\s?(?:n't|not)\s+(?:be\s+)?(?:the\s+|a\s+)?(?:correct|right|true)\b)?"
)
_LEAD = _re(
    rf"(?:[\W_]|\b(?:{_FILLER}|clearly|therefore|thus|hence|would|i|we|say|my|final|verdict)\b)*"
)
_EITHER = r"\b(?:true|false|correct|incorrect|right|wrong|yes|no|agree|disagree)\b"
# `I agree` and `the statement holds` say true; `not true that it is false` denies once.
_SAYS = _re(
    r"(\A\W*|\b(?:i|we)(?:\s+[\w']+){0,3}?\s+)(dis)?agree\b"
    rf"|\b((?:{_STATEMENT}|it|this)(?:\s+[\w']+){{0,5}}?\s+)holds?\b"
    rf"|\b(not\s+)(?:true|correct)(?=\s+that\s+(?:(?:the|this|it|is|{_STATEMENT})\s+){{1,4}}{_EITHER})"
)
# Echoes of the question, concessions, and words such as `the right value`.
_IGNORED = _re(
    rf"{_EITHER}\s{{0,2}}(?:or|/|nor)\s{{0,2}}{_EITHER}|\b(?:whether|if)\b[^.;:\n]{{0,60}}?{_EITHER}"
    r"|\A\W*(?:although|though|while|whereas)\b[^,.]{1,150},"
    r"|(?<!not the )\b(?:correct|right|wrong|true|valid)\s+(?:answer|choice|option|term|formula|value|way|to|side)\b"
)
_UNCLEAR = _re(
    r"\b(?:part(?:ly|ially)|both|half|sometimes)[\s-]+(?:true|correct)\b|\b(?:but|though)\s+not\s+(?:for|in|under|when)\b"
)
_REASON = _re(r"[;:]|\s-\s|\s(?:because|since|as|given|although|whereas|while|when|if|unless)\b")
_CORRECTION = _re(
    rf"\b(?:no|wait|actually|rather|sorry|{_STATEMENT}|answer|overall|therefore|so)\b"
)
_EXPLAINED = _re(r"['\"]?\s?[,(](?!\s?(?:no|yes|not|or|wait|sorry|actually)\b)")
_SENTENCE = re.compile(r"(?<=[.!?])[\s\"')*]+|\n+")
_LETTER = re.compile(r"[\W_]*([TF])(?![\w']*\w)")
_ENDS = r"(?:[\W_]*\Z|[\"')*]*[.,;:!])"
_OPENS = _re(rf"[\W_]*(?:not\s)?(?:true|false|(?:in)?correct|yes|no){_ENDS}")
_JUDGED = _re(
    rf"(?:\b(?:{_STATEMENT})\b[^.\n]{{0,60}}|\A(?:\W*\b(?:this|it|i|we|do|not|is)\b)+\W+){_VERDICT}{_ENDS}"
)


def verdict_in(text: str, kind: Kind) -> int | None:
    """Read 1 (true) or 0 (false) in the first sentence with a verdict; None if it contradicts itself."""
    text = plain(text[:1000])
    if letter := _LETTER.match(text):
        return int(letter[1] == "T")
    text = _SAYS.sub(
        lambda found: found[4] or f"{found[1] or found[3] or ''}{'false' if found[2] else 'true'}",
        text,
    )
    if kind in ("last", "first") and not _OPENS.match(text):
        judged = _JUDGED.search(_IGNORED.sub(" ", text)) if kind == "last" else None
        alone = next(
            (part for part in reversed(_SENTENCE.split(text)) if re.search(r"\w", part)), ""
        )
        text = judged[0] if judged else alone if kind == "last" and _OPENS.match(alone) else ""
    for sentence in _SENTENCE.split(text):
        said = _IGNORED.sub(" ", sentence)
        tokens = list(_TOKEN.finditer(said))
        lead = _LEAD.match(said)
        leads = tokens and lead and lead.end() >= tokens[0].start()
        if _UNCLEAR.search(sentence) or (
            kind == "strict" and re.search(r"\w", sentence) and not leads
        ):
            return None
        if not tokens:
            continue
        verdict, end = _value(tokens[0]), tokens[0].end()
        for token in tokens[1:]:
            value, between = _value(token), said[end : token.start()]
            reason, correction = _REASON.search(between), _CORRECTION.search(between)
            if value != verdict and leads and _EXPLAINED.match(between):
                return verdict
            if reason and not (correction and correction.start() < reason.start()):
                return verdict
            if value != verdict and not correction:
                return None
            verdict, end = value, token.end()
        return verdict
    return None


def _value(token: re.Match[str]) -> int:
    return int(bool(token[3])) ^ bool(token["not"]) ^ bool(token["turned"])
