"""Tables of a report: sums over the samples, shapes, math types, and texts that spreadsheets must not run."""

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from run_files import board_of, mean, scored, write_run

from fin_tasks.demo import scores
from fin_tasks.report.tables import values_table, write_csv
from fin_tasks.report.write import write_tables

PARTS = ("xfinbench_bool", "xfinbench_mcq", "xfinbench_calc")


def tables(folder: Path, **more: Any) -> dict[str, str]:
    """Return the Markdown tables of a folder by their stem."""
    write_tables(values_table(board_of(folder, **more)), folder)
    return {path.stem: path.read_text() for path in folder.glob("*.md")}


def cells(text: str, model: str) -> dict[str, str]:
    """Return the first row of a model by header."""
    header: list[str] = []
    for line in text.splitlines():
        row = [cell.strip() for cell in line.strip("|").split("|")]
        header = row if row[0] == "Model" else header
        if row[0] == model:
            return dict(zip(header, row, strict=True))
    raise AssertionError(f"no row of {model}")


def xfinbench(folder: Path) -> dict[str, list[Any]]:
    """Write a run of XFinBench's tasks in words, and return the rows of each task."""
    generator = np.random.default_rng(5)
    tasks: dict[str, list[dict[str, float | None]]] = {}
    for part, n in zip(PARTS, (40, 20, 30), strict=True):
        tasks[part] = []
        for at, acc in enumerate(generator.integers(0, 2, n).astype(float).tolist()):
            row = {"acc": acc, "acc_TU": acc if at % 2 else None}
            if part == "xfinbench_calc":
                within = {"acc_err": 1.0, "acc_err_TU": 1.0 if at % 2 else None}
                row |= {"acc_em": acc, "execution_rate": None, **within}
            tasks[part].append(row)
    docs = [{"capabilities": ["TU"]} for _ in range(40)]
    write_run(folder, tasks, model="m", docs=docs, groups={"xfinbench_text": PARTS})
    return tasks


def test_values_and_the_interval_of_all_tasks_are_over_all_rows(tmp_path: Path) -> None:
    from statsmodels.stats.proportion import proportion_confint

    tasks = xfinbench(tmp_path)
    every = [row["acc"] for rows in tasks.values() for row in rows]
    shown = cells(tables(tmp_path)["xfinbench_main"], "m")
    assert shown["All"].startswith(f"{100 * np.mean(every):.1f} [")
    for header, part in (("Bool", PARTS[0]), ("MCQ", PARTS[1])):
        mean_of_part = np.mean([row["acc"] for row in tasks[part]])
        assert shown[header].startswith(f"{100 * mean_of_part:.1f} [")
    values = values_table(board_of(tmp_path)).query("scoring == 'paper'")
    own = values[values["task"] == "xfinbench_text"].set_index("metric")
    whole = own.loc["acc"]
    low, high = proportion_confint(int(sum(every)), len(every), method="wilson")
    expected = pytest.approx((low, high, len(every)), rel=1e-5)
    assert (whole["low"], whole["high"], whole["n"]) == expected
    margin = [
        row.get("acc_err_TU", row["acc_TU"]) for rows in tasks.values() for row in rows
    ]
    within = own.loc["acc_err_TU", "value"]
    assert within == pytest.approx(mean(margin), rel=1e-5)


def test_windows_are_averaged_as_the_paper_does(tmp_path: Path) -> None:
    """The paper's table leaves out the sizes 6 and 10, which the authors recorded too."""
    shares = {4: 0.5, 6: 1.0, 8: 0.25, 10: 1.0, 12: 0.75, 16: 0.5, 20: 1.0}
    tasks = {}
    for size, share in shares.items():
        rows = scored(*(float(at < 8 * share) for at in range(8)))
        tasks[f"dynostock_recency_w{size}"] = rows
    docs = [{"ticker": f"T{at}", "arm": "signal"} for at in range(8)]
    write_run(tmp_path, tasks, docs=docs, provenance={"arm": "signal"})
    shown = cells(tables(tmp_path)["dynostock_bias"], "org/model")
    values = 100 * np.array([shares[size] for size in (4, 8, 12, 16, 20)])
    right = shown["Latest event (recency), right forecasts"]
    assert right == f"{values.mean():.1f} ± {values.std():.1f}"


