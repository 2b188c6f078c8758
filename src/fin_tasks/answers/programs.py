"""Find the program or the function in a response, as a careful reader does."""

import re
import textwrap

from .phrases import Phrases
from .text import split_reasoning

_INDENT = "    "
_CODE = Phrases("programs")


def extract_program(
    response: str,
    *,
    name: str = "solution",
    head: str = "def solution():",
) -> str | None:
    """Return the source of a function, by default of `solution()`, or None.

    Args:
        response: What a model wrote.
        name: Name of the function.
        head: The line above the body, for a response that is only the body.
    """
    text = split_reasoning(response).text
    definition = re.compile(rf"^def[ \t]+{re.escape(name)}[ \t]*\(", re.MULTILINE)
    blocks = []
    for match in _CODE.fenced.finditer(text):
        blocks.append(textwrap.dedent(match["code"]))
    defining = [block for block in blocks if definition.search(block)]
    if defining:
        return defining[-1]
    unfenced = definition.search(text)
    if unfenced:
        code = text[unfenced.start() :].partition("\n```")[0]
        return _before_prose(code).rstrip()
    beginning = text.partition("```")[0]
    for body in [_before_prose(beginning), *blocks]:
        # The body must return something itself; functions that it defines do not count.
        if _CODE.returns.search(_CODE.nested.sub("", body)):
            return f"{head}\n{_indented(body)}"
    return None


def _before_prose(code: str) -> str:
    return _CODE.prose.split(code, maxsplit=1)[0]


def _indented(body: str) -> str:
    body = body.strip("\n").rstrip()
    if body.startswith((" ", "\t")):
        return body
    first, _, rest = body.partition("\n")
    if not _continues_prompt(first, rest):
        rest = textwrap.indent(rest, _INDENT, lambda line: True)
    return f"{_INDENT}{first}\n{rest}".rstrip()


def _continues_prompt(
    first: str,
    rest: str,
) -> bool:
    # If only the first line lacks its indentation, the prompt had already indented it.
    widths = []
    for line in rest.expandtabs().split("\n"):
        text = line.lstrip()
        if text:
            widths.append(len(line) - len(text))
    if not widths or min(widths) == 0:
        return False
    opens_block = first.rstrip().endswith(":")
    return not (opens_block and widths[0] <= len(_INDENT))
