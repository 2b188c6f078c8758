"""The authors' own texts, read from two files of their repository at run time; the files are parsed, never executed."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

from fin_tasks.benchmarks.mme_finance.prompts import Wording
from fin_tasks.data.fetch import locate
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings

__all__ = ["authors_file", "parse", "wording"]

_LARGEST = 1 << 20  # bytes
_CLASSES = {"en": "MMfin", "zh": "MMfin_CN"}
_ORDER = ["text", "text", "question", "text", "requirements", "text", "background"]


def authors_file(name: str, *, source: str = "auto", data_dir: str | None = None) -> Path:
    """Find `image_vqa.py` (what the model is told) or `mmfin.py` (what the judge is told), or download it."""
    below = {"image_vqa.py": "vlmeval/dataset", "mmfin.py": "vlmeval/dataset/utils"}[name]
    settings, source = Settings.from_environ(), "auto" if source == "sample" else source
    names = f"{below}/{name}|{name}|upstream/{name}|mme_finance/upstream/{name}"
    found = locate("mme_finance_texts", [names], source=source, data_dir=data_dir, settings=settings)
    return found.files[name]


def parse(path: Path) -> ast.Module:
    """Parse a Python file of the authors."""
    try:
        content = path.read_bytes()
        if len(content) > _LARGEST:
            raise ValueError(f"more than {_LARGEST:,} bytes")
        return ast.parse(content)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"{path}: expected a Python file of the authors, got {error}. Fetch it again.") from error


def wording(path: Path, language: str) -> Wording:
    """Read what the authors tell a model, from their `image_vqa.py`."""
    functions = [
        function
        for node in parse(path).body
        if isinstance(node, ast.ClassDef) and node.name == _CLASSES[language]
        for function in node.body
        if isinstance(function, ast.FunctionDef) and function.name == "build_prompt"
    ]
    pieces = list(_pieces(functions[0].body)) if functions else []
    requirements = next((text for kind, text in pieces if kind == "table"), {})
    pieces = [piece for piece in pieces if piece[0] != "table"]
    if [kind for kind, _ in pieces] != _ORDER or not isinstance(requirements, dict):
        raise DataError(
            f"{path}: expected {_CLASSES[language]}.build_prompt to join role, question, requirements and background, "
            f"got {', '.join(kind for kind, _ in pieces) or 'nothing'}. Take the file of the pinned commit."
        )
    role, question, before_requirements, background = (str(text) for kind, text in pieces if kind == "text")
    return Wording(
        name="upstream",
        before_question=role + question,
        before_requirements=before_requirements,
        requirements=requirements,
        between="",
        before_background=background,
    )


def _pieces(statements: Sequence[ast.stmt]) -> Iterator[tuple[str, object]]:
    """Yield what is added to the prompt, in the order of the file, and the table of requirements."""
    for statement in statements:
        if isinstance(statement, ast.If):
            yield from _pieces(statement.body)
            continue
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        value = getattr(statement, "value", None)
        name = target.id if isinstance(target, ast.Name) else ""
        if name == "format_prompt" and isinstance(value, ast.Dict):
            yield "table", ast.literal_eval(value)
        elif name == "prompt" and isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield "text", value.value
        elif name == "prompt" and isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Constant):
            yield str(value.slice.value), None
        elif name == "prompt":
            yield "requirements", None
