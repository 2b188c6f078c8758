"""Comparisons: which runs are paired, and that the numbers are those of a plain computation."""

import csv
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_runs import document, write_run
from scipy.stats import binomtest, ttest_rel
from scipy.stats import t as student

from fin_tasks.benchmarks.xfinbench.data import load
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.report.collect import collect
from fin_tasks.report.compare import Comparison, compare, lines_of
from fin_tasks.report.comparison_files import as_object, changed_rows, flat, item_rows, write_csv
from fin_tasks.report.old_leaderboard import document as board_of
from fin_tasks.report.settings import setting_of
from fin_tasks.settings import Settings
from fin_tasks.stats.clustered import clustered_mean
from fin_tasks.stats.multiple import holm
from fin_tasks.stats.pairs import mcnemar
from fin_tasks.stats.ranks import compare_all

LATER = "2026-04-01T10-00-00.123456"


def scores(seed: int, n: int, share: float) -> list[float | None]:
    return [float(value) for value in np.random.default_rng(seed).random(n) < share]


def one(found: Any, task: str, condition: str = "bm25") -> Comparison:
    (comparison,) = [c for c in found.comparisons if c.task == task and c.other.condition == condition]
    return comparison


def test_numbers_are_those_of_a_plain_computation(tmp_path: Path) -> None:
    before, after = scores(1, 200, 0.4), scores(2, 200, 0.6)
    write_run(tmp_path, "xfinbench_bool", before)
    write_run(tmp_path, "xfinbench_bool_bm25", after)
    numbers = one(compare([tmp_path], variant="paper"), "xfinbench_bool").numbers
    a, b = np.array(before, dtype=float), np.array(after, dtype=float)
    gained, lost = int(((b == 1) & (a == 0)).sum()), int(((b == 0) & (a == 1)).sum())
    assert (numbers.n, numbers.gained, numbers.lost) == (200, gained, lost)
    assert numbers.baseline_rate == pytest.approx(a.mean())
    assert numbers.other_rate == pytest.approx(b.mean())
    assert numbers.difference == pytest.approx(b.mean() - a.mean())
    assert numbers.p == pytest.approx(binomtest(gained, gained + lost, 0.5).pvalue)
    (pair,) = compare_all({"other": b.tolist(), "baseline": a.tolist()})
    assert (numbers.interval, numbers.p) == (pair.interval, pair.p)
    assert (numbers.interval.low > 0) == (numbers.p < 0.05)


def test_unscored_and_unpaired_rows_are_counted_not_zero(tmp_path: Path) -> None:
    write_run(tmp_path, "xfinbench_bool", [1.0, None, 0.0, 1.0], docs=[document(n) for n in range(4)])
    write_run(tmp_path, "xfinbench_bool_bm25", [0.0, 1.0, None, 1.0, 1.0], docs=[document(n) for n in (0, 1, 2, 8, 9)])
    numbers = flat(one(compare([tmp_path], variant="paper"), "xfinbench_bool").numbers)
    assert numbers["n"] == 1
    assert numbers["unscored"] == 2
    assert numbers["unpaired"] == {"baseline": 1, "other": 2}
    assert (numbers["baseline_rate"], numbers["other_rate"], numbers["lost"]) == (1.0, 0.0, 1)
    assert numbers["low"] is None  # of one pair no spread can be seen


def test_rows_that_only_share_an_id_are_not_paired(tmp_path: Path) -> None:
    write_run(tmp_path, "xfinbench_bool", [1.0, 1.0], docs=[document(0), document(1)])
    write_run(tmp_path, "xfinbench_bool_bm25", [1.0, 0.0], docs=[document(0), {**document(1), "ground_truth": "other"}])
    found = compare([tmp_path], variant="paper")
    numbers = one(found, "xfinbench_bool").numbers
    assert (numbers.n, numbers.unpaired_baseline, numbers.unpaired_other) == (1, 1, 1)
    assert [row["id"] for row in item_rows(found)] == ["row_0"]


