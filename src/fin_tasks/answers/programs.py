"""Find the program in a response, and the function in one that was asked for a function, as a careful reader does."""

import re
import textwrap

from fin_tasks.answers.reasoning import strip_reasoning

_FENCED = re.compile(r"```[ \t]*(?:python3?|py)?[ \t]*\r?\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.IGNORECASE)
# A sentence at the margin behind a blank line ends code that no fence ends.
_CODE = r"(?:def|class|import|from|if|for|while|with|try|except|else|elif|finally|return|print|@|#)(?:\W|$)"
_PROSE = re.compile(rf"(?<=\n)[ \t\r]*\n(?=\S)(?!{_CODE}|[A-Za-z_][\w.]*(?:\[[^\]\n]*\])?[ \t]*(?:[-+*/]?=|\())")
_NESTED = re.compile(r"^([ \t]*)(?:async[ \t]+)?(?:def|class)\b.*(?:\n(?:\1[ \t]+.*|[ \t]*$))*", re.MULTILINE)


def extract_program(response: str) -> str | None:
    """Return the program that defines `solution()`, or None."""
    return extract_function(response, name="solution", head="def solution():")


def extract_function(response: str, *, name: str, head: str) -> str | None:
    """Return the source of a function asked for by name; a body alone goes below `head`, its line with `def`."""
    text = strip_reasoning(response)
    defines = re.compile(rf"^def[ \t]+{re.escape(name)}[ \t]*\(", re.MULTILINE)
    blocks = [textwrap.dedent(match[1]) for match in _FENCED.finditer(text)]
    if defining := [block for block in blocks if defines.search(block)]:
        return defining[-1]
    if found := defines.search(text):
        return _PROSE.split(text[found.start() :].split("\n```", 1)[0], maxsplit=1)[0].rstrip()
    bodies = [_PROSE.split(text.split("```", 1)[0], maxsplit=1)[0], *blocks]
    # Something must be returned outside every function that the body itself defines.
    body = next((body for body in bodies if re.search(r"^[ \t]*return\b", _NESTED.sub("", body), re.MULTILINE)), None)
    if body is None:
        return None
    first, *rest = body.strip("\n").rstrip().split("\n")
    if not first.startswith((" ", "\t")):
        widths = [len(line) - len(line.lstrip()) for line in map(str.expandtabs, rest) if line.strip()]
        # The prompt's last line was indented already if only the first line comes without its indentation.
        goes_on = widths and min(widths) > 0 and not (first.rstrip().endswith(":") and widths[0] <= 4)
        first, rest = f"    {first}", rest if goes_on else ["    " + line for line in rest]
    return "\n".join([head, first, *rest])
