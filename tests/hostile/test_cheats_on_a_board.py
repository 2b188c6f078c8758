"""A board with two honest runs: each way to bend it is refused or named, and the honest runs stay as they are.

`attack.py` tries all ways to cheat, those of a single submission too.
"""

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from board_cheats import BOARD_CHEATS, BoardCheat
from cheats import BOOL
from more_board_cheats import MORE_BOARD_CHEATS
from run_files import board_of
from submissions import admit, content_of, refused, submit

import fin_tasks
from fin_tasks import report
from fin_tasks.benchmarks.scored_task import score_task
from fin_tasks.benchmarks.task_file import TaskFile

ALL_BOARD_CHEATS = (*BOARD_CHEATS, *MORE_BOARD_CHEATS)
HONEST = ("model of alpha", "model of beta")


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An honest submission, of which cheats are changed copies."""
    return submit(tmp_path_factory.mktemp("honest") / BOOL, model="model-c")


@pytest.fixture(scope="module")
def two_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A board with two honest runs."""
    folder = tmp_path_factory.mktemp("board")
    board = folder / "board"
    for name in ("alpha", "beta"):
        submission = submit(folder / name, model=f"model of {name}")
        status, _, output = admit(submission, board)
        assert status == 0, output
    return board


@pytest.fixture
def board(two_runs: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(two_runs, tmp_path / "board"))


def ends_as_told(change: Path, board: Path) -> tuple[int, set[str], set[str]]:
    """Return the exit status, what is refused, and what is only claimed; the honest runs must not change."""
    before = content_of(board)
    status, told, output = admit(change, board)
    after = content_of(board)
    assert {name: after[name] for name in before} == before, output
    assert (status == 1) == bool(told["refused"]), output
    if status == 1:
        assert after == before
    return status, refused(told), set(told["claims"])


@pytest.fixture(scope="module")
def as_admitted(
    two_runs: Path, honest: Path, tmp_path_factory: pytest.TempPathFactory
) -> Any:
    """What a board has of the honest run of which cheats are changed copies."""
    place = tmp_path_factory.mktemp("third")
    board = Path(shutil.copytree(two_runs, place / "board"))
    folder = Path(shutil.copytree(honest, place / "gamma"))
    assert admit(folder, board)[0] == 0
    return scores_of(board / "gamma")


def scores_of(folder: Path) -> Any:
    """Return what a board has of a run: its lines, its totals, and how they were asked."""
    (file,) = folder.rglob("results_*.json")
    content = json.loads(file.read_text())
    (samples,) = folder.rglob("samples_*.jsonl")
    facts = [content[name] for name in ("results", "configs", "n-samples", "versions")]
    return [*facts, samples.read_text()]


@pytest.mark.parametrize("cheat", ALL_BOARD_CHEATS, ids=lambda cheat: cheat.name)
def test_a_board_is_not_bent(
    cheat: BoardCheat, honest: Path, board: Path, as_admitted: Any, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(honest, tmp_path / "gamma"))
    cheat.change(folder)
    status, names, claims = ends_as_told(folder, board)
    if cheat.ignored:
        assert (status, scores_of(board / "gamma")) == (0, as_admitted), names
    elif cheat.refused:
        assert (status, cheat.refused in names) == (1, True), names
    else:
        assert (status, cheat.claimed in claims) == (3, True), claims


def test_forged_scores_are_not_taken_over(
    honest: Path, board: Path, tmp_path: Path
) -> None:
    """A run of another version may claim what it likes: the board has our values."""
    (cheat,) = [cheat for cheat in BOARD_CHEATS if cheat.claimed == "version"]
    folder = Path(shutil.copytree(honest, tmp_path / "gamma"))
    cheat.change(folder)
    admit(folder, board)
    honest_total, forged_total = (
        report.read(path).runs[0].tasks[0].totals["robust"]["acc"]
        for path in (honest, board / "gamma")
    )
    assert forged_total == honest_total < 1


@pytest.mark.slow
def test_no_admitted_claim_moves_an_honest_run(board: Path, tmp_path: Path) -> None:
    before = honest_entries(board)
    claimed = [cheat for cheat in ALL_BOARD_CHEATS if cheat.claimed]
    all_at_once = tmp_path / "gamma"
    for number, cheat in enumerate(claimed):
        cheat.change(submit(all_at_once / f"s{number}", model=f"model {number}"))
    status, told, output = admit(all_at_once, board)
    assert (status, len(told["admitted"])) == (3, len(claimed)), output
    assert set(told["claims"]) >= {cheat.claimed for cheat in claimed}
    after = honest_entries(board)
    assert after == before
    assert len(after) == 2 * len({key[1:] for key in after})


def honest_entries(board: Path) -> dict[tuple[str, ...], Any]:
    """Return what a page says of the two honest models: values, intervals and where they are ranked."""
    entries = {}
    for entry in board_of(board).entries:
        if entry.model in HONEST:
            key = (entry.model, entry.task, entry.metric)
            facts = (entry.value, entry.low, entry.high, entry.n, entry.group)
            entries[key] = (*facts, entry.is_shown, entry.doubts)
    return entries


HEDGES = (
    "The answer is {0}. The answer is {1}.",
    "The answer is {0} or {1}.",
    "{0}\n{1}\n{0}\n{1}",
    "{0}, {1}",
    "Final answer: {0}/{1}",
    "\\boxed{{{0}}} \\boxed{{{1}}}",
    '{{"answer": "{0}"}} {{"answer": "{1}"}}',
    "<think>{0}</think>{1}<think>{0}</think>",
    "If it is {0}, then {0}; if it is {1}, then {1}.",
)


@pytest.mark.parametrize("hedge", HEDGES)
@pytest.mark.parametrize(
    ("task", "options"),
    [("xfinbench_bool", ("True", "False")), ("xfinbench_mcq", ("A", "B", "C", "D"))],
)
def test_naming_every_option_gains_nothing(
    task: str, options: tuple[str, ...], hedge: str
) -> None:
    """Who names all options in any order has no more points than who always names the same one."""
    best = [totals(task, f"The answer is {one}.") for one in options]
    for first, *others in (options, options[::-1]):
        text = hedge.format(first, others[0])
        for another in others[1:]:
            text += "\n" + hedge.format(first, another)
        hedged = totals(task, text)
        for name in ("acc,paper", "acc,robust"):
            assert hedged[name] <= max(alone[name] for alone in best)


@cache
def totals(task: str, text: str) -> dict[str, float]:
    """Return what a task scores if all responses are the same."""
    docs = fin_tasks.load(task, source="sample").to_list()
    return score_task(TaskFile(task), docs, [[text]] * len(docs)).totals()
