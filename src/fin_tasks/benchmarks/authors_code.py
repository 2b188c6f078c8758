"""Read texts from the authors' Python files, which are parsed with `ast` and never executed."""

import ast
from collections.abc import Iterable
from pathlib import Path

from fin_tasks.errors import DataError


def parse_code(path: Path) -> ast.Module:
    """Parse a file of the authors."""
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError) as error:
        raise DataError(
            f"{path}: expected Python code, got {error}. Take the file of the pinned commit."
        ) from error


def not_found(path: Path, expected: str) -> DataError:
    """Return the error for a file of the authors without what is read from it."""
    return DataError(
        f"{path}: expected {expected}, found none. Take the file of the pinned commit."
    )


def function_named(path: Path, name: str) -> ast.FunctionDef:
    """Return a function of an authors' file."""
    for node in parse_code(path).body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    raise not_found(path, f"the function {name}")


def assigned_texts(path: Path, tree: ast.AST, names: Iterable[str]) -> dict[str, str]:
    """Return the first text, unless it is empty, that this part of a file assigns or adds to each variable."""
    texts: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            target = node.targets[0]
        elif isinstance(node, ast.AugAssign):
            target = node.target
        else:
            continue
        text = constant_text(node.value)
        if text:
            texts.setdefault(ast.unparse(target), text)
    for name in names:
        if name not in texts:
            raise not_found(path, f"a text in {name}")
    return texts


def constant_text(expression: ast.expr) -> str | None:
    """Return the text of an expression that joins constant texts; None for any other expression."""
    match expression:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            texts = [constant_text(part) for part in parts]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            texts = [constant_text(left), constant_text(right)]
        case _:
            return None
    known = [text for text in texts if text is not None]
    return "".join(known) if len(known) == len(texts) else None
