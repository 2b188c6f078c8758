"""Lists that only name: conditions, labels, metrics and columns of tables, each entry against what uses it."""

import math
import re
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from fin_tasks.benchmarks import all_benchmarks
from fin_tasks.benchmarks.task_file import TaskFile, task_names
from fin_tasks.report import conditions
from fin_tasks.report.conditions import (
    WORDS,
    Conditions,
    conditions_of,
    settings_of,
)
from fin_tasks.report.entries import task_of
from fin_tasks.report.model import benchmark_of, largest, metric_of
from fin_tasks.report.published import figures
from fin_tasks.report.site.page import task_name

CHANGES_NO_SCORE: Mapping[str, Any] = {
    "hash": "a",
    "rows": 3,
    "left_out": {"missing-figure": ["a"]},
    "defects": {"truth": ["a"]},
    "asked": 2,
    "blank_image": True,
    "corrections": {"note": "1 question excluded"},
    "data": {"commit": "c", "defects": ["a"]},
    "fin_tasks": "1.0",
    "file": "a.csv",
    "file_sha256": "d",
    "judge": {"refused_options": {"top_p": "left out"}, "usage": {"requests": 2}},
    "recording": {"date": "2024-08-10"},
    "source": "sample",
}
"""What provenance and judges say beside the settings by which results may be compared."""
TABLES = {
    f"{name}: {stem}": table
    for name, benchmark in all_benchmarks().items()
    for stem, table in yaml.safe_load(benchmark.text_of("tables.yaml") or "{}").items()
}

PARTS = {
    f"{name}_{part}"
    for name, benchmark in all_benchmarks().items()
    for part in benchmark.part_labels
}
GROUPS = ("xfinbench_text",)


def names_in(facts: Mapping[str, Any], above: str = "") -> list[str]:
    names = []
    for name, value in facts.items():
        is_group = isinstance(value, Mapping) and above.count(".") < 1
        inner = names_in(value, f"{above}{name}.") if is_group else []
        names += inner or [f"{above}{name}."]
    return names


def test_what_changes_no_score_is_no_setting() -> None:
    judge = {"judge": CHANGES_NO_SCORE["judge"]}
    assert settings_of({"provenance": CHANGES_NO_SCORE, **judge}) == {}
    for entry in conditions._NAMES["no_settings"]:
        assert any(name.startswith(entry) for name in names_in(CHANGES_NO_SCORE)), entry


@pytest.mark.parametrize(
    "name",
    [
        *("xfinbench_bool", "financemath", "financereasoning_easy"),
        *("bizbench_finknow", "mme_finance_en", "dynostock_recency_w4_text"),
    ],
)
def test_the_usual_way_of_asking_has_no_name(name: str) -> None:
    _, provenance = TaskFile(name).load({"source": "sample"})
    settings = settings_of({"provenance": provenance})
    benchmark = TaskFile(name).benchmark.name
    asked = SimpleNamespace(task=name, benchmark=benchmark, settings=settings)
    assert conditions_of(asked).style == ""  # type: ignore[arg-type]
    for setting, usual in conditions._NAMES["usual_style"].items():
        assert settings.get(setting, usual) == usual
        assert (setting in settings) == (benchmark == "dynostock")


def test_endings_of_names_are_conditions() -> None:
    """Reports find a task under the name without what the other columns say."""
    used = set()
    for name in task_names():
        benchmark = TaskFile(name).benchmark
        base, _, ending = name.rpartition("_")
        if base in task_names() and f"{base}_{ending}" not in PARTS:
            asked = SimpleNamespace(task=name, benchmark=benchmark.name, settings={})
            found = conditions_of(asked)  # type: ignore[arg-type]
            assert found.task == base, name
            used.add(ending)
    assert used == set(conditions._NAMES["endings"])


def test_words_and_labels_tell_conditions_apart() -> None:
    for name, words in [*WORDS.items(), ("labels", conditions._NAMES["labels"])]:
        assert len(set(words.values())) == len(words), name
    for name, label in conditions._NAMES["labels"].items():
        assert label != re.sub("[._]", " ", name), "the name says it already"


def test_a_metric_has_one_direction() -> None:
    for name in task_names():
        for metric, facts in TaskFile(name).metrics.items():
            assert metric_of(metric).higher_is_better == facts.higher_is_better, metric


@pytest.mark.parametrize("name", TABLES)
def test_columns_of_a_table_are_what_their_heads_say(name: str) -> None:
    columns = TABLES[name]["columns"]
    assert len(set(columns.values())) == len(columns)
    for head, column in columns.items():
        task, metric, *mode = column.split()
        assert mode in ([], ["pot"])
        assert any(known.startswith(task) for known in [*task_names(), *GROUPS]), task
        label, _, margin = metric_of(metric).label.partition(", ")
        assert metric_of(metric).description or metric_of(metric).of, metric
        if metric_of(metric).of:
            first_words = label.split()[0], head.split()[0]
            is_like = first_words[0].casefold() == first_words[1].casefold()
            assert label.casefold() in head.casefold() or is_like, column
        if "ERR" in head or "EM" in head:
            assert ("ERR" in head) == (margin == "within the margin"), column


def test_metrics_and_benchmarks_of_any_name_have_a_label() -> None:
    assert metric_of("acc_TU").label == "Terminology understanding"
    odd = metric_of("acc_odd")
    assert (odd.label, odd.unit) == ("Acc odd", metric_of("acc").unit)
    names = ("mme_finance_en", "xfinbench", "xfinbenchmark_x")
    found = [benchmark_of(name).name for name in names]
    assert found == ["mme_finance", "xfinbench", "other"]


def test_a_task_of_windows_has_a_name_in_plain_words() -> None:
    asked = Conditions("dynostock_recency_w4", mode="text", arm="signal")
    name = task_name(task_of("dynostock", asked, "paper", "acc"))
    shown = "latest event (recency), 4 reports, price tables, with the statement"
    assert name == f"DynoStock, {shown}"


@pytest.mark.parametrize("name", all_benchmarks())
def test_printed_figures_have_the_unit_of_their_metric(name: str) -> None:
    """Papers print shares in percent and points of 100."""
    values_by_metric: dict[str, list[float]] = {}
    for entry, _, _ in figures([name]):
        values_by_metric.setdefault(entry.metric, []).append(entry.value)
    n_metrics = {"dynostock": 3, "mme_finance": 10, "xfinbench": 5}
    assert len(values_by_metric) >= n_metrics.get(name, 0)
    for metric, values in values_by_metric.items():
        most = largest(metric)
        assert max(values) <= most, metric
        is_deviation = metric.endswith("_std") or math.isinf(most)
        assert max(values) > 0.2 * most or is_deviation, metric
