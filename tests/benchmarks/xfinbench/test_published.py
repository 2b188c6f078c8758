"""The published figures: every row is sound, and those that contradict others are the ones docs/published.md lists.

A printed figure x stands for anything in [x - 0.05, x + 0.05]; every tolerance below follows from that.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

import pytest

from fin_tasks.benchmarks.xfinbench.metrics import CAPABILITIES
from fin_tasks.benchmarks.xfinbench.prompts import STYLES
from fin_tasks.benchmarks.xfinbench.published import MATH_TYPES, PUBLISHED, Figure, published, read_figures
from fin_tasks.errors import ConfigError, DataError

DOCS = Path(__file__).resolve().parents[3] / "docs" / "published.md"
FINANCEMATH = Path(__file__).resolve().parents[4] / "shared" / "data" / "financemath"

HALF = 0.05 + 1e-9
TEST = {"bool": 1360, "mcq": 468, "mcq_visual": 124, "calc": 1283}
WITHOUT_FIGURE = {task: n for task, n in TEST.items() if task != "mcq_visual"}
WITH_TABLE = 277
"""Not printed, and not the 283 the files show: it is the size of which the figures are shares."""
SAMPLE = {"bool": 180, "mcq": 67, "calc": 253}
"""The 500 rows of the sensitivity study; their split is not printed, and found in the same way."""
CAPABILITY = {"TU": 1814, "TR": 703, "FF": 162, "SP": 246, "NM": 557}
CAPABILITY_WITHOUT_FIGURE = {"TU": 1814, "TR": 658, "FF": 95, "SP": 238, "NM": 553}
"""Not printed, found in the same way; together they are smaller by 124, the rows with a figure."""
MATH = {"arithmetic": 1037, "statistical": 999, "algebraic": 68, "numeric_commonsense": 139, "logical": 303}
"""Shares of the long version's Table 5 times 1,283 rows; the last three also in the same way."""


@dataclass(frozen=True)
class Finding:
    """Something that does not add up; `figures` are those that may be wrong, if it is known which."""

    where: str
    what: str
    printed: str
    expected: str
    figures: tuple[Figure, ...] = ()

    def row(self) -> str:
        return f"| {self.where} | {self.what} | {self.printed} | {self.expected} |"


def places(figures: tuple[Figure, ...]) -> str:
    return ", ".join(dict.fromkeys(f"{figure.paper} {figure.table}" for figure in figures))


def groups(key: Callable[[Figure], tuple[object, ...]]) -> list[tuple[Figure, ...]]:
    found: dict[tuple[object, ...], list[Figure]] = defaultdict(list)
    for figure in published():
        found[key(figure)].append(figure)
    return [tuple(same) for same in found.values()]


def experiment(figure: Figure) -> tuple[str, ...]:
    """What was measured, wherever it is printed."""
    condition = "none" if figure.condition == "all_rows" else figure.condition
    return (figure.model, figure.dataset, figure.task, figure.mode, condition, figure.capability, figure.metric)


def name(figure: Figure, *more: str) -> str:
    parts = [figure.model, figure.dataset, figure.task, figure.mode, figure.condition, figure.capability, *more]
    return ", ".join(part for part in parts if part not in ("xfinbench", "all", "none"))


def value(**wanted: str) -> float:
    (figure,) = (f for f in published(**wanted) if "capability" in wanted or f.capability == "all")
    return figure.value


def values(*, tasks: dict[str, int], metric: Callable[[str], str], **wanted: str) -> float:
    """Percentage over all rows of the tasks, from the percentage of each."""
    return sum(n * value(task=task, metric=metric(task), **wanted) for task, n in tasks.items()) / sum(tasks.values())


def by_exact_match(task: str) -> str:
    return "acc_em" if task == "calc" else "acc"


def pooled(model: str, mode: str, metric: str) -> float:
    """Calculation over all rows, from the ACL version's figures with and without a table."""
    with_table, without = (
        value(paper="acl", table="3", model=model, task="calc", mode=mode, metric=f"{metric}_{rows}")
        for rows in ("table", "no_table")
    )
    return (WITH_TABLE * with_table + (TEST["calc"] - WITH_TABLE) * without) / TEST["calc"]


