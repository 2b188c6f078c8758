"""MME-Finance: bilingual questions about charts, tables and documents, graded by a judge that sees the picture."""

from pathlib import PureWindowsPath

from ..contract import Benchmark, Document, Published


def picture_of(doc: Document) -> str:
    """Return the file name of a question's picture, which several questions may share."""
    path = str(doc.get("image_path") or "")
    return PureWindowsPath(path).name  # knows both kinds of slashes


BENCHMARK = Benchmark(
    name="mme_finance",
    title="MME-Finance",
    description=(
        "Questions about pictures of financial charts and documents, graded by a judge model."
    ),
    version=4,
    package=__name__,
    truth_fields=("answer",),
    order=1,
    headlines=("score", "acc"),
    source_of=picture_of,
    breakdowns={
        "category": "Category of question",
        "image_type": "Kind of picture",
        "image_style": "How the picture was taken",
    },
    group_breakdowns=("image_type", "image_style"),
    overview_tasks=("mme_finance_en", "mme_finance_zh"),
    part_labels={"": "English and Chinese", "en": "English", "zh": "Chinese"},
    hub_files=(
        "MMfin.tsv",
        "MMfin.zip",
        "MMfin_CN.tsv",
        "MMfin_CN.zip",
        "MMfin_*.tsv",  # questions of yes or no, and conversations
        "MMfin_*.zip",
    ),
    published=Published(
        titles={"arXiv:2411.03314v1": "MME-Finance, arXiv:2411.03314v1"}, scale=1
    ),
)
VERSION = BENCHMARK.version
