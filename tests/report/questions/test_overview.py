"""A benchmark described without runs, beside what its paper prints."""

import csv
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fin_tasks.benchmarks import all_benchmarks
from fin_tasks.cli import app
from fin_tasks.errors import DataError
from fin_tasks.report.questions.overview import Overview, overview_of

DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "xfinbench"
SAMPLE = {"source": "sample"}


def values(overview: Overview, group: str, task: str = "") -> dict[str, float]:
    return {
        size.name: size.value
        for size in overview.sizes
        if (size.group, size.task) == (group, task)
    }


@pytest.mark.skipif(not DATA.is_dir(), reason=f"XFinBench is not at {DATA}")
def test_validation_set_beside_the_paper() -> None:
    metadata = {"data_dir": str(DATA), "split": "validation"}
    overview = overview_of("xfinbench", metadata)
    # PROTOCOLS: 435 statements, 147 choices without a figure, 396 calculations, 59 of them with a table.
    assert values(overview, "task")["xfinbench_bool"] == 435
    assert values(overview, "task")["xfinbench_mcq"] == 147
    assert values(overview, "kind")["calcu"] == 396
    assert values(overview, "shown")["a table"] == 59
    capabilities = values(overview, "capability")
    assert {name: capabilities[name] for name in ("TU", "SP", "NM")} == {
        "TU": 582,
        "SP": 69,
        "NM": 188,
    }
    statements = [
        (size.value, size.printed, size.source)
        for size in overview.sizes
        if (size.group, size.name) == ("kind", "bool")
    ]
    assert statements == [(435, 436, "long version, Table 11")]
    # The figures of these rows were never published.
    assert overview.left_out == {"xfinbench_mcq_visual": {"missing-figure": 20}}
    shares = values(overview, "capability, kind")
    assert shares["TU, bool"] == 74.7


def test_each_question_is_counted_once() -> None:
    """BizBench's tasks for columns of the paper repeat the questions of its parts."""
    overview = overview_of("bizbench", SAMPLE)
    parts = values(overview, "part")
    assert sum(parts.values()) == values(overview, "questions")["all"]
    assert not any(
        name.startswith("bizbench_paper") for name in values(overview, "task")
    )


@pytest.mark.slow
def test_windows_are_counted_by_year_and_no_chart_is_drawn() -> None:
    overview = overview_of("dynostock", {**SAMPLE, "sample_n": 2})
    tasks = values(overview, "task")
    assert not [name for name in tasks if name.endswith(("_w4", "_w8", "_recency"))]
    assert set(values(overview, "window")) == {"4", "8", "12", "16", "20"}
    assert all(1990 < int(year) < 2030 for year in values(overview, "year"))


def test_english_and_chinese_questions_with_one_id_are_two() -> None:
    overview = overview_of("mme_finance", SAMPLE)
    tasks = values(overview, "task")
    assert min(tasks["mme_finance_en"], tasks["mme_finance_zh"]) > 30
    # The paper prints shares of another split than the sample.
    assert not [size for size in overview.sizes if size.group.startswith("share of ")]


def test_a_benchmark_without_its_files_is_one_sentence(tmp_path: Path) -> None:
    metadata = {"source": "data_dir", "data_dir": str(tmp_path)}
    with pytest.raises(DataError, match="no task of financemath can be loaded"):
        overview_of("financemath", metadata)


@pytest.mark.parametrize("name", all_benchmarks())
def test_printed_sizes_name_known_groups_and_their_source(name: str) -> None:
    benchmark = all_benchmarks()[name]
    text = benchmark.text_of("sizes.csv") or ""
    for row in csv.DictReader(text.splitlines()):
        columns = row["group"].split(", ")
        known = {"questions", "task", "kind", "shown", *benchmark.breakdowns}
        columns = [column.removeprefix("share of ") for column in columns]
        assert row["group"] == "length of question" or set(columns) <= known
        assert float(row["printed"]) >= 0
        assert row["source"]


def test_command() -> None:
    arguments = ["questions", "--benchmark", "financemath"]
    arguments += ["--metadata", json.dumps(SAMPLE)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert "financemath, split sample:" in result.output
    assert "topic" in result.output
    result = CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False)
    sizes = json.loads(result.stdout)["sizes"]
    values = {(size["group"], size["name"]): size["value"] for size in sizes}
    assert {group for group, _ in values} >= {"questions", "topic", "shown"}
    docs = all_benchmarks()["financemath"].load(mode="cot", **SAMPLE)["test"]
    n_characters = sum(len(str(doc["exact_truth"])) for doc in docs)
    mean = values["length of answer", "mean"]
    assert mean == pytest.approx(n_characters / len(docs), abs=0.1)
