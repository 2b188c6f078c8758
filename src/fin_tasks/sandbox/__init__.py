"""Run programs that models wrote, without trusting them."""

from .outcome import (
    REASONS,
    Outcome,
    Ran,
    Status,
    execution_rate,
    failure_shares,
)
from .runner import Runner, describe_tiers, open_runner
from .shared import run_programs, shared_runner

__all__ = [
    "REASONS",
    "Outcome",
    "Ran",
    "Runner",
    "Status",
    "describe_tiers",
    "execution_rate",
    "failure_shares",
    "open_runner",
    "run_programs",
    "shared_runner",
]