def bias_table(tmp_path: Path, data: dict[str, Any], right: float) -> str:
    """The table of a run that is right on each window or on none, beside the paper's figures."""
    shares = [right, 0.0, 1 - right]
    rows = [{"acc": right, "bias_index": shares}] * 4
    tasks = {f"dynostock_recency_w{size}": rows for size in (4, 8, 12, 16, 20)}
    docs = [{"ticker": f"T{at}", "arm": "signal"} for at in range(4)]
    provenance = {"arm": "signal", "mode": "image", "data": data}
    write_run(tmp_path, tasks, docs=docs, provenance=provenance)
    return tables(tmp_path, papers=True)["dynostock_bias"]


@pytest.mark.parametrize(
    ("data", "is_own"),
    [
        ({"origin": "windows", "parameters": {"biases": ["recency"]}}, True),
        ({"origin": "windows", "parameters": {"from_recording": ["a"]}}, False),
        ({"origin": "sample"}, True),
    ],
)
def test_own_windows_do_not_stand_among_the_papers_figures(
    tmp_path: Path, data: dict[str, Any], is_own: bool
) -> None:
    text = bias_table(tmp_path, data, 0.0)
    sections = text.split("\n## ")[1:]
    beside_own = [section for section in sections if "org/model" in section]
    assert any("*published*" in section for section in beside_own) != is_own
    assert all("with the statement" in section for section in beside_own)
    assert any("*published*" in section for section in sections)


def test_an_index_over_no_wrong_forecast_is_a_dash_with_its_reason(
    tmp_path: Path,
) -> None:
    text = bias_table(tmp_path, {"origin": "sample"}, 1.0)
    shown = cells(text, "org/model")
    assert shown["Latest event (recency), led by the statement"] == "\u2013 (1)"
    assert "(1) no forecast is wrong, so there is no index" in text


def test_combined_table_holds_the_papers_figures_and_own_runs(tmp_path: Path) -> None:
    xfinbench(tmp_path / "x")
    write_run(tmp_path / "f", {"financemath": scored(1, 0)}, model="m")
    text = tables(tmp_path, papers=True)["combined"].split(
        "## scored as the authors do"
    )[1]
    own = cells(text, "m")
    assert own["XFinBench All"] != "\u2013"
    printed = cells(text, "gpt-4o, *published*")
    assert (printed["XFinBench All"], printed["XFinBench Bool"]) == ("63.6", "84.0")
    # With the note on XFinBench's scorer.
    assert printed["FinanceMath CoT"].startswith("58.5 (")


def test_no_cell_of_a_csv_is_a_formula(tmp_path: Path) -> None:
    starts = [*"=+-@\t\r\uff1d\uff0b\uff0d\uff20", " ="]
    cells = [f'{start}HYPERLINK("x")' for start in starts]
    table = pd.DataFrame({"model": [*cells, "plain"], "value": -0.5})
    write_csv(table, tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        _, *rows, last = csv.reader(file)
    assert len(rows) == len(starts)
    assert all(text.startswith("'") and value == "-0.5" for text, value in rows)
    assert last == ["plain", "-0.5"]


def test_names_of_strangers_are_no_markup(tmp_path: Path) -> None:
    write_run(
        tmp_path, {"financemath": scored(1, 0)}, model="<script>|[a](http://b)\n# x"
    )
    text = tables(tmp_path)["financemath"]
    assert "<script>" not in text
    assert "\n# x" not in text
    assert r"\|\[a\](http\://b)" in text


def test_a_bias_index_without_wrong_answers_is_not_in_the_demos_table(
    tmp_path: Path,
) -> None:
    rows = [{"acc": 1.0, "bias_index": None, "follows_signal": 1.0} for _ in range(4)]
    write_run(tmp_path, {"dynostock_recency_w4": rows})
    (row,) = scores(board_of(tmp_path))
    assert row["paper"].startswith("100.0 [")
