"""Read whether a text calls a statement true or false."""

import re
from functools import partial

from fin_tasks.answers.notation import plain
from fin_tasks.answers.phrases import Style

_re = partial(re.compile, flags=re.IGNORECASE)

_STATEMENT = "statement|claim|assertion|proposition|sentence|this one"
_TRUE = "true|correct|accurate|valid"
_FALSE = "false|incorrect|wrong|inaccurate|invalid|untrue"
# `no` and `right` are verdicts only where nothing depends on them: not in `no effect`, `the right to buy`.
_ALONE = r"(?=[^\w.,;:!?-]*(?:[.,;:!?-]|\Z|(?:because|since|as)\b))"
_VERDICT = (
    rf"(?P<verdict>(?P<true>{_TRUE}|(?:yes|right){_ALONE})|(?:{_FALSE}|no{_ALONE}))"
    r"(?!-\w)(?!\w)(?!['’]s)"
)
_FILLER = (
    rf"(?:{_STATEMENT}|be|been|being|considered|said|to|regarded|as|seen|called|deemed|entirely"
    r"|always|necessarily|fully|quite|completely|strictly|exactly|generally|really|an?|the|in|fact"
    r"|all|case|that|this|it|is|for|above|given|very|therefore|thus|hence|simply|just|definitely|say"
    r"|literally|absolutely|technically|clearly)"
)
_NOT = (
    r"(?:\b(?:not|never|cannot|hardly|neither|nor|far\s+from|fails|unlikely|rather\s+than"
    r"|instead\s+of)|\b\w{0,6}n't)"
)
_NEGATION = rf"(?P<not>{_NOT}(?:\s+{_FILLER}){{0,9}}\s+['\"(\[]*)?"
# `"true" is not the correct answer` turns the verdict too.
_TURNED = (
    r"(?P<turned>['\"]?\s+(?:is|was|can)\s?(?:n't|not)\s+(?:be\s+)?(?:the\s+|a\s+)?"
    r"(?:correct|right|true)\b)?"
)
_TOKEN = _re(rf"{_NEGATION}(?<![\w-]){_VERDICT}{_TURNED}")
_LEAD = _re(
    rf"(?:[\W_]|\b(?:{_FILLER}|would|i|we|say|my|final|verdict|answer|option|choice|mark|as"
    r"|overall|so|yes,\sit|am|are)\b)*"
)
_EITHER = r"\b(?:true|false|correct|incorrect|right|wrong|yes|no|agree|disagree)\b"

# Wordings that say true or false without these words, rewritten so that negations still apply.
_IDIOMS = (
    (_re(r"(\A\W*|\b(?:i|we)(?:'d|'ll)?(?:\s+[\w']+){0,3}?\s+)disagree\b"), r"\1say false"),
    (_re(r"(\A\W*|\b(?:i|we)(?:'d|'ll)?(?:\s+[\w']+){0,3}?\s+)agree\b"), r"\1say true"),
    (_re(r"\bnothing\s+(?:false|wrong|incorrect)\s+(?:about|with|in)\b"), "the statement is true,"),
    (
        _re(
            r"\A(\W{0,6})(?:quite|just|exactly)?\s?(?:the\s+(?:reverse|opposite)|(?:on\s+)?the\s+contrary)\b"
        ),
        r"\1false",
    ),
    (
        _re(
            rf"\b((?:{_STATEMENT}|it|this)(?:\s+(?!where\b|when\b)[\w']+){{0,5}}?\s+)(?:holds?(?:\s+(?:true|up|water))?|stands?\s+up)\b"
        ),
        r"\1true",
    ),
    (
        _re(
            rf"\b((?:{_STATEMENT}|this|it)\b[^.;:\n]{{0,40}}?\b)(?:backwards|the\s+wrong\s+way\s+a?round)\b"
        ),
        r"\1false",
    ),
    (
        _re(
            rf"\b((?:{_STATEMENT}|description|definition)\s+)(?:accurately|correctly|rightly)\s+\w+"
        ),
        r"\1is true:",
    ),
    (
        _re(
            rf"\b((?:{_STATEMENT}|description|definition)\s+)(?:incorrectly|wrongly|inaccurately|mis\w+)\s+\w*"
        ),
        r"\1is false:",
    ),
    (
        _re(
            rf"\b(?:go\s+along\s+with|accept|endorse|side\s+with|support)\s+the\s+(?:{_STATEMENT})\b"
        ),
        "say true",
    ),
    (_re(rf"\b(?:reject|dispute|refute|deny)\s+the\s+(?:{_STATEMENT})\b"), "say false"),
    (_re(r"\A(\W{0,6})not\s+(?:quite|exactly|really|so)(?=\s?[.,!;:-])"), r"\1false"),
    (_re(r"\A(\W{0,6})(?:nope|nah)\b"), r"\1no"),
    (_re(r"\A(\W{0,6})(?:yep|yup|yeah|agreed)\b"), r"\1yes"),
    (_re(r"\A(\W{0,6})that(?:'s|\sis)\s+right\b"), r"\1true"),
    (_re(r"\A(\W{0,8}(?:true|false|(?:in)?correct|wrong))\s+statement\b"), r"\1"),
    # `not true that it is false` denies once.
    (
        _re(
            rf"\bnot\s+(?:true|correct)(?=\s+that\s+(?:(?:the|this|it|is|{_STATEMENT})\s+){{1,4}}{_EITHER})"
        ),
        "not ",
    ),
    (
        _re(
            r"\b(?:wrong|incorrect|false)\s+to\s+(?:say|call|claim)\b(?=[^.\n]{0,60}\b(?:false|untrue|wrong|incorrect)\b)"
        ),
        "not ",
    ),
)
# Echoes of the question, concessions, and words such as `the right value`.
_IGNORED = _re(
    rf"{_EITHER}\s{{0,2}}(?:or|/|nor)\s{{0,2}}{_EITHER}"
    rf"|\b(?:whether|if)\b[^.;:\n]{{0,60}}?{_EITHER}"
    r"|\A\W*(?:although|though|while|whereas|even\sif)\b[^,.]{1,150},"
    r"|(?<!not the )\b(?:correct|right|wrong|true|valid)\s+"
    r"(?:answer|choice|option|term|formula|value|way|to|side)\b"
)
_UNCLEAR = _re(
    r"\b(?:part(?:ly|ially)|both|half|sometimes)[\s-]+(?:true|correct|right)\b"
    r"|\b(?:but|though)\s+not\s+(?:for|in|under|when)\b"
)
_REASON = _re(r"[;:]|\s-\s|\s(?:because|since|as|given|although|whereas|while|when|if|unless)\b")
_CORRECTION = _re(
    rf"\b(?:no|wait|actually|rather|sorry|{_STATEMENT}|answer|overall|therefore|so)\b"
)
_EXPLAINED = _re(r"['\"]?\s?[,(](?!\s?(?:no|yes|not|or|wait|sorry|actually)\b)")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\s\"')*\]]+|\n+")

