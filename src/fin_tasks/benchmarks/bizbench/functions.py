"""Functions that questions begin and models finish: parsed here, never executed here."""

import ast
import re
import textwrap
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fin_tasks.answers.programs import extract_function
from fin_tasks.answers.reasoning import strip_reasoning

__all__ = ["Stub", "finished", "read_stub"]

_LONGEST = 20_000
"""Characters of code that are parsed; longer code goes to the sandbox as it is."""
_HEAD = re.compile(r"^def[ \t]+([A-Za-z_]\w*)[ \t]*\(", re.MULTILINE)
_CODE_LINE = re.compile(r"^(?:import\s+[\w.]|from\s+[\w.]+\s+import\s|def\s+\w+\s*\(|class\s+\w+|@\w)", re.MULTILINE)
_IMPORT = re.compile(r"^(?:import [\w.]+(?: as \w+)?(?:, ?[\w.]+)*|from [\w.]+ import [\w*]+(?:, ?\w+)*)[ \t]*$", re.M)
_FENCED = re.compile(r"```[ \t]*\w*[ \t]*\r?\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_USUAL = {
    r"\bmath\.": "import math",
    r"\bnp\.": "import numpy as np",
    r"\bnumpy\.": "import numpy",
    r"\bstatistics\.": "import statistics",
    r"\b(?:List|Tuple|Dict|Union|Optional|Sequence|Iterable)\b": "from typing import *",
}
"""Imports that code does without writing them; a forgotten one is no wrong formula."""


@dataclass(frozen=True, kw_only=True)
class Stub:
    """A function as a question shows it.

    Attributes:
        name: Of the function.
        before: Code above it, such as imports.
        head: Its `def` up to the colon.
        begun: The function with the statements of the body that the question shows; empty where it shows none.
        broken_off: The function where the question stops in the middle of a statement; empty where it does not.
        args: Its parameters.
    """

    name: str
    before: str
    head: str
    begun: str
    broken_off: str
    args: ast.arguments


def read_stub(text: str) -> Stub | None:
    r"""Find the function a text begins, whole or not; None where there is none.

    Of several functions the last is the one to finish, and the others stand above it.

    Example:
        >>> stub = read_stub("Finish it:\n\ndef ratio(a, b):\n    '''Divide a by b.'''\n    return")
        >>> stub.name, stub.head, [arg.arg for arg in stub.args.args], stub.begun
        ('ratio', 'def ratio(a, b):', ['a', 'b'], '')
    """
    text = text.replace("\r\n", "\n").expandtabs(4)
    heads = list(_HEAD.finditer(text))
    if not heads:
        return None
    last = heads[-1]
    own = text[last.start() :].split("\n```", 1)[0]
    head = _head(own)
    if head is None:
        return None
    code = head + "".join(_body_lines(own[len(head) :]))
    function = _function(f"{head}\n    pass")
    if function is None:
        return None
    first = _CODE_LINE.search(text)
    before = text[first.start() : last.start()].rstrip() if first else ""
    begun, broken_off = _shown(code.rstrip())
    return Stub(
        name=last[1],
        before=before if before and _parses(before) else "",
        head=head,
        begun=begun,
        broken_off=broken_off,
        args=function.args,
    )


def finished(stub: Stub, response: str) -> str | None:
    r"""Return the source of the function, finished or written anew by a response; None where the response has no code.

    Read in this order: a definition of the function, fenced or not; what goes on from the statements the question
    shows; a body; an expression alone, which is what the function returns; another function, the only one there.

    Example:
        >>> stub = read_stub("def ratio(a, b):\n    '''Divide.'''")
        >>> print(finished(stub, "a / b"))
        def ratio(a, b):
            return a / b
    """
    reply = strip_reasoning(response).replace("\r\n", "\n")
    candidates = list(_candidates(stub, reply))
    chosen = next((code for code in candidates if _parses(code)), candidates[0] if candidates else None)
    if chosen is None:
        return None
    lines = chosen.split("\n")
    imports = [line for line in map(str.strip, _IMPORT.findall(reply)) if line not in lines]
    known = "\n".join((stub.before, *imports, chosen))
    usual = [line for used, line in _USUAL.items() if re.search(used, chosen) and line not in known]
    return "\n".join(part for part in (*usual, stub.before, *imports, chosen) if part)


