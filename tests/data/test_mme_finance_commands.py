"""`fin-tasks fetch mme-finance` and `fin-tasks doctor mme_finance` with a hub on the loopback."""

import hashlib
import io
import json
import os
import sys
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import huggingface_hub.constants
import pytest
from loopback import Loopback
from PIL import Image

from fin_tasks.cli import main

COMMIT, NEWER = "c" * 40, "d" * 40
REPO = "hithink-ai/MME-Finance"
HEADER = ["index", "question", "answer", "image_path", "task_category", "image_type", "image_style", "background"]


def table_of(rows: list[list[str]]) -> bytes:
    return "".join("\t".join(row) + "\n" for row in [HEADER, *rows]).encode()


def english() -> bytes:
    good = [f"{n}\tq\ta\tMMfin/{n}.png\tOCR\ttable\tcomputer screenshot\t".split("\t") for n in range(3)]
    bad = ["\x1b[31m9", "q", "a", "MMfin/\x1b[31m.png", "[/red]\x1b[31m", "[/b]\x1b[31mtable", "\x1b[0m", ""]
    return table_of([*good, bad])


def chinese() -> bytes:
    return table_of([["1", "收盘价?", "1.00", "MMfin_CN/1.png", "Image Caption", "表格", "电脑截图", ""]])


def archive_of(stem: str, *names: str) -> bytes:
    out, image = io.BytesIO(), io.BytesIO()
    Image.new("RGB", (8, 8)).save(image, "PNG")
    with zipfile.ZipFile(out, "w") as packed:
        for name in names:
            packed.writestr(zipfile.ZipInfo(f"{stem}/{name}" if stem else name), image.getvalue())
    return out.getvalue()


def publish(server: Loopback, commit: str = COMMIT, **changes: bytes) -> None:
    files = {
        "MMfin.tsv": english(),
        "MMfin.zip": archive_of("MMfin", "0.png", "1.png", "2.png"),
        "MMfin_CN.tsv": chinese(),
        "MMfin_CN.zip": archive_of("MMfin_CN", "1.png"),
        **{name.replace("__", "."): body for name, body in changes.items()},
    }
    siblings: list[dict[str, object]] = [{"rfilename": "README.md", "size": 9}]
    for name, body in files.items():
        lfs = {"size": len(body), "sha256": hashlib.sha256(body).hexdigest(), "pointerSize": 130}
        siblings.append({"rfilename": name, "size": len(body), "lfs": lfs})
        server.files[f"/datasets/{REPO}/resolve/{commit}/{name}"] = body
    card = {"license": "cc-by-nc-4.0"}
    answer = {"id": REPO, "sha": commit, "gated": False, "siblings": siblings, "cardData": card}
    for yes in ("true", "True"):
        for name in ("main", commit):
            server.files[f"/api/datasets/{REPO}/revision/{name}?blobs={yes}"] = json.dumps(answer).encode()


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Done]


