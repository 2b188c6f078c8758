"""Read which choice a text names, by letter, place or text."""

import re
from collections.abc import Sequence

from fin_tasks.answers.notation import plain
from fin_tasks.answers.phrases import Style

_LETTERS = "ABCDEFGH"
_NAMES = "(?i:option|choice|answer|letter|alternative)"
_LABEL = re.compile(r"\s*\(?([A-Ha-h])\s?[.):]\s+")
_LEAD = (
    rf"[\W_]*(?i:(?:that|the|correct|best|right|is|it|would|be|must|should|therefore|clearly"
    rf"|go\swith|pick|choose|i['’]?d|i|would|say|definitely|{_NAMES})[\W_]{{1,4}}){{0,6}}"
)
# A letter on its own. `A rise in rates` begins with an article.
_NO_ARTICLE = r"A(?![ \t]{1,3}(?!(?:is|because|as|since|and|or|but|with|for|it)\b)[A-Za-z$¤\d])"
_LETTER = rf"(?<![\w&.-])(?<!\w')([B-H]|{_NO_ARTICLE})(?![\w&]|'\w|-[A-Za-z])"
_FIRST = re.compile(_LEAD + _LETTER)
_ONLY = re.compile(rf"(?i){_LEAD}([A-H])[\W_]*\Z")
# `A or B`, `both A and C`: the letter at the start is one of several.
_JOINED = re.compile(
    r"[\s)\]\"'*.]*(?:,|/|&|\band\b|\bor\b)\W*(?:(?:possibly|maybe|option|also)\s)?[(\[]?[A-H](?!'?\w)"
)
_PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
_PLACE = re.compile(
    rf"(?i)\b({'|'.join(_PLACES)}|last|middle)\s(?:(?:{_NAMES}|one)s?\b"
    r"|(?=and\s|or\s|fits\b|it\sis\b|is\s(?:the\s)?(?:right|correct|best)\b))"
)
_LIST = r"(?:\(?\b[A-H]\b\)?(?:\s?[,/]\s?|\s)?(?:\b(?:and|or|nor)\s)?){1,8}"
# `A, B and C are all wrong`, `not A`, `none of A and B`, `rather than A`, `A can be ruled out`.
_REJECTED = re.compile(
    rf"\b{_LIST}[\"']?\s?(?:is|are|was|were|can\sbe)\s(?:(?:all|both|also|clearly|therefore)\s)?"
    r"(?:wrong|incorrect|false|not|out|ruled\sout|eliminated|excluded|reversed|nonsense)\b"
    r"|(?i:\b(?:not|neither|nor|rather\sthan|instead\sof|none\sof|over|unlike|except)|n't)\b"
    rf"[\s(\[\"'*]{{1,4}}(?i:option\s)?{_LIST}"
)
_WORD = re.compile(r"[^\W_]+(?:\.\d+)?%?")
_SENTENCE_END = re.compile(
    r"(?<=[\w)\]\"'*][.!?])(?<!i\.e\.)(?<!e\.g\.)[\"')*\]]{0,3}\s+(?=[\W_]{0,3}[A-Z0-9])|\n+"
)
# A line that is a letter, or begins with one as a list of choices does.
_LINE = re.compile(
    r"\W{0,8}(?:(?i:option|choice|answer)\s{1,2})?\W{0,3}[A-H](?:\W{0,4}[).:]\W{0,3}\s|\W{0,4}\s?[-:]{1,2}\s|\W*$)"
)

