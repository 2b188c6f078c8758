"""Files in, one table out: what values carry, and what happens to files that are broken or lie."""

import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_results import DATE, LATER, shares, write_results

from fin_tasks.errors import DataError
from fin_tasks.report.collect import Collected, collect
from fin_tasks.report.entry import Entry
from fin_tasks.report.found_files import find_runs
from fin_tasks.report.lm_eval_entries import read_run
from fin_tasks.report.lm_eval_results import read_results
from fin_tasks.settings import Settings
from fin_tasks.stats.bounded import bounded_mean
from fin_tasks.stats.intervals import wilson


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(Settings.from_environ({}), cache_dir=tmp_path / "cache")


def gathered(settings: Settings, *paths: Path) -> Collected:
    return collect(paths, settings=settings, published=False)


def one(found: Collected, metric: str, **fields: Any) -> Entry:
    """The entry under `robust` with these fields."""
    fields = {"variant": "robust", "metric": metric, **fields}
    (entry,) = [e for e in found.entries if all(getattr(e, name) == value for name, value in fields.items())]
    return entry


def test_a_share_has_wilsons_interval_and_counts_its_rows(tmp_path: Path, settings: Settings) -> None:
    write_results(tmp_path / "r", "financemath", shares([1.0, 0.0, 1.0, None]))
    found = gathered(settings, tmp_path / "r")
    entry = one(found, "acc")
    bounds = wilson(2, 3)
    assert entry.value == pytest.approx(2 / 3)
    assert (entry.low, entry.high) == pytest.approx((bounds.low, bounds.high))
    assert (entry.n, entry.unscored, entry.unit, entry.higher_is_better) == (3, 1, "fraction", True)
    assert one(found, "unscored").n == 4
    assert one(found, "unscored").higher_is_better is False
    assert not entry.marks
    assert not found.problems


