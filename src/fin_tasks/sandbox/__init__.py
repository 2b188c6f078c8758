"""Runs programs that models wrote, without trusting them."""

from fin_tasks.sandbox.outcome import Outcome, Ran, Status, escape
from fin_tasks.sandbox.runner import Runner, describe_tiers, open_runner, run_programs

__all__ = ["Outcome", "Ran", "Runner", "Status", "describe_tiers", "escape", "open_runner", "run_programs"]
