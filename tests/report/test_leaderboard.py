"""The document that pages and tables are made from."""

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from made_boards import FACTS, answers, board, run

from fin_tasks.errors import DataError
from fin_tasks.report.collect import Collected
from fin_tasks.report.entry import RunRead
from fin_tasks.report.markdown_tables import ranks
from fin_tasks.report.old_leaderboard import document
from fin_tasks.report.schema import check
from fin_tasks.stats.pairs import mcnemar
from fin_tasks.stats.power import detectable_mean

BOOL = {"mode": "cot", "split": "test", "retrieval": "none"}


def collected(*runs: RunRead) -> Collected:
    return Collected(
        entries=tuple(entry for one in runs for entry in one.entries),
        runs=tuple(one.facts for one in runs),
        problems=(),
        notes=(),
        read={one.facts.id: one for one in runs},
    )


def comparison_of(made: dict[str, Any], task: str) -> dict[str, Any]:
    return next(one for one in made["comparisons"] if one["task"].startswith(task))


def test_a_document_is_as_its_schema_says_and_is_strict_json() -> None:
    made = document(board(), baseline="beta")
    check(made)
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert made["groups"]["g1"] == {**FACTS, "group": '"g1"'}
    published = [one["name"] for one in made["models"] if one["published"]]
    assert published == ["gpt-4o"]


def test_what_is_no_number_is_null() -> None:
    one = run("m", "xfinbench_bool", {"acc": [1.0, 0.0]}, **BOOL)
    entry = replace(one.entries[0], value=math.nan, low=math.inf, high=None)
    made = document(collected(replace(one, entries=(entry,))))
    check(made)
    assert [made["entries"][0][name] for name in ("value", "low", "high")] == [None, None, None]


@pytest.mark.parametrize(("value", "kept"), [(0.5, True), (1.0, True), (0.1, False), (1.5, False)])
def test_an_interval_without_its_value_is_none(value: float, kept: bool) -> None:
    one = run("m", "xfinbench_bool", {"acc": [1.0, 0.0]}, **BOOL)
    entry = replace(one.entries[0], value=value, low=0.25, high=0.9999999)
    made = document(collected(replace(one, entries=(entry,))))
    check(made)
    assert (made["entries"][0]["low"] is not None) == kept


def test_a_papers_tables_do_not_give_a_model_several_names() -> None:
    tables = [run("gpt-4o", "xfinbench_bool", {"acc": [1.0]}, **BOOL) for _ in range(3)]
    runs = [
        replace(of, facts=replace(of.facts, id=f"{at}", source="published" if at else "lm-eval", date=""))
        for at, of in enumerate(tables)
    ]
    made = document(collected(*runs))
    assert [one["label"] for one in made["runs"]] == ["gpt-4o"] * 3


def test_the_packaged_sample_is_no_split() -> None:
    titles = [
        document(collected(run("m", "xfinbench_bool", {"acc": [1.0]}, mode="cot", split=split)))["tasks"][0]["title"]
        for split in ("sample", "test")
    ]
    assert [title.split(" · ")[1] for title in titles] == ["sample", "test split"]


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("entries", 0, "value"), "0.5", r"\$\.entries\[0\]\.value"),
        (("version",), "2.0", r"\$\.version"),
        (("generated",), "yesterday", r"\$\.generated"),
        (("entries", 0, "low"), 2.0, r"entries\[0\]: \S+ is not from 2.0"),
        (("comparisons", 0, "pairs", 0, "low"), 2.0, r"pairs\[0\]: an interval from 2.0"),
        (("entries", 0, "surplus"), 1, "surplus"),
        (("entries", 0, "run"), "nobody", r"entries\[0\]\.run: not in the document"),
        (("comparisons", 0, "ranks", 0, "run"), "nobody", "a run that is not in the document"),
        (("entries", 0, "unit"), "\ud800", "expected text that is Unicode"),
        (("tasks", 1, "id"), None, r"\$\.tasks\[1\]\.id"),
    ],
)
def test_a_document_that_is_not_as_the_schema_says_is_refused(place: tuple[Any, ...], value: Any, said: str) -> None:
    made = json.loads(json.dumps(document(board())))
    check(made)
    at = made
    for step in place[:-1]:
        at = at[step]
    at[place[-1]] = value
    with pytest.raises(DataError, match=said):
        check(made)


def test_pairs_are_tested_on_the_rows_both_scored_whatever_their_order() -> None:
    first = run("a", "xfinbench_bool", {"acc": [1, 1, 1, 1, 1, 1, 0, math.nan]}, **BOOL)
    other = run("b", "xfinbench_bool", {"acc": [0, 0, 0, 0, 0, 0, 1, 1]}, **BOOL)
    turned = {
        name: replace(scores, ids=scores.ids[::-1], values={m: of[::-1] for m, of in scores.values.items()})
        for name, scores in other.scores.items()
    }
    found = comparison_of(document(collected(first, replace(other, scores=turned))), "xfinbench_bool")
    (pair,) = found["pairs"]
    assert (pair["n"], pair["difference"]) == (7, pytest.approx(5 / 7, rel=1e-5))
    assert pair["p"] == pytest.approx(mcnemar(6, 1), rel=1e-5)
    assert found["rows"] == 8
    assert found["test"] == "McNemar"