def test_rows_of_one_figure_are_no_independent_rows(tmp_path: Path, settings: Settings) -> None:
    values = [1.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    figures = ["f1", "f1", "f2", "f2", "", ""]
    docs = [{"id": f"r{place}", "figure": figure} for place, figure in enumerate(figures)]
    write_results(tmp_path / "r", "xfinbench_mcq_visual", shares(values), docs=docs)
    found = gathered(settings, tmp_path / "r")
    entry = one(found, "acc")
    bounds = bounded_mean(np.array(values), clusters=np.array([0, 0, 1, 1, 2, 3]))
    assert entry.low == pytest.approx(bounds.low)
    assert entry.high == pytest.approx(min(1.0, bounds.high))
    scores = found.scores(entry.run)["robust"]
    assert scores.clusters == ("f1", "f1", "f2", "f2", "r4", "r5")
    assert scores.values["acc"].tolist() == values


def test_pictures_are_the_same_on_every_machine(tmp_path: Path, settings: Settings) -> None:
    docs = [{"id": f"{place}", "image_path": f"/home/ann/images/{place // 2}.png"} for place in range(4)]
    write_results(tmp_path / "r", "mme_finance_en", [{"score": 20.0 * place} for place in range(4)], docs=docs)
    entry = one(gathered(settings, tmp_path / "r"), "score")
    assert (entry.benchmark, entry.unit, entry.value) == ("mme_finance", "points", 30.0)
    assert gathered(settings, tmp_path / "r").scores(entry.run)["robust"].clusters == (
        "0.png",
        "0.png",
        "1.png",
        "1.png",
    )


def test_points_of_pictures_seen_once_are_independent(tmp_path: Path, settings: Settings) -> None:
    points = [0.0, 20.0, 100.0, 60.0, 60.0]
    docs = [{"id": f"{place}", "image_path": f"{place}.png"} for place in range(5)]
    write_results(tmp_path / "r", "mme_finance_en", [{"score": value} for value in points], docs=docs)
    entry = one(gathered(settings, tmp_path / "r"), "score")
    bounds = bounded_mean(np.array(points), most=100)
    assert (entry.low, entry.high) == pytest.approx((bounds.low, bounds.high))


def test_what_all_rows_agree_on_is_not_certain(tmp_path: Path, settings: Settings) -> None:
    docs = [{"id": f"r{place}", "ticker": f"T{place % 2}"} for place in range(8)]
    write_results(tmp_path / "r", "dynostock_recency_w4", shares([1.0] * 8), docs=docs)
    entry = one(gathered(settings, tmp_path / "r"), "acc")
    assert (entry.low, entry.high) == pytest.approx((wilson(2, 2).low, 1.0))  # two tickers, not eight rows


def test_the_bias_index_has_the_bounds_that_its_task_reports(tmp_path: Path, settings: Settings) -> None:
    docs = [{"id": f"r{place}", "ticker": f"T{place}"} for place in range(3)]
    claims = {"bias_index,robust": 0.4, "bias_index_low,robust": 0.2, "bias_index_high,robust": 0.7}
    claims |= {"bias_index_std,robust": 0.0, "acc_low,robust": 0.1, "acc_high,robust": 0.9}
    write_results(tmp_path / "r", "dynostock_recency_w4", shares([1.0, 0.0, 1.0]), docs=docs, claims=claims)
    found = gathered(settings, tmp_path / "r")
    entry = one(found, "bias_index")
    assert (entry.value, entry.low, entry.high, entry.n) == (0.4, 0.2, 0.7, 3)
    assert entry.higher_is_better is False
    assert not {e.metric for e in found.entries} & {"bias_index_low", "bias_index_high", "acc_low", "acc_high"}
    assert one(found, "acc").low != 0.1  # that of its rows


def test_bounds_that_do_not_hold_their_value_are_none(tmp_path: Path, settings: Settings) -> None:
    claims = {"bias_index,robust": 0.4, "bias_index_low,robust": 0.5, "bias_index_high,robust": 0.7}
    write_results(tmp_path / "r", "dynostock_recency_w4", shares([1.0, 0.0]), claims=claims, samples=False)
    entry = one(gathered(settings, tmp_path / "r"), "bias_index")
    assert (entry.value, entry.low, entry.high) == (0.4, None, None)


def test_results_alone_have_the_interval_of_their_stderr(tmp_path: Path, settings: Settings) -> None:
    claims = {"acc_stderr,robust": 0.1, "unscored,robust": 0.25}
    write_results(tmp_path / "r", "financemath", shares([1.0, 0.0, 1.0, 0.0]), claims=claims, samples=False)
    found = gathered(settings, tmp_path / "r")
    entry = one(found, "acc")
    assert (entry.low, entry.high) == pytest.approx((0.5 - 0.196, 0.5 + 0.196), abs=1e-4)
    assert (entry.n, entry.unscored) == (3, 1)
    assert one(found, "acc", variant="paper").low is None
    assert found.samples(entry.run) is None
    assert not found.scores(entry.run)


def test_a_claim_that_its_rows_do_not_bear_out_is_marked(tmp_path: Path, settings: Settings) -> None:
    write_results(tmp_path / "r", "financemath", shares([1.0, 0.0]), claims={"acc,robust": 0.9})
    found = gathered(settings, tmp_path / "r")
    assert one(found, "acc").value == 0.9
    assert one(found, "acc").marks == ("claims 0.9, but its rows give 0.5",)
    assert (one(found, "acc").low, one(found, "acc").high) == (None, None)  # which would be of another value
    assert not one(found, "acc", variant="paper").marks


def test_samples_alone_give_the_means_of_their_rows(tmp_path: Path, settings: Settings) -> None:
    write_results(tmp_path / "m", "financemath", shares([1.0, 0.0, 1.0, 1.0])).unlink()
    found = gathered(settings, tmp_path / "m")
    entry = one(found, "acc")
    assert (entry.model, entry.value, entry.n) == ("m", 0.75, 4)
    assert any("without a results file" in note for note in found.notes)


NO_ROLE = {"style": {"mode": "cot", "role": False}}
JUDGE = {"judge": {"model": "j", "rubric": "r@1"}}


def without_style(**facts: Any) -> dict[str, Any]:
    return {"style": None, **facts}


@pytest.mark.parametrize(
    ("task", "facts", "metadata", "expected"),
    [
        ("xfinbench_calc_pot_bm25", {"style": {"mode": "pot"}}, {}, ("xfinbench_calc", "pot", "", "bm25", "", "")),
        ("xfinbench_text_da", {"style": {"mode": "da"}}, {}, ("xfinbench_text", "da", "", "none", "", "")),
        ("xfinbench_bool", NO_ROLE, {}, ("xfinbench_bool", "cot", "no role", "none", "", "")),
        ("mme_finance_zh_na", without_style(na=True), JUDGE, ("mme_finance_zh", "", "may decline", "", "", "j, r@1")),
        (
            "dynostock_recency_w4_text",
            without_style(mode="text", arm="none"),
            {},
            ("dynostock_recency_w4", "text", "", "", "none", ""),
        ),
        ("financemath", without_style(mode="cot"), {"judge_model": "j"}, ("financemath", "cot", "", "", "", "j")),
    ],
)
def test_how_a_task_was_asked_is_told_apart_from_the_task(
    tmp_path: Path, settings: Settings, task: str, facts: Any, metadata: Any, expected: tuple[str, ...]
) -> None:
    metric = "score" if task.startswith("mme") else "acc"
    write_results(tmp_path / "r", task, [{metric: 1.0}, {metric: 0.0}], facts=facts, metadata=metadata)
    entry = one(gathered(settings, tmp_path / "r"), metric)
    assert (entry.task, entry.mode, entry.style, entry.retrieval, entry.arm, entry.judge) == expected


def test_a_group_is_a_task_of_its_own(tmp_path: Path, settings: Settings) -> None:
    write_results(tmp_path / "r", "xfinbench_bool", shares([1.0, 0.0]))
    group = {"xfinbench_text": {"alias": "x", "acc,robust": 0.75, "acc_stderr,robust": 0.2, "sample_len": 4}}
    title = {"xfinbench_titles": {"alias": "stands above its tasks"}}
    members = {"xfinbench_text": ["xfinbench_bool", "xfinbench_mcq"], "xfinbench_titles": ["xfinbench_bool"]}
    write_results(tmp_path / "r", "xfinbench_mcq", shares([1.0, 1.0]), groups=group | title, members=members)
    found = gathered(settings, tmp_path / "r")
    assert not found.problems
    entry = one(found, "acc", task="xfinbench_text")
    bounds = wilson(3, 4)
    assert (entry.value, entry.n, entry.mode, entry.split) == (0.75, 4, "cot", "test")
    assert (entry.low, entry.high) == pytest.approx((bounds.low, bounds.high))
    assert len(found.scores(entry.run)["robust"].ids) == 4


@pytest.mark.parametrize("told", [{"alias": "x", "name": "x"}, {" ": " ", "alias": "x", "sample_len": 4}])
def test_a_title_is_known_without_the_list_of_groups(tmp_path: Path, settings: Settings, told: dict[str, Any]) -> None:
    path = write_results(
        tmp_path / "r", "dynostock_recency_w4_text", shares([1.0, 0.0]), groups={"dynostock_text": told}
    )
    whole = json.loads(path.read_text())
    path.write_text(json.dumps({name: whole[name] for name in ("results", "config", "model_name")}))
    found = gathered(settings, tmp_path / "r")
    assert not found.problems
    assert {entry.task for entry in found.entries} == {"dynostock_recency_w4"}


@pytest.mark.parametrize("told", [{}, {"alias": "x", "acc": 0.5}])
def test_a_task_without_metrics_is_told(tmp_path: Path, settings: Settings, told: dict[str, Any]) -> None:
    write_results(tmp_path / "r", "dynostock_recency_w4_text", shares([1.0, 0.0]), groups={"dynostock_text": told})
    (problem,) = gathered(settings, tmp_path / "r").problems
    assert "results.dynostock_text: expected metrics such as 'acc,paper'" in problem.message


def test_the_mean_of_a_groups_tasks_is_no_mean_over_rows(tmp_path: Path, settings: Settings) -> None:
    write_results(tmp_path / "r", "xfinbench_bool", shares([1.0, 0.0, 0.0, None]))
    group = {"xfinbench": {"acc,robust": 0.4, "acc_stderr,robust": 0.1}}
    members = {"xfinbench": ["xfinbench_bool", "xfinbench_mcq"]}
    write_results(tmp_path / "r", "xfinbench_mcq", shares([1.0]), groups=group, members=members)
    entry = one(gathered(settings, tmp_path / "r"), "acc", task="xfinbench")
    assert entry.high == pytest.approx(0.4 + 0.196, abs=1e-4)
    assert not entry.marks
    assert not gathered(settings, tmp_path / "r").scores(entry.run)


@pytest.mark.parametrize("sizes", [(1, 1), (6, 2)])
def test_rows_of_a_groups_tasks_count_for_as_much_as_their_task(
    tmp_path: Path, settings: Settings, sizes: tuple[int, int]
) -> None:
    """Whether tasks count alike, or by the rows that were asked while some are unscored."""
    values = [1.0, 0.0, 0.0, 1.0, None, None], [1.0, 1.0]
    docs = [
        [{"id": f"{task}{at}", "figure": f"f{at // 2}"} for at in range(len(own))] for task, own in enumerate(values)
    ]
    mean = (sizes[0] * 0.5 + sizes[1] * 1.0) / sum(sizes)
    group = {"xfinbench": {"acc,robust": mean, "acc_stderr,robust": 0.001}}
    members = {"xfinbench": ["xfinbench_bool", "xfinbench_mcq"]}
    write_results(tmp_path / "r", "xfinbench_bool", shares(values[0]), docs=docs[0])
    write_results(tmp_path / "r", "xfinbench_mcq", shares(values[1]), docs=docs[1], groups=group, members=members)
    found = gathered(settings, tmp_path / "r")
    entry = one(found, "acc", task="xfinbench")
    rows = np.array([1.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    weights = np.array([sizes[0] / 4] * 4 + [sizes[1] / 2] * 2)
    bounds = bounded_mean(rows, clusters=np.array([0, 0, 1, 1, 0, 0]), weights=weights)
    assert (entry.value, entry.low, entry.high) == pytest.approx((mean, bounds.low, bounds.high))
    assert not entry.marks
    assert not found.scores(entry.run)


def test_groups_in_a_circle_are_read_in_no_time(tmp_path: Path, settings: Settings) -> None:
    write_results(tmp_path / "r", "xfinbench_bool", shares([1.0, 0.0]))
    names = [f"xfinbench_group_{at}" for at in range(12)]
    groups = {name: {"acc,robust": 0.5} for name in names}
    members = {name: [*names, "xfinbench_bool"] for name in names}
    write_results(tmp_path / "r", "xfinbench_mcq", shares([1.0, 0.0]), groups=groups, members=members)
    found = gathered(settings, tmp_path / "r")
    assert one(found, "acc", task=names[0]).facts["tasks"] == "xfinbench_bool"


def test_samples_that_name_no_filter_and_no_metrics_have_those_of_the_results(
    tmp_path: Path, settings: Settings
) -> None:
    path = write_results(tmp_path / "r", "financemath", shares([1.0, 0.0, 1.0]))
    told = json.loads(path.read_text())
    told["results"]["financemath"] = {"acc,none": 2 / 3, "acc_stderr,none": 0.1}
    path.write_text(json.dumps(told))
    lines = [{"doc": {"id": str(at)}, "acc": float(at != 1)} for at in range(3)]
    (tmp_path / "r" / f"samples_financemath_{DATE}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    found = gathered(settings, tmp_path / "r")
    assert not found.problems
    entry = one(found, "acc", variant="none")
    bounds = wilson(2, 3)
    assert (entry.n, entry.low, entry.high) == (3, pytest.approx(bounds.low), pytest.approx(bounds.high))


def test_rows_that_are_not_used_are_told(tmp_path: Path, settings: Settings) -> None:
    path = write_results(tmp_path / "r", "financemath", shares([1.0, 0.0]))
    samples = tmp_path / "r" / f"samples_financemath_{DATE}.jsonl"
    samples.with_name(samples.name.replace("financemath", "xfinbench_bool")).write_text(samples.read_text())
    samples.write_text(samples.read_text().replace('"robust"', '"none"'))
    notes = gathered(settings, tmp_path / "r").notes
    assert any(f"left out, as {path} has no task xfinbench_bool" in note for note in notes), notes
    assert any("rows under none left out" in note and "values under paper, robust" in note for note in notes), notes


def test_values_without_samples_are_told(tmp_path: Path, settings: Settings) -> None:
    write_results(tmp_path / "r", "financemath", shares([1.0, 0.0]), samples=False)
    (note,) = gathered(settings, tmp_path / "r").notes
    assert "no samples of financemath, so their values rest on this file alone" in note


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        (1772359200.5, "2026-03-01T10:00:00"),
        ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00"),
        ("2026-03-01", "2026-03-01T00:00:00"),
        ("yesterday", ""),
        (1e300, ""),
        (True, ""),
    ],
)
def test_dates_are_seconds_or_iso_text(date: Any, expected: str) -> None:
    content = json.dumps({"results": {"financemath": {"acc,robust": 0.5}}, "date": date}).encode()
    assert read_results(Path("results.json"), content).date == expected


def test_secrets_and_homes_are_told_to_nobody(tmp_path: Path, settings: Settings) -> None:
    arguments = {"header": {"Authorization": "Bearer abc"}, "openai_api_key": "k1", "x-api-key": "k2"}
    arguments |= {"path": "/home/ann/secret-models", "note": "sk-abcdefghijkl", "proxy": "http://ann:pw@host"}
    write_results(tmp_path / "r", "financemath", shares([1.0]), model="/home/ann/models/m", arguments=arguments)
    write_results(tmp_path / "s", "financemath", shares([1.0]))
    as_text = "pretrained=m,headers={'A': 'x', 'Authorization': 'Bearer tok5'},dtype=float"
    path = tmp_path / "s" / f"results_{DATE}.json"
    told = json.loads(path.read_text())
    told["config"]["model_args"] = as_text
    path.write_text(json.dumps(told))
    found = gathered(settings, tmp_path / "r", tmp_path / "s")
    everything = repr((found.runs, found.entries))
    for secret in ("ann", "abc", "k1", "k2", "tok5", "pw@"):
        assert secret not in everything, secret
    assert {run.model for run in found.runs} == {"~/models/m", "made/model"}
    (run,) = [run for run in found.runs if run.model == "made/model"]
    assert run.provenance["model_args.dtype"] == '"float"'
    for kept in (tmp_path / "cache").rglob("*.run"):
        assert b"Bearer" not in kept.read_bytes()


def test_broken_files_are_listed_and_the_rest_is_reported(tmp_path: Path, settings: Settings) -> None:
    write_results(tmp_path / "r" / "good", "financemath", shares([1.0, 0.0]))
    cut = write_results(tmp_path / "r" / "cut", "financemath", shares([1.0, 0.0]), model="cut")
    cut.write_text(cut.read_text()[:100])
    write_results(tmp_path / "r" / "lines", "financemath", shares([1.0, 0.0]), model="lines")
    samples = tmp_path / "r" / "lines" / f"samples_financemath_{DATE}.jsonl"
    samples.write_text("".join(samples.read_text().splitlines(keepends=True)[:3]))
    found = gathered(settings, tmp_path / "r")
    assert sorted(Path(problem.path).parent.name for problem in found.problems) == ["cut", "lines"]
    assert {entry.model for entry in found.entries} == {"made/model", "lines"}
    assert "broken" in one(found, "acc", model="lines").marks[0]
    assert one(found, "acc", model="lines").low is None


def test_whole_lines_that_are_missing_are_missed(tmp_path: Path, settings: Settings) -> None:
    write_results(tmp_path / "r", "financemath", shares([1.0, 0.0]))
    samples = tmp_path / "r" / f"samples_financemath_{DATE}.jsonl"
    lines = samples.read_text().splitlines(keepends=True)
    samples.write_text(lines[0] + lines[2])  # of both filters
    (problem,) = gathered(settings, tmp_path / "r").problems
    assert "expected 2 documents" in problem.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"results": []}, "results: expected an object, got list"),
        ({"results": {"financemath": {"acc,robust": "much"}}}, "results.financemath.acc,robust: expected a number"),
        ({"results": {"financemath": {"acc,robust": 61.2}}}, "expected a number from 0 to 1, got 61.2"),
        ({"results": {"financemath": {"acc,robust": True}}}, "expected a number or 'N/A', got True"),
        ({"results": {"financemath": {"acc,robust": math.inf}}}, "from 0 to 1, got inf"),
        ({"results": {"financemath": 3}}, "results.financemath: expected an object"),
        ({"n-samples": {"financemath": {"effective": "8"}}}, "effective: expected a whole number"),
        ({"results": {"financemath": {"acc,robust": 0.5, "acc_stderr,robust": 10**400}}}, "from 0 to inf, got inf"),
        ({"n-samples": {"financemath": {"effective": 10**400}}}, "effective: expected a whole number"),
        ({"model_name": "m" * 501}, "model_name: expected at most 500 characters"),
        ({"model_name": "\ud800"}, "model_name: expected text that is Unicode"),
        ({"results": {"financemath": {f"m{at},robust": 0.5 for at in range(1001)}}}, "expected at most 1,000 metrics"),
        ({"versions": [1]}, "versions: expected an object"),
        ({"group_subtasks": {"financemath": 4}}, "group_subtasks.financemath: expected a list"),
    ],
)  # fmt: skip
def test_a_field_of_another_kind_is_named(tmp_path: Path, settings: Settings, change: Any, message: str) -> None:
    path = write_results(tmp_path / "r", "financemath", shares([1.0, 0.0]))
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    (problem,) = gathered(settings, tmp_path / "r").problems
    assert message in problem.message
    assert path.name in problem.message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"acc": 2.0}, "expected numbers from 0 to 1, got 2 at r, paper, acc"),
        ({"acc": "1"}, "line 1, acc: expected a number or null, got '1'"),
        ({"acc": [1]}, "line 1, acc: expected a number or null"),
        ({"doc": 5}, "line 1, doc: expected an object"),
        ({"doc": {"id": ["r"]}}, "line 1, doc.id: expected a text"),
        ({"filter": None}, "line 1, filter: expected a filter's name"),
        ({"metrics": "acc"}, "line 1, metrics: expected a list of names"),
    ],
)  # fmt: skip
def test_a_line_of_another_kind_is_named(tmp_path: Path, settings: Settings, line: Any, message: str) -> None:
    write_results(tmp_path / "r", "financemath", shares([1.0]))
    sample = {"doc": {"id": "r"}, "filter": "paper", "metrics": ["acc"], "acc": 1.0, **line}
    (tmp_path / "r" / f"samples_financemath_{DATE}.jsonl").write_text(json.dumps(sample) + "\n")
    (problem,) = gathered(settings, tmp_path / "r").problems
    assert message in problem.message


