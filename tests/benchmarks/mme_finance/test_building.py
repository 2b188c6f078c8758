"""Fresh sets."""

import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fin_tasks.benchmarks.mme_finance.building import build_set
from fin_tasks.benchmarks.mme_finance.files import locate
from fin_tasks.benchmarks.mme_finance.old_exact import Truth, score_exact
from fin_tasks.benchmarks.mme_finance.planning import (
    COLUMNS,
    EXACT_CATEGORIES,
    plan_pictures,
    rows_of,
    table_text,
)
from fin_tasks.benchmarks.mme_finance.row import CATEGORIES, IMAGE_STYLES, IMAGE_TYPES, LANGUAGES
from fin_tasks.benchmarks.mme_finance.rows import read_rows
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError
from fin_tasks.settings import Settings

runner = CliRunner()


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != ".lock"
    }


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "set"
    build_set(folder, n=6, seed=7, languages=["en"])
    return folder


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("n", [44, 131])
def test_a_set_is_spread_evenly(language: str, n: int) -> None:
    assert language in ("en", "zh")
    rows = rows_of(plan_pictures("en" if language == "en" else "zh", n=n, seed=7))
    assert len(rows) == n
    assert [row["index"] for row in rows] == [str(place) for place in range(n)]
    for column, names, slack in (
        ("task_category", tuple(CATEGORIES), 3),
        ("image_type", IMAGE_TYPES, 4),
        ("image_style", IMAGE_STYLES, 4),
    ):
        counts = Counter(row[column] for row in rows)
        assert set(counts) == set(names)
        assert max(counts.values()) - min(counts.values()) <= slack, counts
    assert all(bool(row["truth"]) == (row["task_category"] in EXACT_CATEGORIES) for row in rows)


def test_types_and_styles_are_crossed() -> None:
    pictures = plan_pictures("en", n=96, seed=1)
    crossed = Counter((picture.image_type, picture.style) for picture in pictures)
    assert len(crossed) == len(IMAGE_TYPES) * len(IMAGE_STYLES)
    assert set(crossed.values()) == {2}


def test_a_set_depends_on_its_seed_only() -> None:
    first, again, other = (table_text(rows_of(plan_pictures("zh", n=22, seed=seed))) for seed in (7, 7, 8))
    assert first == again
    assert len(set(first.splitlines()) & set(other.splitlines())) == 1  # the headings


def test_a_larger_set_begins_with_the_smaller() -> None:
    small, large = (rows_of(plan_pictures("en", n=n, seed=3)) for n in (20, 40))
    assert large[:20] == small


def test_both_languages_ask_the_same_about_the_same_things() -> None:
    english, chinese = (rows_of(plan_pictures(language, n=33, seed=5)) for language in LANGUAGES)
    shared = ("index", "task_category", "image_type", "image_style")
    assert [[row[key] for key in shared] for row in english] == [[row[key] for key in shared] for row in chinese]


def test_questions_hardly_repeat() -> None:
    rows = rows_of(plan_pictures("en", n=132, seed=2))
    pairs = Counter((row["question"], row["answer"]) for row in rows if row["task_category"] != "Not Applicable")
    assert max(pairs.values()) <= 4
    assert len(pairs) > 100


def test_only_some_categories() -> None:
    rows = rows_of(plan_pictures("en", n=15, seed=2, categories=["Numerical Calculation", "OCR"]))
    counts = Counter(row["task_category"] for row in rows)
    assert set(counts) == {"Numerical Calculation", "OCR"}
    (estimates,) = [rows_of(plan_pictures("en", n=9, seed=2, categories=["Numerical Calculation"]))]
    assert {row["image_type"] for row in estimates} <= set(IMAGE_TYPES) - {"table", "document"}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"n": 0}, "at least 1 question"),
        ({"categories": []}, "expected some of"),
        ({"categories": ["Poetry"]}, "got 'Poetry'"),
        ({"languages": ["fr"]}, "expected languages of en, zh"),
        ({"languages": []}, "expected languages of en, zh"),
        ({"jobs": 0}, "at least 1 process"),
    ],
)
def test_options_that_mean_nothing_are_named(tmp_path: Path, options: dict[str, object], expected: str) -> None:
    given: dict[str, object] = {"n": 2, "seed": 1, "languages": ["en"], **options}
    with pytest.raises(ConfigError, match=expected):
        build_set(tmp_path / "set", **given)  # type: ignore[arg-type]
    assert not (tmp_path / "set").exists()


