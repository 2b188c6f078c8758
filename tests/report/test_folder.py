"""The folder of a report: a report replaces its own files and no others, and another one waits."""

import threading
from pathlib import Path

import pytest

from fin_tasks.errors import ConfigError
from fin_tasks.report.folder import replacing


def write(out: Path, *names: str) -> None:
    """Write a report with these files."""
    with replacing(out) as folder:
        for name in ("page/data.js", *names):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("of a report")


def names_in(out: Path) -> set[str]:
    files = [path for path in out.rglob("*") if path.is_file()]
    return {path.relative_to(out).as_posix() for path in files} - {"page/files.txt"}


def test_a_report_replaces_its_own_files_and_no_others(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, "index.html", "tables/a.md", "page/list-1.js")
    kept = [out / "mine.txt", out / "tables" / "mine.md", tmp_path / "outside.txt"]
    for file in kept:
        file.write_text("mine")
    with (out / "page" / "files.txt").open("a") as listed:
        listed.write("\n../outside.txt")
    # Of a report that was killed.
    (out / ".fin-tasks-unfinished" / "page").mkdir(parents=True)
    write(out, "index.html")
    assert {file.read_text() for file in kept} == {"mine"}
    assert names_in(out) == {"page/data.js", "index.html", "mine.txt", "tables/mine.md"}
    assert not (out / ".fin-tasks-unfinished").exists()
    (out / "tables" / "a.md").write_text("mine, later")
    write(out, "index.html")
    assert (out / "tables" / "a.md").exists()


def test_files_that_no_report_wrote_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "index.html").write_text("mine")
    with pytest.raises(ConfigError, match="a new folder, or one of an earlier report"):
        write(out, "index.html")
    assert names_in(out) == {"index.html"}
    (out / "index.html").unlink()
    write(out)
    (out / "index.html").write_text("mine")
    with pytest.raises(ConfigError, match=r"no file of yours named 'index\.html'"):
        write(out, "index.html", "other.html")
    assert (out / "index.html").read_text() == "mine"
    assert names_in(out) == {"page/data.js", "index.html"}
    with pytest.raises(ConfigError, match="expected a folder, got a file"):
        write(out / "index.html")


def test_nothing_behind_a_link_is_removed(tmp_path: Path) -> None:
    kept = tmp_path / "results" / "samples.jsonl"
    kept.parent.mkdir()
    kept.touch()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "page").symlink_to(kept.parent)
    (kept.parent / "files.txt").write_text("page/samples.jsonl")
    write(tmp_path / "out")
    assert kept.exists()


def test_a_second_report_into_the_same_folder_waits(tmp_path: Path) -> None:
    out = tmp_path / "out"
    thread = threading.Thread(target=write, args=(out, "second.txt"))
    with replacing(out) as folder:
        thread.start()
        thread.join(0.3)
        assert thread.is_alive()
        (folder / "page").mkdir()
        (folder / "first.txt").write_text("x")
        assert not (out / "second.txt").exists()
    thread.join(30)
    assert names_in(out) == {"page/data.js", "second.txt"}
