"""`fin-tasks compare` and `fin-tasks sensitivity`, as a user runs them; once with the real lm-eval."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from made_runs import document, write_run

from fin_tasks.benchmarks.xfinbench.prompts import STYLES
from fin_tasks.cli import main


@dataclass(frozen=True)
class Done:
    """What a command printed, and the status it ended with."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]
MODES = {name: (style.mode, style.role) for name, style in STYLES.items()}


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """The command in this process, as starting one takes longer than what it does."""

    def run(*arguments: str, cwd: Path, columns: int = 120) -> Done:
        monkeypatch.setattr(sys, "argv", ["fin-tasks", *arguments])
        monkeypatch.setenv("COLUMNS", str(columns))
        monkeypatch.chdir(cwd)
        try:
            main()
            status: Any = 0
        except SystemExit as end:
            status = end.code or 0
        return Done(status, *capsys.readouterr())

    return run


def start(*arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    program = str(Path(sys.executable).with_name("fin-tasks"))
    env = {k: v for k, v in os.environ.items() if not k.startswith("FIN_TASKS")} | {"HF_HUB_OFFLINE": "1"}
    return subprocess.run(
        [program, *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=600
    )


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for task, n in (("xfinbench_bool", 12), ("xfinbench_mcq", 6)):
        write_run(tmp_path / "out", task, [0.0, 1.0] * (n // 2))
        write_run(tmp_path / "out", f"{task}_oracle", [1.0] * n)
    return tmp_path


def test_compare_prints_a_table_and_writes_files(run: Run, runs: Path) -> None:
    done = run("compare", "out", "--out", "report", "--items", "items.jsonl", cwd=runs)
    assert done.returncode == 0, done.stderr
    assert "against none · made/model · xfinbench · cot with role · house prompts" in done.stdout
    assert "+50.0 [" in done.stdout
    assert "6 tests shown" in done.stdout  # 3 comparisons, and 3 capabilities below the first
    assert (runs / "report" / "compare.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (runs / "report" / "compare.svg").read_text()
    assert len((runs / "report" / "compare.csv").read_text().splitlines()) == 1 + 3 * 4
    items = [json.loads(line) for line in (runs / "items.jsonl").read_text().splitlines()]
    assert len(items) == 18
    assert sum(item["change"] == "gained" for item in items) == 9


REAL_NAMES = ("xfinbench_mcq_visual_da", "bizbench_paper_quantity_pot", "dynostock_authority_w20_text")


@pytest.mark.parametrize("name", REAL_NAMES)
@pytest.mark.parametrize("columns", [40, 80, 120])
def test_no_cell_of_a_comparison_is_broken(name: str, columns: int, run: Run, tmp_path: Path) -> None:
    rows = [float(place % 7 == 0) for place in range(1300)]
    write_run(tmp_path / "a", name, rows)
    write_run(tmp_path / "b", name, [None] * 124 + [1.0 - row for row in rows[124:]])
    (one,) = json.loads(run("compare", "a", "b", "--json", cwd=tmp_path).stdout)["comparisons"]
    shown = run("compare", "a", "b", cwd=tmp_path, columns=columns).stdout
    change, low, high = (f"{100 * one[key]:+.1f}" for key in ("difference", "low", "high"))
    words = shown.split()
    short = name.partition("_")[2]
    for expected in (change, f"[{low}…{high}]", "1176", "124", "<0.001", str(one["gained"]), str(one["lost"])):
        assert expected in words
    assert name in words or short in words
    if columns > 40:
        assert max(map(len, shown.splitlines())) <= columns


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_no_cell_of_a_sensitivity_study_is_broken(columns: int, run: Run, tmp_path: Path) -> None:
    for place, (style, (mode, role)) in enumerate(MODES.items()):
        for task in ("xfinbench_mcq_visual", "xfinbench_bool"):
            rows = [float(row % 4 <= place) for row in range(1264)]
            write_run(tmp_path / style, task, rows, provenance={"style": {"mode": mode, "role": role}})
    (group,) = json.loads(run("sensitivity", ".", "--json", cwd=tmp_path).stdout)["groups"]
    shown = run("sensitivity", ".", cwd=tmp_path, columns=columns).stdout
    words = shown.split()
    for one in group["styles"]:
        assert f"[{100 * one['low']:.1f}…{100 * one['high']:.1f}]" in words
        if (against := one["against_reference"]) is not None:
            assert f"[{100 * against['low']:+.1f}…{100 * against['high']:+.1f}]" in words
    assert {"Unscored", "mcq_visual" if columns < 120 else "xfinbench_mcq_visual", "cot_role"} <= set(words)
    if columns > 40:
        assert max(map(len, shown.splitlines())) <= columns


def test_compare_as_json(run: Run, runs: Path) -> None:
    found = json.loads(run("compare", "out", "--json", "--variant", "robust", cwd=runs).stdout)
    assert found["variant"] == "robust"
    first = found["comparisons"][0]
    assert (first["task"], first["n"], first["difference"], first["gained"]) == ("all", 18, 0.5, 9)
    assert first["p"] == pytest.approx(2 * 0.5**9)
    assert first["by"]["TU"]["n"] == 9
    assert found["problems"] == found["notes"] == []


def test_a_broken_file_fails_the_command_and_spares_the_rest(run: Run, runs: Path) -> None:
    broken = runs / "out" / "samples_xfinbench_calc_2026-03-01T10-00-00.123456.jsonl"
    broken.write_text('{"doc": {"id": "\x1b[31m')
    done = run("compare", "out", "--json", cwd=runs)
    assert done.returncode == 1
    assert len(json.loads(done.stdout)["comparisons"]) == 3
    assert "line 1: expected JSON" in done.stderr
    assert "\x1b" not in done.stderr


def test_text_of_strangers_is_shown_escaped(run: Run, tmp_path: Path) -> None:
    bad = "\x1b]0;owned\x07[bold red]\u202e"
    docs = [{**document(n), "capabilities": [bad]} for n in range(2)]
    for task in ("xfinbench_bool", "xfinbench_bool_bm25"):
        write_run(tmp_path / "out", task, [1.0, 0.0], docs=docs, model=bad)
    done = run("compare", "out", "--out", "report", "--metric", "acc", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    written = done.stdout + done.stderr + (tmp_path / "report" / "compare.csv").read_text()
    assert not any(character in written for character in "\x1b\x07\u202e")
    assert r"\x1b]0;owned\x07[bold red]\u202e" in written


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("compare", "out", "--variant", "best"), "compare --variant: expected one of paper, robust, got 'best'."),
        (("compare", "out", "--by", "colour"), "compare --by: expected one of capability, topic, part, category, "),
        (("compare", "gone"), "gone: expected lm-eval's output folder or a samples file, found nothing there."),
        (("compare", "out", "--metric", "akk"), "compare --metric: expected one of acc, unscored, got 'akk'."),
        (("sensitivity", "out", "--variant", "x"), "sensitivity --variant: expected paper or robust, got 'x'."),
        (("sensitivity", "a", "b", "--", "--model", "m"), "expected one folder for the results before --, got a, b."),
        (("sensitivity", "--", "--model", "m"), "expected a folder for the results first, got '--model'."),
    ],
)
def test_mistakes_are_said_without_a_traceback(run: Run, arguments: tuple[str, ...], message: str, runs: Path) -> None:
    done = run(*arguments, cwd=runs)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["compare", "sensitivity"])
def test_help(run: Run, command: str, tmp_path: Path) -> None:
    done = run(command, "--help", cwd=tmp_path)
    assert done.returncode == 0
    assert "--variant" in done.stdout


@pytest.mark.slow
def test_the_real_lm_eval_in_four_styles(tmp_path: Path) -> None:
    arguments = ("--model", "dummy", "--metadata", '{"source": "sample"}', "--limit", "2")
    tasks = ("--tasks", "xfinbench_bool")
    done = start("sensitivity", "out", *tasks, "--json", "--", *arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    groups = {group["condition"]: group for group in json.loads(done.stdout)["groups"]}
    assert set(groups) == {"none"}
    for group in groups.values():
        assert group["model"] == "dummy"
        assert group["missing"] == {}
        assert [(row["style"], row["n"], row["accuracy"]) for row in group["styles"]] == [
            (style, 2, 0.0) for style in ("cot_role", "da_role", "cot", "da")
        ]
    again = start("sensitivity", "out", *tasks, "--", *arguments, cwd=tmp_path)
    assert again.stderr.count("is there already") == 4
    prompts = [
        {json.loads(line)["doc"]["system"] for line in path.read_text().splitlines()}
        for style in ("cot_role", "da")
        for path in (tmp_path / "out" / style).rglob("samples_xfinbench_bool_2*.jsonl")
    ]
    assert prompts[0] != {""}
    assert prompts[1] == {""}


def test_modes_that_differ_are_in_no_heading_and_single_groups_no_line(run: Run, tmp_path: Path) -> None:
    for folder, value in (("a", 0.0), ("b", 1.0)):
        for part, mode in (("fincode", "pot"), ("finknow", "cot")):
            docs = [{"id": f"{part}_{n}", "part": part} for n in range(3)]
            facts = {"style": {}, "mode": mode}
            write_run(tmp_path / folder, f"bizbench_{part}", [value] * 3, docs=docs, provenance=facts)
    lines = run("compare", "a", "b", cwd=tmp_path).stdout.splitlines()
    assert lines[0] == "b against a · made/model · bizbench · house prompts"
    assert [line.split()[0] for line in lines[5:10]] == [
        "all",
        "fincode",
        "finknow",
        "bizbench_finknow",
        "bizbench_fincode",
    ]


def test_rows_that_changed_are_listed_with_answers_as_text(run: Run, tmp_path: Path) -> None:
    bad = "\x1b[31m[link=x]" + "long " * 20
    for folder, values in (("a", [20.0, 60.0, 60.0, None]), ("b", [100.0, 40.0, 60.0, 20.0])):
        docs = [{**document(n), "ground_truth": bad} for n in range(4)]
        write_run(tmp_path / folder, "mme_finance_en", values, docs=docs, metric="score")
    shown = run("compare", "a", "b", cwd=tmp_path).stdout
    assert "46.7" in shown and "+20.0 [" in shown  # points, not a hundred times as much
    assert "Changed in mme_finance_en (2)" in shown
    listed = [line.split()[0] for line in shown.splitlines() if "→" in line]
    assert listed == ["row_0", "row_1"]
    assert "20 → 100" in shown and "60 → 40" in shown
    assert "\x1b" not in shown
    assert r"\x1b[31m[link=x]long" in shown and "long " * 20 not in shown
    few = run("compare", "a", "b", "--rows", "1", cwd=tmp_path).stdout
    assert "Changed in mme_finance_en (1, of 2; --rows 2 or --items for all)" in few
    assert "row_1" not in few
    assert "Changed" not in run("compare", "a", "b", "--rows", "0", cwd=tmp_path).stdout


def write_kit_run(folder: Path, points: dict[str, float | None]) -> None:
    """Results of ours beside VLMEvalKit's predictions; scores of 0 to 5 by row, None where the judge failed."""
    stem = f"{folder.name}_MMEFinance_gpt-4o"
    folder.mkdir(parents=True)
    there = [value for value in points.values() if value is not None]
    facts = {"split": "test", "rows": len(points), "data": {"origin": "upstream", "revision": "d1"}}
    totals = {"dataset": "MMEFinance", "n": len(points), "overall": 20 * sum(there) / len(there), "provenance": facts}
    (folder / f"{stem}_score.json").write_text(json.dumps(totals))
    lines = [
        {"index": name, "score": value, "failed": None if value is not None else "judge", "category": "OCR"}
        for name, value in points.items()
    ]
    (folder / f"{stem}_items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
