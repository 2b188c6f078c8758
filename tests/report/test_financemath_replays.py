"""FinanceMath's recordings scored again: in a report, as lm-eval's runs of the task are."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.financemath.judge import Verdict
from fin_tasks.benchmarks.financemath.replay import Replay, replay_cot, replay_pot
from fin_tasks.benchmarks.financemath.replayed_file import ReplayedFile, model_of_file
from fin_tasks.benchmarks.financemath.rows import TOPICS
from fin_tasks.errors import SandboxError
from fin_tasks.report.collect import Collected, collect
from fin_tasks.report.entry import Entry
from fin_tasks.report.leaderboard import document
from fin_tasks.sandbox import Outcome, Status, open_runner
from fin_tasks.settings import Settings
from fin_tasks.stats.intervals import wilson

DATA = Path(__file__).parents[3] / "shared" / "data" / "financemath"
RIGHT, NEAR, WRONG, NONE = "the answer is 6.", "the answer is 60.", "the answer is 7.", "I cannot say."


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return replace(Settings.from_environ({}), cache_dir=tmp_path / "cache")


def recording(path: Path, outputs: Sequence[str], *, split: str = "validation", **more: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        {"question_id": f"{split}-{at}", "output": [output], "ground_truth": 6.0, "topic": topic, **more}
        for at, (output, topic) in enumerate(zip(outputs, list(TOPICS) * len(outputs), strict=False))
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def printed(path: Path, scored: Replay, **facts: Any) -> Path:
    whole = ReplayedFile(**{"replay": scored, "path": path, "model": model_of_file(path), **facts})
    out = path.with_name(f"{path.stem}_{scored.mode}_{scored.variant}_replayed.json")
    out.write_text(json.dumps(whole.summary(), allow_nan=False), encoding="utf-8")
    return out


def gathered(settings: Settings, *paths: Path, published: bool = False) -> Collected:
    return collect(paths, settings=settings, published=published)


def value(found: Collected, metric: str, variant: str = "paper", model: str = "m") -> Entry:
    (entry,) = [one for one in found.entries if (one.metric, one.variant, one.model) == (metric, variant, model)]
    return entry


def test_values_are_those_that_the_replay_prints(tmp_path: Path, settings: Settings) -> None:
    path = recording(tmp_path / "m.json", [f"Therefore, {text}" for text in (RIGHT, NEAR, WRONG)] + [NONE])
    scored = replay_cot(path, runner=None)
    found = gathered(settings, printed(path, scored))
    assert not found.problems
    paper, robust = value(found, "acc"), value(found, "acc", "robust")
    assert (paper.value, robust.value) == (scored.summary()["acc"], scored.summary()["robust_acc"]) == (0.5, 0.25)
    bounds = wilson(2, 4)
    assert (paper.low, paper.high, paper.n) == pytest.approx((bounds.low, bounds.high, 4))
    assert (paper.source, paper.task, paper.split, paper.mode, paper.marks) == (
        *("replay", "financemath", "validation", "cot"),
        (),
    )
    assert value(found, "execution_rate").value == scored.summary()["execution_rate"] == 0.75
    assert value(found, "no_answer").value == 0.25
    assert (value(found, "acc_accounting").value, value(found, "acc_accounting").n) == (1.0, 1)
    (run,) = found.runs
    assert json.loads(run.provenance["replayed"]) == "m.json"
    assert str(tmp_path) not in json.dumps([dict(run.provenance), run.path])


def test_models_are_compared_and_stand_beside_papers(tmp_path: Path, settings: Settings) -> None:
    outputs = {"gpt-4o": [RIGHT] * 30, "gemma": [WRONG] * 30}
    paths = [
        recording(tmp_path / f"{model}.json", [f"Therefore, {one}" for one in of]) for model, of in outputs.items()
    ]
    found = gathered(settings, *(printed(path, replay_cot(path, runner=None)) for path in paths), published=True)
    made = document(found)
    own = {task["id"] for task in made["tasks"] if (task["task"], task["variant"]) == ("financemath", "paper")}
    (comparison,) = [one for one in made["comparisons"] if one["task"] in own]
    assert [pair["p_holm"] < 0.001 for pair in comparison["pairs"]] == [True]
    column = [one for one in found.entries if (one.model, one.task, one.metric) == ("gpt-4o", "financemath", "acc")]
    ours, paper = ([one for one in column if (one.source, one.mode) == (of, "cot")] for of in ("replay", "published"))
    assert {(one.split, one.variant) for one in paper} == {("validation", "paper")}
    assert {(one.split, one.variant) for one in ours} == {("validation", "paper"), ("validation", "robust")}
    assert value(found, "acc", model="gemma").marks == ("over 30 rows, the paper's figures over 200",)


class Done:
    """A runner that gives outcomes as told, then the truth."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self._batches = [list(outcomes), [Outcome(status=Status.ok, value="6.0", number=6.0, is_number=True)] * 9]

    def run(self, programs: Sequence[str | None], *, on_done: object = None) -> list[Outcome]:
        return self._batches.pop(0)[: len(programs)]


