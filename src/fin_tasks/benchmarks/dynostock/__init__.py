"""DynoStock and the Behavioral Bias Index: stock forecasts under recency and authority bias."""

from ..contract import Benchmark, Document, Published


def ticker_of(doc: Document) -> str:
    """Name the stock of a window, of which there are several windows."""
    return str(doc.get("ticker") or "")


BENCHMARK = Benchmark(
    name="dynostock",
    title="DynoStock",
    description=(
        "Which way a stock moves after an earnings report, "
        "and whether recent or authoritative news misleads the model."
    ),
    version=5,
    package=__name__,
    order=2,
    source_of=ticker_of,
    breakdowns={"arm": "Arm", "window": "Window", "ticker": "Stock"},
    sized_tasks=r"(?P<family>recency|authority)(?:_w(?P<size>\d+))?",
    overview_tasks=("dynostock_recency", "dynostock_authority"),
    overview_metrics=("bias_index", "acc"),
    answer_labels={"dynostock": {"0": "falls", "1": "rises"}},
    published=Published(
        titles={
            "paper": "Behavioral Bias of Vision-Language Models: A Behavioral Finance View",
            "repository": (
                "github.com/mydcxiao/vlm_behavioral_fin, counts beside the recordings"
            ),
        }
    ),
)
VERSION = BENCHMARK.version
