"""Which tables a report has: the papers' shapes, column by column."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from fin_tasks.benchmarks.financemath.score import TOPICS
from fin_tasks.benchmarks.mme_finance.score import CATEGORIES, IMAGE_STYLES, IMAGE_TYPES
from fin_tasks.benchmarks.xfinbench.score import CAPABILITIES
from fin_tasks.report.tables import Column, Document, Table, Task, arrange, only, over_windows, pooled
from fin_tasks.report.variants import split_title

__all__ = ["PAPER_TABLES", "PaperTables", "Shapes", "make"]

_TEXT_PARTS = frozenset({"xfinbench_bool", "xfinbench_mcq", "xfinbench_calc"})
_TEXT = "xfinbench_text"


@dataclass(frozen=True)
class PaperTables:
    """A file of tables.

    Attributes:
        title: Of the file.
        about: What its columns are, in a paragraph.
        columns: Of each table.
        section: As of `tables.arrange`.
    """

    title: str
    about: str
    columns: Sequence[Column]
    section: Callable[[Task], str | None]


Shapes = Mapping[str, tuple[PaperTables, Sequence[Table]]]
"""Tables by the stem of their file."""


def make(document: Document) -> Shapes:
    """Make all tables that have a number, by the stem of their file."""
    found = {
        name: (shape, arrange(document, columns=shape.columns, section=shape.section))
        for name, shape in PAPER_TABLES.items()
    }
    return {name: (shape, tables) for name, (shape, tables) in found.items() if tables}


def _of(task: str, metric: str, *, header: str, mode: str = "") -> Column:
    def takes(one: Task, name: str) -> bool:
        return one["task"] == task and name == metric and (one["mode"] == "pot") == (mode == "pot")

    return Column(header=header, takes=takes, combine=only)


def _pooled(metric: str, *, header: str) -> Column:
    def takes(one: Task, name: str) -> bool:
        return name == metric and one["mode"] != "pot" and one["task"] in {*_TEXT_PARTS, _TEXT}

    return Column(header=header, takes=takes, combine=pooled(parts=_TEXT_PARTS, whole=_TEXT))


def _within_margin(code: str) -> Column:
    """Show a capability with calculation within the margin; statements and choices know none and are right or not."""
    metrics = {_TEXT: f"acc_err_{code}", "xfinbench_calc": f"acc_err_{code}"}

    def takes(one: Task, name: str) -> bool:
        known = one["task"] in {*_TEXT_PARTS, _TEXT} and one["mode"] != "pot"
        return known and name == metrics.get(one["task"], f"acc_{code}")

    return Column(header=code, takes=takes, combine=pooled(parts=_TEXT_PARTS, whole=_TEXT))


def _any_mode(task: str, *, header: str) -> Column:
    return Column(header=header, takes=lambda one, name: one["task"] == task and name == "acc", combine=only)


def _metric(metric: str, *, header: str) -> Column:
    return Column(header=header, takes=lambda _, name: name == metric, combine=only)


def _said(task: Task, *names: str) -> str:
    """Name the circumstances of a table, such as `test split, bm25, scored as the authors do`."""
    said = [split_title(task["split"]) if name == "split" else task[name] for name in names]
    said = [text for text in said if text and text != "none"]
    return ", ".join([*said, "scored as the authors do" if task["variant"] == "paper" else "scored robustly"])


def _xfinbench(task: Task) -> str | None:
    if task["benchmark"] != "xfinbench":
        return None
    asked = "" if task["mode"] in ("", "cot", "pot") else f"{task['mode']}, "
    return f"{asked}{_said(task, 'split', 'style', 'retrieval')}"


def _mme_finance(task: Task) -> str | None:
    if task["benchmark"] != "mme_finance" or task["task"] == "mme_finance":  # which is both languages together
        return None
    rest = task["task"].removeprefix("mme_finance").strip("_").split("_")
    language = {"en": "English", "zh": "Chinese"}.get(rest[0], rest[0])
    everywhere = ", “Not Applicable” allowed everywhere" if "na" in rest[1:] else ""
    return f"{language}{everywhere}, {_said(task, 'split', 'mode', 'style', 'arm')}"


def _dynostock(task: Task) -> str | None:
    return _said(task, "mode", "style", "arm", "split") if task["benchmark"] == "dynostock" and task["bias"] else None


def _plain(benchmark: str) -> Callable[[Task], str | None]:
    return lambda task: _said(task, "split", "style", "retrieval") if task["benchmark"] == benchmark else None


def _bias(bias: str, metric: str, *, header: str, higher_is_better: bool) -> Column:
    def takes(one: Task, name: str) -> bool:
        return one["bias"] == bias and name in (metric, f"{metric}_std")

    return Column(header=header, takes=takes, combine=over_windows(metric), higher_is_better=higher_is_better)


_PARTS: Mapping[str, str] = {
    "finknow": "FinKnow",
    "formulaeval": "FormulaEval",
    "fincode": "FinCode",
    "codefinqa": "CodeFinQA",
    "codetatqa": "CodeTAT-QA",
    "convfinqa_e": "ConvFinQA (E)",
    "tatqa_e": "TAT-QA (E)",
    "secnum": "SEC-NUM",
}
_CALC = [
    _of("xfinbench_calc", f"acc_{kind}_{rows}", header=f"Calc {mode}, {said}, {kind.upper()}", mode=mode.lower())
    for mode in ("CoT", "PoT")
    for rows, said in (("no_table", "no table"), ("table", "table"))
    for kind in ("em", "err")
]

_MME_OVERALL = _metric("score", header="Overall")
_MME_ABOUT = "Mean grade of the judge, from 0 to 100."

PAPER_TABLES: Mapping[str, PaperTables] = {
    "xfinbench_main": PaperTables(
        "XFinBench: main table",
        "Accuracy in per cent. Bool: statements; MCQ: multiple choice, also with a figure; Calc: calculation, by exact "
        "match (EM) and within the margin (ERR), for questions without and with a table. All: over the rows without a "
        "figure, calculation by chain of thought and exact match, as the paper has it.",
        [
            _pooled("acc", header="All"),
            _of("xfinbench_bool", "acc", header="Bool"),
            _of("xfinbench_mcq", "acc", header="MCQ"),
            _of("xfinbench_mcq_visual", "acc", header="MCQ, figure"),
            *_CALC,
        ],
        _xfinbench,
    ),
    "xfinbench_capabilities": PaperTables(
        "XFinBench: capabilities",
        "Accuracy in per cent over the rows without a figure, calculation by exact match. A question counts in each "
        f"capability it names. {', '.join(f'{code}: {name}' for code, name in CAPABILITIES.items())}.",
        [_pooled(f"acc_{code}", header=code) for code in CAPABILITIES],
        _xfinbench,
    ),
    "xfinbench_capabilities_err": PaperTables(
        "XFinBench: capabilities, within the margin",
        "As the ACL version of the paper has them (Table 10): calculation counts within the margin (ERR), all else as "
        "in the table by exact match. Runs whose calculation task does not report capabilities this way are left out.",
        [_within_margin(code) for code in CAPABILITIES],
        _xfinbench,
    ),
    "mme_finance_category": PaperTables(
        "MME-Finance: by category",
        f"{_MME_ABOUT} {', '.join(f'{one.short}: {name}' for name, one in CATEGORIES.items())}.",
        [_MME_OVERALL, *(_metric(f"score_{one.short}", header=one.short) for one in CATEGORIES.values())],
        _mme_finance,
    ),
    "mme_finance_type": PaperTables(
        "MME-Finance: by type of picture",
        _MME_ABOUT,
        [
            _MME_OVERALL,
            *(_metric(f"score_type_{name.replace(' ', '_')}", header=name) for name in (*IMAGE_TYPES, "other")),
        ],
        _mme_finance,
    ),
    "mme_finance_style": PaperTables(
        "MME-Finance: by style of picture",
        _MME_ABOUT,
        [
            _MME_OVERALL,
            *(_metric(f"score_style_{name.replace(' ', '_')}", header=name) for name in (*IMAGE_STYLES, "other")),
        ],
        _mme_finance,
    ),
    "dynostock_bias": PaperTables(
        "DynoStock: bias index and accuracy",
        "Per cent, mean ± standard deviation over window sizes, as in Table 1 of the paper. Bias index: the share of "
        "wrong answers that follow the biased statement; less is better.",
        [
            _bias(bias, metric, header=f"{bias.capitalize()}, {said}", higher_is_better=metric == "acc")
            for bias in ("recency", "authority")
            for metric, said in (("acc", "accuracy"), ("bias_index", "bias index"))
        ],
        _dynostock,
    ),
    "financemath": PaperTables(
        "FinanceMath",
        "Accuracy in per cent: chain of thought by topic, and programs. Ran: the share of programs that gave a value.",
        [
            _of("financemath", "acc", header="CoT"),
            _of("financemath", "acc", header="PoT", mode="pot"),
            _of("financemath", "execution_rate", header="PoT, ran", mode="pot"),
            *(_of("financemath", f"acc_{code}", header=f"CoT, {name}") for name, code in TOPICS.items()),
        ],
        _plain("financemath"),
    ),
    "bizbench": PaperTables(
        "BizBench",
        "Accuracy in per cent. The first three columns are those of the XFinBench paper: choices by exact match, "
        "quantities within the margin. The others are the parts of the benchmark, each asked in its own way.",
        [
            _of("bizbench_paper_choice", "acc", header="Choice, CoT"),
            _of("bizbench_paper_quantity", "acc_err", header="Quantity, CoT"),
            _of("bizbench_paper_quantity", "acc_err", header="Quantity, PoT", mode="pot"),
            *(_any_mode(f"bizbench_{code}", header=name) for code, name in _PARTS.items()),
        ],
        _plain("bizbench"),
    ),
}
"""By the stem of the file."""
