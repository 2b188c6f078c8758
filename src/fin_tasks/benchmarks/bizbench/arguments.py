"""Make up arguments for the functions of FormulaEval, by the names and types of their parameters."""

import ast
import random
import re
from collections.abc import Mapping

Argument = float | list[float]

CALLS_BY_KINDS = 8
"""Calls with each choice of kinds of arguments."""

_SEED = "20240308"
# A parameter with one of these words in its name or type takes this kind; others take an amount.
_WORDS_BY_KIND: Mapping[str, str] = {
    "list": (
        "list series values flows payments dividends prices returns weights amounts "
        "probabilities rates yields"
    ),
    "share": (
        "r g i rate yield growth margin percent percentage pct prob probability discount return "
        "volatility sigma wacc inflation weight tax alpha beta correlation"
    ),
    "count": (
        "int n m t k num number period periods year years month months day days weeks quarters "
        "times count term"
    ),
}
# Names mislead: `dividends` may be a list or one number. So there are calls with the likely kinds,
# with lists in place of amounts, and with amounts in place of lists.
_REPLACED_KINDS: tuple[Mapping[str, str], ...] = (
    {},
    {"amount": "list"},
    {"list": "amount"},
)


def calls_of(stub: ast.FunctionDef) -> list[list[Argument]]:
    """Return the arguments of all calls, the same in every run."""
    likely_kinds = _likely_kinds(stub)
    choices: list[list[str]] = []
    for replaced in _REPLACED_KINDS:
        kinds = [replaced.get(kind, kind) for kind in likely_kinds]
        if kinds not in choices:
            choices.append(kinds)
    calls = []
    for index, kinds in enumerate(choices):
        source = random.Random(f"{_SEED}:{stub.name}:{index}")  # noqa: S311 - nothing is secret
        for _ in range(CALLS_BY_KINDS):
            calls.append([_draw(kind, source) for kind in kinds])
    return calls


def _likely_kinds(stub: ast.FunctionDef) -> list[str]:
    parameters = [*stub.args.posonlyargs, *stub.args.args]
    defaults = dict(
        zip(reversed(parameters), reversed(stub.args.defaults), strict=False)
    )
    kinds = []
    for parameter in parameters:
        default = getattr(defaults.get(parameter), "value", None)
        if isinstance(default, str):
            break  # no text can be made up, so this and all later parameters keep their defaults
        description = f"{ast.unparse(parameter)} {type(default).__name__}"
        words = re.findall("[a-z]+", description.lower())
        kinds.append(_kind_of(words))
    return kinds


def _kind_of(words: list[str]) -> str:
    for kind, typical_words in _WORDS_BY_KIND.items():
        if not set(typical_words.split()).isdisjoint(words):
            return kind
    return "amount"


def _draw(kind: str, source: random.Random) -> Argument:
    if kind == "list":
        return [round(source.uniform(10.0, 1000.0), 2) for _ in range(4)]
    if kind == "share":
        return round(source.uniform(0.01, 0.3), 4)
    if kind == "count":
        return source.randint(2, 9)
    return round(source.uniform(10.0, 1000.0), 2)
