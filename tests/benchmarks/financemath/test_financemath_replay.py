"""Running recorded programs and scoring them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fin_tasks.benchmarks.financemath.replay import replay_pot
from fin_tasks.errors import SandboxError
from fin_tasks.sandbox import Outcome, Runner, Status, open_runner

ROW = {
    "question_id": "validation-0",
    "output": ["```python\ndef solution():\n    return 2.0004\n```"],
    "ground_truth": 2.0,
    "python_solution": "def solution():\n    return 2.0001",
    "result": {"acc": 1},
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
        {"question_id": "validation-0", "executed": 1, "value": 2.0, "acc": 1},
        {"question_id": "validation-1", "executed": 1, "value": 1.1, "acc": 0},
        {"question_id": "validation-2", "executed": 1, "value": "(2.0, 1)", "acc": 0},
        {"question_id": "validation-3", "executed": 0, "value": None, "acc": 0},
        {"question_id": "validation-4", "executed": 0, "value": None, "acc": 0},
    ]
    assert replay.summary() == {"n": 5, "execution_rate": 0.6, "acc": 0.2, "unscored": 0}
    assert settled[-1] == 5
    assert replay.results[0].truth == 2.0001


def test_what_the_runner_could_not_do_stays_unscored(tmp_path: Path) -> None:
    path = _write(tmp_path / "model.json", [ROW, WRONG, TEXT])
    done = Outcome(status=Status.ok, value="2.0", number=2.0, is_number=True)
    outcomes = [Outcome(status=Status.broken), done, Outcome(status=Status.unsupported)]
    replay = replay_pot(path, runner=FakeRunner(outcomes, [done] * 3))  # type: ignore[arg-type]
    assert replay.summary() == {"n": 3, "execution_rate": 1.0, "acc": 1.0, "unscored": 2}
    assert [item["acc"] for item in replay.items()] == [None, 1, None]
    assert [item["executed"] for item in replay.items()] == [None, 1, None]


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
    assert replay.items() == [{"question_id": "validation-0", "executed": 0, "value": None, "acc": 0}]
    assert replay.summary()["unscored"] == 0


def test_topics(tmp_path: Path) -> None:
    topics = ["Risk", "Accounting", "Risk", None, "Odd\x1b[31m", ""]
    rows = [{**ROW, "topic": topic} for topic in topics]
    right, wrong = (Outcome(status=Status.ok, value=v, number=float(v), is_number=True) for v in ("2.0", "1.1"))
    outcomes = [right, wrong, Outcome(status=Status.exception), right, Outcome(status=Status.broken), right]
    runner = FakeRunner(outcomes, [right] * len(rows))
    summary = replay_pot(_write(tmp_path / "model.json", rows), runner=runner).summary()  # type: ignore[arg-type]
    assert summary["by_topic"] == {
        "": {"n": 1, "execution_rate": 1.0, "acc": 1.0},
        "Accounting": {"n": 1, "execution_rate": 1.0, "acc": 0.0},
        "Odd\\x1b[31m": {"n": 1, "execution_rate": None, "acc": None},
        "Risk": {"n": 2, "execution_rate": 0.5, "acc": 0.5},
    }
    assert summary["n"] == 6
    assert list(summary["by_topic"]) == sorted(summary["by_topic"])
