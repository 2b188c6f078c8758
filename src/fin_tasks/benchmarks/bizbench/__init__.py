"""BizBench: quantitative reasoning about business documents, in eight parts."""

VERSION = 4
"""The version of all its tasks: a change that moves any score raises it."""
