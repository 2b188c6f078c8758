"""How a text calls a statement true or false.

- `SHORT_FORMS`: signs that are a verdict where a text begins with them.
- `TERM`: a verdict word with its negations, `not incorrect`.
- `FRAMES`: sentences that judge the statement, `the statement is false`.
- `IDIOMS`: wordings without a verdict word, put into verdict words.
- The last patterns mark sentences that do not judge, or not as a whole.
"""

from fin_tasks.answers.phrases.table import compiled, rewritings, table

STATEMENT = r"(?:statement|claim|assertion|proposition|sentence|this\sone)"
_TRUE = r"(?:true|correct|accurate|valid)"
_FALSE = r"(?:false|incorrect|wrong|inaccurate|invalid|untrue)"
_ANY_VERDICT = r"\b(?:true|false|(?:in)?correct|right|wrong|yes|no|(?:dis)?agree)\b"
_BECAUSE = r"(?:because|since|as)\b"
# `no`, `yes` and `right` are verdicts only where nothing depends on them, as in `no effect`.
_ALONE = rf"(?! -\w ) (?= [^\w.,;:!?-]{{0,9}} (?: [.,;:!?-] | \Z | {_BECAUSE} ) )"
_VERDICT = rf"""
    (?P<verdict>
        (?P<true> {_TRUE} | (?:yes|right) {_ALONE} )
      | {_FALSE} | no {_ALONE}
    )
    (?! \w | 's )
"""
_FILLER = rf"""
    (?: {STATEMENT} | be | been | being | is | considered | regarded | seen | called | deemed | said
      | say | as | to | entirely | always | necessarily | fully | quite | completely | strictly
      | exactly | generally | really | an? | the | in | fact | all | case | that | this | it | for
      | above | given | very | therefore | thus | hence | simply | just | definitely | literally
      | absolutely | technically | clearly )
"""
_NOT = r"""
    (?: \b (?: not | never | cannot | hardly | neither | nor | far\sfrom | fails | unlikely
             | rather\sthan | instead\sof )
      | \b \w{0,6} n't )
"""
_NEGATION = rf"(?P<negation> {_NOT} (?: \s {_FILLER} ){{0,9}} \s ['\"(\[]{{0,2}} )?"
# `"true" is not the correct answer` denies the word before it.
_DENIAL = r"""
    (?P<denial>
        ['"]? \s (?:is|was|can) \s? (?:n't|not) \s (?:be\s)? (?:the\s|a\s)? (?:correct|right|true) \b
    )?
"""
_JUDGMENT = rf"{_NEGATION} (?<! [\w-] ) {_VERDICT} {_DENIAL}"
TERM = compiled(_JUDGMENT)
"""A verdict word; group `true` tells which, `negation` and `denial` turn it."""

# A short form ends the line, or a reason follows.
_SHORT_END = rf"""
    (?= [\W_]{{0,9}} (?: \Z | \n )
      | [\s)\]'"*]{{0,9}} [.,;:(-] (?! \d )
      | \s{{1,3}} {_BECAUSE} )
"""
SHORT_FORMS = table(
    {
        "check mark": r"\s{0,3} (?: (?P<true> [✅✓✔] ) | [❌✗✘✖] ) \ufe0f? [\s.!]{0,5} (?: \n | \Z )",
        "digit": rf"[^\w.-]{{0,9}} (?: (?P<true>1) | 0 ) (?: \.0{{1,3}} )? (?! [\d%] ) {_SHORT_END}",
        "letter": rf"[\W_]{{0,9}} (?-i: (?P<true>T) | F ) (?! '?\w | - ) {_SHORT_END}",
    }
)
"""Signs with which a text begins; group `true` tells which verdict."""

LEAD = compiled(
    rf"""
    (?: [\W_] | \b {_FILLER} \b ){{0,40}}
    """
)
"""What may stand between the start of a sentence and its verdict: `definitely`."""

_END = rf"""
    (?: [\W_]{{0,9}} \Z
      | ["')*\]]{{0,4}} (?: [.,;:!(] | \s- )
      | \s (?: {_BECAUSE} | (?:for|with|and|so|when|in\s(?:that|this)) \b ) )
"""
OPENING = compiled(
    rf"""
    [\W_]{{0,9}} (?:not\s)?
    (?: true | false | (?:in)?correct | yes | no | wrong | right ) {_END}
    """
)
"""A line that begins with a verdict: `False, because rates fall`."""

FRAMES = table(
    {
        "this is": rf"""
            \A (?: \W{{0,4}} \b
                (?:so|therefore|thus|hence|this|it|that|i|we|do|does|is|all|in|clearly|yes) \b
            ){{1,9}} \W{{1,4}} {_JUDGMENT} {_END}
        """,
        "I would say": rf"""
            \b (?: i \s? ['’]? (?:d|ll)? | we | one ) \s
            (?: (?:would|will|have\sto|must|can|still|therefore|only|also) \s ){{0,3}}
            (?:say|go|lean|mark|judge|answer|conclude|call|vote|pick|choose|rate|label|consider|deem)
            \b
            (?: \s (?: with | for | towards? | that | it | this | is | as | the | statement | to | be
                     | an? | marking ) ){{0,6}}
            \s{{0,2}} ['"*]{{0,3}} {_JUDGMENT} {_END}
        """,
        "the statement is": rf"\b {STATEMENT} \b [^.\n]{{0,80}}? {_JUDGMENT} {_END}",
    }
)
"""Sentences that judge the statement."""