def models(paper: str, table: str) -> list[Figure]:
    """The first figure of each model of a table, without people and retrievers."""
    first = {f.model: f for f in reversed(published(paper=paper, table=table))}
    return [f for f in reversed(first.values()) if f.model_kind in ("multimodal", "text-only")]


def rows_of(figure: Figure) -> int | None:
    """How many rows a figure is a share of, where that is known."""
    if figure.model_kind in ("human", "retriever") and figure.dataset != "financemath":
        return None
    if figure.condition == "without_low_quality" or figure.metric.endswith("_gain"):
        return None
    if figure.dataset != "xfinbench":
        return {"choice": 141, "quantity": 359, "calc": 200}[figure.task]
    if figure.condition in STYLES:
        return SAMPLE.get(figure.task, sum(SAMPLE.values()))
    if figure.metric.endswith(("_table", "_no_table")):
        return TEST["calc"] - WITH_TABLE if figure.metric.endswith("_no_table") else WITH_TABLE
    if figure.capability in MATH_TYPES:
        return MATH[figure.capability]
    if figure.capability in CAPABILITIES:
        return (CAPABILITY if figure.model_kind == "multimodal" else CAPABILITY_WITHOUT_FIGURE)[figure.capability]
    return TEST.get(figure.task)


def no_whole_number_of_rows() -> Iterator[Finding]:
    for same in groups(lambda figure: astuple(figure)[2:-1]):
        figure, rows = same[0], rows_of(same[0])
        if rows is None:
            continue
        share = 100 * round(figure.value * rows / 100) / rows
        if misses([figure], rows):
            yield Finding(
                places(same), name(figure, figure.metric), f"{figure.value}", f"of {rows} rows: {share:.2f}", same
            )


def printed_twice() -> Iterator[Finding]:
    """The same figure in two tables, of one version or of both."""
    for same in groups(experiment):
        if len({figure.value for figure in same}) > 1:
            printed = " / ".join(f"{figure.value}" for figure in same)
            yield Finding(places(same), name(same[0], same[0].metric), printed, "one value", same)


def exact_above_margin() -> Iterator[Finding]:
    """An answer that is exactly right is also right within the margin."""
    by_experiment = {experiment(same[0]): same for same in groups(experiment)}
    for key, exact in by_experiment.items():
        metric = key[-1]
        if metric == "acc" and key[2] == "all":  # calculation counted by exact match
            margin = "acc_err"
        elif metric.startswith("acc_em") and not metric.endswith("_gain"):
            margin = metric.replace("acc_em", "acc_err")
        else:
            continue
        for other in by_experiment.get((*key[:-1], margin), ()):
            above = tuple(figure for figure in exact if figure.value > other.value)
            if above:
                yield Finding(
                    places((*above, other)),
                    name(other, metric, margin),
                    f"{above[0].value} / {other.value}",
                    "the first not above the second",
                    (*above, other),
                )


def overall_from_tasks() -> Iterator[Finding]:
    """All, from statements, choices without a figure and calculation by exact match."""
    for first in models("acl", "3"):
        (figure,) = published(paper="acl", table="3", model=first.model, task="all")
        yield from overall(figure, overall_of(first.model))
    for paper, table in (("acl", "11"), ("long", "16"), ("long", "10"), ("long", "19")):
        for figure in published(paper=paper, table=table, task="all"):
            if figure.metric.endswith("_gain") or figure.condition == "without_low_quality":
                continue
            wanted = {"paper": paper, "table": table, "model": figure.model, "condition": figure.condition}
            tasks = SAMPLE if figure.condition in STYLES else WITHOUT_FIGURE
            metric = (lambda _: "retriever_acc") if figure.model_kind == "retriever" else by_exact_match
            yield from overall(figure, values(tasks=tasks, metric=metric, **wanted))