def test_tasks_are_pooled_by_rows_and_groups_overlap(tmp_path: Path) -> None:
    parts = {"xfinbench_bool": 30, "xfinbench_mcq": 12, "xfinbench_calc": 21}
    for seed, (task, n) in enumerate(parts.items()):
        write_run(tmp_path, task, scores(seed, n, 0.5))
        write_run(tmp_path, f"{task}_bm25", scores(seed + 9, n, 0.5))
    found = compare([tmp_path], variant="paper")
    whole = one(found, "all")
    assert found.comparisons[0] is whole
    tasks = [one(found, task) for task in parts]
    assert whole.numbers.n == 63
    assert whole.numbers.gained == sum(task.numbers.gained for task in tasks)
    mean = sum(task.numbers.difference * task.numbers.n for task in tasks) / 63
    assert whole.numbers.difference == pytest.approx(mean)
    assert set(whole.by) == {"TU", "TR", "NM"}
    for group in whole.by:
        assert whole.by[group].n == sum(group in document(k)["capabilities"] for n in parts.values() for k in range(n))


def test_what_retrieval_found_keeps_no_task_out_of_the_whole(tmp_path: Path) -> None:
    for task, rows in (("xfinbench_bool", ["a"]), ("xfinbench_mcq", []), ("xfinbench_calc", ["b", "c"])):
        outcome = {
            "rows_with_more_terms": rows,
            "rows_without_terms": rows[1:],
            "gold_missing": {r: ["t"] for r in rows},
        }
        write_run(tmp_path, task, [0.0, 1.0])
        write_run(tmp_path, f"{task}_bm25", [1.0, 1.0], found=outcome)
    found = compare([tmp_path], variant="paper")
    assert [c.task for c in found.comparisons] == ["all", "xfinbench_bool", "xfinbench_calc", "xfinbench_mcq"]
    assert found.comparisons[0].numbers.n == 6
    assert found.notes == ()


@pytest.mark.parametrize("condition", ["bm25", "oracle"])
def test_no_fact_of_retrieval_depends_on_the_questions(condition: str) -> None:
    facts = []
    for subset in ("bool", "calc"):
        (documents,) = load(subset=subset, source="sample", knowledge=condition).values()
        facts.append(json.loads(documents.info.description)["retrieval"])
    said = [setting_of({"configs": {"t": {"metadata": {"provenance": {"retrieval": one}}}}}, "t") for one in facts]
    assert said[0] == said[1]
    assert any(name.startswith("provenance.retrieval.bank") for name in said[0])


def test_a_whole_that_leaves_out_a_task_says_so(tmp_path: Path) -> None:
    more = {"xfinbench_calc": {"top_k": 5}}
    for task in ("xfinbench_bool", "xfinbench_mcq", "xfinbench_calc"):
        write_run(tmp_path, task, [0.0, 1.0])
        write_run(tmp_path, f"{task}_bm25", [1.0, 1.0], found=more.get(task))
    write_run(tmp_path, "xfinbench_mcq_visual", [1.0])
    notes = compare([tmp_path], variant="paper").notes
    assert notes == (
        "made/model: no bm25 run of xfinbench_mcq_visual, of which there is one without terms.",
        "The 'all' of xfinbench_bool, xfinbench_mcq leaves out xfinbench_calc, as they differ in "
        "retrieval.top_k (3, 5).",
    )


def test_tasks_of_which_none_are_pooled_say_why(tmp_path: Path) -> None:
    for k, task in enumerate(("xfinbench_bool", "xfinbench_mcq")):
        write_run(tmp_path, task, [0.0, 1.0])
        write_run(tmp_path, f"{task}_bm25", [1.0, 1.0], found={"top_k": k + 1})
    (note,) = compare([tmp_path], variant="paper").notes
    assert note == "xfinbench_bool is not pooled with xfinbench_mcq, as they differ in retrieval.top_k (1, 2)."


def test_the_label_of_fused_retrievers_names_tokeniser_and_encoder(tmp_path: Path) -> None:
    members = [{"tokeniser": {"name": "english"}}, {"encoder": {"name": "minilm", "dimension": 384}}]
    write_run(tmp_path, "xfinbench_bool", [1.0])
    write_run(tmp_path, "xfinbench_bool_hybrid", [1.0], found={"retriever": {"members": members}})
    write_run(tmp_path, "xfinbench_bool_dense", [1.0], found={"retriever": {"members": "odd", **members[1]}})
    labels = {c.other.label for c in compare([tmp_path], variant="paper").comparisons}
    assert labels == {"hybrid (top 3, ties paper, english, minilm)", "dense (top 3, ties paper, minilm)"}


