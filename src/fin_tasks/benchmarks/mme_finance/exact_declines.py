"""Whether a short answer in English or Chinese says that the picture does not tell, and leaves it there."""

import re
import unicodedata

from fin_tasks.answers.notation import boxed
from fin_tasks.answers.reasoning import strip_reasoning

__all__ = ["declines"]

_VERB = (
    r"(?:show\w*|provid\w+|give[ns]?|available|visible|present(?:ed|s)?|includ\w+|contain\w*|display\w*|mention\w*|stat(?:e|ed|es)"
    r"|list\w*|disclos\w+|report(?:ed|s)?|specif\w+|nam(?:e|ed|es)|indicat\w+|says?|tell\w*|reveal\w*|cover\w*|discuss\w*"
    r"|identif\w+|known|found|print\w*|depict\w*|refer\w*|record\w*|address\w*|offer\w*|publish\w*|announc\w+)\b"
)
_BE = r"(?:is|are|was|were|does|do|did|has|have)"
_PICTURE = (
    r"(?:image|picture|chart|table|graph|figure|page|report|document|note|text|panel|legend|header|screenshot"
    r"|photo\w*|data)"
)
_DECLINED = re.compile(
    r"\bnot\s(?:applicable|answerable|enough\s(?:\w+\s)?(?:information|data))\b|\bn/a\b|\bunanswerable\b"
    r"|\b(?:cannot|can['’]?t|can\snot|could\snot|couldn['’]t|unable\sto|not\spossible\sto|impossible\sto|no\sway\sto)\s"
    r"(?:\w+\s){0,2}?(?:be\s)?(?:\w+ly\s)?(?:answer|determin|tell|infer|say|find|found|identif|provid|read|see|giv|know|work|deriv|comput|calculat)\w*"
    rf"|\b{_BE}(?:\snot|n['’]t)\s(?:\w+\s){{0,3}}?{_VERB}"
    rf"|(?:\A|(?<=[.;:\n])\s?)\W{{0,4}}not\s(?:\w+ly\s)?{_VERB}"
    rf"|\bthere\s(?:is|are|was|were)\sno\s(?:[\w'’-]+\s){{1,5}}?{_VERB}"
    rf"|\bno\s(?:[\w'’-]+\s){{1,6}}?(?:is|are|was|were|has\sbeen|have\sbeen|can\sbe|could\sbe)\s(?:\w+\s)?{_VERB}"
    rf"|\b{_PICTURE}\s(?:itself\s)?(?:has|have|contains?|shows?|gives?|lists?|provides?|includes?|mentions?|offers?|reports?|names?|makes?)\sno\b"
    r"|\b(?:no|insufficient)\s(?:\w+\s){0,2}?(?:information|data|mention|indication|details?)\b"
    rf"|\bnone\sof\s(?:\w+\s){{1,3}}(?:\w+\s)?(?:relate|{_VERB})"
    r"|\A\W*unknown\b|\b(?:is|are|remains?)\sunknown\b"
    r"|无(?:法|从)\s?(?:回答|作答|解答|确定|判断|得知|得出|获取|获知|获得|计算|从|根据|看出|看到|提供|知晓|知道|推断|识别|找到|直接)"
    r"|不能(?:确定|判断|回答|得出|看出|得知)|(?:看|找|查|读)不(?:到|出)|不(?:包含|涉及|显示)"
    r"|(?:没有|并未|并没有|尚未|未|没)有?(?:给出|提供|显示|提及|提到|包含|包括|标注|标明|展示|列出|列示|披露|出现|说明|相关|涉及|透露|公布"
    r"|注明|体现|反映|指明|写明|记载|明确|数据|信息)|没有(?:关于|有关|任何)?[^,。;!?\n]{0,16}?(?:信息|数据|内容|记录|说明|预测|一项|项目)"
    r"|无(?:相关|有关|任何|此项?|该|对应)(?:的)?(?:信息|数据|内容|记录|说明|项目)|不适用|(?:信息|数据)不足|不得而知|未知|不详",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?<!\d)[,:]|[,:](?!\d)|[;。!?(\n]|\.(?=[\s)\"'*]|\Z)|\s[-–—]{1,2}\s|—")
_WHOLE = re.compile(r"[;。!?(\n.]")
_ABOUT_PICTURE = re.compile(
    rf"\W*(?:(?:but|however|because|since|as|and|so|instead)\W+)*(?:(?:the|this|these|that|it)\s(?:[\w'’-]+\s){{0,3}}?)?"
    rf"(?:{_PICTURE}s?\s(?:[\w'’-]+\s){{0,4}}?(?:only\s)?(?:shows?|lists?|covers?|contains?|displays?|gives?|prints?|provides?|includes?"
    rf"|focus\w*|compares?|presents?|runs?|ends?|starts?|describes?|reports?|names?|mentions?|(?:is|are)\s(?:a|an|about|for|of|from|limited)\b)"
    r"|only\s(?:shows?|lists?|covers?|contains?|gives?|includes?|names?|mentions?))"
    r"|\W*(?:the\sonly\b|only\b)"
    r"|\W*(?:但是?|不过|只是|因为|由于)?(?:该|这|此|本|上|所)?(?:张|份|个)?(?:图|表|报告|页面|文件|页|图片|图表|表格)[^,。;]{0,6}?(?:仅|只|显示|列出|列示|展示|包含|给出|提供|是一)"
    r"|\W*(?:但是?|不过)?(?:仅|只)",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"\W*(?:look|bas|accord|after|upon|judg|go|from|in|on|for|within|i\b|i['’]m|we\b|sorry|unfortunately|the\s(?:question|answer|requested)\b|answer|to\s"
    r"|as\s|while|although|though|even\sthough|because|since|given|根据|从|依据|基于|抱歉|很抱歉|对不起|虽然|尽管|由于|因为|问题|答案|对于|关于|经|仔细|答)",
    re.IGNORECASE,
)
_CONCEDED = re.compile(r"\W*(?:while|although|though|even\sthough|虽然|尽管)", re.IGNORECASE)
_SAYS = re.compile(
    r"\b(?<!there\s)(?:is|are|was|were|equals?|amounts?|pays?|paid|has|had|had\sbeen|expects?|expected|reached|totals?|stands?|charged?|founded|=)\s"
    r"|=|是|为|等于|达|约|有|[\u4e00-\u9fff]\s?\d",
    re.IGNORECASE,
)
_GUESS = re.compile(
    r"\b(?:likely|probably|possibly|perhaps|presumably|maybe|estimate[sd]?|guess|if\swe\sassume|assuming|would\sbe|could\sbe|might\sbe"
    r"|approximately|roughly|should\sbe)\b|大概|可能(?:是|为)|估计|应该?(?:是|为)|推测|或许|大约|如果假设|推算",
    re.IGNORECASE,
)
_YET = re.compile(r"\b(?:but|however|although|though|still|nevertheless|yet)\b|但是?|不过|然而", re.IGNORECASE)
_ANSWER = re.compile(
    r"(?:\b(?:it|this|they|answer)\s(?:is|are|was|were)\b|\banswer\W*:|答案(?:是|为|\W*:)|\A\W*(?:是|为))",
    re.IGNORECASE,
)
_INTRODUCED = re.compile(
    r"(?:(?:the|my|final|correct|so|therefore)\W+)*(?:answer|答案)\W*(?:(?:is|would\sbe|是|为)\W*)?\Z", re.IGNORECASE
)
_BRACKETED = re.compile(r"\([^()]*\)")
_YEAR = re.compile(r"\b(?:FY|Q)?(?:19|20)\d{2}\b", re.IGNORECASE)
_BARE = re.compile(r"[\W_]*\d[\d.,]*\s?(?:%|[A-Za-z]{1,8}|[\u4e00-\u9fff]{1,4})?[\W_]*")


def declines(response: str) -> bool:
    """Whether a response says that the picture does not tell, and neither answered before nor does so after it.

    What the picture tells instead (`it only lists revenue of 5.2`) is no answer.

    Example:
        >>> declines("Not Applicable"), declines("图中没有给出员工人数。"), declines("It is not shown, but about 500.")
        (True, True, False)
        >>> declines("The CEO is Ann Poe; her age is not given.")
        False
    """
    text = unicodedata.normalize("NFKC", strip_reasoning(response)).replace("**", "")
    if (box := boxed(text)) is not None and _DECLINED.search(box) is None:
        return False
    found = _DECLINED.search(text)
    if found is None:
        return False
    before, after = text[: found.start()], text[found.end() :]
    return not _answered_before(before) and not _answers_after(after)


def _answered_before(before: str) -> bool:
    clauses = _clauses(_BRACKETED.sub(" ", _INTRODUCED.sub("", before)))
    is_listing = False
    for place, (clause, is_whole) in enumerate(clauses):
        is_own = place == len(clauses) - 1 and not is_whole  # the beginning of the clause that declines
        if _ABOUT_PICTURE.match(clause) or (_CONCEDED.match(clause) and not is_own):
            is_listing = not is_whole
            continue
        is_opening = is_own or is_listing or _OPENING.match(clause) is not None
        if _asserts(clause) or (not is_opening and (is_whole or re.search(r"\d", clause) is not None)):
            return True
        is_listing = is_listing and not is_whole
    return False


def _answers_after(after: str) -> bool:
    if _GUESS.search(after):
        return True
    is_yet, is_cut = False, _CLAUSE.match(after.lstrip(" )\"'")) is not None
    for place, (clause, _) in enumerate(_clauses(after.replace("(", " "))):
        is_yet = is_yet or _YET.search(clause) is not None
        if (place or is_cut) and _BARE.fullmatch(clause):
            return True
        if _DECLINED.search(clause) or _ABOUT_PICTURE.match(_YET.sub("", clause)):
            is_yet = is_yet and not _ABOUT_PICTURE.match(_YET.sub("", clause))
            continue
        if (is_yet and re.search(r"\d", clause)) or ((place or is_cut) and _ANSWER.search(clause)):
            return True
    return False


def _asserts(clause: str) -> bool:
    return _SAYS.search(f"{clause} ") is not None or (
        _BARE.fullmatch(clause) is not None and _YEAR.search(clause) is None
    )


def _clauses(text: str) -> list[tuple[str, bool]]:
    """The clauses of a text, and whether a full stop or the like ends each."""
    found, start = [], 0
    for cut in [*_CLAUSE.finditer(text), None]:
        clause = text[start : cut.start() if cut else len(text)]
        if any(map(str.isalnum, clause)):
            found.append((clause.strip(), cut is not None and _WHOLE.match(cut[0]) is not None))
        start = cut.end() if cut else start
    return found
