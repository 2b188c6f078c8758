"""The names of XFinBench's parts."""

from collections.abc import Mapping
from typing import Literal

Task = Literal["bool", "mcq", "calcu"]
"""The file's column `task`."""
Subset = Literal["bool", "mcq", "mcq_visual", "calc"]
"""What a task of lm-eval asks."""
Mode = Literal["cot", "da", "pot"]
"""How the model answers: it reasons, answers directly, or writes a program."""

TASKS: Mapping[str, Task] = {
    "bool": "bool",
    "mcq": "mcq",
    "mcq_visual": "mcq",
    "calc": "calcu",
}
"""The file's word for each subset."""
CAPABILITIES = ("TU", "TR", "FF", "SP", "NM")
"""Terminology understanding, temporal reasoning, future forecasting, scenario planning, numerical modelling."""
