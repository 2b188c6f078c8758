"""How a text announces its answer: words, labels, keys and tags, behind which the answer stands.

`MARKER` is the sentence that our prompts ask for. `ANNOUNCEMENTS` are the other ways, by style. An
answer stands behind the match of a pattern, or is its group `answer`.
"""

from collections.abc import Mapping
from typing import Literal

from fin_tasks.answers.phrases.table import Table, compiled, table

Style = Literal["marker", "label", "prose", "conclusion"]
"""How an answer is announced.

marker: by the sentence that our prompts ask for. label: the answer comes first, as in `Answer: B`.
prose: words may come first, as in `the answer is clearly B`. conclusion: a whole sentence follows.
"""

_IS = r"\s{1,3} (?: is | (?:would|will|must|should|has\sto) \s{1,3} be | remains ) \b"
# Working, not an answer, begins below a label or a heading.
_WORKING = r"""
    [\s*_:#>-]{0,20} (?: (?:to|we|let|first|step|given|using) \b | \d{1,2} [.)] \s )
"""
_COLON = rf"""
    ['"]? [*_\s]{{0,4}} (?: [:=] | \s [-–—]{{1,2}} (?=\s) ) (?! [ \t*_]{{0,9}} \n {_WORKING} )
"""
# The start of a line, with marks of lists, headings, quotes and emphasis, and with emoji.
_LINE_START = r"(?: \A | \n | [.!?]\s{1,3}\*\* ) [^\w\n([{$\\|]{0,12}"
_NOUN = r"""
    (?: ans(?:wer)? | verdict | judge?ment | result | choice | option | solution | selection
      | decision | pick )
"""
_ADJECTIVES = r"""
    (?: (?: my | the | our | short | final | revised | corrected | updated | correct | best | right
          | numeric(?:al)? | overall | chosen | quick ) \s ){0,3}
"""
# `answer`, `final_answer`, `chosen option`, `answer_letter`
_KEY = r"""
    (?: [a-z]{2,10} [_\s]? )?
    (?: answer | verdict | choice | option | result | solution | conclusion | judge?ment )
    (?: _[a-z]{2,10} )?
"""

_GAP = r"[\s*_,:]{1,8}"
MARKER = compiled(
    rf"""
    \b therefore {_GAP} my {_GAP} (?: final {_GAP} )? answer {_GAP} (?: is | would {_GAP} be ) \b
    """
)
"""The sentence that our prompts ask for, `Therefore, my answer is`."""

ANNOUNCEMENTS: Mapping[Style, Table] = {
    "label": table(
        {
            # <answer>B</answer>
            "XML tag": rf"""
                < (?P<tag> {_KEY} ) > (?P<answer> [^<]{{1,200}} ) (?: </(?P=tag)> | \Z )
            """,
            # {"final_answer": "B"}
            "JSON key": rf"""
                ['"] {_KEY} ['"] \s{{0,3}} : \s{{0,3}}
                (?P<answer> "[^"\n]{{1,200}}" | '[^'\n]{{1,200}}' | \[[^\]\n]{{1,80}}\]
                  | [^\s,{{}}\[\]"'] [^,{{}}\n]{{0,40}} )
            """,
            # **Final answer:** B
            "answer label": rf"{_LINE_START} {_ADJECTIVES} {_NOUN} {_COLON}",
            # We add up. Final answer: B
            "answer label in a line": rf"""
                \b (?:final|correct|revised|corrected|updated) \s{{1,3}} {_NOUN} {_COLON}
            """,
            # ### Answer, with the answer in the next line
            "answer heading": rf"""
                {_LINE_START} {_ADJECTIVES} (?:answer|verdict|result) [ \t*_:#]{{0,6}}
                (?= \n\s{{0,9}} (?! {_WORKING} ) [^\n]{{1,120}} (?: \n | \Z ) )
            """,
            # the best option is B
            "the correct answer is": rf"""
                \b (?:correct|best|right|final) \s{{1,3}} (?:answer|choice|option)
                (?: \s (?:choice|option) )? (?: {_IS} | {_COLON} )
            """,
        }
    ),
    "prose": table(
        {
            # the answer is B; an answer of B; but not: this answer is wrong
            "the answer is": rf"""
                \b (?:verdict|answer) \s of \b
              | \b answer (?<! this\sanswer ) (?<! that\sanswer )
                (?: \s{{1,3}} (?:choice|option) )? (?: {_IS} | {_COLON} )
            """,
        }
    ),
}
"""The last announcement in a text counts, those of the first style before those of the others."""

CONCLUSION = compiled(
    r"""
    (?: \A | (?<= [.!?*:]\s ) | (?<= \n ) ) [\s*_#>-]{0,6}
    (?: therefore | thus | hence | so | consequently | overall | as\sa\sresult
      | in\s(?:conclusion|summary|short) | to\s(?:conclude|summarize) | conclusion | bottom\sline )
    \b [*_:]{0,4} ,?
    """
)
"""The start of a sentence that concludes."""
