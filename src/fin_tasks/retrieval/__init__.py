"""Finds the entries of a text collection that help with a question."""
