"""Score a submission again with the benchmark's own data and scorers, and compare."""