def test_tasks_that_ask_a_question_twice_are_not_pooled(tmp_path: Path) -> None:
    docs = [document(n) for n in range(6)]
    pot = {"style": {"mode": "pot", "role": True}}
    for task, provenance in (("xfinbench_calc", {}), ("xfinbench_calc_pot", pot)):
        for name in (task, f"{task}_bm25"):
            write_run(tmp_path, name, scores(1, 6, 0.5), docs=docs, provenance=provenance)
    write_run(tmp_path, "xfinbench_bool", scores(3, 4, 0.5))
    write_run(tmp_path, "xfinbench_bool_bm25", scores(4, 4, 0.5))
    found = compare([tmp_path], variant="paper")
    assert len(found.notes) == 1
    assert "leaves out xfinbench_calc_pot, as they differ in style.mode (cot, pot)." in found.notes[0]
    tasks = {c.task: c.numbers.n for c in found.comparisons}
    assert tasks == {"all": 10, "xfinbench_bool": 4, "xfinbench_calc": 6, "xfinbench_calc_pot": 6}


def test_tasks_of_one_mode_that_share_questions_are_named(tmp_path: Path) -> None:
    docs = [document(n) for n in range(4)]
    for task in ("bizbench_fincode", "bizbench_paper_code"):
        for name, value in ((tmp_path / "a", 0.0), (tmp_path / "b", 1.0)):
            write_run(name, task, [value] * 4, docs=docs)
    found = compare([tmp_path / "a", tmp_path / "b"], variant="paper")
    assert "all" not in {c.task for c in found.comparisons}
    assert "bizbench_fincode, bizbench_paper_code: not pooled, as they ask some questions twice." in found.notes


def test_means_over_repeats_have_no_mcnemar(tmp_path: Path) -> None:
    write_run(tmp_path, "xfinbench_bool", [0.25, 0.5, 1.0])
    write_run(tmp_path, "xfinbench_bool_bm25", [0.75, 0.5, 0.5])
    numbers = one(compare([tmp_path], variant="paper"), "xfinbench_bool").numbers
    assert (numbers.gained, numbers.lost, numbers.exact) == (1, 1, False)
    assert numbers.difference == 0


def test_variants_and_metrics_are_chosen(tmp_path: Path) -> None:
    write_run(tmp_path, "xfinbench_bool", [1.0, 0.0], robust=[0.0, 0.0])
    write_run(tmp_path, "xfinbench_bool_bm25", [1.0, None], robust=[1.0, 1.0])
    assert one(compare([tmp_path], variant="robust"), "xfinbench_bool").numbers.difference == 1
    assert one(compare([tmp_path], variant="paper", metric="unscored"), "xfinbench_bool").numbers.other_rate == 0.5
    with pytest.raises(ConfigError, match="--metric: expected one of acc, unscored, got 'acc_err'"):
        compare([tmp_path], variant="paper", metric="acc_err")
    with pytest.raises(DataError, match="variant strict, found only paper, robust"):
        compare([tmp_path], variant="strict")


def test_a_run_without_the_metric_is_named_and_the_rest_compared(tmp_path: Path) -> None:
    for task, folder in (("xfinbench_bool", tmp_path), ("xfinbench_bool_bm25", tmp_path)):
        write_run(folder, task, [1.0, 0.0])
    for task in ("xfinbench_mcq", "xfinbench_mcq_bm25"):
        path = write_run(tmp_path, task, [1.0, 0.0])
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        path.write_text("".join(json.dumps({**x, "metrics": ["acc", "own"], "own": 1.0}) + "\n" for x in lines))
    found = compare([tmp_path], variant="paper", metric="own")
    assert [c.task for c in found.comparisons] == ["xfinbench_mcq"]
    assert "has no metric own" in found.notes[0]