def test_ranks_say_what_cannot_be_told_apart() -> None:
    found = comparison_of(document(board()), "xfinbench_bool")
    places = [(one["run"].partition("-")[0], one["rank"], one["best"], one["worst"]) for one in found["ranks"]]
    assert places == [("alpha", 1, 1, 2), ("beta", 2, 1, 2), ("<b>gamma</b>|x", 3, 3, 3)]
    assert len(found["pairs"]) == 3


def test_rows_that_share_a_source_are_not_independent() -> None:
    found = comparison_of(document(board()), "mme_finance_en")
    assert (found["clustered"], found["test"]) == (True, "t")
    assert found["detectable"]["paired"] > 1  # in points, not in fractions
    assert comparison_of(document(board()), "xfinbench_mcq")["clustered"] is False


def test_other_data_are_ranked_apart_unless_asked() -> None:
    apart = [one for one in document(board())["comparisons"] if one["task"].startswith("xfinbench_bool")]
    assert [(one["group"], len(one["ranks"])) for one in apart] == [("g1", 3), ("g2", 1)]
    (mixed,) = [one for one in document(board(), mix=True)["comparisons"] if one["task"].startswith("xfinbench_bool")]
    assert (mixed["group"], len(mixed["ranks"])) == ("g1", 4)


def test_runs_of_one_model_are_told_apart_only_where_they_have_to_be() -> None:
    labels = {one["id"]: one["label"] for one in document(board())["runs"]}
    assert sorted(label for label in labels.values() if label.startswith("beta (")) == [
        "beta (2026-03-01T10:00)",
        "beta (2026-04-01T10:00)",
    ]
    assert {label for label in labels.values() if label.startswith("alpha")} == {"alpha"}


def test_windows_are_in_order_and_named() -> None:
    tasks = [one for one in document(board())["tasks"] if one["bias"] == "recency"]
    assert [one["window"] for one in tasks] == [4, 8, 12]
    assert {one["headline"] for one in tasks} == {"acc"}


def test_a_run_that_was_run_again_is_not_ranked_beside_itself() -> None:
    runs = [
        run("m", "xfinbench_bool", {"acc": answers(right)}, date=f"2026-01-01T00:00:{right}", **BOOL)
        for right in (20, 30)
    ]
    again = replace(runs[0], entries=tuple(replace(entry, marks=("run again",)) for entry in runs[0].entries))
    made = document(collected(again, runs[1]))
    (found,) = made["comparisons"]
    assert [one["value"] for one in found["ranks"]] == [0.75]
    assert len({one["label"] for one in made["runs"]}) == 2
    (mixed,) = document(collected(again, runs[1]), mix=True)["comparisons"]
    assert len(mixed["ranks"]) == 2


def test_a_published_value_is_never_tested() -> None:
    made = document(board())
    published = {one["id"] for one in made["runs"] if one["source"] == "published"}
    tested = {place["run"] for one in made["comparisons"] for place in one["ranks"]}
    assert published
    assert not published & tested


def test_less_is_better_where_the_metric_says_so() -> None:
    runs = [
        run(name, "xfinbench_bool", {"acc": answers(right)}, lower=("acc",), **BOOL)
        for name, right in (("a", 35), ("b", 5))
    ]
    found = comparison_of(document(collected(*runs)), "xfinbench_bool")
    assert [one["value"] for one in found["ranks"]] == pytest.approx([5 / 40, 35 / 40])
    assert np.all(np.diff([one["rank"] for one in found["ranks"]]) > 0)


def ranked(*runs: Any) -> dict[str, Any]:
    return comparison_of(document(collected(*runs)), "xfinbench_bool")


def test_a_run_that_scored_too_little_has_no_rank_and_a_mark() -> None:
    nothing = [math.nan] * 38
    few = run("few", "xfinbench_bool", {"acc": [1.0, 1.0, *nothing]}, **BOOL)
    most = run("most", "xfinbench_bool", {"acc": [*answers(20)[:39], math.nan]}, **BOOL)
    whole = run("whole", "xfinbench_bool", {"acc": answers(30)}, **BOOL)
    made = document(collected(few, most, whole))
    found = comparison_of(made, "xfinbench_bool")
    names = [(one["run"].partition("-")[0], one["rank"], one["n"], one["unscored"]) for one in found["ranks"]]
    assert names == [("whole", 1, 40, 0), ("most", 2, 39, 1)]
    (left,) = found["left_out"]
    assert (left["run"], left["n"]) == (few.facts.id, 2)
    assert left["reason"] == "2 of 40 rows are scored, and up to 40 of other runs"
    marks = {one["run"]: one["marks"] for one in made["entries"]}
    assert marks[few.facts.id] == [f"not ranked: {left['reason']}"]
    assert marks[whole.facts.id] == []
    assert {pair["first"] for pair in found["pairs"]} | {pair["second"] for pair in found["pairs"]} == {
        whole.facts.id,
        most.facts.id,
    }
    assert f"few: {left['reason']}" in ranks(made)
    assert "| 39 | 1 |" in ranks(made)


