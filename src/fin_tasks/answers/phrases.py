"""The wordings by which models give an answer, as tables that are easy to extend.

- `ANNOUNCEMENTS`: words after which the answer stands.
- `TRANSLATIONS`: words of other languages, put into English before anything is read.
- `CORRECTION`, `REFUSAL`, `CONCLUSION`, `PLACEHOLDER`, `NEW_TURN`: signs that change how a text counts.

All patterns ignore case. Quantifiers are bounded, so that no text makes a pattern slow.
"""

import re
from dataclasses import dataclass
from typing import Literal

Style = Literal["marker", "label", "prose", "conclusion", "last line", "first line"]
"""How an answer is given.

marker: behind the sentence that we ask for. label: behind `Answer:`, where the answer comes first.
prose: behind `the answer is`, or in a box. conclusion: in a sentence that concludes. Then whole lines.
"""


@dataclass(frozen=True)
class Announcement:
    """A named pattern; the answer stands behind its match, or is its group `answer`."""

    name: str
    style: Style
    pattern: re.Pattern[str]


def _announcement(name: str, style: Style, pattern: str) -> Announcement:
    return Announcement(name, style, re.compile(pattern, re.IGNORECASE))


_GAP = r"[\s*_,:]{1,8}"
_IS = r"\s{1,3}(?:is|(?:would|will|must|should|has\sto)\s{1,3}be|remains)\b"
# Working, not an answer, begins behind a label or below a heading.
_WORKING = r"[\s*_:#>-]{0,20}(?:(?:to|we|let|first|step|given|using)\b|\d{1,2}[.)]\s)"
_COLON = rf"['\"]?[*_\s]{{0,4}}(?:[:=]|\s[-–—]{{1,2}}(?=\s))(?![ \t*_]{{0,9}}\n{_WORKING})"
# The start of a line, with marks of lists, headings, quotes and emphasis, and with emoji.
_HEAD = r"(?:\A|\n|[.!?]\s{1,3}\*\*)[^\w\n([{$\\|]{0,12}"
_NOUN = r"(?:ans(?:wer)?|verdict|judge?ment|result|choice|option|solution|selection|decision|pick)"
_ADJECTIVE = (
    r"(?:(?:my|the|our|short|final|revised|corrected|updated|correct|best|right|numeric(?:al)?"
    r"|overall|chosen|quick)\s){0,3}"
)
_SUMMARY = (
    r"(?:conclusion|bottom\sline|in\sshort|summary|tl;?dr|final(?:ly)?|in\sconclusion|to\sconclude)"
)
_KEY = (
    r"(?:[a-z]{2,10}[_\s]?)?(?:answer|verdict|choice|option|result|solution|conclusion|judge?ment)"
    r"(?:_[a-z]{2,10})?"
)

MARKER = _announcement(
    "marker",
    "marker",
    rf"\btherefore{_GAP}my{_GAP}(?:final{_GAP})?answer{_GAP}(?:is|would{_GAP}be)\b",
)
ANNOUNCEMENTS = (
    _announcement(
        "XML tag",
        "label",
        rf"<(?P<tag>{_KEY})>(?P<answer>[^<]{{1,200}})(?:</(?P=tag)>|\Z)",
    ),
    _announcement(
        "JSON key",
        "label",
        rf"""['"]{_KEY}['"]\s{{0,3}}:\s{{0,3}}(?P<answer>"[^"\n]{{1,200}}"|'[^'\n]{{1,200}}'"""
        r"""|\[[^\]\n]{1,80}\]|[^\s,{}\[\]"'][^,{}\n]{0,40})""",
    ),
    _announcement("answer label", "label", rf"{_HEAD}{_ADJECTIVE}{_NOUN}{_COLON}"),
    _announcement(
        "answer label in a line",
        "label",
        rf"\b(?:final|correct|revised|corrected|updated)\s{{1,3}}{_NOUN}{_COLON}",
    ),
    _announcement(
        "answer heading",
        "label",
        rf"{_HEAD}{_ADJECTIVE}(?:answer|verdict|result)[ \t*_:#]{{0,6}}"
        rf"(?=\n\s*(?!{_WORKING})[^\n]{{1,120}}(?:\n|\Z))",
    ),
    _announcement(
        "so the answer is",
        "label",
        rf"\b(?:therefore|thus|so|hence),?\s(?:the|my)\s(?:final\s|correct\s)?"
        rf"answer(?:\s{{1,3}}(?:choice|option))?(?:{_IS}|{_COLON})",
    ),
    _announcement(
        "the correct answer is",
        "label",
        rf"\b(?:correct|best|right|final)\s{{1,3}}(?:answer|choice|option)(?:\s(?:choice|option))?"
        rf"(?:{_IS}|{_COLON})",
    ),
    _announcement(
        "the answer is",
        "prose",
        r"\b(?:verdict|answer)\sof\b|\banswer(?<!this\sanswer)(?<!that\sanswer)(?:\s{1,3}(?:choice|option))?"
        rf"(?:{_IS}|{_COLON})",
    ),
    _announcement(
        "summary label", "conclusion", rf"{_HEAD}{_SUMMARY}[ \t]?[*_]{{0,3}}\s?(?:[:—]|\n)"
    ),
)
"""The last announcement in a text counts. A label must be followed by an answer, prose may begin with words."""

