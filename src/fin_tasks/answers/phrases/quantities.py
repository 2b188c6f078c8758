"""How a text states a number as its result.

- `RESULT_VERBS`, `OTHER_VERBS`: verbs before a result, `comes to`.
- `DATE`, `NOISE`, `ADJUNCT`, `ASIDE`: numbers that are no result.
- `LEAD`, `NAME`, `UNITS`: what may stand around a number at the start of a text or line.
- The last patterns mark lists, expressions and sentences without a single result.
"""

from collections.abc import Mapping

from fin_tasks.answers.notation import CURRENCY
from fin_tasks.answers.phrases.table import Table, compiled, table

_MONTH = r"""
    (?: jan(?:uary)? | feb(?:ruary)? | mar(?:ch)? | apr(?:il)? | may | june? | july? | aug(?:ust)?
      | sept?(?:ember)? | oct(?:ober)? | nov(?:ember)? | dec(?:ember)? )
"""
_DAY = r"\d{1,2} (?: st | nd | rd | th )?"
_YEAR = r"(?:19|20)\d\d (?! [\d%] | [.,]\d | \s?[x*/=] )"
_TIME = r"(?: years? | months? | weeks? | days? | quarters? | periods? | hours? | minutes? ) \b"
_AMOUNT = rf"{CURRENCY}? \s? \d [\d.,]{{0,40}}"

DATE = compiled(
    rf"""
    \b {_MONTH} \.? \s {_DAY} (?: ,?\s {_YEAR} )? (?! \d )
  | \b (?: {_DAY} \s )? {_MONTH} \.? ,? \s {_YEAR}
  | \b step\s\d{{1,2}} \b
    """
)
"""Dates, and numbers of steps."""

NOISE = compiled(
    rf"""
    # ± 5; per 100; 7 out of 10; not 5
    (?: ± | \+/- | \bper\s | out\sof\s | \brather\sthan\s | \binstead\sof\s | \bnot\s )
    \s? {_AMOUNT} %?
    # two decimal places
  | \b \d{{1,2}} [\s-]? (?: decimal | significant ) \w{{0,3}}
    # at r = 5%
  | \b (?: at | for | in | when | where | if | with | given ) \s (?: [^\W\d]{{1,12}} \s ){{0,3}}
    \w{{1,12}} \s? = \s? [-+{CURRENCY}\d.,%]{{1,20}}
    # in 2024
  | \b (?: in | for | of | by | during | since | year | fy | the | and | to | from | until | fiscal )
    \s {_YEAR}
    # S&P 500
  | \b (?: S&P | Russell ) \s \d{{3,4}} \b
    # year 3
  | \b (?: tier | level | year | month | quarter | option | table | bond | stock | project )
    \s \d{{1,2}} \b (?! [\d%.] | \s?[-+*/x=^] )
    # 95% confidence
  | \b \d\d (?: \.\d{{1,3}} )? \s? (?: % | percent ) \s
    (?: confiden\w{{1,4}} | level | value[\s-]at[\s-]risk | var\b | certain\w{{0,4}} | sure | interval )
    """
)
"""Numbers that are no result if the text has another number."""

ADJUNCT = compiled(
    rf"""
    (?: \b (?: at | (?<! left\s ) (?<! up\s ) with | over | after | in | within | during | under | than
             | above | below | exceeds | given | assuming | using | against | from | versus | vs\.?
             | compared\s(?:to|with) ) \s
      | [<>≤≥]\s? )
    (?: (?: an? | the | its | about | next | first ) \s (?: (?: \w{{1,12}}\s ){{1,3}} of\s )? ){{0,3}}
    {CURRENCY}? \d [\d,.]{{0,20}} \s? (?: % | {_TIME} )?
    (?! [-+*/x=^\d] )
    """
)
"""Conditions of a result, with their numbers: `at 10%`, `after 5 years`, `> 0`."""

ASIDE = compiled(
    r"""
    \( (?! \s? (?: in\b | % | per\s?cent | hundred | thousand | \w{1,2}illion ) )
    [^()]{0,120} [a-z]{3} [^()]{0,120} \)
    """
)
"""Words in brackets, `(against 87.5 at present)`, but no unit: `(in millions)`."""

