"""`board.yaml` and admissions: what the maintainers of a board say of models and runs."""

import json
from pathlib import Path
from typing import Any

import pytest
from run_files import PROVENANCE, scored, with_decoding, write_run

from fin_tasks.errors import ConfigError
from fin_tasks.report import read
from fin_tasks.report.board_file import BoardFile, read_board_file
from fin_tasks.report.decoding import decoding_of, decoding_text
from fin_tasks.report.leaderboard import board
from fin_tasks.report.leaderboard_model import Leaderboard
from fin_tasks.report.write import write_report

TASK = "financemath"
ADMITTED = {
    "submission": "first",
    "submitter": "Ada",
    "admitted_at": "2026-05-01T10:00:00+00:00",
    "sha256": "a" * 64,
    "model": "org/m",
    "items": [
        {
            "name": "decoding",
            "status": "claimed",
            "sentence": "The temperature is a claim.",
        },
        {"name": "scores", "status": "checked", "sentence": "Scored again."},
    ],
}


def rows(share: float) -> list[dict[str, float | None]]:
    return scored(*(float(at < share * 40) for at in range(40)))


def board_of(folder: Path) -> Leaderboard:
    """Make the board of a folder, without its page."""
    board_file = read_board_file([folder])
    found = read([folder], hidden=board_file.hidden)
    return board(found, papers=False, board_file=board_file)


def ranked(found: Leaderboard) -> list[list[str]]:
    models = {run.id: run.model for run in found.runs}
    return [
        [models[place.run] for place in comparison.ranks]
        for comparison in found.comparisons
        if "/robust" in comparison.task
    ]


def test_board_file_names_models_and_hides_runs(tmp_path: Path) -> None:
    assert read_board_file([tmp_path]) == BoardFile()
    for name in ("a", "b", "c"):
        write_run(tmp_path / "runs" / name, {TASK: rows(0.5)}, model=f"org/{name}")
    (tmp_path / "runs" / "board.yaml").write_text(
        "title: Our board\n"
        "models:\n"
        "  org/a: {name: Ash, size: 7B, license: MIT, open_weights: true,"
        " link: 'https://example.org/a', submitter: Ada}\n"
        "hidden: [c, gone]\n"
        "first_view: [financemath]\n"
    )
    out = tmp_path / "out"
    written = write_report(tmp_path / "runs", out, published=False).leaderboard
    assert written.title == "Our board"
    assert written.first_view == ["financemath"]
    (problem,) = written.problems
    assert problem.message == "board.yaml, hidden: 'gone' is no run."
    assert {run.model for run in written.runs} == {"org/a", "org/b"}
    assert written.models["org/a"].name == "Ash"
    assert written.models["org/a"].open_weights is True
    assert not [path for path in out.rglob("*.js") if "org/c" in path.read_text()]
    found = read([tmp_path / "runs"])
    assert board(found, papers=False).title == "Finance benchmarks"
    board_file = BoardFile(title="Ours")
    assert board(found, title="Other", board_file=board_file).title == "Other"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("titel: x", "titel"),
        ("models: {m: {link: 'javascript:alert(1)'}}", "models.m.link"),
        ("models: {m: {open_weights: perhaps}}", "models.m.open_weights"),
        ("models: {a: {name: X}, b: {name: X}}", "two models are called 'X'"),
        ("hidden: 3", "hidden"),
        ("first_view: [[1]]", "first_view"),
        ("[", "board.yaml"),
    ],
)
def test_what_does_not_fit_is_one_sentence_with_the_key(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "board.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"board\.yaml: expected") as error:
        read_board_file([tmp_path])
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("other", "is_together"),
    [
        ({"do_sample": False, "max_gen_toks": 512}, True),
        ({"temperature": 0, "max_gen_toks": 512, "until": ["x"]}, True),
        ({"temperature": 0.6, "max_gen_toks": 512}, False),
        ({"temperature": 0.0, "max_gen_toks": 1024}, False),
        ({"temperature": 0.0, "max_gen_toks": 512, "reasoning_effort": "high"}, False),
        ({}, False),
    ],
)
def test_runs_with_other_decoding_are_ranked_apart(
    tmp_path: Path, other: dict[str, Any], is_together: bool
) -> None:
    first = write_run(tmp_path / "a", {TASK: rows(0.5)}, model="a")
    second = write_run(tmp_path / "b", {TASK: rows(0.9)}, model="b")
    with_decoding(first, temperature=0.0, max_gen_toks=512)
    with_decoding(second, **other)
    found = board_of(tmp_path)
    assert sorted(ranked(found)) == ([["b", "a"]] if is_together else [["a"], ["b"]])
    texts = {run.model: run.decoding for run in found.runs}
    assert texts["a"] == "temperature 0, at most 512 tokens"
    (tmp_path / "board.yaml").write_text("any_decoding: true")
    assert ranked(board_of(tmp_path)) == [["b", "a"]]