def test_deep_nesting_and_endless_numbers_are_files_that_cannot_be_read(tmp_path: Path, settings: Settings) -> None:
    for place, text in enumerate(["[" * 100_000, '{"results": ' + "9" * 10_000 + "}", "", "\xff"]):
        (tmp_path / "r" / str(place)).mkdir(parents=True)
        (tmp_path / "r" / str(place) / f"results_{DATE}.json").write_text(text, encoding="latin-1")
    deep: Any = "x"
    for _ in range(600):
        deep = {"a": deep}
    write_results(tmp_path / "r" / "deep", "financemath", shares([1.0]), facts={"deep": deep})
    assert len(gathered(settings, tmp_path / "r").problems) >= 4


def test_links_that_leave_the_folder_are_not_followed(tmp_path: Path, settings: Settings) -> None:
    outside = write_results(tmp_path / "private", "financemath", shares([1.0]), model="private")
    write_results(tmp_path / "r", "financemath", shares([1.0]), date=LATER)
    (tmp_path / "r" / outside.name).symlink_to(outside)
    (tmp_path / "r" / "sub").symlink_to(tmp_path / "private")
    os.mkfifo(tmp_path / "r" / "results.json")  # would wait for a writer that never comes
    found = gathered(settings, tmp_path / "r")
    assert {entry.model for entry in found.entries} == {"made/model"}
    assert sorted(Path(problem.path).name for problem in found.problems) == ["results.json", outside.name]


