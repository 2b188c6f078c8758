"""Tricks of one run that must not change values and ranks of two honest runs on the same board."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from run_files import STAMP, board_of, scored, write_models, write_run

from fin_tasks.report.write import write_report

TASK = "financemath"
N = 60


def rows(share: float, n: int = N) -> list[dict[str, float | None]]:
    """Return rows of which a share is right."""
    return scored(*(float(at < share * n) for at in range(n)))


def honest(folder: Path) -> None:
    write_run(folder / "m-good", {TASK: rows(0.8)}, model="good")
    write_run(folder / "m-weak", {TASK: rows(0.3)}, model="weak")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return how the honest runs stand without a trick."""
    folder = tmp_path_factory.mktemp("alone")
    honest(folder)
    before = standing(folder)
    assert before["order"] == ["good", "weak"]
    return before


def standing(folder: Path) -> dict[str, Any]:
    """Return value, interval, doubts and ranks of the honest runs under the robust scoring."""
    document = board_of(folder)
    models = {run.id: run.model for run in document.runs}
    found: dict[str, Any] = {}
    for entry in document.entries:
        is_headline = entry.task.startswith(f"{TASK}/robust") and entry.metric == "acc"
        if is_headline and entry.model in ("good", "weak") and entry.is_shown:
            found[entry.model] = (entry.value, entry.low, entry.high, entry.doubts)
    for comparison in document.comparisons:
        ranked = [models[place.run] for place in comparison.ranks]
        order = [model for model in ranked if model in ("good", "weak")]
        if comparison.task.startswith(f"{TASK}/robust") and len(order) == 2:
            found |= {"order": order, "test": comparison.test}
            found["pair"] = [
                (pair.n, pair.difference, pair.p)
                for pair in comparison.pairs
                if {models[pair.first], models[pair.second]} == {"good", "weak"}
            ]
    return found


def a_run(
    place: str, rows: Any, model: str = "cheat", **options: Any
) -> Callable[[Path], object]:
    """Return a trick that writes one run."""
    return lambda folder: write_run(
        folder / place, {TASK: rows}, model=model, **options
    )


def copied_results_file(folder: Path) -> None:
    """A copy of the honest run's results file with other samples, earlier in the path."""
    shutil.copytree(folder / "m-good", folder / "a-copy")
    for file in (folder / "a-copy").glob("samples_*"):
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        text = "".join(json.dumps({**line, "acc": 0.0}) + "\n" for line in lines[:6])
        file.write_text(text)


def renamed_copy(folder: Path) -> None:
    """The honest run once more under another name of its files and its folder."""
    (folder / "a-copy").mkdir()
    for file in (folder / "m-good").iterdir():
        name = file.name.replace(STAMP, LATER)
        shutil.copy(file, folder / "a-copy" / name)


def claims_without_samples(folder: Path) -> None:
    write_run(folder / "a-cheat", {TASK: rows(1.0)}, model="cheat")
    (samples,) = folder.glob("a-cheat/samples_*")
    samples.unlink()


def names_of_another_setting(folder: Path) -> None:
    invented = {"invented": {"setting": "x" * 500}}
    options: dict[str, Any] = {"model": "good", "provenance": invented}
    for at in range(3):
        stamp = f"2032-01-0{at + 1}T10-00-00"
        write_run(folder / f"a-{at}", {TASK: rows(1.0)}, stamp=stamp, **options)


EACH = range(N)
RIGHT = rows(1.0)
OTHER = {"prompts": {"sha256": "f" * 64}}
LATER = "2031-01-01T10-00-00"
INVENTED = {"acc_Risk": 1.0, "zzz": 5.0, "__proto__": 1.0}
ONE_SOURCE = [{"published_id": "one source"} for _ in EACH]
OTHER_QUESTIONS = [{"id": f"easy-{at}"} for at in EACH]
OTHER_DOCUMENTS = [{"image_path": f"{at % 2}.png", "ticker": "X"} for at in EACH]
TRICKS = {
    "more rows": a_run("a", rows(1.0, 5 * N)),
    "all rows of one source": a_run("z", RIGHT, docs=ONE_SOURCE),
    "another headline": a_run("a", [{"exact_match": 1.0, "acc": None} for _ in EACH]),
    "other settings": a_run("a", rows(1.0, 2 * N), provenance=OTHER),
    "nothing scored": a_run("a", scored(*[None] * N)),
    "values above the largest": a_run("a", scored(*[7.0] * N)),
    "other questions": a_run("a", RIGHT, docs=OTHER_QUESTIONS),
    "other documents": a_run("z", RIGHT, docs=OTHER_DOCUMENTS),
    "hard questions left out": a_run("a", rows(1.0, 40)),
    "invented figures": a_run("a", [{**row, **INVENTED} for row in RIGHT]),
    "newer, short": a_run("z", rows(0, 3), "good", stamp=LATER),
    "newer, almost whole": a_run("z", rows(0, N - 1), "good", stamp=LATER),
    "newer, other settings": a_run(
        "z", rows(1.0, 2 * N), "good", provenance=OTHER, stamp=LATER
    ),
    "copied results file": copied_results_file,
    "renamed copy": renamed_copy,
    "no samples": claims_without_samples,
    "names of another setting": names_of_another_setting,
}


