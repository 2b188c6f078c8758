"""DynoStock and the Behavioral Bias Index: stock forecasts under recency and authority bias."""

from collections.abc import Mapping

from ..contract import Benchmark, Document, Published


def ticker_of(doc: Document) -> str:
    """Name the stock of a window, of which there are several windows."""
    return str(doc.get("ticker") or "")


_FORECASTS = ("dynostock_recency", "dynostock_authority", "dynostock_statement")

BENCHMARK = Benchmark(
    name="dynostock",
    title="DynoStock",
    description=(
        "Forecasts of stocks after earnings reports, and how far a statement "
        "(the latest event, or the word of a well-known figure) leads them astray."
    ),
    version=5,
    package=__name__,
    truth_fields=("truth",),
    order=2,
    source_of=ticker_of,
    breakdowns={
        "arm": "Statement (arm)",
        "window": "Reports shown",
        "ticker": "Stock",
        "category": "Category of question",
    },
    part_labels={
        "recency": "latest event (recency)",
        "authority": "well-known figure (authority)",
    },
    sized_tasks=r"(?P<family>recency|authority)(?:_w(?P<size>\d+))?",
    overview_tasks=("dynostock_recency", "dynostock_authority"),
    overview_metrics=("bias_index", "acc"),
    answer_labels={task: {"0": "falls", "1": "rises"} for task in _FORECASTS},
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

_TOKENS = 512
"""New tokens that the authors allow a model."""
SAMPLINGS: Mapping[str, Mapping[str, float | bool]] = {
    "paper": {"max_gen_toks": _TOKENS},
    "paper_mini_gemini": {
        "max_gen_toks": _TOKENS,
        "do_sample": True,
        "temperature": 0.2,
    },
    "paper_minicpm": {"max_gen_toks": _TOKENS, "do_sample": True, "temperature": 0.7},
    "paper_api": {"max_gen_toks": _TOKENS, "do_sample": True, "temperature": 1.0},
    "paper_claude": {"max_gen_toks": 1024, "do_sample": True, "temperature": 1.0},
}
"""What the authors set for each family of models; for APIs nothing, so their usual temperature, which is 1."""
