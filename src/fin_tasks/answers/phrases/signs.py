"""Signs that change how a text counts: corrections, refusals, placeholders, asides."""

from fin_tasks.answers.phrases.table import compiled

PLACEHOLDER = compiled(
    r"""
    [\s*_:'"]{0,6}
    (?: \.{3} | … | _{2,5}
      | [<\[({]
        (?: (?: your | the | my | final | correct ) \s ){0,3}
        (?: \.{3} | x{1,3} | answer | number | value | result | letter | option | choice | verdict
          | true \s? (?:/|or|\|) \s? false )
        [>\])}] )
    """
)
"""What a prompt shows in the place of an answer: `<answer>`, `[number]`, `...`."""

_DOUBT = r"wait | hold\son | hmm{1,5} | oops | scratch\sthat | edit | correction | sorry | actually"
CORRECTION = compiled(
    rf"""
    \b (?: {_DOUBT} | on\s(?:second\sthought|reflection|checking) | corrected
         | i\s(?:made|was|got|take|need\sto|should\sfix)
         | let\sme\s (?:re|double|check|correct|fix) \w{{0,12}}
         | mistake | wrong | error | slip | missing | missed | forgot | overlooked | redo | recheck
         | recomput\w{{1,5}} | no[:,] | not\squite )
    (?! \w )
    """
)
"""A word between two answers that shows that the second replaces the first."""

RETRACTION = compiled(
    rf"""
    (?: \A | [.!?)\]*]\s{{1,4}} | \n ) [\s*_>#(-]{{0,6}}
    (?: {_DOUBT} | on\ssecond\sthought | no,\s ) \b
    """
)
"""The start of a sentence that takes back what stands before it."""

REFUSAL = compiled(
    r"""
    \b (?: can(?:\s?not|['’]t) | unable | impossible | not\s(?:possible|provided|enough|given|able)
         | insufficient | undetermined | need\smore ) \b
    """
)
"""Words of a text that gives no answer."""

CLOSER = compiled(
    r"""
    [\s*_]{0,6}
    (?: \( (?: \S{1,40}\s{1,3} ){3} .{0,400} \) [\s*_.]{0,4} \Z
      | \W{0,4}
        (?: would\syou\slike | let\sme\sknow | tell\sme\sif | i\shope\sthis | hope\s | feel\sfree
          | happy\sto | if\syou (?:['’]d|\swould)? \s (?:like|want|need) | do\syou\swant | shall\si
          | for\scomparison | by\s(?:comparison|the\sway) | for\sreference | incidentally
          | (?: sanity\s | quick\s | cross-? )? check\b | note\b | caveat | p\.?s\.?\b
) \b )
    """
)
"""A last line that is an aside, a comparison or an offer to go on."""

NEW_TURN = compiled(
    r"""
    \n [\s*#_>]{0,6} (?:question|statement|problem|exercise|q|user|human) \s? \d{0,3} [*_]{0,2} \s? :
    """
)
"""The next exercise, which base models make up behind their answer."""