def test_programs_are_counted_as_the_task_counts_them(tmp_path: Path, settings: Settings) -> None:
    outcomes = [
        Outcome(status=Status.ok, value="6.0", number=6.0, is_number=True),
        Outcome(status=Status.ok, value="(6.0, 1)"),
        Outcome(status=Status.timeout),
        Outcome(status=Status.broken),
    ]
    path = recording(tmp_path / "m.json", ["def solution(): ..."] * 4)
    found = gathered(settings, printed(path, replay_pot(path, runner=Done(outcomes))))  # type: ignore[arg-type]
    assert not found.problems
    acc = value(found, "acc")
    assert (acc.value, acc.n, acc.unscored, acc.mode, acc.marks) == (pytest.approx(1 / 3), 3, 1, "pot", ())
    assert value(found, "execution_rate").value == pytest.approx(2 / 3)
    assert value(found, "no_answer").value == pytest.approx(2 / 3)  # what ran and returned no number has none either
    assert value(found, "timeout").value == pytest.approx(1 / 3)
    assert {one.variant for one in found.entries} == {"paper"}


def test_the_judge_is_told_and_what_it_could_not_read_is_unscored(tmp_path: Path, settings: Settings) -> None:
    path = recording(tmp_path / "m.json", [f"Therefore, {RIGHT}", NONE, NONE])
    verdicts = [Verdict(error="no reply"), Verdict()]
    scored = replay_cot(path, runner=None, judge=lambda _: verdicts)
    found = gathered(settings, printed(path, scored, judge={"model": "reader", "reads": "missing"}))
    acc = value(found, "acc")
    assert (acc.value, acc.n, acc.unscored, acc.judge) == (0.5, 2, 1, "reader")
    assert value(found, "judge_error").value == 0.5
    everything = printed(path, scored, judge={"model": "reader", "reads": "all"})
    assert value(gathered(settings, everything), "acc").facts["judge.reads"] == "all"


def test_the_same_file_scored_both_ways_counts_once(tmp_path: Path, settings: Settings) -> None:
    path = recording(tmp_path / "m.json", [f"Therefore, {text}" for text in (RIGHT, NEAR)])
    both = [printed(path, replay_cot(path, runner=None, variant=variant)) for variant in ("paper", "robust")]
    found = gathered(settings, *both)
    assert (value(found, "acc").value, value(found, "acc", "robust").value) == (1.0, 0.5)
    assert not any(entry.marks for entry in found.entries)
    assert "is the same as in" in found.notes[0]


@pytest.mark.parametrize(("ids", "split"), [("sample", "sample"), ("test", "test"), ("q", "")])
def test_the_split_is_what_ids_say(tmp_path: Path, settings: Settings, ids: str, split: str) -> None:
    path = recording(tmp_path / "m.json", [f"Therefore, {RIGHT}"], split=ids)
    entry = value(gathered(settings, printed(path, replay_cot(path, runner=None))), "acc")
    assert (entry.split, entry.facts.get("split")) == (split, "test" if split == "test" else None)