def test_samples_are_not_pulled_in_through_links_beside_a_file(tmp_path: Path, settings: Settings) -> None:
    path = write_results(tmp_path / "r", "financemath", shares([1.0]), samples=False)
    write_results(tmp_path / "private", "financemath", shares([1.0]))
    name = f"samples_financemath_{DATE}.jsonl"
    (tmp_path / "r" / name).symlink_to(tmp_path / "private" / name)
    assert all(not run.samples for run in gathered(settings, path).runs)


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2026-03-01T10-00-00", "2026-03-01T10:00:00"),
        ("2026-03-01T10:00:00.123456", "2026-03-01T10:00:00.123456"),
        ("2026-03-01T10-00-00.123456+00-00", "2026-03-01T10:00:00.123456"),
        ("20260301T100000Z", "2026-03-01T10:00:00"),
        ("20260301", "2026-03-01"),
        ("2026-03-01", "2026-03-01"),
        ("final_v2", ""),
    ],
)
def test_files_belong_together_by_what_their_names_end_with(
    tmp_path: Path, settings: Settings, date: str, expected: str
) -> None:
    path = write_results(tmp_path / "r", "financemath", shares([1.0, 0.0]), date=date)
    write_results(tmp_path / "r", "xfinbench_bool", shares([1.0]), date=LATER, model="other")
    for named in (tmp_path / "r", path, path.with_name(f"samples_financemath_{date}.jsonl")):
        found = gathered(settings, named)
        entry = one(found, "acc", task="financemath")
        assert (entry.model, entry.n, found.problems) == ("made/model", 2, ())
        (run,) = [run for run in found.runs if run.task == "financemath"]
        assert (run.date, bool(run.samples)) == (expected, True)


