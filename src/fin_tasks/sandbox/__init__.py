"""Run programs that models wrote, without trusting them."""

from .process import REASONS, Outcome, Ran, Status
from .runner import (
    Runner,
    describe_tiers,
    open_runner,
    run_programs,
    shared_runner,
    time_for_programs,
)

__all__ = [
    "REASONS",
    "Outcome",
    "Ran",
    "Runner",
    "Status",
    "describe_tiers",
    "open_runner",
    "run_programs",
    "shared_runner",
    "time_for_programs",
]
