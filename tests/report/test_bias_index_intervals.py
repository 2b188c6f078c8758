"""The interval of a bias index knows which questions share a ticker, whoever wrote the rows."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_results import write_results
from old_response_scores import dynostock
from old_response_scores import score as score_responses

from fin_tasks.benchmarks.dynostock.replay import replay
from fin_tasks.benchmarks.dynostock.score import metrics_of
from fin_tasks.report.collect import Collected, collect
from fin_tasks.report.compare import compare
from fin_tasks.report.entry import Entry
from fin_tasks.report.estimates import Weighted, estimate, estimate_weighted
from fin_tasks.report.run_folder import write_run
from fin_tasks.settings import Settings
from fin_tasks.stats.metric import Metric

TASK = "dynostock_recency_w4"
UP, DOWN, NONE = "Final prediction: 0.9", "Final prediction: 0.1", "no idea"
REPLIES = [*([UP, DOWN, DOWN, DOWN, UP] * 3), *([NONE, UP, NONE, NONE, UP] * 3)]
"""Six tickers of five windows, all of which rose and suggest a fall: three are led, three give no answer."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(Settings.from_environ({}), cache_dir=tmp_path / "cache")


def documents(n: int, *, of_ticker: int = 5, prefix: str = "w") -> list[dict[str, Any]]:
    said = {"bias_type": "recency", "truth": 1, "signal": 0, "window": 4}
    return [{"id": f"{prefix}{at}", "ticker": f"T{at // of_ticker}", **said} for at in range(n)]