def test_results_under_a_name_of_their_own_are_known_by_what_they_hold(tmp_path: Path, settings: Settings) -> None:
    path = write_results(tmp_path / "r", "financemath", shares([1.0, 0.0]))
    path = path.rename(path.with_name(f"gpt4_{DATE}.json"))
    assert one(gathered(settings, tmp_path / "r"), "acc").n == 2  # as `--output_path gpt4.json` writes it
    named = [tmp_path / f"{name}.json" for name in ("mine", "yours")]
    for name in named:
        name.write_text(path.read_text().replace("made/model", name.stem))
    assert {run.model for run in gathered(settings, *named).runs} == {"mine", "yours"}
    named[0].write_text(named[0].read_text()[:-20])
    (problem,) = gathered(settings, *named).problems
    assert "mine.json: expected lm-eval's results as JSON" in problem.message
    (tmp_path / "r" / "results_of_others.json").write_text('{"results": {"mmlu": {"acc,none": 0.5}}}')
    (tmp_path / "r" / f"log_{LATER}.json").write_text("[]")
    assert not gathered(settings, tmp_path / "r").problems


def test_compressed_files_are_named(tmp_path: Path, settings: Settings) -> None:
    path = write_results(tmp_path / "r", "financemath", shares([1.0, 0.0]))
    packed = path.with_name(f"{path.name}.gz")
    packed.write_bytes(b"\x1f\x8b")
    assert not gathered(settings, tmp_path / "r").problems  # it is there unpacked, too
    packed.rename(packed.with_name("results_2026-05-01T10-00-00.json.gz"))
    (problem,) = gathered(settings, tmp_path / "r").problems
    assert "Unpack it" in problem.message


