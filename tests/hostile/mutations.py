"""Small generators of hostile files: valid JSON in which some values are replaced by others."""

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

ODD = (
    None,
    True,
    -1,
    10**400,
    float("nan"),
    float("inf"),
    "",
    "\ud800",
    "=1+1",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "\x1b[2J",
    "[{",
    "{}",
    [],
    {},
    [[[[[]]]]],
    {"a": {"b": []}},
    ["x"] * 50,
)
"""Values that a stranger may write in place of any other."""


def places_of(value: Any, start: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths of all values in a JSON value."""
    places = [start]
    pairs: Any = ()
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, list):
        pairs = enumerate(value)
    for key, inner in pairs:
        places += places_of(inner, (*start, key))
    return places


def mutate(value: Any, data: st.DataObject, most: int = 3) -> None:
    """Replace or delete some values within a JSON object, in place."""
    for _ in range(data.draw(st.integers(1, most))):
        place = data.draw(st.sampled_from(places_of(value)[1:]))
        parent = value
        for key in place[:-1]:
            parent = parent[key]
        odd = data.draw(st.sampled_from((*ODD, "delete")))
        if odd == "delete":
            del parent[place[-1]]
        else:
            parent[place[-1]] = deepcopy(odd)
        if len(places_of(value)) < 2:
            return
