"""Averages, confidence intervals and paired comparisons."""