@pytest.fixture
def run(server: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process: a new one takes a second each time, most of it for imports."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    for name in [name for name in os.environ if name.startswith(("FIN_TASKS", "HF_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setenv("COLUMNS", "80")

    def runner(*arguments: str, offline: bool = False) -> Done:
        monkeypatch.setenv("FIN_TASKS_OFFLINE", "1" if offline else "0")
        monkeypatch.setattr(sys, "argv", ["fin-tasks", *arguments])
        try:
            main()
            code: object = 0
        except SystemExit as stop:
            code = stop.code
        said = capsys.readouterr()
        return Done(code if isinstance(code, int) else int(code is not None), said.out, said.err)

    return runner


def asked_for(server: Loopback) -> list[str]:
    return sorted(Path(asked.path).name for asked in server.asked if "/resolve/" in asked.path)


def test_fetch_then_offline(server: Loopback, tmp_path: Path, run: Run) -> None:
    publish(server)
    before = run("fetch", "mme-finance", "--verify")
    assert (before.returncode, "Run `fin-tasks fetch mme-finance` first" in before.stderr) == (1, True)
    first = run("fetch", "mme-finance")
    assert first.returncode == 0, first.stderr
    assert f"mme-finance: en, zh at commit {COMMIT}" in first.stdout
    assert first.stderr.count("cc-by-nc-4.0, which forbids commercial use") == 1, "said once"
    folder = tmp_path / "cache" / "mme-finance" / COMMIT
    assert (folder / "MMfin" / "MMfin" / "0.png").is_file()
    again = run("fetch", "mme-finance", offline=True)
    assert (again.returncode, again.stdout, again.stderr) == (0, first.stdout, "")
    assert asked_for(server) == ["MMfin.tsv", "MMfin.zip", "MMfin_CN.tsv", "MMfin_CN.zip"], "each once"
    verified = run("fetch", "mme-finance", "--verify", offline=True)
    assert (verified.returncode, "4 of 5 files" in verified.stdout) == (0, True)


def test_only_the_language_asked_for_is_downloaded(server: Loopback, tmp_path: Path, run: Run) -> None:
    publish(server)
    assert run("fetch", "mme-finance", "--lang", "zh").returncode == 0
    assert asked_for(server) == ["MMfin_CN.tsv", "MMfin_CN.zip"]
    done = run("fetch", "mme-finance", "--lang", "zh,fr")
    assert (done.returncode, "--lang: expected en, zh" in done.stderr) == (1, True)


def test_doctor_tells_both_languages_as_json(server: Loopback, tmp_path: Path, run: Run) -> None:
    publish(server)
    done = run("doctor", "mme_finance", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    en, zh = report["splits"]
    assert (report["commit"], report["licence"], en["rows"], zh["rows"]) == (COMMIT, "cc-by-nc-4.0", 3, 1)
    assert en["counts"]["OCR"] == {"rows": 3, "published": 178}
    assert en["pictures"]["files"] == 3
    assert zh["by_style"] == {"电脑截图": 1}
    assert en["left_out"] == {"picture-missing": ["\x1b[31m9"], "unknown-category": ["\x1b[31m9"]}
    assert en["files"]["MMfin.tsv"] == hashlib.sha256(english()).hexdigest()


def test_doctor_shows_what_it_knows_and_nothing_steers_the_terminal(server: Loopback, tmp_path: Path, run: Run) -> None:
    publish(server)
    done = run("doctor", "mme_finance")
    assert done.returncode == 0, done.stderr
    for part in (
        *(f"{REPO} at {COMMIT[:12]}, from upstream", "cc-by-nc-4.0 (no commercial use)", "en: 3 rows", "zh: 1 rows"),
        *("unknown-category (1)", "left out: 2 rows", "pictures: 3 files", "表格"),
        "not as many rows as published: Image Caption 0 of 164",
    ):
        assert part in done.stdout
    assert "\x1b" not in done.stdout + done.stderr
    styles = next(line.split() for line in done.stdout.splitlines() if "电脑截图" in line)
    assert " ".join(styles).rstrip("│ ").endswith("computer screenshot"), "the name it is counted under"


def test_doctor_of_a_folder_with_one_language(server: Loopback, tmp_path: Path, run: Run) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "MMfin_CN.tsv").write_bytes(chinese())
    (tmp_path / "mine" / "MMfin_CN.zip").write_bytes(archive_of("MMfin_CN", "1.png"))
    done = run("doctor", "mme-finance", "--data-dir", str(tmp_path / "mine"))
    assert (done.returncode, "zh: 1 rows" in done.stdout) == (0, True)
    assert done.stderr.startswith("not here: mme_finance: expected MMfin.tsv")
    assert server.asked == []


def test_the_newest_commit_only_when_asked_for(server: Loopback, tmp_path: Path, run: Run) -> None:
    publish(server)
    run("fetch", "mme-finance")
    publish(server, NEWER, MMfin_CN__zip=archive_of("MMfin_CN", "1.png", "2.png"))
    assert COMMIT in run("fetch", "mme-finance").stdout
    newer = run("fetch", "mme-finance", "--revision", "main")
    assert f"en, zh at commit {NEWER}" in newer.stdout
    assert (tmp_path / "cache" / "mme-finance" / NEWER / "MMfin_CN" / "MMfin_CN" / "2.png").is_file()
    assert NEWER in run("fetch", "mme-finance").stdout


@pytest.mark.parametrize("name", ["../../../evil.png", "/evil.png"])
def test_a_hostile_archive_is_one_line_with_a_remedy(server: Loopback, tmp_path: Path, run: Run, name: str) -> None:
    publish(server, MMfin__zip=archive_of("", name))
    done = run("fetch", "mme-finance", "--lang", "en")
    assert done.returncode == 1
    assert "Nothing was unpacked" in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.rglob("evil.png"))


def test_a_file_that_is_not_the_one_listed(server: Loopback, tmp_path: Path, run: Run) -> None:
    publish(server)
    server.files[f"/datasets/{REPO}/resolve/{COMMIT}/MMfin.zip"] = archive_of("MMfin", "8.png", "7.png", "6.png")
    done = run("fetch", "mme-finance", "--lang", "en")
    assert (done.returncode, "MMfin.zip: expected sha256" in done.stderr) == (1, True)
    assert not list(tmp_path.rglob("*.png"))


def test_a_commit_without_an_archive(server: Loopback, tmp_path: Path, run: Run) -> None:
    publish(server)
    for path, body in list(server.files.items()):
        if "/revision/" in path:
            server.files[path] = body.replace(b'"MMfin.zip"', b'"other.zip"')
    done = run("fetch", "mme-finance", "--lang", "en")
    assert (done.returncode, "expected MMfin.tsv and MMfin.zip, missing MMfin.zip" in done.stderr) == (1, True)
