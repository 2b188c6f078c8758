"""Finance benchmarks as plug-in tasks for lm-evaluation-harness."""

__version__ = "0.1.0"

__all__ = ["__version__"]
