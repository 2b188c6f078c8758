"""How a text names one of several choices.

- `ONLY_LETTER`, `FIRST_LETTER`: a text that is a letter, or begins with one.
- `FRAMES`: sentences that choose, `the correct option is C`.
- `PLACE`: a choice by its place, `the second option`.
- `REJECTED`: letters that a sentence rules out, `neither A nor B`.
- The last patterns mark sentences that weigh several choices.
"""

from fin_tasks.answers.phrases.table import compiled, table

_NAME = r"(?: option | choice | answer | letter | alternative )"
_LETTER = r"(?-i: (?P<letter> [A-H] ) )"
_BEFORE = r"(?<! [\w'] )"
_OPEN = r"[(\[\"'*:]{0,3}"
_CLOSE = r"[)\]\"'*]{0,3}"
# `C`, `(C)`, `the option C`
_CHOICE = (
    rf"(?: (?:the\s)? {_NAME} \s{{0,2}} :? \s{{0,2}} )? {_OPEN} {_LETTER} (?! [\w'-] ) {_CLOSE}"
)

_LEAD = rf"""
    [\W_]{{0,20}}
    (?: (?: that | the | correct | best | right | is | it | would | be | must | should | therefore
          | clearly | go\swith | pick | choose | i'?d | i | say | definitely | {_NAME} )
        [\W_]{{1,4}} ){{0,6}}
"""
# `A rise in rates` begins with an article.
_NO_ARTICLE = r"""
    A (?! [ \t]{1,3} (?! (?: is | because | as | since | and | or | but | with | for | it ) \b )
          (?i: [a-z$¤\d] ) )
"""
ONLY_LETTER = compiled(rf"{_LEAD} (?P<letter> [A-H] ) [\W_]{{0,20}} \Z")
"""A text that is a letter, perhaps behind words such as `the correct option is`."""

FIRST_LETTER = compiled(
    rf"""
    {_LEAD} (?<! [\w&.-] ) (?<! \w' ) (?P<letter> (?-i: [B-H] | {_NO_ARTICLE} ) )
    (?! [\w&] | '\w | -[a-z] )
    """
)
"""A text that begins with a letter, perhaps behind words such as `the correct option is`."""

JOINED = compiled(
    r"""
    [\s)\]"'*.]{0,9} (?: , | / | & | \band\b | \bor\b ) \W{0,4}
    (?: (?: possibly | maybe | option | also ) \s )? [(\[]? (?-i: [A-H] ) (?! '?\w )
    """
)
"""What follows a letter that is one of several: `A or B`."""

LISTED = compiled(
    rf"""
    \W{{0,8}} (?: {_NAME} \s{{1,2}} )? \W{{0,3}} (?-i: [A-H] )
    (?: \W{{0,4}} [).:] \W{{0,3}} \s | \W{{0,4}} \s? [-:]{{1,2}} \s | \W{{0,9}} $ )
    """
)
"""A line that begins with a letter as a list of choices does: `B. the rate rises`, `B - the rate`."""

PLACES = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
PLACE = compiled(
    rf"""
    \b (?P<place> {" | ".join(PLACES)} | last | middle ) \s
    (?: (?: {_NAME} | one ) s? \b
      | (?= and\s | or\s | fits\b | it\sis\b | is\s (?:the\s)? (?:right|correct|best) \b ) )
    """
)
"""A choice by its place: `the second option`, `the first fits`."""

OPTION = compiled(rf"(?: \b {_NAME} s? \s? :? \s? | (?= \( ) ) {_OPEN} {_LETTER} (?! \w | '\w )")
"""A letter that is called an option or stands in brackets: `option C`, `(C)`."""

