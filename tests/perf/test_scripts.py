"""The scripts that measure speed run, and the page of speeds says what they measured."""

import json
import runpy
import sys
from pathlib import Path

import pytest

PERF = Path(__file__).parents[2] / "perf"
# Many views, many starts of commands, and a second page: `page` makes and opens one in the quick group.
SLOW = {"board", "overhead", "recorded_page", "recordings"}
SCRIPTS = sorted(
    path.stem
    for path in PERF.glob("*.py")
    if path.stem not in {"bench", "measured", "timing", "fuzz_answers"}
)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(script, marks=pytest.mark.slow if script in SLOW else ())
        for script in SCRIPTS
    ],
)
def test_a_script_runs(
    script: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)  # commands set it for children
    monkeypatch.setattr(sys, "argv", [f"{script}.py", "--tiny"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(PERF / f"{script}.py"), run_name="__main__")
    assert ended.value.code == 0
    printed = capsys.readouterr().out
    assert "on a tiny input" in printed or "nothing is measured" in printed


def test_the_page_is_what_was_measured() -> None:
    bench = runpy.run_path(str(PERF / "bench.py"))
    assert sorted(bench["SCRIPTS"]) == SCRIPTS
    measured = json.loads((PERF / "measured.json").read_text(encoding="utf-8"))
    written = bench["PAGE"].read_text(encoding="utf-8").partition(bench["MARK"])[2]
    assert written == bench["tables"](measured)


def test_a_missed_goal_is_said() -> None:
    figure = runpy.run_path(str(PERF / "measured.py"))["Figure"]
    slow = figure(what="a run", value=2.5, unit="s", most=2)
    assert (slow.is_met, str(slow)) == (False, "a run: 2.5 s; goal at most 2 s: MISSED")
    row = runpy.run_path(str(PERF / "bench.py"))["row"](slow)
    assert row == "| a run | 2.5 s | **missed: at most 2 s** |  |\n"
    few = figure(what="programs", value=1234.5, unit="a second", least=150)
    assert few.is_met
    assert few.measured == "1,234 a second"