def scored(docs: Sequence[Any], replies: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    """The metrics of each question, as the task reports them of its responses."""
    scorers = dynostock(bias="recency", window=4)
    return [
        dict(scorers.metric_values(doc, [scorers.score_response(doc, text, variant="robust") for text in texts]))
        for doc, texts in zip(docs, replies, strict=True)
    ]


def claims_of(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What the results file says of them."""
    claims = {}
    for name, metric in metrics_of(bias="recency", window=4).items():
        if isinstance(metric, Metric):
            value = metric.aggregate([row[name] for row in rows])
            claims |= {f"{name},{variant}": value for variant in ("paper", "robust")}
    return claims


def write_lm_eval(
    folder: Path, docs: Sequence[Any], replies: Sequence[Sequence[str]], *, task: str = TASK, **more: Any
) -> dict[str, Any]:
    """Write a run; returns what it claims."""
    rows = scored(docs, replies)
    claims = claims_of(rows)
    write_results(folder, task, rows, docs=docs, claims={**claims, **more.pop("claims", {})}, **more)
    return claims


def write_kit(folder: Path, docs: Sequence[Any], replies: Sequence[str | None]) -> None:
    totals, items = score_responses(docs, replies, dynostock(bias="recency", window=4))
    folder.mkdir()
    lines = [{**item, "source": doc["ticker"]} for doc, item in zip(docs, items, strict=True)]
    stem = folder / "made_DynoStock_Recency_W4"
    Path(f"{stem}_items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    flat = {f"{name}_{variant}": of for name, by in totals.items() for variant, of in by.items()}
    Path(f"{stem}_score.json").write_text(json.dumps({"dataset": "DynoStock_Recency_W4", "n": len(docs), **flat}))


def write_replay(path: Path, docs: Sequence[Any], replies: Sequence[str]) -> Path:
    recording = path / "gpt" / "exp_recency_4.json"
    recording.parent.mkdir(parents=True)
    rows = [
        {"ticker": doc["ticker"], "start_time": "2019-01-02", "end_time": f"2020-01-{at + 1:02}"}
        | {"gt": 1, "bias": 0, "response": reply}
        for at, (doc, reply) in enumerate(zip(docs, replies, strict=True))
    ]
    recording.write_text(json.dumps(rows))
    ((_, task),) = replay([recording])[0]
    facts = {task.name: {"mode": "image", "arm": "signal", "anonymise": False}}
    return write_run(path, [task], model="gpt", made_by="fin-tasks replay", provenance=facts).parent


def gathered(settings: Settings, *paths: Path) -> Collected:
    return collect(paths, settings=settings, published=False)


def index(found: Collected, task: str = TASK, **fields: str) -> Entry:
    fields = {"metric": "bias_index", "variant": "robust", "task": task, **fields}
    (entry,) = [one for one in found.entries if all(getattr(one, name) == said for name, said in fields.items())]
    return entry


def width(entry: Entry) -> float:
    assert entry.low is not None and entry.high is not None
    return entry.high - entry.low


def test_all_sources_of_rows_give_the_same_interval(tmp_path: Path, settings: Settings) -> None:
    docs = documents(30)
    claims = write_lm_eval(tmp_path / "lm", docs, [[reply] for reply in REPLIES])
    write_kit(tmp_path / "kit", docs, REPLIES)
    replayed = write_replay(tmp_path / "replay", docs, REPLIES)
    found = gathered(settings, tmp_path / "lm", tmp_path / "kit", replayed)
    assert not found.problems
    wrong = [at for at, reply in enumerate(REPLIES) if reply != UP]
    led = np.array([float(REPLIES[at] == DOWN) for at in wrong])
    expected = estimate(led, clusters=[docs[at]["ticker"] for at in wrong], unit="fraction")
    alone = estimate(led, clusters=None, unit="fraction").interval
    for of_source in ({"source": "VLMEvalKit"}, {"source": "lm-eval", "model": "gpt"}):
        entry = index(found, **of_source)
        assert entry.value == claims["bias_index,robust"] == 0.5  # to the last digit
        assert (entry.low, entry.high) == pytest.approx((expected.interval.low, expected.interval.high), abs=1e-12)
        assert width(entry) > 1.3 * (alone.high - alone.low)
        assert (entry.n, entry.unscored) == (30, 0)
        assert not [mark for mark in entry.marks if "rows give" in mark]
        assert found.scores(entry.run)["robust"].values["bias_index"].tolist().count(1.0) == 9


@pytest.mark.parametrize("which", [None, "T0", "T3"])
def test_questions_that_come_again_do_not_narrow_it(tmp_path: Path, settings: Settings, which: str | None) -> None:
    docs, replies = documents(30), [[reply] for reply in REPLIES]
    again = [at for at, doc in enumerate(docs) if which in (None, doc["ticker"])]
    doubled = [*docs, *({**docs[at], "id": f"again{at}"} for at in again)]
    once = write_lm_eval(tmp_path / "once", docs, replies)
    twice = write_lm_eval(tmp_path / "twice", doubled, [*replies, *(replies[at] for at in again)], model="made/twice")
    found = gathered(settings, tmp_path / "once", tmp_path / "twice")
    before, after = index(found, model="made/model"), index(found, model="made/twice")
    assert width(after) >= width(before) - 1e-9
    bounds = [of["bias_index_high,robust"] - of["bias_index_low,robust"] for of in (once, twice)]
    assert bounds[1] < bounds[0]  # as the task itself takes each question for one of its own


def test_repeated_questions_count_for_their_wrong_responses(tmp_path: Path, settings: Settings) -> None:
    docs = documents(12, of_ticker=2)
    replies = [[UP, DOWN, DOWN], [DOWN, DOWN, DOWN], [NONE, UP, UP], [UP, UP, UP]] * 3
    claims = write_lm_eval(tmp_path / "r", docs, replies)
    found = gathered(settings, tmp_path / "r")
    entry = index(found)
    assert (entry.value, entry.marks) == (claims["bias_index,robust"], ())
    rows = Weighted(
        values=np.array([1.0, 1.0, 0.0, np.nan] * 3),
        weights=np.array([2.0, 3.0, 1.0, 0.0] * 3),
        clusters=tuple(doc["ticker"] for doc in docs),
    )
    expected = estimate_weighted(rows, unit="fraction").interval
    assert entry.value == pytest.approx(5 / 6)
    assert (entry.low, entry.high) == pytest.approx((expected.low, expected.high), abs=1e-9)
    assert "bias_index" not in found.scores(entry.run)["robust"].values  # as it is no mean over rows
    again = gathered(settings, tmp_path / "r")
    assert index(again) == entry  # of the kept run


def test_responses_that_repeat_themselves_tell_nothing_new(tmp_path: Path, settings: Settings) -> None:
    docs = documents(30)
    write_lm_eval(tmp_path / "once", docs, [[reply] for reply in REPLIES])
    write_lm_eval(tmp_path / "thrice", docs, [[reply] * 3 for reply in REPLIES], model="made/thrice")
    found = gathered(settings, tmp_path / "once", tmp_path / "thrice")
    once, thrice = index(found, model="made/model"), index(found, model="made/thrice")
    assert (once.value, once.low, once.high) == pytest.approx((thrice.value, thrice.low, thrice.high))


def test_the_mean_over_window_sizes_knows_tickers_too(tmp_path: Path, settings: Settings) -> None:
    sizes = {TASK: REPLIES, "dynostock_recency_w8": [DOWN] * 5 + [UP] * 22 + [NONE] * 3}
    values = {}
    for task, replies in sizes.items():
        docs, rows = documents(30, prefix=task), [[reply] for reply in replies]
        values[task] = claims_of(scored(docs, rows))["bias_index,robust"]
        group = {"bias_index,robust": float(np.mean(list(values.values()))), "bias_index_stderr,robust": "N/A"}
        groups = {"dynostock_recency": group} if len(values) > 1 else {}
        write_lm_eval(tmp_path / "r", docs, rows, task=task, groups=groups, members={"dynostock_recency": list(sizes)})
    found = gathered(settings, tmp_path / "r")
    assert not found.problems
    entry = index(found, "dynostock_recency")
    assert (entry.value, entry.n, entry.marks) == (0.5625, 60, ())
    wrong = [(task, at) for task, replies in sizes.items() for at in range(30) if replies[at] != UP]
    rows = Weighted(
        values=np.array([float(sizes[task][at] == DOWN) for task, at in wrong]),
        weights=np.array([1 / 18 if task == TASK else 1 / 8 for task, _ in wrong]),
        clusters=tuple(f"T{at // 5}" for _, at in wrong),
    )
    expected = estimate_weighted(rows, unit="fraction").interval
    assert (entry.low, entry.high) == pytest.approx((expected.low, expected.high))


def test_without_samples_it_is_that_of_the_results_file(tmp_path: Path, settings: Settings) -> None:
    claims = write_lm_eval(tmp_path / "r", documents(30), [[reply] for reply in REPLIES], samples=False)
    found = gathered(settings, tmp_path / "r")
    entry = index(found)
    bounds = claims["bias_index_low,robust"], claims["bias_index_high,robust"]
    assert (entry.low, entry.high) == bounds
    assert any("their values rest on this file alone" in note for note in found.notes)


def test_where_nothing_is_wrong_nothing_is_known(tmp_path: Path, settings: Settings) -> None:
    write_lm_eval(tmp_path / "lm", documents(5), [[UP]] * 5)
    write_kit(tmp_path / "kit", documents(5), [UP, UP, UP, UP, None])
    found = gathered(settings, tmp_path / "lm", tmp_path / "kit")
    for source in ("lm-eval", "VLMEvalKit"):
        entry = index(found, source=source)
        assert (entry.value, entry.low, entry.high) == (0.0, 0.0, 1.0)
        assert not [mark for mark in entry.marks if "rows give" in mark]


def test_an_unscored_row_of_the_kit_is_no_wrong_answer(tmp_path: Path, settings: Settings) -> None:
    write_kit(tmp_path / "kit", documents(6, of_ticker=1), [DOWN, UP, None, NONE, DOWN, DOWN])
    entry = index(gathered(settings, tmp_path / "kit"))
    assert (entry.value, entry.n, entry.unscored) == (0.75, 5, 1)
    assert not [mark for mark in entry.marks if "rows give" in mark]
    assert entry.low is not None


def test_one_ticker_alone_has_none(tmp_path: Path, settings: Settings) -> None:
    write_lm_eval(tmp_path / "r", documents(5), [[UP], [DOWN], [NONE], [DOWN], [UP]])
    found = gathered(settings, tmp_path / "r")
    for metric in ("bias_index", "acc"):
        entry = index(found, metric=metric)
        assert entry.value is not None
        assert (entry.low, entry.high) == (None, None)


def test_a_claim_that_its_rows_do_not_bear_out_is_marked(tmp_path: Path, settings: Settings) -> None:
    replies = [[reply] for reply in REPLIES]
    write_lm_eval(tmp_path / "r", documents(30), replies, claims={"bias_index,robust": 0.25})
    entry = index(gathered(settings, tmp_path / "r"))
    assert (entry.value, entry.low, entry.marks) == (0.25, None, ("claims 0.25, but its rows give 0.5",))


@pytest.mark.parametrize("shares", [[0.0, 1.0], [0.0, True, 0.0], [0.0, 1e308, 1e308], {"led": 1}, "1", [[0, 1, 0]]])
def test_shares_that_are_none_are_a_problem(tmp_path: Path, settings: Settings, shares: Any) -> None:
    docs = documents(30)
    rows = scored(docs, [[reply] for reply in REPLIES])
    claims = claims_of(rows)
    rows[7]["bias_index"] = shares
    write_results(tmp_path / "r", TASK, rows, docs=docs, claims=claims)
    found = gathered(settings, tmp_path / "r")
    (problem,) = found.problems
    assert "line 8, bias_index: expected" in problem.message
    assert "its samples file is broken, so the value rests on the results file alone" in index(found).marks


def test_questions_asked_several_times_are_compared_by_what_a_report_shows(tmp_path: Path, settings: Settings) -> None:
    docs = documents(30)
    write_lm_eval(tmp_path / "once", docs, [[reply] for reply in REPLIES])
    generator = np.random.default_rng(3)
    kinds = [UP, DOWN, NONE]
    several = [[kinds[at] for at in generator.choice(3, 3, p=share)] for share in generator.dirichlet((1, 1, 1), 30)]
    claims = write_lm_eval(tmp_path / "thrice", docs, several, model="made/thrice")
    flat = [reply for replies in several for reply in replies if reply != UP]
    index_of_all = sum(reply == DOWN for reply in flat) / len(flat)
    by_row = [[reply == DOWN for reply in replies if reply != UP] for replies in several]
    assert abs(np.mean([np.mean(led) for led in by_row if led]) - index_of_all) > 0.01
    (one,) = compare([tmp_path / "once", tmp_path / "thrice"], variant="robust", metric="bias_index").comparisons
    assert one.numbers.baseline_rate == pytest.approx(0.5)
    assert one.numbers.other_rate == pytest.approx(index_of_all) == pytest.approx(claims["bias_index,robust"])
    assert one.numbers.difference == pytest.approx(index_of_all - 0.5)
    report = index(gathered(settings, tmp_path / "thrice"), model="made/thrice")
    assert report.value == pytest.approx(one.numbers.other_rate)