def overall(figure: Figure, computed: float) -> Iterator[Finding]:
    if abs(computed - figure.value) > 2 * HALF:
        what = name(figure, figure.metric, "all tasks")
        yield Finding(places((figure,)), what, f"{figure.value}", f"{computed:.2f} from its tasks")


def overall_of(model: str, tasks: dict[str, int] = WITHOUT_FIGURE) -> float:
    wanted = {"paper": "acl", "table": "3", "model": model}
    parts = {task: value(task=task, metric="acc", **wanted) for task in tasks if task != "calc"}
    parts["calc"] = pooled(model, "cot", "acc_em")
    return sum(n * parts[task] for task, n in tasks.items()) / sum(tasks.values())


def calculation_over_both_versions() -> Iterator[Finding]:
    """The long version's calculation column, from the ACL version's two."""
    for first in models("long", "3"):
        for mode in ("cot", "pot"):
            wanted = {"paper": "long", "table": "3", "dataset": "xfinbench", "task": "calc", "metric": "acc_err"}
            printed = value(model=first.model, mode=mode, **wanted)
            computed = pooled(first.model, mode, "acc_err")
            if abs(computed - printed) > 2 * HALF:
                yield Finding(
                    "long 3, acl 3",
                    f"{first.model}, calc, {mode}, acc_err",
                    f"{printed}",
                    f"{computed:.2f} from both kinds of rows",
                )


def gains() -> Iterator[Finding]:
    """Printed changes, from the two figures they lie between."""
    for figure in published():
        if not figure.metric.endswith("_gain"):
            continue
        wanted = {"paper": figure.paper, "table": figure.table, "model": figure.model, "task": figure.task}
        metric = figure.metric.removesuffix("_gain")
        change = value(metric=metric, condition=figure.condition, **wanted) - value(
            metric=metric, condition="none", **wanted
        )
        if abs(change - figure.value) > 3 * HALF:
            what = name(figure, figure.metric)
            yield Finding(places((figure,)), what, f"{figure.value}", f"{change:+.1f}", (figure,))


def capabilities(
    readings: tuple[tuple[str, str, str], ...] = (
        ("acl", "10", "acc_err"),
        ("long", "14", "acc_em"),
        ("long", "17", "acc_em"),
    ),
) -> Iterator[Finding]:
    """Rows name one capability or two: those that name two, and are right, count twice among the right answers."""
    for paper, table, calc in readings:
        for first in models(paper, table):
            wanted = {"paper": paper, "table": table, "model": first.model, "task": "all", "condition": "none"}
            visual = first.model_kind == "multimodal"
            tasks, sizes = (TEST, CAPABILITY) if visual else (WITHOUT_FIGURE, CAPABILITY_WITHOUT_FIGURE)
            by_capability = sum(n * value(capability=code, **wanted) for code, n in sizes.items()) / 100
            parts = {
                task: value(paper="acl", table="3", model=first.model, task=task) for task in tasks if task != "calc"
            }
            parts["calc"] = pooled(first.model, "cot", calc)
            right = sum(n * parts[task] for task, n in tasks.items()) / 100
            two = sum(sizes.values()) - sum(tasks.values())
            slack = HALF * (sum(sizes.values()) + sum(tasks.values())) / 100
            if not right - slack <= by_capability <= right + two + slack:
                yield Finding(
                    f"{paper} {table}",
                    f"{first.model}, right answers by capability",
                    f"{by_capability:.0f}",
                    f"{right:.0f} to {right + two:.0f}",
                )


