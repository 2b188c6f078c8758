"""BizBench: quantitative reasoning about business documents, in eight parts."""

from ..contract import Benchmark
from .sources import source_of

BENCHMARK = Benchmark(
    name="bizbench",
    title="BizBench",
    description="Quantitative questions about business and finance.",
    version=4,
    package=__name__,
    order=4,
    source_of=source_of,
    breakdowns={"part": "Part"},
    overview_tasks=("bizbench",),
    part_labels={
        "": "all parts",
        "paper_choice": "paper's choices",
        "paper_quantity": "paper's quantities",
    },
    hub_files=("data/test-*.parquet|*test*.parquet|test.jsonl",),
)
VERSION = BENCHMARK.version
