"""Run programs that models wrote, without trusting them."""

from .outcome import (
    REASONS,
    Outcome,
    Ran,
    Status,
    escape,
    execution_rate,
    failure_shares,
)
from .runner import Runner, describe_tiers, open_runner, run_programs

__all__ = [
    "REASONS",
    "Outcome",
    "Ran",
    "Runner",
    "Status",
    "describe_tiers",
    "escape",
    "execution_rate",
    "failure_shares",
    "open_runner",
    "run_programs",
]