def mathematical_types() -> Iterator[Finding]:
    """Nearly all calculation rows have two types of reasoning, which leaves little room for their overall accuracy."""
    rows, both = TEST["calc"], sum(MATH.values())
    for first in models("long", "15"):
        for metric in ("acc_em", "acc_err"):
            wanted = {"paper": "long", "table": "15", "model": first.model, "metric": metric}
            by_type = sum(n * value(capability=kind, **wanted) for kind, n in MATH.items()) / 100
            slack = HALF * both / 2 / rows + 0.1  # the two largest types are known to a row or so
            low, high = 50 * by_type / rows - slack, 50 * (by_type + 2 * rows - both) / rows + slack
            overall_accuracy = pooled(first.model, "cot", metric)
            if not low <= overall_accuracy <= high:
                yield Finding(
                    "long 15, acl 3",
                    f"{first.model}, calc, cot, {metric}",
                    f"types that leave {low:.1f} to {high:.1f} over all rows",
                    f"{overall_accuracy:.1f}",
                )


CHECKS = (
    overall_from_tasks,
    calculation_over_both_versions,
    capabilities,
    mathematical_types,
    printed_twice,
    exact_above_margin,
    gains,
    no_whole_number_of_rows,
)


@pytest.fixture(scope="module")
def found() -> list[Finding]:
    return [finding for check in CHECKS for finding in check()]


def test_what_does_not_add_up_is_what_the_page_lists(found: list[Finding]) -> None:
    page = DOCS.read_text(encoding="utf-8").split("## What does not add up")[1].split("\n## ")[0]
    listed = [line for line in page.splitlines() if line.startswith("| ")][1:]
    assert listed == [finding.row() for finding in found]


def test_figures_in_doubt_say_so_in_the_file(found: list[Finding]) -> None:
    assert [figure for finding in found for figure in finding.figures if not figure.note] == []


def test_all_is_over_the_rows_without_a_figure() -> None:
    multimodal = [first.model for first in models("acl", "3") if first.model_kind == "multimodal"]
    printed = {model: value(paper="acl", table="3", model=model, task="all") for model in multimodal}
    without = {model: overall_of(model) - printed[model] for model in multimodal}
    with_figure = {model: overall_of(model, TEST) - printed[model] for model in multimodal}
    assert max(map(abs, without.values())) < 2 * HALF
    assert sorted(model for model in multimodal if abs(with_figure[model]) > 2 * HALF) == [
        "Llama-3.2-11B-Vision",
        "Llama-3.2-90B-Vision",
        "claude-3-haiku",
        "claude-3-opus",
        "gemini-1.5-flash",
        "gemini-1.5-pro",
    ]
    rows = [
        f"| {model} | {printed[model]} | {overall_of(model):.2f} | {overall_of(model, TEST):.2f} |"
        for model in multimodal
    ]
    assert "\n".join(rows) in DOCS.read_text(encoding="utf-8")


def test_tables_of_capabilities_count_calculation_each_in_its_own_way() -> None:
    swapped = (("acl", "10", "acc_em"), ("long", "14", "acc_err"), ("long", "17", "acc_err"))
    out = [finding.where for finding in capabilities(swapped)]
    assert {where: out.count(where) for where in out} == {"acl 10": 8, "long 14": 14, "long 17": 4}


def test_exact_match_of_calculation_lies_between_nothing_and_the_margin_score() -> None:
    """The long version prints `acc_err` alone; All, which counts exact matches, gives away the other."""
    for first in models("long", "3"):
        wanted = {"paper": "long", "table": "3", "model": first.model, "dataset": "xfinbench"}
        named = sum(TEST[task] * value(task=task, **wanted) for task in ("bool", "mcq"))
        implied = (value(task="all", **wanted) * sum(WITHOUT_FIGURE.values()) - named) / TEST["calc"]
        assert 0 <= implied <= value(task="calc", mode="cot", **wanted)
        slack = HALF * (sum(WITHOUT_FIGURE.values()) + TEST["bool"] + TEST["mcq"]) / TEST["calc"] + HALF
        agrees = abs(implied - pooled(first.model, "cot", "acc_em")) <= slack
        assert agrees == (first.model != "deepseek-chat"), first.model


