"""Where the benchmarks' files come from and how their rows are checked."""
