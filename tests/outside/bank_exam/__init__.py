from pathlib import Path

from fin_tasks.benchmarks.contract import Benchmark

BENCHMARK = Benchmark(
    name="bank_exam",
    title="Bank exam",
    description="Questions about loans and payments, written by the bank.",
    version=1,
    package=__name__,
    task_folder=Path(__file__).parent,
    breakdowns={"topic": "Topic"},
    has_house_rules=True,
    is_private=True,
)
