"""Finds the program in a program-of-thought response, and the function in one that was asked for a function."""

import re
import textwrap

from fin_tasks.answers.reasoning import strip_reasoning

__all__ = ["extract_function", "extract_program"]

_FENCED = re.compile(r"```[ \t]*(?:python3?|py)?[ \t]*\r?\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL | re.IGNORECASE)
_MORE_CODE = re.compile(
    r"(?:def|class|import|from|if|for|while|with|try|except|else|elif|finally|return|print|@|#)(?:\W|$)"
    r"|[A-Za-z_][\w.]*(?:\[[^\]]*\])?[ \t]*(?:[-+*/]?=|\()"
)


def extract_program(response: str) -> str | None:
    r"""Return the source of the program a model wrote, None where there is none.

    The last fenced block that defines `solution()` is the program: a model that corrects itself means its last one.
    An open fence ends where the response was cut off. Without such a block, a response that goes straight on from
    the prompt's `def solution():` is its body, and so is a fenced block that returns something outside any function.

    Example:
        >>> extract_program("    return 2 * 3\n```")
        'def solution():\n    return 2 * 3'
        >>> extract_program("I cannot say.") is None
        True
    """
    return extract_function(response, name="solution", head="def solution():")


def extract_function(response: str, *, name: str, head: str) -> str | None:
    r"""Return the source of a function that a model was asked for by name, None where there is none.

    Args:
        response: What the model wrote.
        name: The function's name.
        head: Code that a response without a definition goes on from: the line with `def`, or more.

    Example:
        >>> extract_function("```python\nreturn a / b\n```", name="ratio", head="def ratio(a, b):")
        'def ratio(a, b):\n    return a / b'
    """
    text = strip_reasoning(response)
    defines = re.compile(rf"^def[ \t]+{re.escape(name)}[ \t]*\(", re.MULTILINE)
    blocks = [textwrap.dedent(match[1]) for match in _FENCED.finditer(text)]
    for block in reversed(blocks):
        if defines.search(block):
            return block
    if found := defines.search(text):
        return _without_prose(text[found.start() :].split("\n```", 1)[0])
    before_fence = _without_prose(text.split("```", 1)[0])
    for body in (before_fence, *blocks):
        if _is_body(body):
            return f"{head}\n{_indented(body)}"
    return None


def _without_prose(text: str) -> str:
    """Cut sentences that follow code which no fence ends.

    Code after the function starts at the margin only in a few ways; the first line at the margin behind a blank line
    that starts in none of them ends the program.
    """
    lines = text.split("\n")
    for number in range(2, len(lines)):
        if lines[number][:1].strip() and not lines[number - 1].strip() and not _MORE_CODE.match(lines[number]):
            return "\n".join(lines[:number]).rstrip()
    return text


def _is_body(text: str) -> bool:
    """Tell whether something is returned outside every function that the text itself defines."""
    inside: int | None = None
    for line in text.split("\n"):
        if not line.strip():
            continue
        indent = _indent(line)
        if inside is not None and indent <= inside:
            inside = None
        if inside is None and re.match(r"\s*(?:async\s+)?(?:def|class)\b", line):
            inside = indent
        if inside is None and re.match(r"\s*return\b", line):
            return True
    return False


def _indented(body: str) -> str:
    lines = body.strip("\n").rstrip().split("\n")
    if lines[0][:1] in (" ", "\t") or not lines[0]:
        return "\n".join(lines)
    rest = [line for line in lines[1:] if line.strip()]
    opens_block = lines[0].rstrip().endswith(":") and bool(rest) and _indent(rest[0]) <= 4
    if rest and not opens_block and all(_indent(line) > 0 for line in rest):
        # The prompt's last line was indented already, so only the first line comes without its indentation.
        return "\n".join(["    " + lines[0], *lines[1:]])
    return "\n".join("    " + line for line in lines)


def _indent(line: str) -> int:
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip())
