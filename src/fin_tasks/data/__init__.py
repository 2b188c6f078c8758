"""Find, check and read the benchmarks' files."""
