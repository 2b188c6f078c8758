"""What a formula is tried on: made-up arguments, the same in every run."""

import ast
import random
import re
from dataclasses import dataclass
from typing import Any, Literal

__all__ = ["CALLS", "Call", "calls_for"]

CALLS = 8
"""Calls with each shape of arguments."""

_SEED = 20240308
_LENGTH = 4
_EXTRA = 3
"""Values that `*args` gets."""

Shape = Literal["share", "count", "amount", "list", "flag", "text"]
"""What a parameter takes; `text` is its default, as no text can be made up."""

_LISTS = re.compile(
    r"(?:^|_)(?:list|array|series|vector|values|cash_?flows|flows|payments|dividends|prices|returns|weights|amounts"
    r"|data|probabilities|forecasts|rates|yields)(?:_|$)"
)
_SHARES = re.compile(
    r"(?:^|_)(?:r|g|i|rate|yield|growth|margin|percent(?:age)?|pct|prob(?:ability)?|discount|return|volatility|sigma"
    r"|wacc|inflation|weight|tax|coupon_rate|alpha|beta|correlation)(?:_|$)"
)
_COUNTS = re.compile(
    r"(?:^|_)(?:n|m|t|k|num|number|periods?|years?|months?|days?|weeks?|quarters?|times|count|frequency|compounds?|term)(?:_|$)"
)
_LIST_TYPES = re.compile(r"list|sequence|iterable|tuple|array|series", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Call:
    """Arguments of one call.

    Attributes:
        positional: By place, so that a function written anew may name its parameters as it likes.
        named: Those that can only be given by name.
    """

    positional: tuple[Any, ...]
    named: tuple[tuple[str, Any], ...]


def calls_for(args: ast.arguments, name: str) -> tuple[tuple[Call, ...], ...]:
    """Choose arguments for a function.

    What a parameter takes is told by its default, its annotation, and its name: amounts from 10 to 1,000, shares from
    0.01 to 0.3, whole numbers from 2 to 9, lists of four. As a name may mislead, calls come in several shapes, the
    likeliest first; whoever runs them keeps the shape on which the reference works.

    Args:
        args: The parameters.
        name: The function's name; with a fixed seed it decides the values.

    Returns:
        Shapes of `CALLS` calls each; one or more.

    Example:
        >>> import ast
        >>> tree = ast.parse("def future_value(amount, rate, years): pass")
        >>> calls_for(tree.body[0].args, "future_value")[0][0].positional
        (200.29, 0.0489, 5)
    """
    likely = {arg.arg: _shape(arg, default) for arg, default in _parameters(args)}
    plural: dict[str, Shape] = {
        key: "list" if shape == "amount" and key.endswith("s") else shape for key, shape in likely.items()
    }
    single: dict[str, Shape] = {key: "amount" if shape == "list" else shape for key, shape in likely.items()}
    shapes: list[dict[str, Shape]] = []
    for shape_of in (likely, plural, single):
        if shape_of not in shapes:
            shapes.append(shape_of)
    return tuple(_calls(args, shape, f"{_SEED}:{name}:{place}") for place, shape in enumerate(shapes))


def _parameters(args: ast.arguments) -> list[tuple[ast.arg, ast.expr | None]]:
    positional = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(positional) - len(args.defaults)) + list(args.defaults)
    return [*zip(positional, defaults, strict=True), *zip(args.kwonlyargs, args.kw_defaults, strict=True)]


def _shape(arg: ast.arg, default: ast.expr | None) -> Shape:
    annotation = ast.unparse(arg.annotation) if arg.annotation is not None else ""
    name = arg.arg.lower()
    given = default.value if isinstance(default, ast.Constant) else None
    if isinstance(given, str):
        return "text"
    if annotation == "bool" or isinstance(given, bool):
        return "flag"
    if _LIST_TYPES.search(annotation) or isinstance(default, ast.List | ast.Tuple):
        return "list"
    if annotation == "int" or isinstance(given, int):
        return "count"
    if not annotation and given is None and _LISTS.search(name):
        return "list"
    # shares before counts: `growth_rate_per_year` is a share
    if _SHARES.search(name) or (isinstance(given, float) and 0 < given < 1):
        return "share"
    return "count" if annotation != "float" and _COUNTS.search(name) else "amount"


def _calls(args: ast.arguments, shapes: dict[str, Shape], seed: str) -> tuple[Call, ...]:
    draw = random.Random(seed)  # noqa: S311 - made-up numbers, the same in every run
    keyword_only = {arg.arg for arg in args.kwonlyargs}
    texts = {arg.arg: default.value for arg, default in _parameters(args) if isinstance(default, ast.Constant)}
    calls = []
    for _ in range(CALLS):
        values = {key: texts[key] if shape == "text" else _value(shape, draw) for key, shape in shapes.items()}
        extra = tuple(_value("amount", draw) for _ in range(_EXTRA)) if args.vararg else ()
        calls.append(
            Call(
                positional=tuple(value for key, value in values.items() if key not in keyword_only) + extra,
                named=tuple((key, value) for key, value in values.items() if key in keyword_only),
            )
        )
    return tuple(calls)


def _value(shape: Shape, draw: random.Random) -> Any:
    if shape == "list":
        return [_value("amount", draw) for _ in range(_LENGTH)]
    if shape == "count":
        return draw.randint(2, 9)
    if shape == "flag":
        return draw.random() < 0.5
    return round(draw.uniform(0.01, 0.3), 4) if shape == "share" else round(draw.uniform(10.0, 1000.0), 2)