@pytest.mark.parametrize("value", ["1.0", [1.0], {}])
def test_an_accuracy_that_is_no_number_is_broken(value: Any, tmp_path: Path) -> None:
    write_run(tmp_path, "xfinbench_bool", [1.0, 0.0])
    path = write_run(tmp_path, "xfinbench_bool_bm25", [1.0, 0.0])
    path.write_text("".join(json.dumps({**json.loads(x), "acc": value}) + "\n" for x in path.read_text().splitlines()))
    (problem,) = compare([tmp_path], variant="paper").problems
    assert f"line 1, acc: expected a number or null, got {value!r}" in problem.message


def test_every_condition_and_model_is_compared_with_its_own_baseline(tmp_path: Path) -> None:
    for model, base in (("m/one", 0.0), ("m/two", 1.0)):
        write_run(tmp_path / model, "xfinbench_bool", [base] * 4, model=model)
        for condition in ("bm25", "oracle"):
            write_run(tmp_path / model, f"xfinbench_bool_{condition}", [1.0] * 4, model=model)
    found = compare([tmp_path], variant="paper")
    means = {(c.other.model, c.other.condition): c.numbers.difference for c in found.comparisons}
    assert means == {("m/one", "bm25"): 1, ("m/one", "oracle"): 1, ("m/two", "bm25"): 0, ("m/two", "oracle"): 0}
    assert not any(c.differences for c in found.comparisons)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"limit": 2.0}, "limit (2.0, none)"),
        ({"provenance": {"split": "validation"}}, "split (validation, test)"),
        ({"provenance": {"style": {"mode": "da", "role": True}}}, "style.mode (da, cot)"),
        ({"provenance": {"prompts": {"set": "upstream"}}}, "prompts.set (upstream, house)"),
        ({"provenance": {"data": {"revision": "d2"}}}, "data revision (d2, d1)"),
    ],
)
def test_other_questions_are_no_baseline(changed: dict[str, Any], named: str, tmp_path: Path) -> None:
    write_run(tmp_path, "xfinbench_bool", [1.0, 0.0], **changed)
    write_run(tmp_path / "k", "xfinbench_bool_bm25", [1.0, 0.0])
    with pytest.raises(DataError) as caught:
        compare([tmp_path], variant="paper")
    assert f"differs in {named}." in str(caught.value)


def test_what_else_differs_is_listed_and_the_nearest_taken(tmp_path: Path) -> None:
    farther = {"provenance": {"scorer": 0}, "model_args": {"dtype": "float16"}, "date": "2026-09-01T10-00-00.000001"}
    write_run(tmp_path / "newer", "xfinbench_bool", [0.0], **farther)
    write_run(tmp_path / "nearer", "xfinbench_bool", [1.0], provenance={"scorer": 0})
    write_run(tmp_path, "xfinbench_bool_bm25", [1.0])
    found = one(compare([tmp_path], variant="paper"), "xfinbench_bool")
    assert found.baseline.path.parent.name == "nearer"
    assert [d.fact for d in found.differences] == ["provenance.scorer"]


def test_of_baselines_equally_near_the_newest_is_taken(tmp_path: Path) -> None:
    for date, dtype in (("2026-02", "a"), ("2026-09", "b"), ("2026-05", "c")):
        write_run(tmp_path, "xfinbench_bool", [1.0], date=f"{date}-01T10-00-00.1", model_args={"dtype": dtype})
    write_run(tmp_path, "xfinbench_bool_bm25", [1.0])
    assert one(compare([tmp_path], variant="paper"), "xfinbench_bool").baseline.fact("model_args.dtype") == "b"


def test_a_change_of_wording_is_told_from_the_layout_of_the_terms(tmp_path: Path) -> None:
    write_run(tmp_path, "xfinbench_bool", [1.0], provenance={"fin_tasks": "0.0.9"})
    write_run(tmp_path, "xfinbench_bool_bm25", [1.0])
    facts = [d.fact for d in one(compare([tmp_path], variant="paper"), "xfinbench_bool").differences]
    assert facts == ["provenance.fin_tasks", "provenance.prompts.sha256"]


