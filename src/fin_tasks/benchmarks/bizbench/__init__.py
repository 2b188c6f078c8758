"""BizBench: quantitative reasoning about business documents, in eight parts."""

import hashlib

from ..contract import Benchmark, Document

_DOCUMENT = "Document:\n"
_QUESTIONS = ("\n\nQuestion: ", "\n\nFinish this Python function:\n\n")


def source_of(doc: Document) -> str:
    """Return a short hash of the document in the prompt; empty without a document."""
    prompt = str(doc.get("prompt"))
    end = max(prompt.rfind(question) for question in _QUESTIONS)
    if not prompt.startswith(_DOCUMENT) or end <= 0:
        return ""
    document = prompt[:end].encode("utf-8", "replace")
    return hashlib.sha256(document).hexdigest()[:16]


BENCHMARK = Benchmark(
    name="bizbench",
    title="BizBench",
    description="Quantitative questions about business and finance.",
    version=5,
    package=__name__,
    truth_fields=("letter", "ground_truth"),
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
