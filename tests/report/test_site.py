"""`fin-tasks report`: the files of the page, and what strangers' files and broken disks do to it."""

import errno
import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from browsing import write_page_of
from PIL import Image
from run_files import scored, write_models, write_run
from typer.testing import CliRunner

import fin_tasks
from fin_tasks.benchmarks.dynostock.data import load
from fin_tasks.cli import app
from fin_tasks.errors import FinTasksError
from fin_tasks.report.site.pictures import copy_picture

HOSTILE = "</script><img src=x onerror=alert(1)>\u2028"


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs of one task, one by a hostile name, with pictures inside and outside of the folder."""
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    for place in (tmp_path / "results" / "0" / "pictures", tmp_path / "secret"):
        place.mkdir(parents=True)
        Image.new("RGB", (8, 8), "red").save(place / f"{place.name}.png")
    (tmp_path / "cache").mkdir()
    shutil.copy(
        tmp_path / "results/0/pictures/pictures.png", tmp_path / "cache"
    )  # the same picture, found twice
    figures = [
        "/away/pictures/pictures.png",
        str(tmp_path / "secret" / "secret.png"),
        "",
    ]
    docs: list[dict[str, Any]] = [
        {"prompt": HOSTILE, "figure_path": one, "__proto__": "x"} for one in figures
    ]
    for at, model in enumerate(("org/a", HOSTILE)):
        rows: list[dict[str, Any]] = [
            {"acc": float(at), "__proto__": 1.0},
            {"acc": 1.0, "__proto__": 0.0},
        ]
        write_run(
            tmp_path / "results" / str(at),
            {"xfinbench_bool": [*rows, rows[0]]},
            model=model,
            docs=docs,
        )
    return tmp_path / "results"


def report(*words: object) -> tuple[int, str]:
    """Run the command, and return its status and what it said."""
    command = ["report", *map(str, words), "--no-published"]
    done = CliRunner().invoke(app, command)
    if isinstance(done.exception, FinTasksError):
        return done.exit_code, str(done.exception)
    return done.exit_code, done.output


def data(file: Path) -> Any:
    """Return what a script hands to the page."""
    call = re.fullmatch(
        r'give\("[\w-]+", (".*")\);\n', file.read_text(encoding="utf-8")
    )
    assert call
    return json.loads(json.loads(call[1]))


def test_scripts_hold_runs_and_samples_and_nothing_that_runs(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    usual = Path.open

    def noting(path: Path, *words: Any, **options: Any) -> Any:
        opened.append(path)
        return usual(path, *words, **options)

    monkeypatch.setattr(Path, "open", noting)
    out = tmp_path / "out"
    assert report(results, "--out", out)[0] == 0
    read_times = [opened.count(file) for file in results.rglob("samples_*")]
    assert read_times == [1, 1], "a samples file is read once"
    names = {path.name for path in out.iterdir()}
    assert names >= {"index.html", "leaderboard.json", "page"}
    shown = data(out / "page" / "data.js")
    assert len(shown["files"]) == len(shown["samples"]) == 2
    models = {run["id"]: run["model"] for run in shown["runs"]}
    for key in shown["samples"]:
        rows = data(out / "page" / f"list-{key}.js")
        values = rows["by"]["paper"]["value"]
        assert values == ([0, 1, 0] if models[key] == "org/a" else [1, 1, 1])
        asked = data(out / "page" / f"asked-{rows['files'][0]}.js")
        assert [bool(one["picture"]) for one in asked] == [True, False, False]
    for file in out.rglob("*.js"):
        text = file.read_text()
        assert "</script" not in text
        assert "\u2028" not in text or file.name == "katex.min.js"


def titles(folder: Path) -> list[str]:
    """Write the page of a run, and return the titles in its list of samples."""
    write_page_of(folder)
    (file,) = (folder / "out" / "page").glob("list-*.js")
    return list(data(file)["asked"])


def test_a_sample_of_dynostock_has_ticker_and_day_as_its_title(
    tmp_path: Path, own_cache: Path
) -> None:
    """All questions begin with the same sentence."""
    documents = load(bias="recency", window=4, mode="text", source="sample")["test"]
    docs = documents.to_list()[:3]
    tasks = {"dynostock_recency_w4_text": scored(1, 0, 1)}
    write_run(tmp_path / "runs", tasks, docs=docs)
    expected = [f"{doc['ticker']}, 4 reports until {doc['end']}" for doc in docs]
    assert titles(tmp_path) == expected


TABLES = [
    *(
        rf"\begin{{{name}}}[h] \begin{{tabular}}{{|l|}} 1 \end{{tabular}} \end{{{name}}}"
        for name in ("table", "tabular", "table*")
    ),
    "Table:\n| Year | Payment |\n|---|---|\n| 1 | 5.00 |",
]


def test_a_title_has_the_words_behind_a_table(tmp_path: Path, own_cache: Path) -> None:
    questions = [f"{table}\n\nWhat is $x$?" for table in TABLES]
    others = [*TABLES, *(rf"Which row? {table} Why?" for table in TABLES)]
    docs = [{"question": question} for question in [*questions, *others]]
    rows = scored(*[1.0] * len(docs))
    write_run(tmp_path / "runs", {"xfinbench_calc": rows}, docs=docs)
    expected = ["What is $x$?"] * len(TABLES)
    expected += [" ".join(question.split()) for question in others]
    assert titles(tmp_path) == expected


def test_a_report_of_runs_without_samples(results: Path, tmp_path: Path) -> None:
    for file in results.rglob("samples_*"):
        file.unlink()
    assert report(results, "--out", tmp_path / "out")[0] == 0
    assert data(tmp_path / "out" / "page" / "data.js")["samples"] == {}


@pytest.mark.slow
def test_large_runs_are_read_by_several_processes(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for at in range(3):
        tasks = {"xfinbench_calc": scored(at / 4, None, 1.0)}
        write_run(results / f"more-{at}", tasks, model=f"org/{at}")
    next((results / "more-2").glob("samples_*")).write_text("[")
    written = []
    for few in (2**20, 0):
        monkeypatch.setattr("fin_tasks.report.processes._MANY_BYTES", few)
        status, said = report(results, "--out", out := tmp_path / f"out-{few}")
        assert status == 1 and "more-2" in said
        files = [
            *(out / "page").rglob("*"),
            *(out / "tables").iterdir(),
            out / "leaderboard.csv",
        ]
        written.append(
            {one.relative_to(out): one.read_bytes() for one in files if one.is_file()}
        )
        written[-1].pop(Path("page/data.js"))  # it holds the time
    assert written[0] == written[1] and len(written[0]) > 20


def test_a_full_disk_is_one_sentence_and_leaves_the_old_report(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    assert report(results, "--out", out)[0] == 0
    before = (out / "leaderboard.json").read_bytes()

    def full(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    code, said = report(results, "--out", out, "--title", "new")
    assert code != 0
    assert "No space left on device" in said
    assert "Traceback" not in said
    assert (out / "leaderboard.json").read_bytes() == before
    assert (out / "index.html").exists()


def test_without_results_no_folder_is_left(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert report(tmp_path / "empty", "--out", tmp_path / "out")[0]
    assert not (tmp_path / "out").exists()


def test_samples_that_cannot_be_shown_still_count(
    results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("no list")

    monkeypatch.setattr("fin_tasks.report.site.samples._list_of", broken)
    written = fin_tasks.write_report(results, tmp_path / "out", published=False)
    assert len(written.problems) == 2
    assert all("no list" in problem for problem in written.problems)
    entries = [entry for entry in written.leaderboard.entries if entry.metric == "acc"]
    assert all(entry.method for entry in entries if entry.n == 3)
    assert written.leaderboard.comparisons
    assert data(tmp_path / "out" / "page" / "data.js")["samples"] == {}


def test_a_picture_that_cannot_be_read_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(_: Path) -> str:
        raise PermissionError("no right to read")

    Image.new("1", (8, 8)).save(tmp_path / "chart.png")
    monkeypatch.setattr("fin_tasks.report.site.pictures.sha256_of", refused)
    folders = [tmp_path]
    assert copy_picture("chart.png", out=tmp_path / "out", folders=folders) == ""


def test_of_pictures_of_one_name_that_in_folders_of_the_same_names_is_shown(
    tmp_path: Path,
) -> None:
    for color in ("red", "blue"):
        (tmp_path / color).mkdir()
        Image.new("RGB", (8, 8), color).save(tmp_path / color / "1.png")
    shown = {}
    for path in ("away/red/1.png", "away/blue/1.png", "1.png"):
        shown[path] = copy_picture(path, out=tmp_path / "out", folders=[tmp_path])
    assert shown["1.png"] == ""  # it may be either
    for path, color in (("away/red/1.png", "red"), ("away/blue/1.png", "blue")):
        with Image.open(tmp_path / "out" / shown[path]) as picture:
            red, _, blue = picture.convert("RGB").getpixel((4, 4))
        assert (red > blue) == (color == "red")


def test_a_huge_picture_is_not_opened(tmp_path: Path) -> None:
    Image.new("1", (8_000, 8_000)).save(tmp_path / "huge.png")
    shown = copy_picture("huge.png", out=tmp_path / "out", folders=[tmp_path])
    assert shown == ""


def test_runs_that_are_named_one_by_one_are_counted(tmp_path: Path) -> None:
    rows = [{"acc": 1.0}]
    folders = write_models(tmp_path, {"a": rows, "b": rows})
    written = fin_tasks.write_report(
        folders, tmp_path / "page", published=False, samples=False
    )
    assert (written.n_runs, written.n_models) == (2, 2)
