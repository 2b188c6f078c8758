"""What an earlier report has is taken over where nothing that decides it changed, and nothing else is."""

import json
import os
from pathlib import Path

import pytest
from made_results import DATE, shares, write_results
from PIL import Image
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.report import earlier
from fin_tasks.report.earlier import RECORD, Parts
from fin_tasks.report.site import sample_store


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        write_results(tmp_path / "runs" / name, "financemath", shares([1.0, None, 0.0]), model=name)
    return tmp_path / "runs"


def report(runs: Path, out: Path) -> None:
    environ = {"FIN_TASKS_CACHE": str(out.parent / "cache")}
    arguments = ["report", str(runs), "--out", str(out), "--no-published"]
    found = CliRunner().invoke(app, arguments, env=environ, catch_exceptions=False)
    assert found.exit_code == 0, found.stderr


def inodes(out: Path, kind: str) -> dict[str, int]:
    return {path.relative_to(out).as_posix(): path.stat().st_ino for path in (out / kind).rglob("*") if path.is_file()}


def contents(out: Path) -> dict[str, bytes]:
    kept = ("samples", "figures")
    files = [path for kind in kept for path in (out / kind).rglob("*") if path.is_file()]
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in files}


def folders(out: Path) -> dict[str, str]:
    """Name the folder of each model's samples."""
    record = json.loads((out / RECORD).read_bytes())["parts"]
    runs = {run["id"]: run["model"] for run in json.loads((out / "leaderboard.json").read_bytes())["runs"]}
    samples = [part["facts"] for part in record.values() if isinstance(part["facts"], dict)]
    return {runs[one["run"]]: one["folder"] for one in samples}


def test_what_is_unchanged_stays_the_same_files(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report(runs, out)
    before, content = inodes(out, "samples") | inodes(out, "figures"), contents(out)
    assert len(before) > 8
    page = (out / "index.html").read_text("utf-8")
    report(runs, out)
    assert inodes(out, "samples") | inodes(out, "figures") == before
    assert contents(out) == content
    told = [
        text.partition('id="samples"')[2].partition("</script>")[0] for text in (page, (out / "index.html").read_text())
    ]
    assert told[0] == told[1]
    assert {path.stat().st_nlink for path in out.rglob("*") if path.is_file()} == {1}


def test_one_run_that_changed_is_the_one_that_is_written(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report(runs, out)
    before, named = inodes(out, "samples"), folders(out)
    write_results(runs / "a", "financemath", shares([1.0, 1.0, 1.0]), model="a")
    report(runs, out)
    after = inodes(out, "samples")
    assert {name: after[name] for name in after if f"/{named['b']}/" in name} == {
        name: before[name] for name in before if f"/{named['b']}/" in name
    }
    assert not [name for name in after if f"/{named['a']}/" in name]  # its id is of its content
    report(runs, tmp_path / "anew")
    assert contents(out) == contents(tmp_path / "anew")


def test_another_writer_writes_anew(runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    report(runs, out)
    before = inodes(out, "samples")
    monkeypatch.setattr(sample_store, "code_version", lambda: "another")
    report(runs, out)
    assert not set(inodes(out, "samples").values()) & set(before.values())


def test_a_picture_that_came_later_is_shown(tmp_path: Path) -> None:
    runs, out = tmp_path / "runs", tmp_path / "out"
    write_results(runs / "a", "financemath", shares([1.0]), docs=[{"id": "q", "image_path": "x/one.png"}], model="a")
    write_results(runs / "b", "financemath", shares([1.0]), model="b")
    report(runs, out)
    before, named = inodes(out, "samples"), folders(out)
    assert not (out / "samples" / "pictures").exists()
    Image.new("RGB", (3, 3)).save(runs / "a" / "one.png")
    report(runs, out)
    assert len(list((out / "samples" / "pictures").iterdir())) == 1
    after = inodes(out, "samples")
    kept = {name for name in after if before.get(name) == after[name]}
    assert kept >= {name for name in after if f"/{named['b']}/" in name}
    assert not [name for name in kept if f"/{named['a']}/" in name]
    report(runs, out)
    assert inodes(out, "samples") == after


def test_a_file_that_is_gone_is_made_again(runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report(runs, out)
    content = contents(out)
    next((out / "samples" / "questions").iterdir()).unlink()
    next((out / "figures").iterdir()).unlink()
    report(runs, out)
    assert contents(out) == content


@pytest.mark.parametrize("record", [b"", b"[]", b'{"parts": 1}', b'{"parts": {"k": 1, "l": {"files": [1]}}}'])
def test_a_damaged_record_costs_time_alone(runs: Path, tmp_path: Path, record: bytes) -> None:
    out = tmp_path / "out"
    report(runs, out)
    content = contents(out)
    (out / RECORD).write_bytes(record)
    report(runs, out)
    assert contents(out) == content


@pytest.mark.parametrize(
    "name", ["../secret", "/etc/passwd", "figures/link", "linked/secret", "linked/", "figures/../x"]
)
def test_nothing_from_elsewhere_is_taken(tmp_path: Path, name: str) -> None:
    out, stage = tmp_path / "out", tmp_path / "stage"
    for folder in (out / "figures", stage, tmp_path / "other"):
        folder.mkdir(parents=True)
    for secret in (tmp_path / "secret", tmp_path / "other" / "secret", out / "x"):
        secret.write_text("secret")
    (out / "figures" / "link").symlink_to(tmp_path / "secret")
    (out / "linked").symlink_to(tmp_path / "other")
    (out / RECORD).write_text(json.dumps({"parts": {"k": {"files": [name], "facts": {}}}}))
    assert Parts(stage, out).take("k") is None
    assert not list(stage.iterdir())


def test_without_links_files_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, stage = tmp_path / "out", tmp_path / "stage"
    for folder in (out / "figures", stage):
        folder.mkdir(parents=True)
    (out / "figures" / "a.svg").write_text("<svg/>")
    (out / RECORD).write_text(json.dumps({"parts": {"k": {"files": ["figures/"], "facts": 1}}}))

    def fails(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", fails)
    monkeypatch.setattr(earlier.Path, "hardlink_to", fails)
    assert Parts(stage, out).take("k") == 1
    assert (stage / "figures" / "a.svg").read_text() == "<svg/>"


def test_the_record_tells_no_paths(runs: Path, tmp_path: Path) -> None:
    report(runs, tmp_path / "out")
    text = (tmp_path / "out" / RECORD).read_text()
    assert str(tmp_path) not in text
    assert DATE not in text
