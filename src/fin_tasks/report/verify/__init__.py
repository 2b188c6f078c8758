"""Checks of results that others hand in: every number is worked out again from the responses."""
