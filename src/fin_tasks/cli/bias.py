"""`fin-tasks report-bias`: what the biased statement did to the answers."""

__all__ = ["report_bias"]


def report_bias() -> None:
    """Pair the arms of an experiment and give the effect of the biased statement."""
