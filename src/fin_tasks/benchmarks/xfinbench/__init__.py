"""XFinBench: graduate-level finance questions."""
