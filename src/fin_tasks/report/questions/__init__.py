"""Questions measured by the runs that asked them, and benchmarks described without runs."""
