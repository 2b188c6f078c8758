"""Finance benchmarks as plug-in tasks for lm-evaluation-harness."""

__version__ = "0.2.0"

__all__ = ["__version__"]