@pytest.mark.parametrize(("shared", "kept"), [(0, False), (9, False), (10, True)])
def test_runs_over_mostly_other_rows_are_not_ranked_against_each_other(shared: int, kept: bool) -> None:
    first = run("first", "xfinbench_bool", {"acc": [1.0] * 20 + [math.nan] * (20 - shared)}, **BOOL)
    second = run("second", "xfinbench_bool", {"acc": [math.nan] * (20 - shared) + [0.0] * 20}, **BOOL)
    assert bool(ranked(first, second)["ranks"]) == kept


def test_runs_without_a_common_row_are_not_ranked_against_each_other() -> None:
    first = run("first", "xfinbench_bool", {"acc": [1.0] * 20 + [math.nan] * 20}, **BOOL)
    second = run("second", "xfinbench_bool", {"acc": [math.nan] * 20 + [0.0] * 20}, **BOOL)
    made = document(collected(first, second))
    found = comparison_of(made, "xfinbench_bool")
    assert (found["ranks"], found["pairs"], len(found["left_out"])) == ([], [], 2)
    assert {one["reason"] for one in found["left_out"]} == {
        "0 of its 20 scored rows are those that another run has scored too"
    }
    assert "Not ranked:" in ranks(made)
    third = run("third", "xfinbench_bool", {"acc": [1.0, 0.0] * 10 + [math.nan] * 20}, **BOOL)
    assert [one["run"] for one in ranked(first, second, third)["left_out"]] == [second.facts.id]


def test_rows_are_those_of_the_ranked_runs() -> None:
    short = run("short", "xfinbench_bool", {"acc": [1.0, 1.0, 0.0]}, **BOOL)
    others = [run(name, "xfinbench_bool", {"acc": answers(right)}, **BOOL) for name, right in (("a", 20), ("b", 30))]
    scores = {variant: replace(of, ids=("x", "y", "z")) for variant, of in short.scores.items()}
    found = ranked(*others, replace(short, scores=scores))
    assert (found["rows"], found["sources"]) == (40, 40)
    assert [one["unscored"] for one in found["ranks"]] == [0, 0]
    assert found["left_out"][0]["reason"] == "3 of 3 rows are scored, and up to 40 of other runs"


def test_what_is_marked_beside_others_is_named_as_not_ranked() -> None:
    marked = run(
        "odd", "xfinbench_bool", {"acc": answers(10)}, marks=("claims no value, but its rows give 0.25",), **BOOL
    )
    found = ranked(marked, run("plain", "xfinbench_bool", {"acc": answers(30)}, **BOOL))
    assert [one["reason"] for one in found["left_out"]] == ["claims no value, but its rows give 0.25"]


def test_the_detectable_difference_is_found_as_often_as_said_after_holm() -> None:
    """Twelve models that differ from each other on 18 % of 400 rows: one that is better by so much is mostly found."""
    generator = np.random.default_rng(4)
    base = generator.random(400) < 0.5
    models = [np.where(generator.random(400) < 0.1, ~base, base).astype(float) for _ in range(12)]
    told = ranked(*(run(f"m{at}", "xfinbench_bool", {"acc": list(of)}, **BOOL) for at, of in enumerate(models)))
    detectable, discordant = told["detectable"]["paired"], 0.18
    shares = [(discordant + detectable) / 2, (discordant - detectable) / 2, 1 - discordant]
    drawn = generator.multinomial(400, shares, size=1500)
    level = 0.05 / len(told["pairs"])
    found = np.mean([mcnemar(int(gained), int(lost)) < level for gained, lost, _ in drawn])
    assert 0.7 < found < 0.9
    uncorrected = detectable_mean(math.sqrt(discordant / 400))
    assert detectable > 1.3 * uncorrected  # which would be found in a third of all cases


def test_models_that_agree_and_sources_do_not_make_differences_look_easier_to_find() -> None:
    generator = np.random.default_rng(5)
    tickers = tuple(f"T{at // 20}" for at in range(180))
    scores = [(generator.random(180) < generator.random(9)[np.arange(180) // 20]).astype(float) for _ in range(3)]

    def detectable(*of: Any, clusters: tuple[str, ...] | None = None) -> dict[str, float]:
        runs = [
            run(f"m{at}", "xfinbench_bool", {"acc": list(one)}, clusters=clusters, **BOOL) for at, one in enumerate(of)
        ]
        found: dict[str, float] = ranked(*runs)["detectable"]
        return found

    plain, clustered = detectable(*scores), detectable(*scores, clusters=tickers)
    assert clustered["paired"] > 1.3 * plain["paired"]
    assert clustered["unpaired"] is None or clustered["unpaired"] > 1.3 * plain["unpaired"]
    twice = detectable(scores[0], scores[0], scores[1])
    assert twice["paired"] >= detectable(scores[0], scores[1])["paired"]
    assert detectable(scores[0], scores[0])["paired"] is None