@pytest.mark.parametrize(
    ("options", "model_args", "expected"),
    [
        ({"temperature": "0.7"}, None, "temperature 0.7"),
        ({"max_tokens": 2048}, None, "at most 2,048 tokens"),
        ({}, "pretrained=x,enable_thinking=False", "reasoning enable_thinking=False"),
        ({"reasoning_effort": "low"}, {"pretrained": "x"}, "reasoning low"),
        ({"temperature": ["x"]}, 3, "temperature ['x']"),
        ({"temperature": 10**400}, None, None),
    ],
)
def test_decoding_is_read_from_options(
    options: dict[str, Any], model_args: object, expected: str | None
) -> None:
    text = decoding_text(decoding_of(options, model_args))
    assert len(text) < 200
    if expected is not None:
        assert text == expected


def test_the_same_data_from_a_cache_and_from_a_folder_are_ranked_together(
    tmp_path: Path,
) -> None:
    for origin in ("upstream", "data_dir"):
        data = {"origin": origin, "revision": "d1" * 8, "is_own": False}
        write_run(
            tmp_path / "runs" / origin,
            {TASK: rows(0.5)},
            model=origin,
            metadata={"provenance": {**PROVENANCE, "data": data}},
        )
    assert [len(names) for names in ranked(board_of(tmp_path / "runs"))] == [2]


def admit(folder: Path, **changes: Any) -> None:
    (folder / "admission.json").write_text(json.dumps({**ADMITTED, **changes}))


def test_only_admitted_runs_are_ranked_and_their_admission_is_shown(
    tmp_path: Path,
) -> None:
    for name in ("first", "second", "thief"):
        write_run(tmp_path / "runs" / name / "m", {TASK: rows(0.5)}, model="org/m")
    admit(tmp_path / "runs" / "first" / "m")
    later = "2026-06-01T10:00:00+00:00"
    admit(tmp_path / "runs" / "second" / "m", submission="second", admitted_at=later)
    found = board_of(tmp_path / "runs")
    assert [sorted(names) for names in ranked(found)] == [["org/m", "org/m (second)"]]
    refused = [e for e in found.entries if e.model == "org/m (not admitted)"]
    assert "it was not admitted to this board" in str([e.doubts for e in refused])
    (first,) = (run for run in found.runs if run.model == "org/m")
    admission = found.admissions[first.admission]
    assert admission.submitter == "Ada"
    assert [item.status for item in admission.items] == ["claimed", "checked"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"model": 3}', "[" * 100_000])
def test_a_broken_admission_is_a_problem_of_that_run_alone(
    tmp_path: Path, text: str
) -> None:
    for name in ("first", "second"):
        write_run(tmp_path / "runs" / name / "m", {TASK: rows(0.5)}, model=name)
    admit(tmp_path / "runs" / "first" / "m")
    (tmp_path / "runs" / "second" / "m" / "admission.json").write_text(text)
    found = board_of(tmp_path / "runs")
    assert ranked(found) == [["first"]]
    assert any("admission.json" in problem.message for problem in found.problems)
