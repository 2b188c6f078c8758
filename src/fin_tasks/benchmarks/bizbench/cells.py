"""Single cells of BizBench's files: texts, lists of options, names of parts."""

import ast
import io
import json
import math
import re
import tokenize
from collections.abc import Mapping, Sequence
from typing import Any

from fin_tasks.benchmarks.bizbench.row import PARTS, Part

__all__ = ["is_text", "options_of", "part_of", "text_of"]

_LAYOUT = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)

_OTHER_NAMES: Mapping[str, Part] = {
    "convfinqa": "convfinqa_e",
    "convfinqaextract": "convfinqa_e",
    "convfinqaextraction": "convfinqa_e",
    "tatqa": "tatqa_e",
    "tatqaextract": "tatqa_e",
    "tatqaextraction": "tatqa_e",
    "financecode": "fincode",
    "financialcode": "fincode",
    "financeknowledge": "finknow",
    "financialknowledge": "finknow",
    "formulaevaluation": "formulaeval",
    "secnumber": "secnum",
    "secnumeric": "secnum",
}
_NAMES: Mapping[str, Part] = {re.sub(r"[\W_]", "", key): key for key in PARTS} | dict(_OTHER_NAMES)


def part_of(task: str) -> Part | None:
    """Read the name of a part; case, blanks, hyphens, brackets and a benchmark's name before it do not matter.

    Example:
        >>> part_of("TAT-QA (E)"), part_of("CodeTATQA"), part_of("SEC NUM"), part_of("SQuAD")
        ('tatqa_e', 'codetatqa', 'secnum', None)
    """
    return _NAMES.get(re.sub(r"[\W_]", "", task).lower().removeprefix("bizbench"))


def is_text(cell: Any) -> bool:
    """Say whether a cell is what a text column may hold: text, a number, or nothing."""
    return cell is None or isinstance(cell, (str, bytes, int, float))


def text_of(cell: Any) -> str:
    """Return a cell as text: nothing for None and NaN, a whole float without its `.0`, anything unexpected as JSON.

    Example:
        >>> text_of(None), text_of(float("nan")), text_of(12.0), text_of(0.05), text_of("a")
        ('', '', '12', '0.05', 'a')
    """
    if isinstance(cell, str):
        return cell
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, bytes):
        return cell.decode("utf-8", errors="replace")
    if isinstance(cell, (list, dict)):
        return json.dumps(cell, ensure_ascii=False, default=str)
    return str(cell)


def options_of(cell: Any) -> tuple[str, ...] | None:
    r"""Read a cell of options.

    Parquet and JSON hold a list. In a text cell, as CSV has it, a JSON list, Python's way to write one, and numpy's,
    which has no commas, are all read.

    Returns:
        The texts; empty where there are none, None where the cell cannot be read.

    Example:
        >>> options_of(["up", "down"]), options_of('["up", "down"]'), options_of("['up'\n 'down']"), options_of("?")
        (('up', 'down'), ('up', 'down'), ('up', 'down'), None)
    """
    if isinstance(cell, (list, tuple)):
        return tuple(text_of(item) for item in cell)
    text = text_of(cell).strip()
    if text in ("", "[]", "None", "null", "nan"):
        return ()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        listed = json.loads(text)
    except ValueError:
        listed = _literals(text)
    return None if listed is None else tuple(text_of(item) for item in listed)


def _literals(text: str) -> Sequence[Any] | None:
    """Read what is between brackets one by one: `ast` alone would glue strings without a comma together."""
    items: list[Any] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in (tokenize.STRING, tokenize.NUMBER):
                items.append(ast.literal_eval(token.string))
            elif token.type not in _LAYOUT and token.string not in ("[", "]", ","):
                return None
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    return items
