"""Arms paired window by window: effects that are known exactly, and runs that must not be compared."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from arm_runs import DATE, docs, says, towards, window, write_run

from fin_tasks.benchmarks.dynostock.effects import BiasReport, Effect, compare_arms
from fin_tasks.benchmarks.dynostock.experiment import read_experiment
from fin_tasks.errors import DataError

NEXT = "2026-03-02T10-00-00.123456"


def report_of(*paths: Path, parser: str = "robust") -> BiasReport:
    return compare_arms(read_experiment(paths, parser=parser), parser=parser, resamples=500)


def effect_of(report: BiasReport, contrast: str, measure: str, window: int | None = 4, **more: Any) -> Effect:
    first, second = contrast.split(" - ")
    (found,) = (
        effect
        for effect in report.effects
        if (effect.first, effect.second, effect.measure, effect.window) == (first, second, measure, window)
        and all(getattr(effect, name) == value for name, value in more.items())
    )
    return found


def test_a_model_moved_by_every_statement(tmp_path: Path) -> None:
    for arm in ("signal", "none", "aligned", "flipped"):
        write_run(tmp_path / arm, docs(100), arm, lambda doc: towards(doc["statement"], 0.12))
    report = report_of(tmp_path)
    assert effect_of(report, "signal - none", "probability").difference.mean == pytest.approx(0.12)
    assert effect_of(report, "flipped - none", "probability").difference.mean == pytest.approx(-0.12)
    assert effect_of(report, "aligned - none", "probability").difference.mean == pytest.approx(-0.12)
    assert effect_of(report, "signal - flipped", "probability").difference.mean == pytest.approx(0.24)
    # Without a statement 0.5 counts as up, which the signal says in half of the windows: 1 - 1/2 and 0 - 1/2.
    shown = effect_of(report, "signal - none", "answer").difference
    assert (shown.mean, shown.only_first, shown.only_second, shown.n, shown.clusters) == (0.5, 50, 0, 100, 25)
    assert shown.p == pytest.approx(2**-49)
    assert effect_of(report, "flipped - none", "answer").difference.mean == -0.5
    assert effect_of(report, "signal - flipped", "answer").difference.mean == 1.0
    assert effect_of(report, "signal - none", "accuracy").difference.mean == 0.0
    assert report.notes == ()


def test_a_model_that_reads_no_statement(tmp_path: Path) -> None:
    for arm in ("signal", "none", "flipped"):
        write_run(tmp_path / arm, docs(60), arm, lambda doc: says(0.3 + 0.4 * doc["truth"]))
    report = report_of(tmp_path)
    for effect in report.effects:
        assert (effect.difference.mean, effect.difference.interval.low, effect.difference.interval.high) == (0, 0, 0)
        assert effect.difference.p in (None, 1.0)
    assert {summary.accuracy for summary in report.arms} == {1.0}


def test_intervals_hold_the_effect_and_widen_with_the_spread_between_tickers(tmp_path: Path) -> None:
    def of_ticker(doc: dict[str, Any]) -> str:  # every window of a stock is moved by the same amount: 0, 0.01, ... 0.24
        return towards(doc["statement"], int(doc["ticker"][1:]) / 100)

    for arm in ("signal", "none"):
        write_run(tmp_path / arm, docs(100), arm, of_ticker)
    found = effect_of(report_of(tmp_path), "signal - none", "probability").difference
    assert found.mean == pytest.approx(0.12)
    assert found.interval.low < 0.12 < found.interval.high
    # standard error of a mean of 25 independent stocks, not of 100 windows
    expected = 2 * 1.96 * math.sqrt(sum((k - 12) ** 2 for k in range(25)) / 25) / 100 / math.sqrt(25)
    assert found.interval.high - found.interval.low == pytest.approx(expected, rel=0.15)


def test_summaries_of_an_arm(tmp_path: Path) -> None:
    def reply(doc: dict[str, Any]) -> str:
        return "I cannot say." if doc["ticker"] == "T00" else says(0.9 if doc["statement"] else 0.2)

    write_run(tmp_path, docs(100), "flipped", reply)
    (summary,) = report_of(tmp_path).arms
    # T00 has windows 0, 25, 50 and 75, so no answer to 2 of 50 with either signal, and one of each signal and truth
    assert (summary.n, summary.tickers, summary.no_answer) == (100, 25, 0.04)
    assert summary.up == 0.48
    assert summary.probability == pytest.approx(0.55)
    assert (summary.follows_signal, summary.follows_statement) == (0.0, 0.96)
    assert summary.accuracy == 0.48
    assert summary.bias_index == 0.0


def test_the_bias_index_of_an_arm_is_the_scorers(tmp_path: Path) -> None:
    write_run(tmp_path, docs(20), "signal", lambda doc: says(0.8) if doc["ticker"] < "T15" else "no idea")
    (summary,) = report_of(tmp_path).arms
    # windows 0 to 14 say up: wrong where the truth is 0 (numbers 0, 1, 4, 5, 8, 9, 12, 13), led where the signal is 1
    assert summary.bias_index == 4 / 13


def test_what_is_unpaired_or_without_probability_is_counted(tmp_path: Path) -> None:
    def silent_twice(doc: dict[str, Any]) -> str:
        return "no idea" if doc["ticker"] in ("T03", "T04") else says(0.7)

    write_run(tmp_path / "a", docs(20), "signal", silent_twice)
    write_run(tmp_path / "b", docs(18), "none", lambda doc: says(0.5))
    report = report_of(tmp_path)
    stated = effect_of(report, "signal - none", "probability")
    assert (stated.difference.n, stated.unpaired, stated.without_value) == (16, 2, 2)
    answers = effect_of(report, "signal - none", "answer")
    assert (answers.difference.n, answers.unpaired, answers.without_value) == (18, 2, 0)


def test_sizes_apart_and_pooled(tmp_path: Path) -> None:
    for size, by in ((4, 0.3), (20, 0.1)):
        for arm in ("signal", "none"):
            write_run(tmp_path / f"{arm}{size}", docs(40, size=size), arm, lambda d, by=by: towards(d["statement"], by))
    report = report_of(tmp_path)
    means = {w: effect_of(report, "signal - none", "probability", w).difference.mean for w in (4, 20, None)}
    assert means == pytest.approx({4: 0.3, 20: 0.1, None: 0.2})
    assert effect_of(report, "signal - none", "probability", None).difference.n == 80
    assert [s.window for s in report.arms if s.arm == "none"] == [4, 20, None]


def test_names_and_dates_hidden(tmp_path: Path) -> None:
    hidden = [{**doc, "anonymised": True} for doc in docs(80)]
    for arm in ("signal", "none"):
        write_run(tmp_path / arm, docs(80), arm, lambda doc: says(float(doc["truth"])))
        write_run(tmp_path / f"hidden-{arm}", hidden, arm, lambda doc: towards(doc["statement"], 0.2))
    report = report_of(tmp_path)
    assert len(report.groups) == 2
    memory = effect_of(report, "named - anonymised", "accuracy", arm="none")
    assert memory.difference.mean == 0.5  # all right, against up every time
    assert memory.group.anonymised is None
    assert effect_of(report, "named - anonymised", "probability", arm="signal").difference.mean == pytest.approx(-0.2)
    by_hiding = {
        e.group.anonymised: e.difference.mean for e in report.effects if e.measure == "probability" and not e.arm
    }
    assert by_hiding == pytest.approx({False: 0.0, True: 0.2})


def test_an_arm_compared_with_itself_without_names_is_no_lonely_arm(tmp_path: Path) -> None:
    hidden = [{**doc, "anonymised": True} for doc in docs(30, tickers=4)]
    for arm in ("signal", "none"):
        write_run(tmp_path / arm, docs(30, tickers=4), arm, lambda doc: says(0.5))
    write_run(tmp_path / "hidden", hidden, "signal", lambda doc: says(0.5))
    few = "only 4 tickers; below 20 the intervals are too narrow."
    assert report_of(tmp_path).notes == (
        f"made/model, recency, text: {few}",
        f"made/model, recency, text, named less anonymised: {few}",
    )
    alone = "made/model, recency, text, anonymised: only one arm, so there is no effect to give."
    assert report_of(tmp_path / "hidden").notes == (alone,)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        (
            "provenance.prompts.sha256",
            {"provenance": {"prompts": {"set": "house", "style": "structured", "sha256": "p2"}}},
        ),
        ("provenance.data.hash", {"provenance": {"data": {"hash": "d2"}}}),
        ("limit", {"limit": 10.0}),
        ("model_args.dtype", {"model_args": {"dtype": "float16"}}),
        ("generation", {"gen_kwargs": {"temperature": 1}}),
    ],
)
def test_runs_that_differ_in_more_than_the_arm_are_kept_apart(
    tmp_path: Path, name: str, change: dict[str, Any]
) -> None:
    write_run(tmp_path / "a", docs(30), "signal", lambda doc: says(0.9))
    write_run(tmp_path / "b", docs(30), "none", lambda doc: says(0.5), **change)
    report = report_of(tmp_path)
    assert report.effects == ()
    assert any(f"differ in {name}." in note for note in report.notes)
    assert sum("only one arm" in note for note in report.notes) == 2


def test_models_and_prompt_sets_are_kept_apart(tmp_path: Path) -> None:
    upstream = {"prompts": {"set": "upstream", "style": "structured", "sha256": "u"}}
    for model in ("a/one", "b/two"):
        for arm in ("signal", "none"):
            by = 0.1 if model == "a/one" else 0.2
            write_run(tmp_path / model / arm, docs(30), arm, lambda d, by=by: towards(d["statement"], by), model=model)
    for arm in ("signal", "none"):
        write_run(
            tmp_path / f"u{arm}",
            docs(30),
            arm,
            lambda d: towards(d["statement"], 0.3),
            model="a/one",
            provenance=upstream,
        )
    effects = [e for e in report_of(tmp_path).effects if e.measure == "probability"]
    found = {(e.group.model, e.group.prompts): e.difference.mean for e in effects}
    assert found == pytest.approx(
        {("a/one", "house structured"): 0.1, ("b/two", "house structured"): 0.2, ("a/one", "upstream structured"): 0.3}
    )


def test_a_run_that_was_repeated_counts_once(tmp_path: Path) -> None:
    write_run(tmp_path, docs(30), "signal", lambda doc: says(0.0))
    newer = write_run(tmp_path, docs(30), "signal", lambda doc: towards(doc["statement"], 0.2), date=NEXT)
    write_run(tmp_path / "b", docs(30), "none", lambda doc: says(0.5))
    report = report_of(tmp_path)
    assert effect_of(report, "signal - none", "probability").difference.mean == pytest.approx(0.2)
    (note,) = report.notes
    assert DATE in note and f"{newer} ran the same later" in note


def test_few_tickers_are_told(tmp_path: Path) -> None:
    for arm in ("signal", "none"):
        write_run(tmp_path / arm, docs(30, tickers=4), arm, lambda doc: says(0.5))
    assert ["only 4 tickers" in note for note in report_of(tmp_path).notes] == [True]


def test_windows_without_a_statement_are_left_out(tmp_path: Path) -> None:
    plain = [{**window(99), "bias_type": "plain", "signal": None, "truth": None}]
    write_run(tmp_path, docs(10) + plain, "none", lambda doc: says(0.5))
    report = report_of(tmp_path)
    assert report.arms[0].n == 10
    assert "1 windows without a biased statement left out" in report.notes[0]


def test_truths_that_are_not_known_have_no_accuracy(tmp_path: Path) -> None:
    for arm in ("signal", "none"):
        unknown = [{**doc, "truth": None} if doc["ticker"] == "T01" else doc for doc in docs(50)]
        write_run(tmp_path / arm, unknown, arm, lambda doc: says(0.5))
    report = report_of(tmp_path)
    assert effect_of(report, "signal - none", "accuracy").without_value == 2
    assert effect_of(report, "signal - none", "answer").difference.n == 50


def test_several_responses_to_a_window_are_averaged(tmp_path: Path) -> None:
    path = write_run(tmp_path, docs(4), "signal", lambda doc: says(0.5))
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        row["resps"] = [[says(0.9), says(0.3), "no idea", says(0.6)]]
    path.write_text("\n".join(map(json.dumps, rows)))
    (summary,) = report_of(tmp_path).arms
    assert (summary.up, summary.no_answer, summary.probability) == (0.5, 0.25, pytest.approx(0.6))


def test_without_its_results_a_run_is_known_by_its_folder_and_kept_apart(tmp_path: Path) -> None:
    write_run(tmp_path / "org__model", docs(5), "signal", lambda doc: says(0.5))
    (tmp_path / "org__model" / f"results_{DATE}.json").unlink()
    write_run(tmp_path / "other", docs(5), "none", lambda doc: says(0.5), model="org__model")
    report = report_of(tmp_path)
    assert {group.model for group in report.groups} == {"org__model"}
    assert report.effects == ()
    assert "no results file" in report.notes[0]


def broken(path: Path, text: str | bytes) -> str:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    (problem,) = read_experiment([path.parent], parser="robust").problems
    assert problem.path == path
    return problem.message


def test_broken_files_are_named_and_the_others_read(tmp_path: Path) -> None:
    write_run(tmp_path, docs(5), "none", lambda doc: says(0.5))
    bad = tmp_path / "samples_dynostock_recency_w8_2026-03-01T10-00-00.1.jsonl"
    good_line = json.dumps(
        {"doc": {**window(0), "arm": "none", "statement": None}, "resps": [["0.5"]], "filter": "paper"}
    )
    assert "line 2: expected JSON" in broken(bad, good_line + '\n{"doc": ')
    assert "UTF-8" in broken(bad, b"\xff\xfe")
    assert "at least one document" in broken(bad, "\n")
    assert "expected an object" in broken(bad, "[1]")
    assert "of a DynoStock task" in broken(bad, '{"doc": {"question": "?"}, "resps": [[""]]}')
    assert "got '../../x'" in broken(bad, good_line.replace('"text"', '"../../x"'))
    assert "doc.window: expected int" in broken(bad, good_line.replace('"window": 4', '"window": "4"'))
    assert "lists of texts" in broken(bad, good_line.replace('[["0.5"]]', "[0.5]"))
    assert "twice" in broken(bad, good_line + "\n" + good_line)
    assert "JSON" in broken(bad, "[" * 100_000)
    assert len(read_experiment([tmp_path], parser="robust").runs) == 1
    bad.unlink()
    results = tmp_path / f"results_{DATE}.json"
    results.write_text("{")
    (problem,) = read_experiment([tmp_path], parser="robust").problems
    assert str(results) in problem.message


def test_nothing_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="found nothing there"):
        read_experiment([tmp_path / "missing"], parser="robust")
    with pytest.raises(DataError, match="--log_samples"):
        read_experiment([tmp_path], parser="robust")