def test_what_is_built_is_read_as_the_published_files_are(built: Path) -> None:
    files = locate(language="en", source="data_dir", data_dir=built, settings=Settings.from_environ())
    found = read_rows(files)
    assert not found.defects
    assert not found.left_out
    assert len(found.rows) == 6
    assert all(row.image_path.is_file() for row in found.rows)
    exact = [row for row in found.rows if row.truth]
    assert exact
    assert all(score_exact(Truth.from_json(row.truth), row.answer, language="en") for row in exact)


def test_the_manifest_tells_how_it_was_made(built: Path) -> None:
    manifest = json.loads((built / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["seed"], manifest["n"], manifest["languages"]) == (7, 6, ["en"])
    assert manifest["counts"]["en"]["rows"] == 6
    assert set(manifest["fonts"]) == {"en"}
    assert {name.partition("/")[0] for name in manifest["sha256"]} == {"MMfin.tsv", "images"}
    header = (built / "MMfin.tsv").read_text(encoding="utf-8").split("\n", 1)[0]
    assert tuple(header.split("\t")) == COLUMNS


def test_the_number_of_processes_changes_nothing(built: Path, tmp_path: Path) -> None:
    build_set(tmp_path / "set", n=6, seed=7, languages=["en"], jobs=2)
    assert files_of(tmp_path / "set") == files_of(built)


def test_pictures_that_are_there_are_kept(built: Path) -> None:
    before = files_of(built)
    missing = sorted((built / "images").iterdir())[0]
    missing.unlink()
    (built / "images" / ".half-1.png").write_bytes(b"half")
    told: list[tuple[int, int]] = []
    done = build_set(built, n=6, seed=7, languages=["en"], on_done=lambda done, of: told.append((done, of)))
    assert (done.pictures, done.drawn) == (3, 1)
    assert told == [(2, 3), (3, 3)]
    assert files_of(built) == before


def test_another_set_is_not_mixed_in(built: Path) -> None:
    before = files_of(built)
    with pytest.raises(ConfigError, match="Name another folder with --out"):
        build_set(built, n=6, seed=8, languages=["en"])
    assert files_of(built) == before


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="expected a folder that a set can be written to"):
        build_set(tmp_path / "file" / "set", n=2, seed=1, languages=["en"])


def test_the_command_builds_a_judge_free_set(tmp_path: Path) -> None:
    out = tmp_path / "set"
    options = ["build", "mme-finance", "--n", "4", "--seed", "3", "--lang", "en", "--objective", "--out", str(out)]
    done = runner.invoke(app, [*options, "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["n"], told["pictures"], told["drawn"], told["folder"]) == (4, 2, 2, str(out))
    assert told["categories"] == list(EXACT_CATEGORIES)
    assert told["counts"]["en"]["exact"] == 4
    shown = runner.invoke(app, options)
    assert "2 pictures: 0 drawn, 2 already there" in shown.stdout
    assert "OCR" in shown.stdout


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--lang", "fr"], "--lang: expected en or zh, got 'fr'"),
        (["--categories", "OCR,XY"], "got 'XY'"),
        (["--categories", "ic", "--objective"], "got 'Image Caption'"),
    ],
)
def test_the_command_names_what_it_cannot_read(tmp_path: Path, options: list[str], expected: str) -> None:
    done = runner.invoke(app, ["build", "mme-finance", "--out", str(tmp_path / "set"), *options])
    assert isinstance(done.exception, ConfigError)
    assert expected in str(done.exception)


def test_the_command_takes_abbreviations(tmp_path: Path) -> None:
    options = ["build", "mme-finance", "--n", "2", "--lang", "en", "--categories", "OCR, er", "--json"]
    done = runner.invoke(app, [*options, "--out", str(tmp_path / "set")])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["categories"] == ["OCR", "Entity Recognition"]