_RESULT_VERBS = {
    "is": r"is | are | was | were | be | equals? | i\.?e\.? ,?",
    "gives": r"g[ia]ves? | yield(?:s|ed)? | leav(?:es|ing) | puts?\s\w{1,12}\s(?:at|near)",
    "comes to": r"""
        c[oa]mes?\s(?:out\s)?(?:to|at) | amount(?:s|ed)?\sto | work(?:s|ed)?\sout\s(?:to|at|as)
      | turns?\sout\sto\sbe | adds?\sup\sto | total(?:s|ed)? | stands?\sat
    """,
}
_OTHER_VERBS = {
    "becomes": r"""
        makes? | becomes? | costs? | reaches | ends?\sup\swith | left\swith | exceeds? | holds?
    """,
    "rises to": r"""
        (?: falls? | rises? ) \s (?:by|to) | grows? | grew | drops? | dropped | increases? | increased
      | decreases? | decreased
    """,
    "has": r"ha(?:s|ve|d) | implies | means | find | obtain | arrive",
    "needs": r"will | should | would | must | can | needs? | requires? | required",
    "pays": r"""
        takes? | took | pa(?:ys?|id) | sells? | sold | buys? | bought | receives? | received | earns?
      | earned | saves? | saved | gains? | gained | loses? | lost | owes? | charges? | spends? | spent
      | gets?
    """,
}
_ABOUT = r"""
    (?: about | approximately | approx | around | roughly | nearly | almost | exactly | now | only
      | just | some | equal\sto | an? | the | close\sto | worth | say )
"""
_BEFORE_RESULT = rf"""
    \W{{0,4}} (?: \b {_ABOUT} \b \s? ){{0,3}} (?: (?:loss|gain|profit) \s of \s )? \s{{0,3}} \Z
"""


def _verbs_before_result(verbs: Mapping[str, str]) -> Table:
    return table(
        {name: rf"\b (?: {source} ) (?=\W) {_BEFORE_RESULT}" for name, source in verbs.items()}
    )


RESULT_VERBS: Table = {
    **_verbs_before_result(_RESULT_VERBS),
    "equals sign": compiled(rf"[=≈:] {_BEFORE_RESULT}"),
}
"""Words that end where a result begins: `comes to about`."""

OTHER_VERBS = _verbs_before_result(_OTHER_VERBS)
"""Words that end where a number begins that is a result if no other verb states one."""

_ANY_VERB = " | ".join([*_RESULT_VERBS.values(), *_OTHER_VERBS.values()])
VERB = compiled(rf"[=≈:] | \b (?: {_ANY_VERB} ) (?! \w ) | \Aso\b | \Atherefore\b")
"""A sentence with such a word can state a result; one without it only mentions a number."""
VERB_BEFORE_NUMBER = compiled(rf"\b (?: {_ANY_VERB} ) (?=\W) {_BEFORE_RESULT}")

IS = compiled(r"\s (?: is | are | was | were | be | equals? ) \s")
CONCLUDES = compiled(r"\b (?: so | thus | therefore | hence ) \b")

LEAD = compiled(
    rf"""
    (?: [^\w(\[.+-]
      | \b (?: {_ABOUT} | is | are | was | were | be | equals? | that | it | to | sell | buy | short
             | final | answer | (?:net\s)?loss\sof ) \b \.? ){{0,30}}
    """
)
"""What may stand before a number at the start of a text."""

NAME = compiled(r"[^=≈:|\n]{2,80} : \s{0,3}")
"""The name before a value: `Total return: `."""

UNITS = compiled(
    rf"""
    (?: [\W_]
      | \b (?: dollars? | euros? | per | shares? | annum | a | units? | contracts? | times | points?
             | each | p\.?a | today | now | wert | par | an | jahr | year | usd ) \b
      | {_TIME}
      | [次个年天倍份张手点股円元日] ){{0,30}}
    """
)
"""What may stand behind a number that is a whole line."""

BRACKETS = compiled(
    r"""
    \[ (?= [^\[\]]{0,400} \w )
    (?: [^\[\]]{0,400} \] \s? [=≈] \s? \[ ){0,3}
    (?P<content> [^\[\]]{0,400} ) (?: \] | \Z )
    """
)
"""The first square brackets, then any that `=` joins to them: `[40 x 1.1] = [44]`."""

