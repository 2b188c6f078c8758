"""The old name of `answers.paper`, until its callers are rebuilt."""

from fin_tasks.answers.paper import MARKER, marked_letter, marked_number, marked_verdict, near_marked

__all__ = ["MARKER", "marked_letter", "marked_number", "marked_verdict", "near_marked"]
