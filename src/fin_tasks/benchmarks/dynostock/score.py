"""DynoStock's scorer under the names that every benchmark offers."""

from fin_tasks.benchmarks.dynostock.doc_scores import score_response as read
from fin_tasks.benchmarks.dynostock.metrics import metric_values, metrics_of

__all__ = ["metric_values", "metrics_of", "read"]