def test_folders_are_compared_with_the_first(tmp_path: Path) -> None:
    for name, values in (("a", [0.0, 0.0]), ("b", [1.0, 0.0]), ("c", [1.0, 1.0])):
        write_run(tmp_path / name, "xfinbench_bool", values, model=f"m/{name}")
    write_run(tmp_path / "b", "xfinbench_mcq", [1.0], model="m/b")
    found = compare([tmp_path / name for name in "abc"], variant="paper")
    assert [(c.baseline.model, c.other.model, c.numbers.difference) for c in found.comparisons] == [
        ("m/a", "m/b", 0.5),
        ("m/a", "m/c", 1.0),
    ]
    assert {d.fact for d in found.comparisons[0].differences} == {"model name", "model_args.model"}
    assert any("the first path has no xfinbench_mcq" in note for note in found.notes)


def test_folders_pair_like_conditions_else_none(tmp_path: Path) -> None:
    for folder, tasks in (("a", ("", "_bm25")), ("b", ("", "_bm25", "_oracle"))):
        for task in tasks:
            write_run(tmp_path / folder, f"xfinbench_bool{task}", [1.0, 0.0])
    found = compare([tmp_path / "a", tmp_path / "b"], variant="paper")
    pairs = [(c.baseline.condition, c.other.condition) for c in found.comparisons]
    assert pairs == [("none", "none"), ("bm25", "bm25"), ("none", "oracle")]


def test_two_single_tasks_are_compared_whatever_their_names(tmp_path: Path) -> None:
    docs = [document(n) for n in range(3)]
    a = write_run(tmp_path / "a", "xfinbench_calc", [0.0] * 3, docs=docs)
    b = write_run(tmp_path / "b", "xfinbench_calc_pot", [1.0] * 3, docs=docs)
    (found,) = compare([a, b], variant="paper").comparisons
    assert found.numbers.n == 3
    assert found.differences[0].fact == "task"


def test_other_data_are_refused_unless_asked_for(tmp_path: Path) -> None:
    write_run(tmp_path / "a", "xfinbench_bool", [0.0, 0.0])
    write_run(tmp_path / "b", "xfinbench_bool", [1.0, 1.0], provenance={"data": {"revision": "d2"}})
    found = compare([tmp_path / "a", tmp_path / "b"], variant="paper")
    assert not found.comparisons
    assert "differ in data revision (d1, d2)" in found.problems[0].message
    assert "--allow-different-data" in found.problems[0].message
    allowed = compare([tmp_path / "a", tmp_path / "b"], variant="paper", allow_different_data=True)
    assert allowed.comparisons[0].numbers.n == 2
    assert "provenance.data.revision" in {d.fact for d in allowed.comparisons[0].differences}


@pytest.mark.parametrize("other", [{"data": {"revision": "d2"}}, {"split": "validation", "data": {"revision": "d2"}}])
def test_one_folder_over_other_data_is_compared_when_asked_for(other: dict[str, Any], tmp_path: Path) -> None:
    write_run(tmp_path / "a", "xfinbench_bool", [0.0, 0.0])
    write_run(tmp_path / "b", "xfinbench_bool_bm25", [1.0, 1.0], provenance=other)
    with pytest.raises(DataError, match=r"data revision \(d1, d2\)\. --allow-different-data"):
        compare([tmp_path], variant="paper")
    (found,) = compare([tmp_path], variant="paper", allow_different_data=True).comparisons
    assert found.numbers.n == 2
    assert "provenance.data.revision" in {d.fact for d in found.differences}
    same = write_run(tmp_path / "c", "xfinbench_bool", [0.0, 0.0], provenance=other)
    (found,) = compare([tmp_path], variant="paper", allow_different_data=True).comparisons
    assert found.baseline.path == same


def test_a_run_is_not_compared_with_itself(tmp_path: Path) -> None:
    write_run(tmp_path / "a", "xfinbench_bool", [0.0])
    with pytest.raises(DataError, match="below the first path too"):
        compare([tmp_path, tmp_path / "a"], variant="paper")


def test_broken_files_are_named_and_the_rest_is_used(tmp_path: Path) -> None:
    write_run(tmp_path, "xfinbench_bool", [1.0, 0.0])
    write_run(tmp_path, "xfinbench_bool_bm25", [1.0, 1.0])
    (tmp_path / "samples_xfinbench_mcq_2026-03-01T10-00-00.123456.jsonl").write_text('{"doc": ')
    found = compare([tmp_path], variant="paper")
    assert len(found.comparisons) == 1
    assert "line 1: expected JSON" in found.problems[0].message


