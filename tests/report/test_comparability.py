"""What may stand beside what, and in which words it is said that something may not."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_results import DATE, LATER, provenance, shares, write_results

from fin_tasks.report.collect import collect
from fin_tasks.report.comparability import facts_of, in_common, mark, mark_beside_papers, mark_reruns
from fin_tasks.report.entry import Entry, RunFacts
from fin_tasks.report.run_labels import labels_of
from fin_tasks.settings import Settings


def entry(model: str, facts: Mapping[str, str], **fields: Any) -> Entry:
    made = Entry(
        run=model,
        source="lm-eval",
        model=model,
        benchmark="xfinbench",
        task="xfinbench_bool",
        variant="robust",
        metric="acc",
        value=0.5,
        n=10,
        facts=facts,
    )
    return replace(made, **fields)


def test_those_who_differ_from_most_are_told_so() -> None:
    a, b, c = mark([entry(name, {"data": "d1"}) for name in "ab"] + [entry("c", {"data": "d2"})])
    assert a.group == b.group != c.group
    assert (a.marks, b.marks, c.marks) == ((), (), ("data revision: d2, most others: d1",))


def test_most_are_models_not_runs() -> None:
    many = [entry("a", {"data": "d1"}, run=f"r{place}") for place in range(3)]
    *marked, c, d = mark([*many, entry("c", {"data": "d2"}), entry("d", {"data": "d2"})])
    assert all(one.marks for one in marked)
    assert not c.marks
    assert not d.marks


def test_of_as_many_the_one_over_more_rows_counts() -> None:
    same = {"data": "d1"}
    few, all_of_them = mark([entry("a", {**same, "limit": "8"}, n=8), entry("b", same, n=1000)])
    assert few.marks == ("limit: 8, the other: none",)
    assert not all_of_them.marks


@pytest.mark.parametrize("revision", ["d1", "d2", "d3", "d4"])  # as hashes decide nothing
def test_of_as_many_over_as_many_rows_the_one_without_a_limit_counts(revision: str) -> None:
    same = {"data": revision}
    few, all_of_them = mark([entry("a", {**same, "limit": "4"}), entry("b", same)])
    assert few.marks == ("limit: 4, the other: none",)
    assert not all_of_them.marks


def test_where_there_are_no_most_the_one_over_most_rows_is_named() -> None:
    first, second, _ = mark(
        [entry(name, {"data": f"d{rows}"}, n=rows) for name, rows in (("a", 1), ("b", 2), ("c", 3))]
    )
    assert first.marks == ("data revision: d1, the one over most rows: d3",)
    assert second.marks == ("data revision: d2, the one over most rows: d3",)


def test_who_does_not_say_what_was_asked_is_marked_whatever_the_others_say() -> None:
    silent = {"provenance": "not known", "rows": "10"}
    for alike in mark([entry(name, silent) for name in "ab"]):
        assert alike.marks == ("data revision and prompts not known",)
    known = {"data": "d1", "prompts": "p1", "rows": "10"}
    *most, other = mark([entry("a", known), entry("b", known), entry("c", {**silent, "limit": "8"})])
    assert not any(one.marks for one in most)
    assert other.marks == ("data revision and prompts not known", "limit: 8, most others: none")
    *_, last = mark([entry("a", silent), entry("b", silent), entry("c", known)])
    assert last.marks == ("data revision and prompts of most others not known",)


def test_samples_without_results_are_marked_also_among_themselves() -> None:
    alone = {"results": "not known", "rows": "4"}
    assert {one.marks for one in mark([entry("a", alone), entry("b", alone)])} == {
        ("its results file is missing, so what was asked is not known",)
    }


def test_in_what_a_judge_was_asked_otherwise_is_named() -> None:
    told = {
        "judge.model": '"j"',
        "judge.temperatures": "[0]",
        "judge.max_tokens": "64",
        "provenance.data.revision": "1",
    }
    cold, warm = (facts_of({**told, "judge.temperatures": f"[{at}]"}) for at in (0, 1))
    *_, last = mark([entry("a", cold), entry("b", cold), entry("c", warm)])
    assert last.marks == ("judge's temperatures: [1], most others: [0]",)


def test_other_variants_are_other_tables() -> None:
    cot, pot = mark([entry("a", {"prompts": "p1"}, mode="cot"), entry("a", {"prompts": "p2"}, mode="pot")])
    assert not cot.marks
    assert not pot.marks


def test_published_values_are_left_as_they_are() -> None:
    published = entry("paper", {}, source="published", group="the paper's", marks=("from the paper",))
    first, second = mark([published, entry("a", {"data": "d1"})])
    assert first == published
    assert not second.marks


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({"facts": {"data": {"origin": "upstream", "revision": "d2" * 8}}}, "data revision: d2d2d2d2…"),
    ({"facts": {"prompts": {"set": "house", "sha256": "e" * 64}}}, "prompts: eeeeeeee…"),
    ({"facts": {"scorer": 2}}, "scorer version: 2, most others: 1"),
    ({"version": 2.0}, "task version: 2, most others: 1"),
    ({"limit": 2.0}, "limit: 2, most others: none"),
    ({"metadata": {"judge": {"model": "other", "rubric": "r@1", "rubric_sha256": "0" * 64}}}, "judge: other"),
    ({"metadata": {"judge": {"model": "j", "rubric": "r@2", "rubric_sha256": "0" * 64}}}, "rubric: r@2 000"),
    ({"facts": {"brand_new_option": True}}, "brand_new_option: true, most others: none"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_runs_that_were_asked_otherwise_are_kept_apart(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    settings = replace(Settings.from_environ({}), cache_dir=tmp_path / "cache")
    same = {"metadata": {"judge": {"model": "j", "rubric": "r@1", "rubric_sha256": "0" * 64}}}
    for name in ("a", "b"):
        write_results(tmp_path / "r" / name, "financemath", shares([1.0, 0.0]), model=name, **same)
    write_results(tmp_path / "r" / "c", "financemath", shares([1.0, 0.0]), model="c", **{**same, **change})
    found = collect([tmp_path / "r"], settings=settings, published=False)
    marked = {one.model: one for one in found.entries if one.metric == "acc" and one.variant == "robust"}
    assert marked["a"].group == marked["b"].group != marked["c"].group
    assert not marked["a"].marks
    assert any(message in said for said in marked["c"].marks), marked["c"].marks


def test_who_made_it_and_where_the_data_came_from_keep_nothing_apart(tmp_path: Path) -> None:
    settings = replace(Settings.from_environ({}), cache_dir=tmp_path / "cache")
    write_results(tmp_path / "r" / "a", "financemath", shares([1.0, 0.0]), model="a")
    facts = provenance(data={"origin": "data_dir", "revision": "d1" * 8}, fin_tasks="0.2.0", hash="other")
    write_results(tmp_path / "r" / "b", "financemath", shares([1.0, 0.0]), model="b", facts=facts, limit=100.0)
    found = collect([tmp_path / "r"], settings=settings, published=False)
    assert len({one.group for one in found.entries}) == 1


def test_a_run_that_was_done_again_is_marked(tmp_path: Path) -> None:
    settings = replace(Settings.from_environ({}), cache_dir=tmp_path / "cache")
    write_results(tmp_path / "r", "financemath", shares([1.0, 0.0]))
    write_results(tmp_path / "r", "financemath", shares([1.0, 1.0]), date=LATER)
    write_results(tmp_path / "s", "financemath", shares([1.0, 1.0]), date=LATER, arguments={"dtype": "float16"})
    found = collect([tmp_path / "r", tmp_path / "s"], settings=settings, published=False)
    marks = {one.value: one.marks for one in found.entries if one.metric == "acc" and one.variant == "robust"}
    assert marks == {0.5: ("run again later with the same settings (2026-04-01T10:00:00.123456)",), 1.0: ()}


def test_of_runs_without_a_date_it_is_said_that_there_are_several(tmp_path: Path) -> None:
    settings = replace(Settings.from_environ({}), cache_dir=tmp_path / "cache")
    for name, values in (("r", [1.0, 0.0]), ("s", [1.0, 1.0])):
        path = write_results(tmp_path / name, "financemath", shares(values), samples=False)
        path.rename(path.with_name("results.json"))
    found = collect([tmp_path / "r", tmp_path / "s"], settings=settings, published=False)
    marks = sorted(one.marks for one in found.entries if one.metric == "acc" and one.variant == "robust")
    assert marks == [(), ("run more than once with the same settings, and nothing says which is later",)]


def test_of_copies_with_one_date_the_one_with_rows_stands_for_the_run(tmp_path: Path) -> None:
    settings = replace(Settings.from_environ({}), cache_dir=tmp_path / "cache")
    write_results(tmp_path / "a", "financemath", shares([1.0, 0.0]))
    path = write_results(tmp_path / "z", "financemath", shares([1.0, 0.0]), samples=False)
    told = json.loads(path.read_text())
    told["results"]["financemath"]["acc,robust"] = 0.75  # no byte for byte copy, and no other date
    path.write_text(json.dumps(told))
    found = collect([tmp_path / "z", tmp_path / "a"], settings=settings, published=False)
    marks = {one.value: one.marks for one in found.entries if one.metric == "acc" and one.variant == "robust"}
    assert marks[0.5] == ()
    assert "nothing says which is later" in str(marks[0.75])


def test_a_run_without_a_date_is_told_by_its_hash() -> None:
    runs = [
        RunFacts(id=id, source="lm-eval", model="m", date=date, path="", provenance={})
        for id, date in (("0123456789", ""), ("r2", "2026-03-01T10:00:00"))
    ]
    labels = labels_of(runs, {run.id: ["bool"] for run in runs})
    assert labels == {"0123456789": "m (01234567)", "r2": "m (2026-03-01T10:00)"}


def test_a_limit_above_the_number_of_rows_is_none() -> None:
    assert "limit" not in facts_of({"limit": "100"}, of=100)
    assert facts_of({"limit": "99"}, of=100)["limit"] == "99"
    assert facts_of({"limit": "0.5"}, of=100)["limit"] == "0.5"


def test_a_groups_facts_are_those_of_its_tasks() -> None:
    one, two = {"data": "d", "prompts": "p1", "rows": "3"}, {"data": "d", "prompts": "p2", "rows": "4"}
    together = in_common({"one": one, "two": two})
    assert (together["data"], together["rows"], together["tasks"]) == ("d", "7", "one two")
    assert together["prompts"] == in_common({"two": two, "one": one})["prompts"]
    assert together["prompts"] != in_common({"one": two, "two": one})["prompts"]


@pytest.mark.parametrize(
    ("fields", "marks"),
    [
        ({"n": 1350, "unscored": 10}, ()),
        ({"n": 1350}, ()),  # a row or two that a file lost
        ({"n": 24}, ("over 24 rows, the paper's figures over 1360",)),
        ({"n": 1360, "metric": "no_answer"}, ()),  # which no paper prints
        ({"n": 24, "variant": "robust"}, ()),  # nor this
        ({"n": 1360, "judge": "openai/gpt-4o, mme_finance_en@1"}, ()),
        ({"n": 1360, "judge": "stub, mme_finance_en@1"}, ("graded by stub, mme_finance_en@1, the paper's by GPT-4o",)),
    ],
)
def test_a_run_over_other_rows_than_a_paper_is_marked(fields: dict[str, Any], marks: tuple[str, ...]) -> None:
    run = entry("a", {}, **{"variant": "paper", "judge": "", **fields})
    judge = "GPT-4o" if run.judge else ""
    paper = entry("b", {}, source="published", variant="paper", n=1360, judge=judge)
    marked, same = mark_beside_papers([run, paper])
    assert marked.marks == marks
    assert same == paper
    assert mark_beside_papers([run]) == (run,)


def test_the_sample_is_the_same_whichever_split_was_asked_for(tmp_path: Path) -> None:
    sample = {"data": {"origin": "sample", "revision": "5" * 16}}
    for name, split in (("a", "test"), ("b", "validation")):
        write_results(tmp_path / name, "xfinbench_bool", shares([1.0]), model=name, facts={**sample, "split": split})
    settings = replace(Settings.from_environ({}), cache_dir=tmp_path / "cache")
    a, b = (
        one
        for one in collect([tmp_path], settings=settings, published=False).entries
        if one.metric == "acc" and one.variant == "robust"
    )
    assert (a.split, a.marks, a.group) == (b.split, b.marks, b.group)
    assert (a.split, a.marks) == ("sample", ())


def test_the_sample_run_again_for_another_split_is_run_again(tmp_path: Path) -> None:
    sample = {"data": {"origin": "sample", "revision": "5" * 16}}
    for values, split, date in (([1.0, 0.0], "test", DATE), ([1.0, 1.0], "validation", LATER)):
        facts = provenance(**sample, split=split)
        write_results(tmp_path / split, "xfinbench_bool", shares(values), facts=facts, date=date)
    settings = replace(Settings.from_environ({}), cache_dir=tmp_path / "cache")
    found = collect([tmp_path / "test", tmp_path / "validation"], settings=settings, published=False)
    marks = {one.value: one.marks for one in found.entries if one.metric == "acc" and one.variant == "robust"}
    assert marks == {0.5: ("run again later with the same settings (2026-04-01T10:00:00.123456)",), 1.0: ()}


def test_a_variant_is_superseded_by_none_but_the_same() -> None:
    runs = [
        RunFacts(id=name, source="replay", model="m", task="t", date=date, path="", provenance={"arm": '"signal"'})
        for name, date in (("old", "2026-01"), ("new", "2026-02"))
    ]
    both = [entry("m", {}, run="old", variant=variant) for variant in ("paper", "robust")]
    old_paper, old_robust, new = mark_reruns([*both, entry("m", {}, run="new", variant="robust")], runs)
    assert not old_paper.marks
    assert old_robust.marks == ("run again later with the same settings (2026-02)",)
    assert not new.marks