@pytest.mark.parametrize("name", [f"results_{DATE}.json", f"samples_financemath_{DATE}.jsonl", "mine.json"])
def test_a_pipe_or_device_that_is_named_is_waited_for_by_nobody(tmp_path: Path, settings: Settings, name: str) -> None:
    write_results(tmp_path / "r", "financemath", shares([1.0]))
    os.mkfifo(tmp_path / name)
    (tmp_path / "results.json").symlink_to("/dev/zero")
    found = gathered(settings, tmp_path / "r", tmp_path / name, tmp_path / "results.json")
    assert [Path(problem.path).name for problem in found.problems] == [name, "results.json"]
    assert found.runs


def test_a_name_that_is_no_text_is_told(tmp_path: Path, settings: Settings) -> None:
    write_results(tmp_path / "r", "financemath", shares([1.0]))
    path = write_results(tmp_path / "bad", "financemath", shares([1.0]), model="bad")
    path.parent.rename(tmp_path / "r" / os.fsdecode(b"b\xe4d"))
    found = gathered(settings, tmp_path / "r")
    assert {run.model for run in found.runs} == {"made/model"}
    assert all("expected a name that is UTF-8" in problem.message for problem in found.problems)
    assert found.problems


def test_half_a_character_in_a_row_drops_no_run(tmp_path: Path, settings: Settings) -> None:
    docs = [{"id": f"\ud800{at}", "image_path": f"\ud800{at // 2}.png"} for at in range(4)]
    write_results(tmp_path / "r", "mme_finance_en", [{"score": 20.0 * at} for at in range(4)], docs=docs)
    found = gathered(settings, tmp_path / "r")
    assert not found.problems
    scores = found.scores(one(found, "score").run)["robust"]
    assert (len(set(scores.ids)), len(set(scores.clusters or ()))) == (4, 2)


