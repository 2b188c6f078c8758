"""Score what others submitted again, with the benchmark's own data and scorers, and compare."""