def test_retriever_accuracy_is_over_the_rows_without_a_figure() -> None:
    wanted = {"paper": "long", "table": "16", "model": "retriever", "condition": "ada"}
    assert value(task="all", **wanted) == 39.8
    assert values(tasks=WITHOUT_FIGURE, metric=lambda _: "retriever_acc", **wanted) == pytest.approx(39.8, abs=0.05)
    every = WITHOUT_FIGURE | {"mcq": TEST["mcq"] + TEST["mcq_visual"]}
    assert values(tasks=every, metric=lambda _: "retriever_acc", **wanted) == pytest.approx(40.1, abs=0.05)


def test_human_figures_agree_between_the_versions() -> None:
    """430 calculation rows were asked; exact match and margin score must name the same share of rows with a table."""
    shares = []
    for metric in ("acc_em", "acc_err"):
        wanted = {"paper": "acl", "table": "3", "model": "human", "task": "calc"}
        without, with_table = (value(metric=f"{metric}_{rows}", **wanted) for rows in ("no_table", "table"))
        both = value(paper="long", table="3", model="human", dataset="xfinbench", task="calc", metric=metric)
        shares.append((both - without) / (with_table - without))
    assert shares == pytest.approx([1 / 6, 1 / 6], abs=0.01)
    parts = {f.task: f.value for f in published(paper="long", table="3", model="human", dataset="xfinbench")}
    most = (
        400 * parts["bool"]
        + 170 * parts["mcq"]
        + 430 * value(paper="long", table="3", model="human", dataset="xfinbench", task="calc", metric="acc_em")
    )
    visual = (most - 1000 * parts["all"]) / (parts["mcq"] - parts["mcq_visual"])
    assert 170 * 0.1 < visual < 170 * 0.4  # about 124 of 592 of the 170 choices have a figure


def test_in_twelve_models_both_metrics_by_type_of_reasoning_are_the_same() -> None:
    same = []
    for first in models("long", "15"):
        exact, margin = (
            [f.value for f in published(paper="long", table="15", model=first.model, metric=metric)]
            for metric in ("acc_em", "acc_err")
        )
        same.append(exact == margin)
    assert same.count(True) == 12 and len(same) == 14


def misses(figures: list[Figure], rows: int) -> int:
    """How many of the figures are no shares of so many rows."""
    return sum(abs(100 * round(f.value * rows / 100) / rows - f.value) > HALF for f in figures)