FRAMES = table(
    {
        "the answer is C": rf"""
            \b (?: answer | choice | option | one | alternative | selection | pick ) \s
            (?: is | would\sbe | must\sbe | should\sbe | has\sto\sbe | remains ) \s
            (?: (?:therefore|thus|clearly|then) \s )? (?: (?:that|the) \s )? {_CHOICE}
        """,
        "that is C": rf"""
            \b (?: that | it | this )
            (?: \sis | 's | \smust\sbe | \swould\sbe | \shas\sto\sbe | \sshould\sbe ) \s {_CHOICE}
        """,
        "C is correct": rf"""
            {_BEFORE} {_LETTER} {_CLOSE} \s
            (?: is | are | must\sbe | seems | looks | appears\sto\sbe ) \s
            (?: (?:therefore|thus|clearly|also|indeed|hence|then|obviously|definitely) \s )?
            (?: (?:the|only|most) \s ){{0,3}}
            (?: correct | right | true | best | answer | one\b | appropriate | accurate | choice
              | valid | match )
        """,
        "C it is": rf"""
            {_BEFORE} {_LETTER} \s (?: it\s (?: is | has\sto\sbe | must\sbe ) | fits | wins ) \b
        """,
        "only C fits": rf"""
            \b only \s (?: {_NAME} \s )? {_OPEN} {_LETTER} {_CLOSE} \s [a-z]{{2,14}}s \b
        """,
        "go with C": rf"""
            \b (?: go(?:ing)?\swith | go\sfor | opt\sfor | settle\s(?:on|for) | choos(?:e|ing)
                 | pick(?:ing)? | select(?:ing)? | vote\sfor | lean(?:ing)?\stowards?
                 | stick(?:ing)?\swith | say | answer ) \s {_CHOICE}
        """,
        "this leaves C": rf"""
            \b (?: leaves (?:\sus)? (?:\swith)? | leaving | we\sare\sleft\swith | points?\sto ) \s
            (?: (?:only|us|with) \s ){{0,3}} {_CHOICE}
        """,
        "so C": rf"""
            \b (?: so | thus | hence | therefore | consequently ) ,? \s
            (?: (?: it\sis | it's | the\sanswer\sis | that\sis ) \s )? {_CHOICE}
            (?= \s? (?: [.,;:!\n-] | \Z | (?: because | since | as | and\snot ) \b ) )
        """,
        "the right policy is C": rf"""
            \b (?: right | correct | best | proper | appropriate ) \s \w{{1,20}} \s
            (?: is | would\sbe ) \s {_CHOICE}
        """,
        "but C": rf"\b but \s (?:rather\s)? {_CHOICE} (?= \s? (?: [.,;:!\n] | \Z ) )",
        "take C as": rf"\b (?: take | use | accept ) \s {_CHOICE} \s as \b",
        "change my answer to C": rf"""
            \b (?: chang | switch | revis | correct ) \w{{1,4}} \s (?: my\s (?:answer|choice) \s )?
            to \s {_CHOICE}
        """,
        "arrow": rf"(?: ⇒ | → | => | -> | ∴ | ⟹ ) [\s(\[]{{0,3}} {_LETTER} [\W_]{{0,9}} \Z",
    }
)
"""Sentences that choose; the group `letter` is the choice."""

_LETTERS = r"""
    (?: \(? \b (?-i: [A-H] ) \b \)? (?: \s?[,/]\s? | \s )? (?: \b (?: and | or | nor ) \s )? ){1,8}
"""
REJECTED = compiled(
    rf"""
    # A, B and C are all wrong
    \b {_LETTERS} ["']? \s? (?: is | are | was | were | can\sbe ) \s
    (?: (?: all | both | also | clearly | therefore ) \s )?
    (?: wrong | incorrect | false | not | out | ruled\sout | eliminated | excluded | reversed
      | nonsense ) \b
    # none of A and B; rather than A
  | (?: \b (?: not | neither | nor | rather\sthan | instead\sof | none\sof | over | unlike | except )
      | n't ) \b [\s(\["'*]{{1,4}} (?: option\s )? {_LETTERS}
    """
)
"""Letters that a sentence rules out, with the words that do so."""

DENIAL = compiled(r"\b (?: not | wrong | false | cannot | neither | nor ) \b | n't \b")
"""A word of a sentence that may quote a choice only to deny it."""

CROSSED = compiled(r"\W{0,9} [❌✗✘✖]")
"""A line whose choice is marked as wrong."""

CHECKED = compiled(
    r"""
    (?m: ^ ) [^\w\n]{0,9} [✅✓✔☑] [^\w\n]{0,9} (?: option\s )? (?-i: ([A-H]) ) \b
  | (?m: ^ ) [^\w\n]{0,9} (?: option\s )? (?-i: ([A-H]) ) \b [^\n]{0,200} [✅✓✔☑]
    """
)
"""A line whose choice is marked as right: `✅ A`, `| C | the rate rises | ✓ |`."""

ALTERNATIVES = compiled(
    r"""
    \b (?: either | both | between ) \b [^.\n]{0,20} \b (?-i: [A-H] ) \b
  | \b (?-i: [A-H] ) \)? ,? \s (?: or | and ) \s (?: option\s )? \(? (?-i: [A-H] ) \b (?! ' )
    """
)
"""A sentence that leaves several choices: `A or B`."""

HYPOTHETICAL = compiled(
    r"""
    \b (?: if | might | could | tempt\w{0,4} | at\sfirst | first\s (?: thought | instinct )
         | was\sgoing\sto | claims? | suggests? | argu\w{1,5} | whether | unless | depend\w{0,4}
         | pick\sfrom ) \b
    """
)
"""A clause that weighs a choice and does not make it."""

CLAUSE_END = compiled(
    r"[;:?] | ,\s (?: but | so | hence | thus | therefore | yet | then ) \b | \s[-–—]\s | ,\s (?= I\b )"
)
