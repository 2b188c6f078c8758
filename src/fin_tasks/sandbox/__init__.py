"""Runs programs that models wrote, without trusting them."""

from fin_tasks.sandbox.client import Runner, TierReport, describe_tiers, open_runner
from fin_tasks.sandbox.outcome import Outcome, Ran, Status, escape

__all__ = ["Outcome", "Ran", "Runner", "Status", "TierReport", "describe_tiers", "escape", "open_runner"]
