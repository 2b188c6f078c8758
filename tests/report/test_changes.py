"""What a report says of the one before."""

from pathlib import Path

from run_files import board_of, scored, write_models

from fin_tasks.report.changes import changes_since
from fin_tasks.report.leaderboard_model import Leaderboard


def made(folder: Path, **n_right: int) -> Leaderboard:
    rows_by_model = {}
    for model, n in n_right.items():
        rows_by_model[model] = scored(*[1.0] * n, *[0.0] * (10 - n))
    write_models(folder, rows_by_model)
    return board_of(folder)


def test_models_that_are_new_gone_and_moved(tmp_path: Path) -> None:
    file = tmp_path / "leaderboard.json"
    now = made(tmp_path / "now", same=9, fell=1, rose=6, new=0)
    assert changes_since(file, now) is None
    earlier = made(tmp_path / "earlier", same=9, fell=6, rose=1, gone=0)
    file.write_text(earlier.model_dump_json())
    changes = changes_since(file, now)
    assert changes is not None
    assert (changes.new, changes.removed) == (["new"], ["gone"])
    moved = {(one.model, one.before, one.after) for one in changes.moved}
    assert moved == {("fell", 2, 3), ("rose", 3, 2)}
    file.write_text("{")
    assert changes_since(file, now) is None
