"""Running recorded programs and scoring them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fin_tasks.answers.numbers import Number
from fin_tasks.benchmarks.financemath.judge import Verdict
from fin_tasks.benchmarks.financemath.replay import replay_cot, replay_pot
from fin_tasks.errors import SandboxError
from fin_tasks.sandbox import Outcome, Runner, Status, open_runner

ROW = {
    "question_id": "validation-0",
    "output": ["```python\ndef solution():\n    return 2.0004\n```"],
    "ground_truth": 2.0,
    "python_solution": "def solution():\n    return 2.0001",
    "result": {"acc": 1, "robust_acc": 1},
}
WRONG = {**ROW, "question_id": "validation-1", "output": ["```python\ndef solution():\n    return 1.1\n```"]}
TEXT = {**ROW, "question_id": "validation-2", "output": ["def solution():\n    return (2.0, 1)"]}
BROKEN = {**ROW, "question_id": "validation-3", "output": ["I cannot say."]}
BLANK = {**ROW, "question_id": "validation-4", "output": ["  "]}
ROWS = [ROW, WRONG, TEXT, BROKEN, BLANK]


class FakeRunner:
    """Gives outcomes out of a list, whatever it is asked to run."""

    def __init__(self, *batches: list[Outcome]) -> None:
        self._batches = list(batches)

    def run(self, programs: list[str | None], *, on_done: object = None) -> list[Outcome]:
        outcomes = self._batches.pop(0)
        assert len(outcomes) == len(programs)
        return outcomes


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    try:
        opened = open_runner(workers=1)
    except SandboxError as error:
        pytest.skip(f"no sandbox can be used here: {error}")
    with opened:
        yield opened


def _write(path: Path, rows: object) -> Path:
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def test_replay(tmp_path: Path, runner: Runner) -> None:
    settled: list[int] = []
    replay = replay_pot(_write(tmp_path / "model.json", ROWS), runner=runner, on_done=settled.append)
    assert replay.items() == [
        {"question_id": "validation-0", "executed": 1, "value": 2.0, "acc": 1, "robust_acc": 1},
        {"question_id": "validation-1", "executed": 1, "value": 1.1, "acc": 0, "robust_acc": 0},
        {"question_id": "validation-2", "executed": 1, "value": "(2.0, 1)", "acc": 0, "robust_acc": 0},
        {"question_id": "validation-3", "executed": 0, "value": None, "acc": 0, "robust_acc": 0},
        {"question_id": "validation-4", "executed": 0, "value": None, "acc": 0, "robust_acc": 0},
    ]
    assert replay.summary() == {
        "n": 5,
        "execution_rate": 0.6,
        "acc": 0.2,
        "robust_acc": 0.2,
        "no_answer": 2,
        "unscored": 0,
    }
    assert settled[-1] == 5
    assert replay.results[0].truth == 2.0001


def test_what_the_runner_could_not_do_stays_unscored(tmp_path: Path) -> None:
    path = _write(tmp_path / "model.json", [ROW, WRONG, TEXT])
    done = Outcome(status=Status.ok, value="2.0", number=2.0, is_number=True)
    outcomes = [Outcome(status=Status.broken), done, Outcome(status=Status.unsupported)]
    replay = replay_pot(path, runner=FakeRunner(outcomes, [done] * 3))  # type: ignore[arg-type]
    assert replay.summary() == {
        "n": 3,
        "execution_rate": 1.0,
        "acc": 1.0,
        "robust_acc": 1.0,
        "no_answer": 0,
        "unscored": 2,
    }
    assert [item["acc"] for item in replay.items()] == [None, 1, None]
    assert [item["executed"] for item in replay.items()] == [None, 1, None]


@pytest.mark.parametrize(
    ("output", "status", "misfit"),
    [
        ("It is 5.", Status.syntax, True),
        ("It is 5.", Status.broken, False),
        ("It is 5.", Status.ok, False),
        ("def solution(): return", Status.syntax, False),
    ],
)
def test_responses_of_the_other_mode_are_noticed(tmp_path: Path, output: str, status: Status, misfit: bool) -> None:
    path = _write(tmp_path / "model.json", [{**ROW, "output": output}] * 2)
    runner = FakeRunner([Outcome(status=status)] * 2, [Outcome(status=Status.broken)] * 2)
    assert (replay_pot(path, runner=runner).misfit is not None) == misfit  # type: ignore[arg-type]
    assert (replay_cot(path, runner=None).misfit is not None) == output.startswith("def")


def test_nothing_scored_is_not_zero(tmp_path: Path) -> None:
    broken = [Outcome(status=Status.broken)]
    replay = replay_pot(_write(tmp_path / "model.json", [ROW]), runner=FakeRunner(broken, broken))  # type: ignore[arg-type]
    assert replay.summary()["acc"] is None


@pytest.mark.parametrize(
    ("solution", "truth"),
    [(None, 2.0), ("def solution():\n    return 1 / 0", 2.0), ("def solution():\n    return 'x'", 2.0)],
)
def test_the_recorded_truth_is_the_fallback(tmp_path: Path, runner: Runner, solution: str, truth: float) -> None:
    path = _write(tmp_path / "model.json", [{**ROW, "python_solution": solution}])
    assert replay_pot(path, runner=runner).results[0].truth == truth


def test_items_are_strict_json(tmp_path: Path, runner: Runner) -> None:
    results = ["float('nan')", "float('inf')", "-1e400", "10**400", "-0.5"]
    rows = [{**ROW, "question_id": i, "output": f"def solution():\n    return {r}"} for i, r in enumerate(results)]
    items = replay_pot(_write(tmp_path / "model.json", rows), runner=runner).items()
    assert json.loads(json.dumps(items, allow_nan=False)) == items
    assert [item["value"] for item in items[:3]] == ["nan", "inf", "-inf"]
    assert items[4]["value"] == -0.5
    assert [item["question_id"] for item in items] == [0, 1, 2, 3, 4]
    assert [item["acc"] for item in items] == [0] * 5


@pytest.mark.parametrize("output", [[], [None], None, "", [""]])
def test_no_output_is_a_row_that_did_not_run(tmp_path: Path, runner: Runner, output: object) -> None:
    replay = replay_pot(_write(tmp_path / "model.json", [{**ROW, "output": output}]), runner=runner)
    (item,) = replay.items()
    assert item == {"question_id": "validation-0", "executed": 0, "value": None, "acc": 0, "robust_acc": 0}
    assert replay.summary()["unscored"] == 0


def test_topics(tmp_path: Path) -> None:
    topics = ["Risk", "Accounting", "Risk", None, "Odd\x1b[31m", ""]
    rows = [{**ROW, "topic": topic} for topic in topics]
    right, wrong = (Outcome(status=Status.ok, value=v, number=float(v), is_number=True) for v in ("2.0", "1.1"))
    outcomes = [right, wrong, Outcome(status=Status.exception), right, Outcome(status=Status.broken), right]
    runner = FakeRunner(outcomes, [right] * len(rows))
    summary = replay_pot(_write(tmp_path / "model.json", rows), runner=runner).summary()  # type: ignore[arg-type]
    assert summary["by_topic"] == {
        "": {"n": 1, "execution_rate": 1.0, "acc": 1.0, "robust_acc": 1.0},
        "Accounting": {"n": 1, "execution_rate": 1.0, "acc": 0.0, "robust_acc": 0.0},
        "Odd\\x1b[31m": {"n": 1, "execution_rate": None, "acc": None, "robust_acc": None},
        "Risk": {"n": 2, "execution_rate": 0.5, "acc": 0.5, "robust_acc": 0.5},
    }
    assert summary["n"] == 6
    assert list(summary["by_topic"]) == sorted(summary["by_topic"])


COT = {
    "question_id": "validation-0",
    "output": ["We add up.\n\nTherefore, the answer is 12.35%."],
    "ground_truth": 0.124,
    "python_solution": "def solution():\n    return 0.12352",
    "topic": "Risk",
}
OFF = {**COT, "question_id": "validation-1", "output": ["Therefore, the answer is 1.235."]}
CUT = {**COT, "question_id": "validation-2", "output": ["Step 1: we add 3 and (4"]}


def test_chains_of_thought(tmp_path: Path, runner: Runner) -> None:
    replay = replay_cot(_write(tmp_path / "model.json", [{**COT, "ground_truth": 0.1235}, OFF, CUT]), runner=runner)
    rules = {"read_by": "rules"}
    assert replay.items() == [
        {"question_id": "validation-0", "answered": 1, "value": 12.35, "acc": 1, "robust_acc": 1, **rules},
        {"question_id": "validation-1", "answered": 1, "value": 1.235, "acc": 0, "robust_acc": 0, **rules},
        {"question_id": "validation-2", "answered": 0, "value": None, "acc": 0, "robust_acc": 0, **rules},
    ]
    summary = replay.summary()
    assert summary["by_topic"]["Risk"].items() < summary.items()
    assert (summary["execution_rate"], summary["no_answer"], summary["unscored"]) == (2 / 3, 1, 0)


def test_paper_compares_thoughts_with_the_rounded_truth_and_robust_with_the_exact_one(
    tmp_path: Path, runner: Runner
) -> None:
    path = _write(tmp_path / "model.json", [COT])
    exact, rounded = replay_cot(path, runner=runner), replay_cot(path, runner=None)
    assert [(item["acc"], item["robust_acc"]) for item in exact.items()] == [(0, 1)]
    assert [(item["acc"], item["robust_acc"]) for item in rounded.items()] == [(0, 0)]
    strict = replay_cot(path, runner=runner, variant="robust")
    assert strict.summary().items() >= {"acc": 1.0, "paper_acc": 0.0}.items()
    assert strict.items()[0].items() >= {"acc": 1, "paper_acc": 0}.items()


def test_a_judge_reads_what_the_rules_cannot(tmp_path: Path) -> None:
    seen: list[list[str]] = []

    def judge(responses: list[str]) -> list[Verdict]:
        seen.append(list(responses))
        return [Verdict(number=Number(value=0.124, readings=(0.124,), step=0.001)) for _ in responses]

    path = _write(tmp_path / "model.json", [COT, OFF, CUT])
    some = replay_cot(path, runner=None, judge=judge)  # type: ignore[arg-type]
    assert seen.pop() == CUT["output"]
    assert [item["read_by"] for item in some.items()] == ["rules", "rules", "judge"]
    assert some.items()[2]["acc"] == 1
    assert some.summary().items() >= {"read_by_judge": 1, "judge_failed": 0}.items()
    every = replay_cot(path, runner=None, judge=judge, judge_all=True)  # type: ignore[arg-type]
    assert len(seen.pop()) == 3
    assert every.summary()["acc"] == 1.0


def test_a_judge_that_fails_leaves_the_rules_and_unscored_rows(tmp_path: Path) -> None:
    path = _write(tmp_path / "model.json", [COT, OFF, CUT])
    alone = replay_cot(path, runner=None)
    replay = replay_cot(path, runner=None, judge=lambda texts: [Verdict(error="no reply")] * len(texts), judge_all=True)
    assert [{**item, "judge_error": "no reply"} for item in alone.items()[:2]] == replay.items()[:2]
    unread = {"answered": None, "acc": None, "robust_acc": None, "value": None, "read_by": None}
    assert replay.items()[2].items() >= unread.items()
    told = {"n": 3, "read_by_judge": 0, "judge_failed": 3, "unscored": 1, "no_answer": 0, "execution_rate": 1.0}
    assert replay.summary().items() >= told.items()


def test_samples_of_lm_eval(tmp_path: Path) -> None:
    doc = {name: COT[name] for name in ("question_id", "ground_truth", "python_solution", "topic")}
    line = {"doc": doc, "resps": [COT["output"]], "filter": "paper"}
    lines = [{**line, "filter": name} for name in ("paper", "robust")]
    path = tmp_path / "samples_financemath.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    (item,) = replay_cot(path, runner=None).items()
    assert item["value"] == 12.35
