"""Find the program or the function in a response, as a careful reader does."""

import re
import textwrap

from fin_tasks.answers.reasoning import strip_reasoning

_FENCED = re.compile(
    r"```[ \t]*(?:python3?|py)?[ \t]*\r?\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.IGNORECASE
)
# Without a fence, code ends before a sentence at the margin that follows a blank line.
_CODE = r"(?:def|class|import|from|if|for|while|with|try|except|else|elif|finally|return|print|@|#)(?:\W|$)"
_PROSE = re.compile(
    rf"(?<=\n)[ \t\r]*\n(?=\S)(?!{_CODE}|[A-Za-z_][\w.]*(?:\[[^\]\n]*\])?[ \t]*(?:[-+*/]?=|\())"
)
_NESTED = re.compile(
    r"^([ \t]*)(?:async[ \t]+)?(?:def|class)\b.*(?:\n(?:\1[ \t]+.*|[ \t]*$))*", re.MULTILINE
)


def extract_program(response: str) -> str | None:
    """Return the program that defines `solution()`, or None."""
    return extract_function(response, name="solution", head="def solution():")


def extract_function(response: str, *, name: str, head: str) -> str | None:
    """Return the source of the named function; if the response is only its body, that is put below the line `head`."""
    text = strip_reasoning(response)
    defines = re.compile(rf"^def[ \t]+{re.escape(name)}[ \t]*\(", re.MULTILINE)
    blocks = [textwrap.dedent(match[1]) for match in _FENCED.finditer(text)]
    if defining := [block for block in blocks if defines.search(block)]:
        return defining[-1]
    if found := defines.search(text):
        return _PROSE.split(text[found.start() :].split("\n```", 1)[0], maxsplit=1)[0].rstrip()
    bodies = [_PROSE.split(text.split("```", 1)[0], maxsplit=1)[0], *blocks]
    # The body must return something itself; functions that it defines do not count.
    body = next(
        (
            body
            for body in bodies
            if re.search(r"^[ \t]*return\b", _NESTED.sub("", body), re.MULTILINE)
        ),
        None,
    )
    if body is None:
        return None
    first, *rest = body.strip("\n").rstrip().split("\n")
    if not first.startswith((" ", "\t")):
        widths = [
            len(line) - len(line.lstrip()) for line in map(str.expandtabs, rest) if line.strip()
        ]
        # If only the first line lacks its indentation, the prompt had already indented it.
        goes_on = (
            widths and min(widths) > 0 and not (first.rstrip().endswith(":") and widths[0] <= 4)
        )
        first, rest = f"    {first}", rest if goes_on else ["    " + line for line in rest]
    return "\n".join([head, first, *rest])