_CHOSEN = rf"(?:(?:the\s)?{_NAMES}\s{{0,2}}:?\s{{0,2}})?[(\[\"'*]{{0,3}}([A-H])(?![\w'’-])[)\]\"'*]{{0,3}}"
# In the last line, more words than these behind a letter may be an item of a list.
_SHORT_REST = 40
_REASON = re.compile(r"\W{0,3}(?:-|:|because\b|since\b|as\b)")
_DENIES = re.compile(r"(?i)\b(?:not|out|wrong|false|cannot|neither|nor|fails?|too)\b|n't\b")
_CROSSED = re.compile(r"\W*[❌✗✘✖]")
# Sentences that choose: each pattern has one group, the letter.
_FRAMES = tuple(
    re.compile(pattern)
    for pattern in (
        # the correct option is C; the answer must be C; that is C
        rf"(?i:\b(?:answer|choice|option|one|alternative|selection|pick)\s(?:is|would\sbe|must\sbe|should\sbe|has\sto\sbe|remains)\s"
        rf"(?:therefore\s|thus\s|clearly\s|then\s)?(?:that\s|the\s)?)(?i:{_NAMES}\s)?[(\[\"'*:]{{0,3}}([A-H])(?![\w'’-])",
        rf"(?i:\b(?:that|it|this)(?:\sis|['’]s|\smust\sbe|\swould\sbe|\shas\sto\sbe|\sshould\sbe|\sleaves|\spoints\sto)\s){_CHOSEN}(?!\s(?:who|which|that)\b)",
        # option C is correct; C is the right answer; B it is; C fits best
        rf"(?i:\b{_NAMES}\s{{0,2}})?[(\[\"'*]{{0,3}}(?<![\w'’])([A-H])[)\]\"'*]{{0,3}}\s(?i:is|are|must\sbe|seems|looks|appears\sto\sbe)\s"
        rf"(?i:(?:therefore|thus|clearly|also|indeed|hence|then|obviously|definitely)\s)?"
        rf"(?i:(?:the\s)?(?:only\s)?(?:most\s)?(?:correct|right|true|best|answer|one\b|appropriate|accurate|choice|valid|match|winner|least\sbad))",
        r"(?<![\w'’])([A-H])\s(?i:it\s(?:is|has\sto\sbe|must\sbe)|fits\sbest|fits|wins|is\sit)\b",
        rf"(?i:\b(?:only|just)\s)(?i:{_NAMES}\s)?[(\[\"'*]{{0,3}}([A-H])[)\]\"'*]{{0,3}}\s(?i:is\sleft|correctly|[a-z]{{2,14}}s\b)",
        # I would go with C; choose C; this leaves option C
        rf"(?i:\b(?:go(?:ing)?\swith|go\sfor|opt\sfor|settle\s(?:on|for)|choos(?:e|ing)|pick(?:ing)?|select(?:ing)?|vote\sfor|lean(?:ing)?\stowards?|stick(?:ing)?\swith|say|answer)\s)"
        rf"{_CHOSEN}",
        rf"(?i:\b(?:leaves(?:\sus)?(?:\swith)?|leaving|we\sare\sleft\swith|points?\sto)\s(?:only\s|us\s|with\s)*){_CHOSEN}",
        # so C; hence (C); therefore option C; thus C.
        rf"(?i:\b(?:so|thus|hence|therefore|consequently),?\s(?:it\sis\s|it['’]s\s|the\sanswer\sis\s|that\sis\s)?){_CHOSEN}"
        r"(?=\s?(?:[.,;:!\n-]|\Z|(?:because|since|as|and\snot)\b))",
        r"\b(?i:is|be)\s\(([A-H])\)",
        rf"(?i:\b(?:right|correct|best|proper|appropriate)\s\w{{1,20}}\s(?:is|would\sbe)\s){_CHOSEN}",
        rf"(?i:\bbut\s(?:rather\s)?){_CHOSEN}(?=\s?(?:[.,;:!\n]|\Z))",
        rf"(?i:\b(?:take|use|accept)\s){_CHOSEN}(?i:\sas\b)",
        # I change my answer to C; described in option C; straddle => C
        rf"(?i:\b(?:chang|switch|revis|correct)\w{{1,4}}\s(?:my\s(?:answer|choice)\s)?to\s){_CHOSEN}",
        rf"(?i:\b(?:described|given|stated|captured|reflected|expressed)\s(?:in|by)\s(?:option|choice|answer)\s){_CHOSEN}",
        r"(?:⇒|→|=>|->|∴|⟹)[\s(\[]{0,3}([A-H])[\W_]*\Z",
        r"(?i:\bi\.?e\.?,?\s)[(\[\"'*]{0,3}([A-H])(?![\w'’-])",
    )
)
_ALTERNATIVE = re.compile(
    r"\b(?i:either|both|between)\b[^.\n]{0,20}\b[A-H]\b|\b[A-H]\)?,?\s(?:or|and)\s(?i:option\s)?\(?[A-H]\b(?!')"
)
_HYPOTHETICAL = re.compile(
    r"(?i)\b(?:if|might|could|tempt\w*|at\sfirst|first\s(?:thought|instinct)|was\sgoing\sto|claims?|suggests?"
    r"|argu\w+|whether|unless|depend\w*|pick\sfrom)\b"
)
_CLAUSE_END = re.compile(
    r"[;:?]|,\s(?:but|so|hence|thus|therefore|yet|then)\b|\s[-–—]\s|,\s(?=I\b)"
)
# `✅ A` or `| C | ... | ✓ |`
_CHECKED = re.compile(
    r"(?m)^[^\w\n]*[✅✓✔☑][^\w\n]*(?:[Oo]ption\s)?([A-H])\b|^[^\w\n]*(?:[Oo]ption\s)?([A-H])\b[^\n]*[✅✓✔☑]"
)


