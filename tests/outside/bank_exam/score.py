from fin_tasks.benchmarks.target_score import compare, metric_values, metrics_of, read

__all__ = ["compare", "metric_values", "metrics_of", "read"]