def test_nothing_of_ours_is_an_error(tmp_path: Path, settings: Settings) -> None:
    (tmp_path / "r").mkdir()
    with pytest.raises(DataError, match="expected results of"):
        gathered(settings, tmp_path / "r")
    with pytest.raises(DataError, match="found nothing there"):
        gathered(settings, tmp_path / "missing")


def test_a_file_of_another_name_is_not_passed_over(tmp_path: Path, settings: Settings) -> None:
    path = write_results(tmp_path / "r", "financemath", shares([1.0]))
    (tmp_path / "mine.json").write_text("{}")
    (problem,) = gathered(settings, path, tmp_path / "mine.json").problems
    assert "a file of another name" in problem.message


def test_copies_count_once_and_a_file_brings_its_run(tmp_path: Path, settings: Settings) -> None:
    path = write_results(tmp_path / "a", "financemath", shares([1.0, 0.0]))
    write_results(tmp_path / "b", "financemath", shares([1.0, 0.0]))
    found = gathered(settings, tmp_path)
    assert len(found.runs) == 1
    assert any("is the same as in" in note for note in found.notes)
    (run,) = gathered(settings, path).runs
    assert (run.path, run.samples) == (path.name, f"samples_financemath_{DATE}.jsonl")
    assert run.date == "2026-03-01T10:00:00.123456"


