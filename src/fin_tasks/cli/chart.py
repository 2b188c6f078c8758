"""`fin-tasks chart`: draw one chart for a person to look at."""

__all__ = ["chart"]


def chart() -> None:
    """Draw a ticker's candlestick chart with its earnings reports."""