_TRANSLATED_WORDS = (
    (r"第[一1](?:个|個)?(?:选项|項|项|の選択肢)", " the first option "),
    (r"第[二2](?:个|個)?(?:选项|項|项|の選択肢)", " the second option "),
    (r"第[三3](?:个|個)?(?:选项|項|项|の選択肢)", " the third option "),
    (r"(?:的说法)?最(?:贴切|合适|恰当|准确|適切)", " is best "),
    (r"选项|選項|選択肢", " option "),
    (r"也就是说?|亦即|即(?=\s?[约約]?\s?[-\d*])", " i.e. "),
    # Chinese and Japanese: announcements
    (
        r"(?:最终|最後の|正确|最终的?|标准)?(?:答案|答え|回答|解答|正解)(?:应该?|應)?\s?(?:(?:是|为|為|选|選|は|が)\s?[::]?|[::]|(?=\s?[*(]{0,3}[A-H\d]))",
        "\nAnswer: ",
    ),
    (r"(?<![\u4e00-\u9fff])(?:答|判断|判斷|判定)\s?[::]", "\nAnswer: "),
    (
        r"(?<![\u4e00-\u9fff])(?:结论|結論|综上|まとめ)(?:所述)?(?:是|为|は)?\s?[::,、]?",
        "\nConclusion: ",
    ),
    (
        r"(?:故|应|應|所以|因此)?(?:本题)?(?:选择|选|選|選択)\s?(?:项|項)?\s?[::]?\s?(?=[*(（]{0,3}[A-H](?![A-Za-z]))",
        "\nAnswer: ",
    ),
    (r"因此|所以|故而?|由此可见|可见|したがって|よって|従って|ゆえに", "\nTherefore, "),
    (r"(?<=[A-H])(?:です|である|だ)", " "),
    # Chinese and Japanese: verdicts; the negative forms come first
    (
        r"并?(?:(?:不能|不)算(?:是)?(?:对|正确)|站不住脚|与事实不符|不符合事实|不能成立|不正确|不正確|不对|不對|不成立|不属实|不准确|不準確|错误|錯誤|有误|有誤|不是真的|正しくない|正しくありません"
        r"|誤り|誤って(?:いる|います)|間違(?:い|って(?:いる|います))|偽|假的?)(?:的|である|です|だ)?",
        " false ",
    ),
    (r"(?<![\u4e00-\u9fff])(?:错|錯|否)(?![\u4e00-\u9fff])|(?<=[是为])(?:错|錯)的?", " false "),
    (
        r"(?:正确|正確|成立|属实|准确|正しい|真(?=$|[である。.\s]))(?:无误)?(?:的|である|です|だ)?",
        " true ",
    ),
    (
        r"(?<![\u4e00-\u9fff])(?:对|對|是的)(?![\u4e00-\u9fff])|(?<=[是为])对的?(?![\u4e00-\u9fff])",
        " true ",
    ),
    (
        r"(?:本题|题目|该|这个|这一|此|题干|這個|上述|この|その)?(?:中|目)?(?:的|の)?"
        r"(?:命题|命題|句话|句話|说法|說法|陈述|陳述|表述|论述|论断|观点|记述|記述|主張|説明|文)(?:本身|は|が)?(?:是|为|為)?",
        " the statement is ",
    ),
    # Chinese and Japanese: amounts
    (r"(?:大约|约|約|大概|およそ|ほぼ)有", " is about "),
    (r"(?:大约|约|約|大概|およそ|ほぼ)(?:为|為|是|等于)?", " about "),
    (r"(?:等于|等於|为|為|是|合计|共计|となる|となり)(?=\s?[*_$¥€£]{0,4}-?\d)", " is "),
    # German
    (
        r"\b(?:die\s)?(?:richtige\s|korrekte\s|endgültige\s)?antwort(?:\s(?:ist|lautet)(?:\s(?:daher|also|somit))?\s?:?|\s?:)\s?(?:(?:die\s)?option\b)?",
        "\nAnswer: ",
    ),
    (
        r"\brichtig\sist\s(?:daher\s|also\s|somit\s)?(?:die\s)?(?:antwort|option)?(?=\s?[*(]{0,3}[A-H]\b)",
        "\nAnswer: ",
    ),
    (r"\bantwort\s(?=[A-H]\b)", "option "),
    (
        r"\b(?:das\s)?(?:(?:end)?ergebnis|resultat)\s?(?:ist|lautet|beträgt)?\s?(?:daher|also|somit)?\s?:",
        "\nResult: ",
    ),
    (r"\b(?:fazit|schlussfolgerung)\s?:", "\nConclusion: "),
    (r"\b(?:die|diese)\s(?:aussage|behauptung)\b", "the statement"),
    (r"\b(?:trifft|stimmt)(?:\s(?:daher|also|somit|so))?\snicht(?:\szu)?\b", "is false"),
    (r"\btrifft(?:\s(?:daher|also|somit))?\szu\b|\bstimmt\b", "is true"),
    (r"\bnicht\s(?:richtig|wahr|korrekt|zutreffend)\b|\b(?:falsch|unwahr|unzutreffend)\b", "false"),
    (r"\b(?:richtig|wahr|korrekt|zutreffend)\b", "true"),
    (r"(?m)^(\W{0,6})ja\b(?=\W)", r"\1yes"),
    (r"(?m)^(\W{0,6})nein\b(?=\W)", r"\1no"),
    (
        r"\b(?:beträgt|beläuft\ssich\sauf|liegt\sbei|ergibt|kostet|macht(?:\szusammen)?(?:\salso)?)\b",
        "is",
    ),
    (r"\bich\sstimme\b[^.\n]{0,30}\bnicht\szu\b", "I disagree"),
    (r"\bich\sstimme\b[^.\n]{0,30}\bzu\b", "I agree"),
    (
        r"\bist\s(?:daher|also|somit|demnach|heute|damit)\b|\bist\b(?=\s(?:true|false|rund|etwa|ca))",
        "is",
    ),
    (r"\b(?:daher|somit|folglich|demnach)\b", "therefore"),
    (r"\b(?:rund|etwa|ungefähr|circa|ca\.)(?=\s)", "about"),
    # French
    (
        r"\b(?:la\s|ma\s)?(?:bonne\s)?réponse(?:\s(?:finale|correcte|exacte))?\s?(?:est|:)(?:\sdonc)?\s?:?\s?(?:(?:la|l['’]option|l['’]alternative)\b)?",
        "\nAnswer: ",
    ),
    (r"\b(?:le\s)?résultat(?:\sfinal)?\s?:", "\nResult: "),
    (
        r"\bl['’](?:affirmation|énoncé|assertion)\b|\bcette\s(?:affirmation|assertion)\b",
        "the statement",
    ),
    (r"\b(?:est\s(?:donc\s)?)?(?:faux|fausse|inexacte?)\b", "is false"),
    (r"\b(?:est\s(?:donc\s)?)?(?:vraie?|exacte)\b", "is true"),
    (r"\bje\sne\ssuis\s(?:donc\s)?pas\s(?:donc\s)?d['’]accord\b", "I disagree"),
    (r"\bje\ssuis\s(?:donc\s)?d['’]accord\b", "I agree"),
    (r"(?m)^(\W{0,6})oui\b(?=\W)", r"\1yes"),
    (r"(?m)^(\W{0,6})non\b(?=[,.;:!*])", r"\1no"),
    (
        r"\b(?:s['’]élève\s(?:donc\s)?à|vaut|est\s(?:donc\s)?(?:d['’])?environ|est\sdonc(?:\sde)?)\b",
        "is",
    ),
    (r"\b(?:environ|à\speu\sprès)\b", "about"),
    (r"\b(?:donc|ainsi|par\sconséquent)\b", "therefore"),
    # Spanish
    (
        r"\b(?:la\s|mi\s)?respuesta(?:\s(?:final|correcta))?\s?(?:es|:)\s?:?\s?(?:(?:la\s)?opción\b|la\b(?=\W))?",
        "\nAnswer: ",
    ),
    (r"\b(?:la\s)?opción\scorrecta\ses(?:\sla)?\b", "\nAnswer: "),
    (r"\b(?:el\s)?resultado(?:\sfinal)?\s?:", "\nResult: "),
    (r"\bconclusión\s?:", "\nConclusion: "),
    (
        r"\b(?:la|esta)\s(?:afirmación|declaración|proposición)\b|\b(?:el|este)\senunciado\b",
        "the statement",
    ),
    (r"\b(?:no\ses\s(?:verdader[oa]|ciert[oa]|correct[oa])|fals[oa]|incorrect[oa])\b", "false"),
    (r"\b(?:verdader[oa]|ciert[oa]|correct[oa])\b", "true"),
    (r"(?m)^(\W{0,6})sí\b(?=\W)", r"\1yes"),
    (
        r"\b(?:es(?=\s(?:por\s(?:lo\s)?tanto\s)?\W{0,3}(?:true|false))|asciende\sa|equivale\sa|es\sde|vale|es\saproximadamente)\b",
        "is",
    ),
    (r"\b(?:por\s(?:lo\s)?tanto|así\sque|en\sconsecuencia)\b", "therefore"),
    (r"\baproximadamente\b", "about"),
)
TRANSLATIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), english) for pattern, english in _TRANSLATED_WORDS
)
"""Patterns of other languages and their English; the order counts."""

