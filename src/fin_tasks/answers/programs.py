"""Find the program in a response, and the function in one that was asked for a function, as a careful reader does."""

import re
import textwrap

from fin_tasks.answers.reasoning import strip_reasoning

__all__ = ["extract_function", "extract_program"]

_FENCED = re.compile(r"```[ \t]*(?:python3?|py)?[ \t]*\r?\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.IGNORECASE)
# A sentence at the margin behind a blank line ends code that no fence ends.
_CODE = r"(?:def|class|import|from|if|for|while|with|try|except|else|elif|finally|return|print|@|#)(?:\W|$)"
_PROSE = re.compile(rf"(?<=\n)[ \t\r]*\n(?=\S)(?!{_CODE}|[A-Za-z_][\w.]*(?:\[[^\]\n]*\])?[ \t]*(?:[-+*/]?=|\())")


def extract_program(response: str) -> str | None:
    """Return the program that defines `solution()`, or None."""
    return extract_function(response, name="solution", head="def solution():")


def extract_function(response: str, *, name: str, head: str) -> str | None:
    """Return the source of a function that a model was asked for by name, or None.

    The last fenced block that defines it counts; an open fence ends with the response. Without such a block, a body
    that returns something goes below `head`, code that ends in the line with `def`.
    """
    text = strip_reasoning(response)
    defines = re.compile(rf"^def[ \t]+{re.escape(name)}[ \t]*\(", re.MULTILINE)
    blocks = [textwrap.dedent(match[1]) for match in _FENCED.finditer(text)]
    if defining := [block for block in blocks if defines.search(block)]:
        return defining[-1]
    if found := defines.search(text):
        return _PROSE.split(text[found.start() :].split("\n```", 1)[0], maxsplit=1)[0].rstrip()
    for body in (_PROSE.split(text.split("```", 1)[0], maxsplit=1)[0].rstrip(), *blocks):
        if _returns(body):
            return f"{head}\n{_indented(body)}"
    return None


def _returns(text: str) -> bool:
    # Something is returned outside every function that the text itself defines.
    inside: int | None = None
    for line in filter(str.strip, text.split("\n")):
        if inside is not None and _indent(line) <= inside:
            inside = None
        if inside is None and re.match(r"\s*(?:async\s+)?(?:def|class)\b", line):
            inside = _indent(line)
        if inside is None and re.match(r"\s*return\b", line):
            return True
    return False


def _indented(body: str) -> str:
    first, *rest = body.strip("\n").rstrip().split("\n")
    if first[:1] in (" ", "\t"):
        return "\n".join([first, *rest])
    indents = [_indent(line) for line in rest if line.strip()]
    opens_block = first.rstrip().endswith(":") and indents[:1] and indents[0] <= 4
    # The prompt's last line was indented already if only the first line comes without its indentation.
    goes_on = indents and not opens_block and min(indents) > 0
    return "\n".join(["    " + first, *(rest if goes_on else ["    " + line for line in rest])])


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())
