"""Runs that did not change are not read again, and nothing that did is taken from what is kept."""

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_results import DATE, LATER, shares, write_results

from fin_tasks.report import collect as collecting
from fin_tasks.report import incremental
from fin_tasks.report.collect import Collected, collect
from fin_tasks.report.found_files import find_runs
from fin_tasks.report.incremental import decode, encode
from fin_tasks.report.lm_eval_entries import read_run
from fin_tasks.settings import Settings

_OPENED: list[str] = []
_WATCHING: list[bool] = []


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if _WATCHING and event == "open" and DATE[:10] in str(arguments[0]):
        _OPENED.append(Path(str(arguments[0])).name)


sys.addaudithook(_watch)  # cannot be taken away again, so it is told when to look


@pytest.fixture
def opened() -> Iterator[list[str]]:
    """Names of the runs' files that were opened."""
    _OPENED.clear()
    _WATCHING.append(True)
    yield _OPENED
    _WATCHING.clear()


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        write_results(tmp_path / "runs" / name, "financemath", shares([1.0, None, 0.0]), model=name)
    return tmp_path / "runs"


def gathered(runs: Path) -> Collected:
    settings = replace(Settings.from_environ({}), cache_dir=runs.parent / "cache")
    return collect([runs], settings=settings, published=False)


def same(one: Collected, other: Collected) -> bool:
    if (one.entries, one.runs, one.problems, one.notes) != (other.entries, other.runs, other.problems, other.notes):
        return False
    return all(
        np.array_equal(values, other.scores(run.id)[variant].values[metric], equal_nan=True)
        and scores.ids == other.scores(run.id)[variant].ids
        for run in one.runs
        for variant, scores in one.scores(run.id).items()
        for metric, values in scores.values.items()
    )


def test_unchanged_runs_are_not_opened(runs: Path, opened: list[str]) -> None:
    first = gathered(runs)
    assert len(opened) == 4
    opened.clear()
    second = gathered(runs)
    assert opened == []
    assert same(first, second)
    assert len(second.scores(second.runs[0].id)) == 2


def test_only_what_changed_is_read(runs: Path, opened: list[str]) -> None:
    gathered(runs)
    write_results(runs / "a", "financemath", shares([1.0, 1.0, 1.0]), model="a")
    opened.clear()
    found = gathered(runs)
    assert len(opened) == 2
    assert {one.value for one in found.entries if one.metric == "acc" and one.model == "a"} == {1.0}


def test_the_same_size_at_another_time_is_another_file(runs: Path, opened: list[str]) -> None:
    gathered(runs)
    file = runs / "b" / f"samples_financemath_{DATE}.jsonl"
    stat = file.stat()
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    opened.clear()
    gathered(runs)
    assert len(opened) == 2


def test_a_file_changed_in_place_is_another_whatever_its_size_and_time(runs: Path) -> None:
    gathered(runs)
    file = runs / "b" / f"samples_financemath_{DATE}.jsonl"
    stat, text = file.stat(), file.read_text()
    file.write_text(text.replace('"acc": 1.0', '"acc": 0.0'))
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (stat.st_size, stat.st_mtime_ns)
    assert any("its rows give 0" in mark for entry in gathered(runs).entries for mark in entry.marks)


def test_samples_that_came_later_are_read(runs: Path, opened: list[str]) -> None:
    samples = runs / "b" / f"samples_financemath_{DATE}.jsonl"
    text = samples.read_text()
    samples.unlink()
    assert sum(bool(run.samples) for run in gathered(runs).runs) == 1
    samples.write_text(text)
    assert sum(bool(run.samples) for run in gathered(runs).runs) == 2