# Only texts with such characters or words are translated.
FOREIGN = re.compile(
    r"[\u3040-\u30ff\u4e00-\u9fff]"
    r"|\b(?:antwort|ergebnis|aussage|behauptung|falsch|beträgt|nicht|der|ist|und"
    r"|réponse|affirmation|énoncé|faux|fausse|vraie?|donc|est|respuesta|opción|resultado"
    r"|afirmación|fals[oa]|verdader[oa]|por\s(?:lo\s)?tanto|asciende|correcta)\b",
    re.IGNORECASE,
)

_SLOT = (
    r"(?:\.{3}|…|xx?x?|_{2,5}|(?:(?:your|the|my|final|numeric(?:al)?|correct)\s){0,3}"
    r"(?:answer|number|value|result|letter|option|choice|verdict|true\s?(?:/|or|\|)\s?false))"
)
FOREIGN_LABEL = re.compile(
    r"\b(?:antwort|ergebnis|resultat|fazit|réponse|résultat|respuesta|resultado|conclusión)[^\w\n]{0,4}:",
    re.IGNORECASE,
)

PLACEHOLDER = re.compile(
    rf"""[\s*_:'"]{{0,6}}(?:[<\[({{]?\s?{_SLOT}\s?[>\])}}]?[\s*_'".!]{{0,6}}(?=\n|\Z|(?:and|format|or|with|where|in)\b)"""
    rf"""|[<\[{{]{_SLOT}[>\]}}]["'*]{{0,3}}[.!?)])""",
    re.IGNORECASE,
)
"""What the prompt shows in the place of an answer: `<answer>`, `[number]`, `...`."""

