"""Tables in the papers' shapes, as Markdown."""

import re
from html.parser import HTMLParser
from pathlib import Path

import markdown as renderer
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_boards import answers, board, run
from test_leaderboard import collected

from fin_tasks.report.markdown_tables import markdown, ranks, safe, write_tables
from fin_tasks.report.old_leaderboard import document
from fin_tasks.report.paper_tables import make
from fin_tasks.report.tables import Table

HOSTILE = (
    "<script>x()</script>",
    "a|b",
    "[x](javascript:y)",
    "![x](http://e/p.png)",
    "`a`",
    "**b**",
    "<img src=x>",
    "\u202e\n# t",
)


def tables_of(name: str, *, mix: bool = False) -> list[Table]:
    return list(make(document(board(), mix=mix))[name][1])


def cells(table: Table, model: str) -> dict[str, float]:
    row = next(row for row in table.rows if row.model == model)
    return {c.header: cell.value for c, cell in zip(table.columns, row.cells, strict=True) if cell is not None}


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_all_is_over_the_rows_of_three_tasks() -> None:
    sizes = {"bool": (40, 30), "mcq": (20, 5), "calc": (10, 9)}
    shared = {"mode": "cot", "split": "test", "retrieval": "none"}
    runs = [run("m", f"xfinbench_{name}", {"acc": answers(right, n)}, **shared) for name, (n, right) in sizes.items()]
    (table,) = make(document(collected(*runs)))["xfinbench_main"][1]
    cell = table.rows[0].cells[0]
    assert cell is not None
    assert (cell.value, cell.n) == (pytest.approx(44 / 70), 70)
    assert cell.low is not None
    assert cell.low < 44 / 70
    (partial,) = make(document(collected(*runs[:2])))["xfinbench_main"][1]
    assert "All" not in [column.header for column in partial.columns]


def test_programs_and_reasoning_have_columns_of_their_own() -> None:
    (table,) = tables_of("xfinbench_main")
    found = cells(table, "alpha")
    assert found["Calc CoT, no table, EM"] == found["Calc PoT, no table, EM"]
    assert found["Calc CoT, no table, EM"] != found["Calc CoT, table, EM"]


def test_table_1_is_mean_and_population_deviation_over_windows() -> None:
    (table,) = tables_of("dynostock_bias")
    row = next(row for row in table.rows if row.model == "beta")
    index = next(
        c for column, c in zip(table.columns, row.cells, strict=True) if column.header == "Recency, bias index"
    )
    assert index is not None
    assert index.value == pytest.approx(0.75 - 0.08)
    assert index.deviation == pytest.approx((2 * 0.04**2 / 3) ** 0.5)
    assert "67.0 ± 3.3 (3 of 5 windows)" in markdown(table)


def test_less_bias_is_better() -> None:
    (table,) = tables_of("dynostock_bias")
    best = {column.header: table.best(place) for place, column in enumerate(table.columns)}
    assert best["Recency, bias index"] == pytest.approx(0.07)
    assert best["Recency, accuracy"] == pytest.approx(0.9)


def test_published_and_marked_rows_are_seen() -> None:
    (table,) = tables_of("xfinbench_main")
    text = markdown(table)
    assert re.search(r"\| gpt-4o \| \*published\* \|.* 84\.0 ", text)
    assert "| beta (1) |" in text
    assert "- (1) other data: revision d2" in text
    assert [row.apart for row in table.rows] == [False] * 4 + [True]
    assert "**50.0**" not in text


def test_rows_stand_together_where_asked() -> None:
    (table,) = tables_of("xfinbench_main", mix=True)
    assert not any(row.apart for row in table.rows)
    assert "Differ from the others:" in markdown(table)


def test_bold_is_the_best_run_and_not_a_published_figure() -> None:
    shared = {"mode": "cot", "split": "test", "retrieval": "none"}
    paper = {**shared, "source": "published", "date": ""}
    runs = [run(model, "xfinbench_bool", {"acc": answers(right)}, **shared) for model, right in (("a", 10), ("b", 20))]
    figures = [run(model, "xfinbench_bool", {"acc": [value]}, **paper) for model, value in (("p", 0.9), ("q", 0.5))]
    (table,) = make(document(collected(*runs, *figures)))["xfinbench_main"][1]
    bold = [line.split(" | ")[0] for line in markdown(table).splitlines() if "**" in line]
    assert bold == ["| b"]  # q has as much, and p more
    (table,) = make(document(collected(*runs[:1], *figures)))["xfinbench_main"][1]
    assert "**" not in markdown(table)  # one run is not the best of any
    (table,) = make(document(collected(*figures)))["xfinbench_main"][1]
    assert "| p | *published* | **90.0** |" in markdown(table)


def test_a_doubtful_figure_stands_in_the_row_of_its_model() -> None:
    paper = {"mode": "cot", "split": "test", "retrieval": "none", "source": "published", "date": ""}
    figures = [
        run("p", "xfinbench_bool", {"acc": [0.9]}, **paper),
        run("p", "xfinbench_mcq", {"acc": [0.8]}, marks=("in doubt",), **paper),
        run("q", "xfinbench_bool", {"acc": [0.7]}, **paper),
        run("q", "xfinbench_mcq", {"acc": [0.6]}, **paper),
        run("r", "xfinbench_mcq", {"acc": [0.5]}, **paper),
    ]
    (table,) = make(document(collected(*figures)))["xfinbench_main"][1]
    text = markdown(table)
    assert "| p | *published* | **90.0** | 80.0 (1) |" in text
    assert "| q | *published* | 70.0 | **60.0** |" in text
    assert "Not to be compared with the others:\n\n- (1) in doubt" in text
    twice = run("p", "xfinbench_mcq", {"acc": [0.75]}, marks=("another table",), **paper)
    (table,) = make(document(collected(*figures, twice)))["xfinbench_main"][1]
    assert [row.model for row in table.rows].count("p") == 3


