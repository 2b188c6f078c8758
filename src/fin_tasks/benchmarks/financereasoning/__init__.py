"""FinanceReasoning: calculations with expert programs, in three levels of difficulty."""

from ..contract import Benchmark

_TASKS = ("financereasoning_easy", "financereasoning_medium", "financereasoning_hard")

BENCHMARK = Benchmark(
    name="financereasoning",
    title="FinanceReasoning",
    description="Calculations in finance, in three levels of difficulty.",
    version=2,
    package=__name__,
    truth_fields=("ground_truth",),
    order=3,
    breakdowns={"level": "Level", "origin": "Data set of the question"},
    group_breakdowns=("level", "origin"),
    overview_tasks=("financereasoning", "financereasoning_pot"),
    replay_tasks={"cot": _TASKS, "pot": [f"{task}_pot" for task in _TASKS]},
    part_labels={"": "all levels", "easy": "easy", "medium": "medium", "hard": "hard"},
)
VERSION = BENCHMARK.version
