"""The benchmarks, a folder each, and those that other packages register.

A package registers a benchmark under the entry-point group `fin_tasks.benchmarks`; the value names
its `Benchmark` object, such as `my_package.my_benchmark:BENCHMARK`.
"""

from .contract import GROUP, all_benchmarks, benchmark_named, benchmark_of, task_folders

__all__ = ["GROUP", "all_benchmarks", "benchmark_named", "benchmark_of", "task_folders"]