def test_another_reader_reads_anew(runs: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    gathered(runs)
    monkeypatch.setattr(incremental, "reader_version", lambda: "another")
    opened.clear()
    gathered(runs)
    assert len(opened) == 4


@pytest.mark.parametrize("damage", [b"", b"x", b"[]\n{}\n"])
def test_what_is_kept_and_damaged_is_read_anew(runs: Path, opened: list[str], damage: bytes) -> None:
    first = gathered(runs)
    kept = sorted((runs.parent / "cache" / "report").iterdir())
    assert len(kept) == 2
    kept[0].write_bytes(damage)
    kept[1].write_bytes(kept[1].read_bytes()[:-3])  # numbers cut short
    opened.clear()
    assert same(first, gathered(runs))
    assert len(opened) == 4


def test_what_is_kept_and_altered_is_not_believed(runs: Path, opened: list[str]) -> None:
    first = gathered(runs)
    for kept in (runs.parent / "cache" / "report").iterdir():
        content = kept.read_bytes()
        assert b'"acc"' in content
        kept.write_bytes(content.replace(b'"acc"', b'"cca"'))
    opened.clear()
    assert same(first, gathered(runs))
    assert len(opened) == 4


def test_what_no_report_asks_for_is_removed_one_day(runs: Path) -> None:
    gathered(runs)
    kept = runs.parent / "cache" / "report"
    for path in kept.iterdir():
        os.utime(path, (1e9, 1e9))
    (kept / "left.part").write_bytes(b"")
    os.utime(kept / "left.part", (1e9, 1e9))
    (kept / "mine.txt").write_text("keep")
    os.utime(kept / "mine.txt", (1e9, 1e9))
    (runs / "b" / f"results_{DATE}.json").unlink()
    (runs / "b" / f"samples_financemath_{DATE}.jsonl").unlink()
    gathered(runs)
    assert sorted(path.suffix for path in kept.iterdir()) == [".run", ".txt"]


def test_a_disk_that_takes_no_more_keeps_no_parts(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        gathered(runs)
    assert not list((runs.parent / "cache" / "report").iterdir())


def test_a_run_replaces_what_was_kept_of_it(runs: Path) -> None:
    for values in ([1.0], [0.0, 1.0], [1.0, 1.0, 1.0]):
        write_results(runs / "a", "financemath", shares(values), model="a")
        gathered(runs)
    write_results(runs / "a", "financemath", shares([1.0]), date=LATER)
    gathered(runs)
    assert len(list((runs.parent / "cache" / "report").iterdir())) == 3


def test_a_disk_that_takes_nothing_costs_nothing_but_time(runs: Path) -> None:
    (runs.parent / "cache").write_text("a file where the folder should be")
    assert len(gathered(runs).runs) == 2


def test_problems_are_kept_too(runs: Path, opened: list[str]) -> None:
    (runs / "a" / f"results_{DATE}.json").write_text("{")
    (first,) = gathered(runs).problems
    opened.clear()
    assert gathered(runs).problems == (first,)
    assert opened == []


def test_processes_give_what_one_process_gives(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alone = gathered(runs)
    (runs.parent / "cache").rename(runs.parent / "elsewhere")
    monkeypatch.setattr(collecting, "_WORTH_PROCESSES", 0)
    assert same(alone, gathered(runs))


def test_progress_is_told_run_by_run(runs: Path) -> None:
    settings = replace(Settings.from_environ({}), cache_dir=runs.parent / "cache")
    told: list[tuple[int, int]] = []
    for _ in range(2):
        collect([runs], settings=settings, published=False, on_done=lambda done, of: told.append((done, of)))
    assert told == [(1, 2), (2, 2)] * 2


def test_half_a_character_in_a_name_is_a_problem_not_a_crash(runs: Path) -> None:
    write_results(runs / "a", "financemath", [{"acc": 1.0, "unscored": 0.0, "\ud800": 1.0}], model="a")
    found = gathered(runs)
    assert [Path(problem.path).parent.name for problem in found.problems] == ["a"]
    assert "half of a character" in found.problems[0].message
    assert {entry.model for entry in found.entries} == {"b"}


def test_decoded_is_what_was_encoded(runs: Path) -> None:
    for run in find_runs([runs], []):
        read = read_run(run)
        assert decode(encode(read)).runs[0].entries == read.runs[0].entries
        assert decode(encode(read)).runs[0].facts == read.runs[0].facts