def choice_texts(choices: Sequence[str]) -> tuple[str, ...]:
    """Return the texts of choices without their letters, if all have the right one."""
    labels = [_LABEL.match(choice) for choice in choices]
    for label, letter in zip(labels, _LETTERS, strict=False):
        if label is None or label[1].upper() != letter:
            return tuple(choices)
    return tuple(_LABEL.sub("", choice, count=1) for choice in choices)


def announced_choice(text: str, style: Style, choices: Sequence[str] = ()) -> str | None:
    """Read the letter at the start, else a letter in a choosing sentence, else the choice quoted."""
    text = _readable(text[:600], choices)
    letters = _letters_of(choices)
    if _PLACE_MARK in text[:40] and _JOINED.match(text):
        return None
    only = _ONLY.match(text)
    if only and only[1].upper() in letters:
        return only[1].upper()
    first = _FIRST.match(text)
    if first and first[1] in letters:
        return None if _JOINED.match(text, first.end()) else first[1]
    sentence = _first_sentence(text)
    if style == "label" and len(sentence) < len(text.strip()) and "\n" not in text.strip():
        return None
    letter = _framed(sentence, letters) or _named(sentence, letters)
    if letter or (style == "conclusion" and _DENIES.search(sentence)):
        return letter
    return quoted_choice(sentence, choices)


def line_choice(text: str, style: Style, choices: Sequence[str] = ()) -> str | None:
    """Read a line that is a letter, begins with one like an item of a list, or is a choice's text."""
    raw = text
    text = _readable(text[:600], choices)
    letters = _letters_of(choices)
    if _CROSSED.match(raw):
        return None
    only = _ONLY.match(text)
    if only and only[1].upper() in letters and len(text) <= 30:
        return only[1].upper()
    line = _LINE.match(text)
    if line:
        first = _FIRST.match(text)
        if first and first[1] in letters and not _JOINED.match(text, first.end()):
            rest = text[first.end() :]
            is_item = style == "last line" and len(rest) > _SHORT_REST
            if not is_item or _whole_choice(rest, choices) or _REASON.match(rest):
                return first[1]
        return None
    if style == "last line":
        only = _ONLY.match(_SENTENCE_END.split(text)[-1])
        if only and only[1].upper() in letters:
            return only[1].upper()
    return _whole_choice(_first_sentence(text), choices)


