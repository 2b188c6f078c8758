"""Right answers, worded as a model should word them: for few-shot examples, and to try the scorers on.

A row whose truth cannot be used has no target, and so is no example.
"""

import ast
import textwrap
from decimal import Decimal

from fin_tasks.answers.marked import MARKER, marked_number
from fin_tasks.benchmarks.bizbench.row import Kind
from fin_tasks.benchmarks.bizbench.truths import number_truth

__all__ = ["as_solution", "target_of"]


def target_of(*, kind: Kind, mode: str, answer: str, letter: str = "", program: str = "") -> str:
    """Word the right answer to a row.

    Args:
        kind: Of the row.
        mode: `cot` or `pot`; only numbers are asked for in both.
        answer: As the file has it.
        letter: Of the right option; empty for other kinds of rows.
        program: The program that computes the answer, or the function asked for; empty where there is none.

    Returns:
        The response; empty where the row has no truth to word: an answer that is no number or none of the options, a
        function without code.

    Example:
        >>> target_of(kind="number", mode="cot", answer="(5.2)")
        'Therefore, my answer is [-5.2].'
        >>> target_of(kind="choice", mode="cot", answer="Bonds", letter="B")
        'Therefore, my answer is B.'
        >>> target_of(kind="number", mode="cot", answer="a lot")
        ''
    """
    if kind == "choice":
        return f"{MARKER} {letter}." if letter else ""
    if kind == "number":
        truth = number_truth(answer)
        if truth.written is None:
            return ""
        if mode == "cot":
            return f"{MARKER} [{_number(answer, truth.written)}]."
        program = as_solution(program) or f"def solution():\n    return {_digits(truth.written)}"
    return f"```python\n{program.strip()}\n```" if program else ""


def as_solution(program: str) -> str:
    r"""Put a program under `def solution():`, returning what its last statement assigns, prints or says.

    Args:
        program: A script, or a program that defines `solution` itself.

    Returns:
        The program; empty where it cannot be read or ends in something else.

    Example:
        >>> print(as_solution("price = 40\nshares = 3\nvalue = price * shares"))
        def solution():
            price = 40
            shares = 3
            value = price * shares
            return value
    """
    try:
        body = ast.parse(program).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    if any(isinstance(node, ast.FunctionDef) and node.name == "solution" for node in body):
        return program
    if not body or (returned := _returned(body[-1])) is None:
        return ""
    lines = program.strip("\n").split("\n")
    first = len(program) - len(program.lstrip("\n"))
    kept = lines[: body[-1].lineno - 1 - first] if isinstance(body[-1], ast.Expr) else lines
    return f"def solution():\n{textwrap.indent(chr(10).join([*kept, f'return {returned}']), '    ')}"


def _returned(last: ast.stmt) -> str | None:
    if isinstance(last, ast.Assign) and isinstance(last.targets[-1], ast.Name):
        return last.targets[-1].id
    if isinstance(last, ast.AnnAssign | ast.AugAssign) and isinstance(last.target, ast.Name):
        return last.target.id
    if not isinstance(last, ast.Expr):
        return None
    call = last.value
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "print":
        return ast.unparse(call.args[-1]) if call.args else None
    return ast.unparse(call)


def _number(answer: str, written: float) -> str:
    """The answer in the file's own writing, if the authors' reading of it gives the number it stands for."""
    text = answer.strip()
    return text if marked_number(f"{MARKER} [{text}].")[0] == written else _digits(written)


def _digits(value: float) -> str:
    return f"{Decimal(repr(value)):f}".removesuffix(".0")
