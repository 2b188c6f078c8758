"""What real models answered, as authors of benchmarks published it, scored as ordinary runs."""
