"""The authors' own texts, read from two files of their repository; the files are parsed, never executed."""

import ast
from pathlib import Path
from typing import Any

from fin_tasks.benchmarks.mme_finance.prompts import Wording
from fin_tasks.data.fetch import locate
from fin_tasks.data.source_text import follow
from fin_tasks.errors import DataError
from fin_tasks.settings import Settings

_LARGEST = 1 << 20  # bytes
_CLASSES = {"en": "MMfin", "zh": "MMfin_CN"}
_QUESTION, _BACKGROUND = "\0question\0", "\0background\0"  # stand for the texts of a row


def authors_file(name: str, *, source: str = "auto", data_dir: str | None = None) -> Path:
    """Find or download `image_vqa.py` (the model's prompts) or `mmfin.py` (the judge's prompts)."""
    below = {"image_vqa.py": "vlmeval/dataset", "mmfin.py": "vlmeval/dataset/utils"}[name]
    settings, source = Settings.from_environ(), "auto" if source == "sample" else source
    names = f"{below}/{name}|{name}|upstream/{name}|mme_finance/upstream/{name}"
    found = locate("mme_finance_texts", [names], source=source, data_dir=data_dir, settings=settings)
    return found.files[name]


def function(path: Path, name: str) -> ast.FunctionDef:
    """Return a function of an authors' file, or a method by `Class.method`."""
    try:
        content = path.read_bytes()
        if len(content) > _LARGEST:
            raise ValueError(f"more than {_LARGEST:,} bytes")
        nodes = ast.parse(content).body
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise DataError(f"{path}: expected a Python file of the authors, got {error}. Fetch it again.") from error
    for part in name.split("."):
        found = [node for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == part]
        nodes = found[0].body if found else []
    if not found or not isinstance(found[0], ast.FunctionDef):
        raise DataError(f"{path}: expected the function {name}, found none. Take the file of the pinned commit.")
    return found[0]


def wording(path: Path, language: str) -> Wording:
    """Read the model's prompt from the authors' `image_vqa.py`."""
    name = f"{_CLASSES[language]}.build_prompt"
    known: dict[str, Any] = {
        "isinstance()": False,
        "not pd.isna(line['background'])": True,
        "line['question']": _QUESTION,
        "line['task_category']": "OCR",
        "line['background']": _BACKGROUND,
    }
    follow(function(path, name).body, known)
    try:
        requirements = known["format_prompt"]
        before_question, rest = known["prompt"].split(_QUESTION)
        before_requirements, rest = rest.split(requirements["OCR"])
        before_background, _ = rest.split(_BACKGROUND)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(
            f"{path}: expected {name} to join role, question, requirements and background, "
            f"got {known.get('prompt')!r:.200}. Take the file of the pinned commit."
        ) from error
    return Wording("upstream", before_question, before_requirements, requirements, "", before_background)
