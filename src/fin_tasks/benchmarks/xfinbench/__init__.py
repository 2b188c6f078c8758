"""XFinBench: graduate-level finance questions."""

from ..contract import Benchmark, Published
from .sources import source_of

_PARTS = ("bool", "calc", "mcq", "mcq_visual")

BENCHMARK = Benchmark(
    name="xfinbench",
    title="XFinBench",
    description="Exam questions from graduate textbooks of finance.",
    version=5,
    package=__name__,
    truth_fields=("ground_truth",),
    order=0,
    source_of=source_of,
    breakdowns={"capability": "Capability", "math_types": "Mathematical type"},
    breakdown_fields={"capability": "capabilities"},
    group_breakdowns=("capability",),
    group_fallbacks={"acc_err": "acc"},  # statements and choices have no margin
    overview_tasks=("xfinbench_text", "xfinbench_mcq_visual"),
    replay_tasks={
        "cot": [f"xfinbench_{part}" for part in _PARTS],
        "da": [f"xfinbench_{part}_da" for part in _PARTS],
        "pot": ["xfinbench_calc_pot"],
    },
    part_labels={
        "": "all questions",
        "text": "all text questions",
        "bool": "true or false",
        "mcq": "multiple choice",
        "mcq_visual": "multiple choice with figures",
        "calc": "calculations",
    },
    usual_conditions={"retrieval": "none"},
    answer_labels={"xfinbench_bool": {"0": "false", "1": "true"}},
    published=Published(
        titles={"acl": "XFinBench, ACL version", "long": "XFinBench, long version"}
    ),
)
VERSION = BENCHMARK.version
