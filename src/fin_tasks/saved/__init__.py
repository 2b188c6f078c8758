"""Responses that people and harnesses saved: one reader of files, one way to score them, and one writer of runs."""
