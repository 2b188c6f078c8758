"""DynoStock and the Behavioral Bias Index: stock forecasts under recency and authority bias."""

VERSION = 3
"""The version of all its tasks: a change that moves any score raises it."""