UNIT_BEHIND_BRACKETS = compiled(
    rf"""
    \] \s?
    ( % | (?: per\s?cent | bps | basis\spoints?
            | \(? (?:in\s)? {CURRENCY}? \s? (?: hundred | thousand | \w{{1,2}}illion ) s? ) \b \)? )
    """
)

JOINED = compiled(
    rf"""
    \s{{0,9}}
    (?: [-+x*/^=≈] | [,;]\s{{0,9}} (?= {CURRENCY}?\d )
      | (?: [a-z]{{1,12}}\s )? (?: to | or | and | through ) \s
      | {_TIME} ,?\s (?=\d) | of\b )
    \s{{0,9}} {CURRENCY}?
    """
)
"""What follows a number if a sum, a list or a range goes on."""

OPERATOR = compiled(rf"\s{{0,9}} [x*/^+] \s{{0,9}} [(\d{CURRENCY}]")
IN_OTHER_WORDS = compiled(
    r"\s? ,? \s? (?: \( | (?: or | = | ≈ | i\.?e\.?,? ) \s ) (?: (?: about | roughly ) \s )?"
)
"""Between two numbers that are one value in two units: `0.0766, or 7.66%`, `0.0766 (7.66%)`."""

MORE_BRACKETS = compiled(r"\s? (?: or | and | to | , | - ) \s? \[")
CONDITION_WITH_NUMBER = compiled(r",? \s (?: if | when | under | assuming ) \b .* \d")

EXPRESSION = compiled(
    r"""
    (?<! 10 ) (?<! 10\s ) \^ | [√π] | \b (?: ln | log | exp | sqrt ) \b
  | \d! | \d\(\s?[\d.] | \d x (?! 10\s?\^ ) [\da-f]
    """
)
"""An expression without a result: √2, ln(2), 5!, 2(3), 0x10, (1.05)^5, e^2, 2π."""

UNSOLVED = compiled(r"\d \s? [a-z] \s? =")
"""An equation to solve: `25p = 10`."""

CUT_OFF = compiled(
    r"""
    (?: \d,\d{0,2} | \d\s?/\s?\d[\d.,]{0,20} | [-+*/=(^,:x≈\[] | \([^()\n]{1,60} | \[[^\[\]\n]{1,60} ) \Z
    """
)
"""The end of a line that stops in the middle of an expression."""

OPENER = compiled(
    r"""
    \W{0,9}
    (?: for\s(?:instance|example) | e\.g\. | return | print | calculate | compute | find | use | let
      | given | assum(?:e|ing) | suppose | where | if | when | note ) \b
    """
)
"""The start of a sentence that states no result."""

CLAUSE_END = compiled(
    r"""
    ,? \s (?: given | assuming | based | which | meaning | where | because | since | while | rounded
            | compared | after | under | when | if ) \b
  | [,;] \s (?: and | or | but | with | as | so ) \b
    """
)
LAST_PART_START = compiled(
    r"""
    [;]\s | ,?\s (?= i\.e\. )
  | ,\s (?= (?: so | hence | thus | therefore | which | and\sso | or\sabout | leaving
              | a\s(?:net\s)?(?:gain|profit|loss) ) \b )
    """
)
"""Before the last part of a sentence, which states its result: `..., so it is 5`."""

LOSS = compiled(
    r"\b (?: loss(?:es)? | deficit | shortfall | outflow ) \s? (?: of | is | : )? [\W_]{0,4} \Z"
)
"""Words before an amount that make it negative."""

LABEL_LINES = compiled(r"(?: \s{0,9} [^\n|]{1,400} : [ \t*_]{0,8} \n \s{0,9} ){1,3}")
"""Lines that end with a colon, before the value."""
ITEM = compiled(r"[-*•|]\s | \d{1,2}[.)]\s | \|")
"""The start of a list or a table, which has no single answer."""
MARKUP = compiled(
    r"""
    (?m: ^ [ \t]{0,9} ``` [^\n]{0,200} $ )
  | \\(?:begin|end)\{[a-z]{1,20}\*?\} | \\\\ \s{0,4} &? \s{0,4} (?= = ) | \$\$ | \\\[ | \\\]
    """
)
"""Fences of code, and the frames of LaTeX's equations."""