CORRECTION = re.compile(
    r"\b(?:wait|hold\son|hmm+|oops|scratch\sthat|on\s(?:second\sthought|reflection|checking)|sorry"
    r"|correction|corrected|edit|actually|i\s(?:made|was|got|take|need\sto|should\sfix)"
    r"|let\sme\s(?:re|double|check|correct|fix)\w*"
    r"|mistake|wrong|error|slip|missing|missed|forgot|overlooked|redo|recheck|recomput\w+|no[:,]|not\squite"
    r"|更正|等等|korrektur)(?![\w'])",
    re.IGNORECASE,
)
"""A word between two answers that shows that the second replaces the first."""

RETRACTION = re.compile(
    r"(?:\A|[.!?)\]*]\s{1,4}|\n)[\s*_>#(-]{0,6}(?:wait|hold\son|hmm+|oops|scratch\sthat|edit|correction"
    r"|on\ssecond\sthought|actually|sorry|no,\s)\b",
    re.IGNORECASE,
)
"""The start of a sentence that takes back what stands before it."""

REFUSAL = re.compile(
    r"\b(?:can(?:\s?not|['’]t)|unable|impossible|not\s(?:possible|provided|enough|given|able)|insufficient"
    r"|undetermined|need\smore)\b",
    re.IGNORECASE,
)

CONCLUSION = re.compile(
    r"(?:\A|[.!?*:]\s|\n)[\s*_#>-]{0,6}(?:therefore|thus|hence|so|consequently|overall|as\sa\sresult"
    r"|in\s(?:conclusion|summary|short)|to\s(?:conclude|summarize)|conclusion)\b[*_:]{0,4},?",
    re.IGNORECASE,
)
"""The start of a sentence that concludes."""

CLOSER = re.compile(
    r"[\s*_]{0,6}(?:\((?:\S{1,40}\s{1,3}){3}.{0,400}\)[\s*_.]{0,4}\Z|\W{0,4}(?:would\syou\slike|let\sme\sknow|tell\sme\sif|i\shope\sthis|hope\s"
    r"|for\scomparison|by\s(?:comparison|the\sway)|for\sreference|incidentally|(?:sanity\s|quick\s|cross-?)check\b"
    r"|note\b|caveat|p\.?s\.?\b|à\stitre\sde\scomparaison|zum\svergleich|feel\sfree|happy\sto|if\syou(?:['’]d|\swould)?\s(?:like|want|need)|do\syou\swant|shall\si)\b)",
    re.IGNORECASE,
)
"""A last line that is an aside, a comparison or an offer to go on."""

NEW_TURN = re.compile(
    r"\n[\s*#_>]{0,6}(?:question|statement|problem|exercise|q|user|human)\s?\d{0,3}[*_]{0,2}\s?:",
    re.IGNORECASE,
)
"""The next exercise, which base models make up behind their answer."""
