"""Make questions like XFinBench's out of exercises with solutions; `docs/own_benchmark.md` explains how."""
