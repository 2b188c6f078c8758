"""FinanceMath: knowledge-intensive calculation questions."""

VERSION = 4
"""The version of all its tasks: a change that moves any score raises it."""
