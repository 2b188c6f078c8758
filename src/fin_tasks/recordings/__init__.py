"""What real models answered, as authors of benchmarks published it, scored as ordinary runs."""

MODEL_PREFIX = "recorded/"
"""Before the name of a recorded model, so that no run of one's own is taken for it."""
