"""Prices and earnings reports: where they come from, and the two tables they become."""
