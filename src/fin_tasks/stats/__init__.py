"""Intervals and paired comparisons."""