def test_a_claim_that_is_not_borne_out_is_marked_where_it_stands() -> None:
    shared = {"mode": "cot", "split": "test", "retrieval": "none"}
    runs = [
        run("m", "xfinbench_bool", {"acc": answers(30)}, **shared),
        run("m", "xfinbench_mcq", {"acc": answers(30)}, marks=("claims 1, but its rows give 0.75",), **shared),
        run("n", "xfinbench_bool", {"acc": answers(20)}, **shared),
        run("n", "xfinbench_mcq", {"acc": answers(20)}, **shared),
    ]
    (table,) = make(document(collected(*runs)))["xfinbench_main"][1]
    assert re.search(r"\| m \| lm-eval \| \*\*75\.0\*\* \| 75\.0 \(1\) \|", markdown(table))


def test_a_reason_that_some_windows_have_names_them() -> None:
    shared = {"benchmark": "dynostock", "mode": "image", "arm": "signal"}
    some, all_of_it = ("other rows", "no data revision"), ("no data revision",)
    runs = [
        run("m", f"dynostock_recency_w{size}", {"acc": answers(30)}, marks=marks, **shared)
        for size, marks in ((4, some), (8, all_of_it), (12, some))
    ]
    authority = run("m", "dynostock_authority_w4", {"acc": answers(30)}, **shared)
    (table,) = make(document(collected(*runs, authority)))["dynostock_bias"][1]
    assert "- (1) windows 4, 12: other rows; no data revision" in markdown(table)
    (table,) = make(document(collected(*runs[:2], authority)))["dynostock_bias"][1]
    assert "- (1) window 4: other rows; no data revision" in markdown(table)


def test_bold_is_what_is_best_as_far_as_digits_show() -> None:
    shared = {"mode": "cot", "split": "test", "retrieval": "none"}
    rows = {"a": 0.58412, "b": 0.58439, "c": 0.5829}
    runs = [run(model, "xfinbench_bool", {"acc": [value] * 3}, **shared) for model, value in rows.items()]
    (table,) = make(document(collected(*runs)))["xfinbench_main"][1]
    assert [row.model for row in table.rows if table.is_best(row, 0)] == ["b", "a"]


def test_capabilities_within_the_margin_have_a_table_of_their_own() -> None:
    shared = {"mode": "cot", "split": "test", "retrieval": "none"}
    half, most = answers(20), answers(36)
    kinds = {"xfinbench_bool": "acc_TU", "xfinbench_mcq": "acc_TU", "xfinbench_calc": "acc_err_TU"}
    runs = [
        run("m", task, {"acc": half, "acc_TU": half, metric: most if task == "xfinbench_calc" else half}, **shared)
        for task, metric in kinds.items()
    ]
    paper = run("gpt-4o", "xfinbench_text", {"acc_err_TU": [0.854]}, source="published", date="", **shared)
    (table,) = make(document(collected(*runs, paper)))["xfinbench_capabilities_err"][1]
    assert cells(table, "gpt-4o") == {"TU": pytest.approx(0.854)}
    assert cells(table, "m") == {"TU": pytest.approx((20 + 20 + 36) / 120)}
    (exact,) = make(document(collected(*runs, paper)))["xfinbench_capabilities"][1]
    assert [row.model for row in exact.rows] == ["m"]


def test_two_runs_of_a_model_are_two_rows() -> None:
    shared = {"mode": "cot", "split": "test", "retrieval": "none"}
    runs = [
        run("m", "xfinbench_bool", {"acc": answers(right)}, date=date, **shared)
        for right, date in ((10, "2026-01-01T00:00:00"), (30, "2026-02-02T00:00:00"))
    ]
    (table,) = make(document(collected(*runs)))["xfinbench_main"][1]
    assert [(row.told_by, row.cells[0].value) for row in table.rows if row.cells[0]] == [
        ("2026-02-02T00:00", 0.75),
        ("2026-01-01T00:00", 0.25),
    ]


def test_differences_are_from_the_baseline() -> None:
    text = ranks(document(board(), baseline="beta"))
    first = text.split("## ")[1]
    assert "Less beta (2026-03-01T10:00)" in first
    assert re.search(r"\| 1 \| 1 to 2 \| alpha \| 90\.0 \| 40 \| 0 \| \+15\.0 \(-3\.3 to \+31\.8\) \| 0\.180 \|", first)
    assert re.search(r"\| 3 \| 3 \| &lt;b&gt;gamma.* \| -60\.0 \(-75\.4 to -38\.9\) \| &lt;0\.001 \|", first)


@given(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=60)))
def test_names_cannot_become_markup(name: str) -> None:
    line = f"| a | b |\n| --- | --- |\n| x{safe(name)}x | c |\n"
    seen = Tags()
    seen.feed(renderer.markdown(line, extensions=["tables"]))
    assert seen.tags == ["table", "thead", "tr", "th", "th", "tbody", "tr", "td", "td"]
    assert "\n" not in safe(name)
    assert safe(name).isprintable()


def test_every_file_is_written(tmp_path: Path) -> None:
    made = document(board())
    names = {path.name for path in write_tables(made, tmp_path, shapes=make(made))}
    assert names >= {"xfinbench_main.md", "xfinbench_capabilities.md", "mme_finance_category.md", "mme_finance_type.md"}
    assert names >= {"mme_finance_style.md", "dynostock_bias.md", "ranks.md"}