@pytest.mark.parametrize(
    ("group", "rows"),
    [
        ("with a table", WITH_TABLE),
        *((f"{task}, sensitivity", rows) for task, rows in SAMPLE.items()),
        *((f"{code}, text-only", rows) for code, rows in CAPABILITY_WITHOUT_FIGURE.items() if code != "TU"),
        *((kind, rows) for kind, rows in MATH.items() if rows < 900),
    ],
)
def test_sizes_that_are_not_printed(group: str, rows: int) -> None:
    """Of all sizes that can be, the one we take fits best, and by far."""

    def belongs(figure: Figure) -> bool:
        subject, _, which = group.partition(", ")
        if group == "with a table":
            return figure.metric in ("acc_em_table", "acc_err_table")
        if which == "sensitivity":
            return figure.condition in STYLES and figure.task == subject
        return figure.capability == subject and which in ("", figure.model_kind)

    figures = [f for f in published() if belongs(f) and f.model_kind != "human"]
    most = CAPABILITY.get(group.partition(", ")[0], 4 * rows // 3)
    least = most - TEST["mcq_visual"] if group.endswith("text-only") else 2 * rows // 3
    other = min(misses(figures, n) for n in range(least, most + 1) if n != rows)
    assert misses(figures, rows) <= 4
    assert other >= misses(figures, rows) + 3


def test_rows_of_bizbench() -> None:
    choice, quantity = (
        [f for f in published(dataset="bizbench", task=task) if f.model_kind != "human"]
        for task in ("choice", "quantity")
    )
    assert [n for n in range(1, 500) if misses(choice, n) + misses(quantity, 500 - n) == 0] == [141]


def test_records_of_financemath() -> None:
    if not FINANCEMATH.is_dir():
        pytest.skip(f"the authors' records are not at {FINANCEMATH}")
    lines = []
    for model, recorded in (
        ("gpt-4o", "gpt-4o"),
        ("claude-3.5-sonnet", "claude-3-5-sonnet-20240620"),
        ("Llama-3-8B", "Meta-Llama-3-8B-Instruct"),
        ("Mixtral-8x7B", "Mixtral-8x7B-Instruct-v0_1"),
    ):
        cells = [model]
        for mode in ("cot", "pot"):
            theirs = json.loads((FINANCEMATH / f"validation_{mode}_results.json").read_text(encoding="utf-8"))
            (accuracy,) = (row["accuracy"] for row in theirs if row["model_name"] == recorded)
            cells += [f"{value(dataset='financemath', model=model, mode=mode)}", f"{accuracy}"]
        lines.append(f"| {' | '.join(cells)} |")
    assert "\n".join(lines) in DOCS.read_text(encoding="utf-8")


def test_tables_are_complete() -> None:
    count: dict[str, int] = defaultdict(int)
    for figure in published():
        count[f"{figure.paper} {figure.table}"] += 1
    assert count == {
        "acl 3": 9 * (2 + 1 + 8 + 1) + 9 * (2 + 8 + 1) + 8,
        "acl 10": 14 * 5,
        "acl 11": 4 * 4 * 5,
        "acl 12": 4 * 6 * 4,
        "acl 14": 4 * 4,
        "long 3": 9 * 11 + 1 + 9 * 10 + 11,
        "long 10": 4 * 2 * 5,
        "long 14": 15 * 5,
        "long 15": 15 * 5 * 2,
        "long 16": 4 * 4 * 5 + 3 * 4 * 4,
        "long 17": 4 * 6 * 4,
        "long 19": 4 * 4 * 5,
    }


def test_figures_are_found_by_their_fields() -> None:
    assert [f.value for f in published(paper="long", table="16", model="retriever", task="all")] == [
        0.0,
        30.6,
        39.8,
        100.0,
    ]
    assert {f.model for f in published(model_kind="human")} == {"human"}
    assert published(paper="acl", dataset="bizbench") == ()
    with pytest.raises(ConfigError, match="got 'score'"):
        published(score="acc")
    with pytest.raises(ConfigError, match=r"model: expected one of gpt-4o, .* got 'gpt4o'"):
        published(model="gpt4o")


@pytest.mark.parametrize(
    ("column", "cell"),
    [
        ("paper", "emnlp"),
        ("table", "3a"),
        ("model", ""),
        ("model_kind", "vision"),
        ("dataset", "finqa"),
        ("task", "calcu"),
        ("mode", "CoT"),
        ("condition", "bm-25"),
        ("capability", "tu"),
        ("metric", "accuracy"),
        *(("value", cell) for cell in ("", "84", "84.00", "100.1", "-2.0", "nan", "084.0")),
    ],
)
def test_a_cell_that_cannot_be_is_named(tmp_path: Path, column: str, cell: str) -> None:
    header, first = PUBLISHED.read_text(encoding="utf-8").splitlines()[:2]
    cells = dict(zip(header.split(","), first.split(","), strict=True)) | {column: cell}
    path = tmp_path / "figures.csv"
    path.write_text(f"{header}\n{first}\n{','.join(cells.values())}\n", encoding="utf-8")
    with pytest.raises(DataError, match=rf"figures\.csv, line 3, column {column}: expected .*, got {cell!r}"):
        read_figures(path)


@pytest.mark.parametrize(("line", "message"), [("{first}", "that of line 2 again"), ("{first},more", "got 13")])
def test_a_line_that_cannot_be_is_named(tmp_path: Path, line: str, message: str) -> None:
    header, first = PUBLISHED.read_text(encoding="utf-8").splitlines()[:2]
    path = tmp_path / "figures.csv"
    path.write_text(f"{header}\n{first}\n{line.format(first=first)}\n", encoding="utf-8")
    with pytest.raises(DataError, match=f"line 3: .*{message}"):
        read_figures(path)