_WE = r"(?: \b (?:i|we) (?:'d|'ll)? (?: \s [\w']{1,12} ){0,3}? \s )"
_DESCRIPTION = rf"(?: {STATEMENT} | description | definition )"
_IT = rf"(?: {STATEMENT} | it | this )"
_START = r"\A (\W{0,6})"
IDIOMS = rewritings(
    {
        "I disagree": (rf"( \A\W{{0,6}} | {_WE} ) disagree \b", r"\1say false"),
        "I agree": (rf"( \A\W{{0,6}} | {_WE} ) agree \b", r"\1say true"),
        "nothing wrong with it": (
            r"\b nothing \s (?:false|wrong|incorrect) \s (?:about|with|in) \b",
            "the statement is true,",
        ),
        "the opposite": (
            rf"{_START} (?:quite|just|exactly)? \s?"
            r" the \s (?:reverse|opposite) \b",
            r"\1false",
        ),
        "the claim holds": (
            rf"\b ( {_IT} (?: \s [\w']{{1,20}} ){{0,5}}? \s )"
            r" (?: holds? (?: \s (?:true|up|water) )? | stands?\sup ) \b",
            r"\1true",
        ),
        "the wrong way round": (
            rf"\b ( {_IT} \b [^.;:\n]{{0,40}}? \b )"
            r" (?: backwards | the\swrong\sway\sa?round ) \b",
            r"\1false",
        ),
        "the statement correctly says": (
            rf"\b ( {_DESCRIPTION} \s ) (?:accurately|correctly|rightly) \s \w{{1,20}}",
            r"\1is true:",
        ),
        "the statement misstates": (
            rf"\b ( {_DESCRIPTION} \s ) (?:incorrectly|wrongly|inaccurately|mis\w{{1,20}}) \s",
            r"\1is false: ",
        ),
        "accept the statement": (
            rf"\b (?:go\salong\swith|accept|endorse|side\swith|support) \s the \s {STATEMENT} \b",
            "say true",
        ),
        "reject the statement": (
            rf"\b (?:reject|dispute|refute|deny) \s the \s {STATEMENT} \b",
            "say false",
        ),
        "not quite": (
            rf"{_START} not \s (?:quite|exactly|really|so) (?= \s? [.,!;:-] )",
            r"\1false",
        ),
        "nope": (rf"{_START} (?:nope|nah) \b", r"\1no"),
        "yep": (rf"{_START} (?:yep|yup|yeah|agreed) \b", r"\1yes"),
        "true statement": (
            r"\A ( \W{0,8} (?: true | false | (?:in)?correct | wrong ) ) \s statement \b",
            r"\1",
        ),
        # `not true that it is false` denies once.
        "not true that": (
            rf"""\b not \s (?:true|correct)
            (?= \s that \s (?: (?: the | is | {_IT} ) \s ){{1,4}} {_ANY_VERDICT} )""",
            "not",
        ),
    }
)
"""Wordings without a verdict word. They are rewritten so that negations before them still count."""

IGNORED = compiled(
    rf"""
    {_ANY_VERDICT} \s{{0,2}} (?:or|/|nor) \s{{0,2}} {_ANY_VERDICT}   # true or false
  | \b (?:whether|if) \b [^.;:\n]{{0,60}}? {_ANY_VERDICT}            # whether it is true
  | \A \W{{0,6}} (?:although|though|while|whereas|even\sif) \b [^,.]{{1,150}} ,
  | (?<! not\sthe\s ) \b (?:correct|right|wrong|true|valid) \s       # the right value
    (?:answer|choice|option|term|formula|value|way|to|side) \b
    """
)
"""Echoes of the question, concessions, and verdict words that describe something else."""

UNCLEAR = compiled(
    r"""
    \b (?: part(?:ly|ially) | both | half | sometimes ) [\s-] (?:true|correct|right) \b
  | \b (?:but|though) \s not \s (?:for|in|under|when) \b
    """
)
"""A sentence that calls the statement true in part only."""

HYPOTHETICAL = compiled(
    r"""
    \b (?: if | whether | unless | suppose | assuming
         | (?:would|could|might|may|can|must) \s be
         | were\sto | had\sbeen | reading | interpret\w{0,5} | argu\w{1,5} | purist | instinct
         | tempt\w{0,4} | at\sfirst | seems? | appears? | looks? | you\smight | one\smight
         | question\sis | need\sto | let(?:'s|\sus|\sme) | we\smust | depend\w{0,4}
         | (?:first|second|other|one) \s (?:half|part|piece|clause) | part\sof
         | in\s(?:that|this)\scase ) \b
    """
)
"""A sentence that weighs a reading, a condition or somebody's opinion, and does not conclude."""

REASON = compiled(
    r"[;:] | \s-\s | \s (?:because|since|as|given|although|whereas|while|when|if|unless) \b"
)
"""The start of a reason behind a verdict; its words are not read."""

CORRECTION = compiled(
    rf"\b (?: no | wait | actually | rather | sorry | {STATEMENT} | answer | overall | therefore | so ) \b"
)
"""A word between two verdicts that shows that the second replaces the first."""

EXPLANATION = compiled(r"['\"]? \s? [,(] (?! \s? (?:no|yes|not|or|wait|sorry|actually) \b )")
"""What follows a verdict that a sentence opens with, if it only explains it: `False, it is`."""