# Behind a label, `T`, `F`, `1` and `0` are verdicts, if nothing but an end or a reason follows.
_SHORT_END = r"(?=[\W_]*(?:\Z|\n)|[\s)\]'\"*]*[.,;:(-](?!\d)|\s{1,3}(?:because|since|as)\b)"
_LETTER = re.compile(rf"[\W_]*(?:(?P<true>T)|F)(?!'?\w|-){_SHORT_END}")
_DIGIT = re.compile(rf"[^\w.-]*(?:(?P<true>1)|0)(?:\.0{{1,3}})?(?![\d%]){_SHORT_END}")
_CHECK_MARK = re.compile(r"\s{0,3}(?:(?P<true>[✅✓✔])|[❌✗✘✖])\ufe0f?\s{0,3}[.!]?\s{0,3}(?:\n|\Z)")

_ENDS = r"(?:[\W_]*\Z|[\"')*\]]*(?:[.,;:!(]|\s-)|\s+(?:because|since|as|for|with|and|so|when|in\s+(?:that|this))\b)"
_OPENS = _re(
    rf"[\W_]*(?:that(?:'s|\sis)\s+)?(?:not\s)?(?:true|false|(?:in)?correct|yes|no|wrong|right){_ENDS}"
)
_SUBJECT = rf"(?:\b(?:{_STATEMENT})\b[^.\n]{{0,80}}?)"
_PRONOUNS = r"(?:\A(?:\W*\b(?:so|therefore|thus|hence|this|it|that|i|we|do|does|is|all|in|clearly|yes)\b)+\W+)"
_I_SAY = (
    r"(?:\b(?:i\s?['’]?(?:d|ll)?|we|one)\s(?:would\s|will\s|have\sto\s|must\s|can\s)?"
    r"(?:have\sto\s)?(?:(?:still|therefore|only|also)\s)?"
    r"(?:say|go|lean|mark|judge|answer|conclude|call|vote|pick|choose|rate|label|consider|deem)\b"
    r"(?:\s(?:with|for|towards?|that|it|this|is|as|the|statement|to|be|a|an|marking))*\s['\"*]*)"
)
_JUDGED = _re(
    rf"(?:{_SUBJECT}|{_PRONOUNS}|{_I_SAY}){_NEGATION}(?<![\w-]){_VERDICT}{_TURNED}{_ENDS}"
)
# Such sentences weigh a reading, a condition or somebody's opinion; they do not conclude.
_HYPOTHETICAL = _re(
    r"\b(?:if|whether|unless|suppose|assuming|(?:would|could|might|may|can|must)\s(?:only\s)?(?:still\s)?be"
    r"(?:\s(?:considered|called|seen|read))?|were\sto|had\sbeen"
    r"|reading|interpret\w*|argu\w+|purist|instinct|tempt\w*|at\sfirst|seems?|appears?|looks?"
    r"|you\smight|one\smight|question\sis|need\sto|let(?:'s|\sus|\sme)|we\smust|depend\w*"
    r"|(?:first|second|other|one)\s(?:half|part|piece|clause)|part\sof|in\sthat\scase|in\sthis\scase)\b"
)
_CONCEDED = _re(r"\b(?:i|we)\s?['’]?(?:d|\swould|ll|\shave\sto|\smust)")


