"""What models and judges are told is as recorded in `told.json`."""

from pathlib import Path

import pytest
from told import Told, differences, read_record, sets, without_drawing

from fin_tasks.charts import pool


def test_nobody_is_told_something_else(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "draw_charts", without_drawing)
    told = differences(sets(), read_record())
    assert told == [], "`python tests/messages/told.py` records them"


def test_a_word_that_changes_needs_a_higher_version() -> None:
    released = {"version": "2", "sha256": "a"}
    record = {"task": {"version": "2", "sha256": "b", "released": released}}
    (sentence,) = differences({"task": Told("2", "b")}, record)
    assert sentence.endswith("raise the version")
    record = {"task": {"version": "3", "sha256": "b", "released": released}}
    assert differences({"task": Told("3", "b")}, record) == []
    assert differences({"task": Told("3", "c")}, record) == ["task: changed"]
