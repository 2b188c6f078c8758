"""From a response to a program that defines `solution()`, the way FinanceMath's authors do it."""

import re

__all__ = ["extract_program"]

_PYTHON_BLOCK = re.compile(r"```python(.*?)```", re.DOTALL)
_ANY_BLOCK = re.compile(r"```(.*?)```", re.DOTALL)
_FENCE = "```"
_INDENT = "    "


def extract_program(output: str) -> str | None:
    r"""Take the program out of a response.

    The first closed block marked `python` counts; else the first closed block of any kind, its language word
    included, so that a block marked `Python` fails when it runs, as it does in the published records. Without a
    closed block the whole response is the program, less the fences at its ends; a response that goes on with an
    indented function body stops at its only fence. Text that defines no `solution` becomes the body of one, with
    only its first line indented anew.

    Args:
        output: The model's response.

    Returns:
        The program, or None where the response is blank.

    Example:
        >>> print(extract_program("```python\ndef solution():\n    return 2\n```\nThat is all."))
        def solution():
            return 2
        >>> print(extract_program("    rate = 0.05\n    return rate\n```"))
        def solution():
            rate = 0.05
            return rate
    """
    if not output.strip():
        return None
    block = _PYTHON_BLOCK.search(output) or _ANY_BLOCK.search(output)
    if block is not None:
        return block[1].strip("\n")
    if output.count(_FENCE) == 1 and output.startswith(_INDENT):
        text = output.split(_FENCE)[0].strip()
    else:
        text = output.strip().strip("`").strip()
    return text if "def solution" in text else f"def solution():\n{_INDENT}{text}"
