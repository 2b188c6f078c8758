"""Readers of what models write: numbers, choices and verdicts."""