def test_of_copies_the_one_with_rows_counts(tmp_path: Path, settings: Settings) -> None:
    write_results(tmp_path / "a", "xfinbench_bool", shares([1.0, 0.0]), samples=False)
    write_results(tmp_path / "b", "xfinbench_bool", shares([1.0, 0.0]))
    group = {
        "groups": {"xfinbench": {"acc,robust": 0.7}},
        "members": {"xfinbench": ["xfinbench_bool", "xfinbench_mcq"]},
    }
    for name in ("a", "b"):
        write_results(tmp_path / name, "xfinbench_mcq", shares([1.0]), samples=name == "b", **group)
    for named in ([tmp_path], [tmp_path / "a", tmp_path / "b"]):
        found = gathered(settings, *named)
        assert sorted(run.task for run in found.runs) == ["xfinbench", "xfinbench_bool", "xfinbench_mcq"]
        assert not any(entry.marks for entry in found.entries)
        assert one(found, "acc", task="xfinbench_bool").n == 2
        assert all(run.samples for run in found.runs if run.task != "xfinbench")


def test_what_is_named_twice_is_told_once(tmp_path: Path, settings: Settings) -> None:
    path = write_results(tmp_path / "r" / "a", "financemath", shares([1.0]))
    path.write_text("{")
    write_results(tmp_path / "r" / "b", "financemath", shares([1.0]))
    (tmp_path / "link").symlink_to(tmp_path / "r")
    found = gathered(settings, tmp_path / "r", path.parent, tmp_path / "r", tmp_path / "link", path)
    assert len(found.problems) == 1
    assert not [note for note in found.notes if "the same as" in note]


FIELDS = ["results", "configs", "versions", "n-samples", "groups", "group_subtasks", "config", "financemath"]
FIELDS += ["metadata", "provenance", "acc,robust", "model_args", "model_name", "date", "higher_is_better"]
NAMES = st.sampled_from(FIELDS) | st.text()


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner),
    )
)
def test_no_json_at_all_makes_it_stumble(value: Any) -> None:
    try:
        read_results(Path("results.json"), json.dumps(value).encode())
    except DataError as error:
        assert "results.json" in str(error)


def test_whatever_a_file_says_beside_its_results_is_read_or_refused(tmp_path: Path) -> None:
    path = write_results(tmp_path, "financemath", shares([1.0]), samples=False)
    told = json.loads(path.read_text())
    for strange in (
        None,
        3,
        10**400,
        {"financemath": 10**400},
        {"limit": 10**400},
        "x",
        [],
        {},
        [[]],
        {"financemath": None},
        {"financemath": {"metadata": 5}},
        math.nan,
    ):
        for field in told:
            path.write_text(json.dumps({**told, field: strange}))
            (run,) = find_runs([path], [])
            read_run(run)  # gives entries or problems, never raises
