"""FinanceMath: knowledge-intensive calculation questions."""

from ..contract import Benchmark

BENCHMARK = Benchmark(
    name="financemath",
    title="FinanceMath",
    description="Calculations that need knowledge of finance.",
    version=5,
    package=__name__,
    truth_fields=("exact_truth", "ground_truth"),
    order=3,
    breakdowns={"topic": "Topic"},
    overview_tasks=("financemath",),
    replay_tasks={"cot": ("financemath",), "pot": ("financemath_pot",)},
    usual_split="validation",
)
VERSION = BENCHMARK.version
