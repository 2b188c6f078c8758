"""How XFinBench's table writes several things into one cell."""

import re

__all__ = ["capability_codes", "parse_choices", "term_ids"]

_CHOICE = re.compile(r"(?:^|\n|\\n)[ \t]*\(?([A-Z])[.):][ \t]*")


def parse_choices(cell: str) -> tuple[str, ...]:
    r"""Read the texts of the choices, without their letters.

    A choice begins at the start of a line, or after a newline spelt out as a backslash and an n, with the next letter
    of the alphabet. Anything else, such as `\nu` in a formula, is part of a text.

    Returns:
        The texts; empty where the cell is not written like that.

    Example:
        >>> parse_choices("A. up\nB. down by $\\nu$")
        ('up', 'down by $\\nu$')
        >>> parse_choices(r"A. Line A\n B. Line B")
        ('Line A', 'Line B')
        >>> parse_choices("up or down")
        ()
    """
    starts: list[re.Match[str]] = []
    for match in _CHOICE.finditer(cell):
        if match[1] == chr(ord("A") + len(starts)):
            starts.append(match)
    if len(starts) < 2 or cell[: starts[0].start()].strip():
        return ()
    ends = [match.start() for match in starts[1:]] + [len(cell)]
    texts = tuple(cell[match.end() : end].strip() for match, end in zip(starts, ends, strict=True))
    return texts if all(texts) else ()


def capability_codes(cell: str) -> tuple[str, ...]:
    """Read the codes of the capabilities, whether they exist or not.

    Example:
        >>> capability_codes("TR: SP"), capability_codes("NM; TR")
        (('TR', 'SP'), ('NM', 'TR'))
    """
    codes = (code.strip().upper() for code in re.split("[;:,]", cell))
    return tuple(dict.fromkeys(code for code in codes if code))


def term_ids(cell: str) -> tuple[str, ...]:
    """Read the ids of the gold terms.

    Example:
        >>> term_ids("term_95;term_965")
        ('term_95', 'term_965')
    """
    return tuple(dict.fromkeys(term for part in cell.split(";") if (term := part.strip())))
