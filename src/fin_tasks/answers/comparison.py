"""The old name of `answers.compare`, until its callers are rebuilt."""

from fin_tasks.answers.compare import TOLERANCE, equal_reading, near_reading

__all__ = ["TOLERANCE", "equal_reading", "near_reading"]