def _candidates(stub: Stub, reply: str) -> Iterator[str]:
    defined = extract_function(reply, name=stub.name, head=stub.head)
    if defined is not None and re.search(rf"^def\s+{stub.name}\s*\(", reply, re.MULTILINE):
        yield defined
        return
    blocks = [textwrap.dedent(match[1]).strip("\n") for match in _FENCED.finditer(reply)]
    pieces = [*reversed(blocks), reply.split("```", 1)[0].rstrip()]
    yield from filter(_parses, _continuations(stub, pieces))
    if defined is not None:
        yield defined
    for piece in pieces:
        expression = piece.strip()
        if expression and _is_formula(expression):
            yield f"{stub.head}\n    return {expression}"
    if names := {name for piece in blocks for name in _HEAD.findall(piece)}:
        (other, *more) = names
        source = None if more else extract_function(reply, name=other, head="")
        if source is not None:
            yield f"{source}\n\n{stub.name} = {other}"


def _continuations(stub: Stub, pieces: Sequence[str]) -> Iterator[str]:
    for piece in pieces:
        if not piece.strip() or _HEAD.search(piece):
            continue
        if stub.broken_off and not piece.lstrip().startswith("return"):
            yield f"{stub.broken_off} {piece.strip()}"
        if stub.begun:
            yield f"{stub.begun}\n{textwrap.indent(textwrap.dedent(piece.strip(chr(10))), '    ')}"


def _shown(code: str) -> tuple[str, str]:
    """What of a body is there to go on from: whole statements, and one that is broken off."""
    whole = _function(code)
    if whole is None:
        return "", code if _parses(f"{code} 0") or code.endswith(("=", "(", ",")) else ""
    if all(map(_is_filler, whole.body)):
        return "", ""
    last = whole.body[-1]
    if not _is_filler(last):
        return code, ""
    begun = "\n".join(code.split("\n")[: last.lineno - 1])
    return begun, code if isinstance(last, ast.Return) else ""


def _head(text: str) -> str | None:
    """The definition up to its colon, which may stand lines below."""
    lines = text.split("\n")
    for count in range(1, min(len(lines), 40) + 1):
        joined = "\n".join(lines[:count])
        head = joined.split("#", 1)[0].rstrip() if count == 1 else joined.rstrip()
        if head.endswith(":") and _parses(f"{head}\n    pass"):
            return head
    # `def f(a): return a` on one line
    colon = re.match(r"[^\n]*?\)[^\n:]*:", lines[0])
    return colon[0] if colon and _parses(f"{colon[0]} pass") else None


def _body_lines(rest: str) -> Iterator[str]:
    """Lines of the body: up to the first one at the margin that is neither blank nor within a text."""
    quoted = False
    for number, line in enumerate(rest.split("\n")):
        if number and line[:1].strip() and not quoted:
            return
        if sum(line.count(mark) for mark in ('"""', "'''")) % 2:
            quoted = not quoted
        yield f"\n{line}" if number else line


def _is_filler(node: ast.stmt) -> bool:
    """Whether a statement only holds a place: a docstring, `pass`, `...`, a bare `return`, a NotImplementedError."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Raise):
        return "NotImplementedError" in ast.dump(node)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Return) and node.value is None)


def _is_formula(text: str) -> bool:
    """Whether text is an expression that computes something; a word or a sentence in quotes is none."""
    tree = _parse(text, mode="eval")
    return isinstance(tree, ast.Expression) and any(isinstance(node, ast.BinOp | ast.Call) for node in ast.walk(tree))


def _function(code: str) -> ast.FunctionDef | None:
    tree = _parse(code)
    body = tree.body if isinstance(tree, ast.Module) else []
    return next((node for node in reversed(body) if isinstance(node, ast.FunctionDef)), None)


def _parses(code: str) -> bool:
    return _parse(code) is not None


def _parse(code: str, mode: str = "exec") -> ast.AST | None:
    if len(code) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about escapes in texts of the code
            tree: ast.AST = ast.parse(code, mode=mode)
            return tree
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