@pytest.mark.parametrize("name", TRICKS)
def test_a_trick_changes_nothing_of_honest_runs(
    name: str, alone: dict[str, Any], tmp_path: Path
) -> None:
    honest(tmp_path)
    TRICKS[name](tmp_path)
    assert standing(tmp_path) == alone


def test_rows_that_less_than_half_of_the_models_have_are_not_compared(
    tmp_path: Path,
) -> None:
    honest(tmp_path)
    TRICKS["more rows"](tmp_path)
    document = board_of(tmp_path)
    assert {comparison.rows for comparison in document.comparisons} == {N}
    assert any(f"{4 * N} rows that less than half" in note for note in document.notes)


@pytest.mark.parametrize(("n_sources", "is_told_apart"), [(9, False), (10, True)])
def test_less_than_ten_clusters_make_no_claim(
    tmp_path: Path, n_sources: int, is_told_apart: bool
) -> None:
    chance = np.random.default_rng(1)
    docs = [{"ticker": f"T{at % n_sources}"} for at in range(N)]
    rows_by_model = {}
    for model, share in (("good", 0.95), ("weak", 0.1)):
        right = (chance.random(N) < share).astype(float).tolist()
        rows_by_model[model] = scored(*right)
    write_models(tmp_path, rows_by_model, "dynostock_recency_w4", docs=docs)
    document = board_of(tmp_path)
    for comparison in document.comparisons:
        worst = {place.worst for place in comparison.ranks}
        assert worst == ({1, 2} if is_told_apart else {2})
        (pair,) = comparison.pairs
        assert (pair.p < 0.05) == (pair.low is not None) == is_told_apart


def test_equal_runs_share_a_rank(tmp_path: Path) -> None:
    write_models(tmp_path, {"a": rows(0.5), "b": rows(0.5)})
    document = board_of(tmp_path)
    for comparison in document.comparisons:
        assert [place.rank for place in comparison.ranks] == [1, 1]


def test_windows_of_a_stranger_do_not_end_the_report(tmp_path: Path) -> None:
    docs: list[dict[str, Any]] = [
        {"ticker": "A", "window": 4},
        {"ticker": "A", "window": "four", "arm": "signal"},
        {"ticker": "A", "window": 1e300, "arm": "signal"},
        {"ticker": "A", "window": 2.5, "arm": "signal"},
        {"window": 4, "arm": "signal"},
    ]
    tasks = {"dynostock_recency_w4": rows(0.5, 4)}
    for number, doc in enumerate(docs):
        folder = tmp_path / "runs" / str(number)
        write_run(folder, tasks, docs=[doc] * 4, model=f"model {number}")
    written = write_report(tmp_path / "runs", tmp_path / "out", published=False)
    models = {entry.model for entry in written.leaderboard.entries}
    assert len(models) == len(docs)


def with_picture(folder: Path, color: str) -> None:
    (folder / "pictures").mkdir(parents=True)
    if color:
        Image.new("RGB", (8, 8), color).save(folder / "pictures" / "chart.png")
    else:
        (folder / "pictures" / "chart.png").write_bytes(b"\x89PNG broken")
    docs = [{"image_path": "pictures/chart.png"}]
    write_run(
        folder, {"mme_finance_en": [{"score": 1.0}]}, docs=docs, model=folder.name
    )


def test_a_broken_picture_of_one_run_removes_none_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    with_picture(tmp_path / "runs" / "a-broken", "")
    with_picture(tmp_path / "runs" / "b-blue", "blue")
    with_picture(tmp_path / "runs" / "c-red", "red")
    write_report(tmp_path / "runs", tmp_path / "out", published=False)
    pictures = list((tmp_path / "out" / "page" / "pictures").iterdir())
    colors = set()
    for file in pictures:
        with Image.open(file) as picture:
            red, _, blue = picture.convert("RGB").getpixel((4, 4))
            colors.add("red" if red > blue else "blue")
    assert colors == {"red", "blue"}