def test_files_hold_every_number_and_every_row(tmp_path: Path) -> None:
    write_run(tmp_path, "xfinbench_bool", [1.0, 0.0, None, 1.0])
    write_run(tmp_path, "xfinbench_bool_bm25", [0.0, 1.0, 1.0, 1.0])
    found = compare([tmp_path], variant="paper")
    assert [row["change"] for row in item_rows(found)] == ["lost", "gained", "unscored", "same"]
    first = next(item_rows(found))
    assert (first["baseline_answer"], first["other_answer"], first["truth"]) == ("yes", "no", "0")
    write_csv(found, tmp_path / "c.csv")
    rows = list(csv.DictReader((tmp_path / "c.csv").read_text().splitlines()))
    assert [row["group"] for row in rows] == ["", "NM", "TR", "TU"]
    assert float(rows[0]["difference"]) == 0
    (shown,) = as_object(found)["comparisons"]
    assert shown["baseline"]["condition"] == "none"
    assert shown["other"]["runs"][0]["task"] == "xfinbench_bool_bm25"
    assert shown["by"]["NM"]["n"] == 1
    assert all(not math.isnan(value) for value in shown.values() if isinstance(value, float))


def test_groups_of_another_dimension(tmp_path: Path) -> None:
    docs = [{**document(n), "topic": "Bonds" if n else "Tax"} for n in range(3)]
    write_run(tmp_path, "xfinbench_bool", [0.0] * 3, docs=docs)
    write_run(tmp_path, "xfinbench_bool_bm25", [1.0] * 3, docs=docs)
    by = one(compare([tmp_path], variant="paper", by="topic"), "xfinbench_bool").by
    assert {name: numbers.n for name, numbers in by.items()} == {"Bonds": 2, "Tax": 1}


def test_each_benchmark_is_compared_by_its_headline_in_its_unit(tmp_path: Path) -> None:
    for folder, points, shares in (
        ("a", [20.0, 40.0, 60.0, 0.0], [0.0, 1.0]),
        ("b", [60.0, 80.0, 80.0, 40.0], [1.0, 1.0]),
    ):
        docs = [{**document(n), "image_path": f"/{folder}/pictures/{n}.png"} for n in range(4)]
        write_run(tmp_path / folder, "mme_finance_en", points, docs=docs, metric="score")
        write_run(tmp_path / folder, "xfinbench_bool", shares)
    found = compare([tmp_path / "a", tmp_path / "b"], variant="paper")
    by_task = {one.task: one for one in found.comparisons}
    score, share = by_task["mme_finance_en"], by_task["xfinbench_bool"]
    assert (found.metric, score.metric, share.metric) == (None, "score", "acc")
    assert (score.numbers.unit, share.numbers.unit) == ("points", "fraction")
    assert (score.numbers.baseline_rate, score.numbers.other_rate, score.numbers.gained) == (30.0, 65.0, 4)
    assert score.numbers.p == pytest.approx(ttest_rel([60, 80, 80, 40], [20, 40, 60, 0]).pvalue)
    assert [(one["metric"], one["unit"], one["test"]) for one in as_object(found)["comparisons"]] == [
        ("score", "points", "t"),
        ("acc", "fraction", "McNemar"),
    ]
    only = [next((tmp_path / folder).glob("samples_mme_finance_en_*")) for folder in "ab"]
    with pytest.raises(ConfigError, match="expected one of score, unscored, got 'acc'"):
        compare(only, variant="paper", metric="acc")