def test_a_total_that_rows_do_not_bear_out_is_marked(tmp_path: Path, settings: Settings) -> None:
    out = printed(path := recording(tmp_path / "m.json", [NONE] * 4), replay_cot(path, runner=None))
    out.write_text(json.dumps({**json.loads(out.read_text()), "robust_acc": 0.75}))
    entry = value(gathered(settings, out), "acc", "robust")
    assert (entry.value, entry.low, entry.marks) == (0.75, None, ("claims 0.75, but its rows give 0",))
    assert value(gathered(settings, out), "acc").marks == ()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rows": None}, "rows: expected a list of objects"),
        ({"rows": [{"id": "a", "paper": {"acc": 2}}]}, "rows.0.paper.acc: expected a number from 0 to 1"),
        ({"rows": [{"id": "a", "paper": {"made_up": 1}}]}, "rows.0.paper: expected an object of metrics"),
        ({"rows": [{"id": "a"}]}, "rows.0: expected metrics under paper or robust"),
        ({"rows": [{"id": True, "paper": {"acc": 1}}]}, "rows.0.id: expected a text or whole number"),
        ({"rows": [{"id": "a", "paper": {"acc": 1}}] * 2}, "expected each question once, got 'a' twice"),
        ({"mode": "da"}, "mode: expected cot or pot, got 'da'"),
        ({"mode": ["cot"]}, "mode: expected cot or pot, got ['cot']"),
        ({"acc": 10**400}, "acc: expected a number from 0 to 1"),
        ({"model": 5}, "model: expected a text, got 5"),
        ({"judge": "x"}, "judge: expected an object or null"),
        ({"acc": "1"}, "acc: expected a number from 0 to 1"),
        ({"split": 3}, "split: expected a text"),
        ({"file": None}, "file: expected a text"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, settings: Settings, change: dict[str, Any], told: str) -> None:
    out = printed(path := recording(tmp_path / "m.json", [NONE]), replay_cot(path, runner=None))
    out.write_text(json.dumps({**json.loads(out.read_text()), **change}))
    (problem,) = gathered(settings, out).problems
    assert told in problem.message


def test_totals_alone_of_an_earlier_version_say_what_to_do(tmp_path: Path, settings: Settings) -> None:
    path = recording(tmp_path / "m.json", [NONE])
    out = tmp_path / "old.json"
    out.write_text(json.dumps(replay_cot(path, runner=None).summary()))
    (problem,) = gathered(settings, out).problems
    assert "Replay the recordings again" in problem.message


@pytest.mark.skipif(not (DATA / "cot").is_dir(), reason=f"the authors' recordings are not at {DATA}")
@pytest.mark.parametrize("mode", ["cot", "pot"])
def test_the_authors_recordings_give_their_figures(tmp_path: Path, settings: Settings, mode: str) -> None:
    models = ("gpt-4o", "gemma-2b-it")
    theirs = {one["model_name"]: one for one in json.loads((DATA / f"validation_{mode}_results.json").read_text())}
    paths = [DATA / mode / f"{model}.json" for model in models]
    if mode == "cot":
        replays = [replay_cot(path, runner=None) for path in paths]
    else:
        try:
            opened = open_runner(workers=1)
        except SandboxError as error:
            pytest.skip(f"no sandbox can be used here: {error}")
        with opened as runner:
            replays = [replay_pot(path, runner=runner) for path in paths]
    files = []
    for path, scored in zip(paths, replays, strict=True):
        (folder := tmp_path / path.stem).mkdir()
        files.append(folder / "replayed.json")
        files[-1].write_text(json.dumps(ReplayedFile(replay=scored, path=path, model=path.stem).summary()))
    found = gathered(settings, *files)
    assert not found.problems
    for model in models:
        said = theirs[model]
        slack = 0.5 if mode == "cot" else 0.0  # one row of 200, see docs/financemath.md
        assert value(found, "acc", model=model).value == pytest.approx(said["accuracy"] / 100, abs=slack / 100 + 1e-9)
        assert value(found, "acc", model=model).split == "validation"
        for topic, name in TOPICS.items() if mode == "pot" else ():
            entry = value(found, f"acc_{name}", model=model)
            assert round(100 * (entry.value or 0.0), 2) == said["topic_accuracy"][topic]