def sentence_choices(text: str, choices: Sequence[str] = ()) -> list[tuple[int, str]]:
    """Return position and letter of each sentence that chooses."""
    letters = _letters_of(choices)
    found = []
    start = 0
    for match in [*_SENTENCE_END.finditer(text), None]:
        end = match.end() if match else len(text)
        sentence = _readable(text[start:end][:600], choices)
        letter = _framed(sentence, letters) or _left_over(text[start:end], choices)
        if letter is not None:
            found.append((start, letter))
        start = end
    checked = [match for match in _CHECKED.finditer(text)]
    if len(checked) == 1:
        found.append((checked[0].start(), checked[0][1] or checked[0][2]))
    return sorted(found)


def quoted_choice(sentence: str, choices: Sequence[str]) -> str | None:
    """Return the letter of the only choice whose text stands in a sentence."""
    said = _normal(sentence)
    texts = [_normal(choice) for choice in choice_texts(choices)[: len(_LETTERS)]]
    quoted = [text for text in texts if text.strip() and text in said]
    letters = set()
    for text in quoted:
        is_part = any(text != other and text in other for other in quoted)
        if not is_part:
            letters.add(_LETTERS[texts.index(text)])
    return letters.pop() if len(letters) == 1 else None


_PLACE_MARK = "option "


def _letters_of(choices: Sequence[str]) -> str:
    return _LETTERS[: len(choices) or 4]


def _readable(text: str, choices: Sequence[str]) -> str:
    # Plain text, without rejected letters, in which `the second option` is `option B`.
    letters = _letters_of(choices)
    text = _REJECTED.sub(" ", plain(text).strip().replace("\\n", "\n"))

    def name_place(match: re.Match[str]) -> str:
        place = match[1].lower()
        if place == "last":
            index = len(letters) - 1
        elif place == "middle":
            index = len(letters) // 2
        else:
            index = _PLACES.index(place)
        return f"option {_LETTERS[index]}" + " " * match[0].endswith(" ")

    return _PLACE.sub(name_place, text)


def _first_sentence(text: str) -> str:
    for sentence in _SENTENCE_END.split(text):
        if sentence.strip():
            return sentence
    return ""


def _framed(sentence: str, letters: str) -> str | None:
    # The letter on which the choosing patterns agree, the last one if a sentence corrects itself.
    if _ALTERNATIVE.search(sentence):
        return None
    found = []
    for frame in _FRAMES:
        for match in frame.finditer(sentence):
            clause = _CLAUSE_END.split(sentence[: match.start()])[-1]
            if match[1] in letters and not _HYPOTHETICAL.search(clause):
                found.append(match[1])
    return found[0] if found and len(set(found)) == 1 else None


def _left_over(sentence: str, choices: Sequence[str]) -> str | None:
    # `It is neither A nor B` leaves C.
    letters = _letters_of(choices)
    rejected = {
        letter
        for match in _REJECTED.finditer(plain(sentence[:600]))
        for letter in re.findall(r"\b[A-H]\b", match[0])
    }
    rest = set(letters) - rejected
    return rest.pop() if len(rest) == 1 and len(choices) > 2 else None


def _named(sentence: str, letters: str) -> str | None:
    named = set()
    for match in _NAMED.finditer(sentence):
        letter = match[1] or match[2]
        if letter in letters:
            named.add(letter)
    return named.pop() if len(named) == 1 else None


_NAMED = re.compile(rf"\b{_NAMES}s?\s{{0,2}}:?\s{{0,2}}[(\[\"'*]?([A-H])(?!\w|'\w)|\(([A-H])\)")


def _whole_choice(sentence: str, choices: Sequence[str]) -> str | None:
    if sentence.endswith("?"):
        return None
    said = _normal(sentence)
    for letter, text in zip(_LETTERS, choice_texts(choices), strict=False):
        if said.strip() and said == _normal(text):
            return letter
    return None


def _normal(text: str) -> str:
    # Lower case, no articles, and one space around each word, so that only whole words match.
    words = re.sub(r"\AA\s+|\b(?:[Tt]he|[Aa]n|a)\s+", "", plain(text).strip()).casefold()
    return f" {' '.join(_WORD.findall(words))} "