def test_rows_of_one_figure_count_as_the_report_counts_them(tmp_path: Path) -> None:
    before, after = scores(3, 120, 0.3), scores(4, 120, 0.6)
    docs = [{**document(n), "figure": f"/somewhere/{n // 10}.png" if n < 100 else None} for n in range(120)]
    task = "xfinbench_mcq_visual"
    claims = [{task: {"acc,paper": np.mean(v), "acc,robust": np.mean(v)}} for v in (before, after)]
    write_run(tmp_path / "a", task, before, docs=docs, results=claims[0])
    elsewhere = [{**doc, "figure": doc["figure"] and doc["figure"].replace("/somewhere", "D:\\")} for doc in docs]
    write_run(tmp_path / "b", task, after, docs=elsewhere, results=claims[1], model="made/other")
    (found,) = compare([tmp_path / "a", tmp_path / "b"], variant="paper").comparisons
    differences = [y - x for x, y in zip(before, after, strict=True) if x is not None and y is not None]
    clusters = [n // 10 if n < 100 else n for n in range(120)]
    expected = clustered_mean(differences, clusters=clusters)
    numbers = found.numbers
    assert (numbers.exact, numbers.clusters) == (False, 30)
    assert numbers.p == pytest.approx(2 * student.sf(expected.mean / expected.stderr, 29))
    assert numbers.p != pytest.approx(mcnemar(numbers.gained, numbers.lost))
    settings = replace(Settings.from_environ(), cache_dir=tmp_path / "kept")
    collected = collect([tmp_path / "a", tmp_path / "b"], settings=settings, published=False)
    boards = board_of(collected)["comparisons"]
    assert [pair["p"] for board in boards for pair in board["pairs"]] == [pytest.approx(numbers.p, rel=1e-5)] * 2


def test_changed_rows_come_by_the_size_of_the_change(tmp_path: Path) -> None:
    for folder, values in (("a", [0.0, 100.0, 50.0, None, 70.0]), ("b", [20.0, 0.0, 50.0, 60.0, 90.0])):
        write_run(tmp_path / folder, "mme_finance_en", values, metric="score")
    (found,) = compare([tmp_path / "a", tmp_path / "b"], variant="paper").comparisons
    shown = [(row["id"], row["change"]) for row in changed_rows(found, "paper")]
    assert shown == [("mme_finance_en_1", "lost"), ("mme_finance_en_0", "gained"), ("mme_finance_en_4", "gained")]


def alike(value: float, n: int, *, per_source: int = 1) -> tuple[list[float | None], list[dict[str, Any]]]:
    docs = [{**document(at), "figure": f"{at // per_source}.png"} for at in range(n)]
    return [value] * n, docs


@pytest.mark.parametrize(("n", "per_source"), [(2, 1), (12, 1), (12, 3), (12, 12), (1, 1)])
@pytest.mark.parametrize("after", [0.0, 1.0])
def test_an_interval_has_a_width_or_there_is_none(n: int, per_source: int, after: float, tmp_path: Path) -> None:
    before, docs = alike(0.0, n, per_source=per_source)
    write_run(tmp_path / "a", "xfinbench_mcq_visual", before, docs=docs)
    write_run(tmp_path / "b", "xfinbench_mcq_visual", [after] * n, docs=docs, model="made/other")
    (found,) = compare([tmp_path / "a", tmp_path / "b"], variant="paper").comparisons
    said = flat(found.numbers)
    assert said["difference"] == after
    if n // per_source < 2:
        assert (said["low"], said["high"], said["p"]) == (None, None, 1.0)
    else:
        assert said["low"] < said["high"]
        assert said["low"] <= after <= said["high"]


def test_p_values_are_corrected_for_the_tests_that_are_shown(tmp_path: Path) -> None:
    for seed, task in enumerate(("xfinbench_bool", "xfinbench_mcq")):
        write_run(tmp_path, task, scores(seed, 60, 0.4))
        write_run(tmp_path, f"{task}_bm25", scores(seed + 10, 60, 0.7))
    found = compare([tmp_path], variant="paper")
    shown = [line for several in found.sets for line in lines_of(several)]
    assert [line.group for line in shown] == [None, "NM", "TR", "TU", None, None]
    assert [line.numbers.p_holm for line in shown] == pytest.approx(holm([line.numbers.p for line in shown]))
    hidden = found.sets[0][1].by["TU"]
    assert hidden.n and hidden.p_holm is None
    assert flat(hidden)["p_holm"] is None


def test_bias_indices_are_over_the_wrong_answers_of_each_run(tmp_path: Path) -> None:
    generator = np.random.default_rng(5)
    docs = [{"id": f"q{at}", "ticker": f"T{at // 4}", "ground_truth": "Meet"} for at in range(120)]
    rates = []
    for folder, led in (("a", 0.3), ("b", 0.8)):
        path = write_run(tmp_path / folder, "dynostock_recency_w4", [1.0] * 120, docs=docs, model=folder)
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        wrong = generator.random(120) < 0.5
        index = [float(value) for value in generator.random(120) < led]
        for line in lines:
            at = line["doc_id"]
            line.update(acc=float(not wrong[at]), bias_index=index[at] if wrong[at] else None)
            line["metrics"].append("bias_index")
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        rates.append((np.mean([value for value, is_wrong in zip(index, wrong, strict=True) if is_wrong]), wrong))
    found = compare([tmp_path / "a", tmp_path / "b"], variant="paper", metric="bias_index")
    (one_task,) = [task for task in found.comparisons if not task.pooled]
    numbers = one_task.numbers
    assert (numbers.baseline_rate, numbers.other_rate) == pytest.approx((rates[0][0], rates[1][0]))
    assert numbers.difference == pytest.approx(rates[1][0] - rates[0][0])
    assert numbers.n == int((rates[0][1] | rates[1][1]).sum())
    assert numbers.unscored == 0
    assert numbers.interval.low > 0 and numbers.p < 0.01
    assert any(
        f"{int(rates[0][1].sum())} rows of the first and {int(rates[1][1].sum())} of this" in n for n in found.notes
    )


def test_nothing_to_compare_is_said(tmp_path: Path) -> None:
    write_run(tmp_path / "a", "xfinbench_bool", [None, 1.0])
    write_run(tmp_path / "b", "xfinbench_bool", [1.0, None], model="made/other")
    found = compare([tmp_path / "a", tmp_path / "b"], variant="paper")
    assert any("no row has acc in both runs, though 2 were asked" in note for note in found.notes)
    assert found.comparisons[0].numbers.p_holm is None
    write_run(tmp_path / "c", "xfinbench_bool", [1.0], docs=[document(9)], model="made/third")
    apart = compare([tmp_path / "a", tmp_path / "c"], variant="paper")
    assert any("no row in common with" in note for note in apart.notes)


def test_splits_of_the_packaged_sample_are_none(tmp_path: Path) -> None:
    sample = {"origin": "sample", "revision": "s1"}
    for name, split in (("a", "test"), ("b", "validation")):
        for task in ("xfinbench_bool", "xfinbench_bool_bm25"):
            facts = {"data": sample, "split": split}
            write_run(tmp_path / name, task, [1.0, float(name == "a")], model=name, provenance=facts)
    found = compare([tmp_path / "a", tmp_path / "b"], variant="paper")
    assert not found.problems
    assert [one.numbers.n for one in found.comparisons] == [2, 2]
    assert {one.fact for each in found.comparisons for one in each.differences} == {"model name", "model_args.model"}
    assert {of["split"] for each in as_object(found)["comparisons"] for of in (each["baseline"], each["other"])} == {
        "sample"
    }


def test_one_sample_is_paired_with_another_whichever_split_was_asked_for(tmp_path: Path) -> None:
    sample = {"origin": "sample", "revision": "s1"}
    write_run(tmp_path / "a", "xfinbench_bool", [1.0, 0.0], provenance={"data": sample, "split": "test"})
    write_run(tmp_path / "b", "xfinbench_bool_bm25", [1.0, 1.0], provenance={"data": sample, "split": "validation"})
    write_run(tmp_path / "b", "xfinbench_mcq", [1.0], provenance={"data": sample, "split": "test"})
    write_run(tmp_path / "b", "xfinbench_mcq_bm25", [1.0], provenance={"data": sample, "split": "test"})
    found = compare([tmp_path], variant="paper")
    assert {one.task: one.numbers.n for one in found.comparisons} == {"all": 3, "xfinbench_bool": 2, "xfinbench_mcq": 1}
    write_run(tmp_path / "c", "xfinbench_bool", [0.0, 0.0], provenance={"data": sample, "split": "x"}, date=LATER)
    again = compare([tmp_path], variant="paper")
    assert any("ran the same later" in note for note in again.notes)