def announced_verdict(text: str, style: Style) -> int | None:
    """Read 1 (true) or 0 (false) behind an announcement; None if the verdict contradicts itself."""
    text = plain(text)
    for short in (_CHECK_MARK, _DIGIT, _LETTER):
        match = short.match(text)
        if match:
            return int(bool(match["true"]))
    for sentence in _SENTENCE_END.split(_rewritten(text)):
        is_filled = bool(re.search(r"\w", sentence))
        if _UNCLEAR.search(sentence):
            return None
        visible = _IGNORED.sub(" ", sentence)
        tokens = list(_TOKEN.finditer(visible))
        if style in ("label", "conclusion") and is_filled and not _leads(visible, tokens):
            return _framed(sentence)
        if tokens:
            return _fold(visible, tokens, leads=_leads(visible, tokens))
    return None


def line_verdict(text: str, style: Style) -> int | None:
    """Read the verdict with which a line opens or, if it is the last line, ends."""
    text = plain(text)
    if style == "last line":
        match = _CHECK_MARK.match(text) or re.match(rf"{_DIGIT.pattern}[\W_]*\Z", text)
        if match:
            return int(bool(match["true"]))
    text = _rewritten(text)
    sentences = [part for part in _SENTENCE_END.split(text) if re.search(r"\w", part)]
    if not sentences:
        return None
    opening = sentences[0]
    if _OPENS.match(opening):
        return announced_verdict(" ".join(sentences[:2]) if len(opening) < 12 else opening, "prose")
    if style == "last line" and _OPENS.match(sentences[-1]):
        return announced_verdict(sentences[-1], "prose")
    return None


def sentence_verdicts(text: str) -> list[tuple[int, int]]:
    """Return position and verdict of each sentence that calls the statement true or false."""
    verdicts = []
    position = 0
    text = plain(text)
    for sentence in _sentences(text):
        verdict = _framed(_rewritten(sentence))
        if verdict is not None:
            verdicts.append((position, verdict))
        position += len(sentence)
    return verdicts


def _sentences(text: str) -> list[str]:
    # The parts, with their separators, so that positions stay right.
    parts = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        parts.append(text[start : match.end()])
        start = match.end()
    parts.append(text[start:])
    return parts


def _framed(sentence: str) -> int | None:
    # Read a sentence whose subject is the statement, or in which the model says what it would answer.
    visible = _IGNORED.sub(" ", sentence)
    match = _JUDGED.search(visible)
    if not match or _UNCLEAR.search(sentence):
        return None
    before = visible[: match.end()]
    if _HYPOTHETICAL.search(before) and not _CONCEDED.search(before):
        return None
    if re.match(r"\s?(?:only\s)?if\b", visible[match.end() :]):
        return None
    start = match.start("not") if match["not"] else match.start("verdict")
    return _fold(visible, list(_TOKEN.finditer(visible, start)), leads=True)


def _rewritten(text: str) -> str:
    for pattern, replacement in _IDIOMS:
        text = pattern.sub(replacement, text)
    return text


def _leads(sentence: str, tokens: list[re.Match[str]]) -> bool:
    lead = _LEAD.match(sentence)
    return bool(tokens and lead and lead.end() >= tokens[0].start())


def _fold(sentence: str, tokens: list[re.Match[str]], *, leads: bool) -> int | None:
    # A later token replaces the verdict only behind a correction; a reason is not read.
    if not tokens:
        return None
    verdict = _value(tokens[0])
    end = tokens[0].end()
    for token in tokens[1:]:
        value = _value(token)
        between = sentence[end : token.start()]
        reason = _REASON.search(between)
        correction = _CORRECTION.search(between)
        if value != verdict and leads and _EXPLAINED.match(between):
            return verdict
        if reason and not (correction and correction.start() < reason.start()):
            return verdict
        if value != verdict and not correction:
            return None
        verdict = value
        end = token.end()
    return verdict


def _value(token: re.Match[str]) -> int:
    is_true = bool(token["true"])
    if token["not"]:
        is_true = not is_true
    if token["turned"]:
        is_true = not is_true
    return int(is_true)
