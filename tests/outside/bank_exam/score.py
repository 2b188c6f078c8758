from fin_tasks.benchmarks.target_score import (
    compare,
    metric_values,
    process_results,
    read,
)

__all__ = ["compare", "metric_values", "process_results", "read"]
