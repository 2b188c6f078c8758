from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from table_of import archive, picture, put, row, table

from fin_tasks.benchmarks.mme_finance.files import Files, locate, revision_of
from fin_tasks.benchmarks.mme_finance.pictures import Pictures
from fin_tasks.benchmarks.mme_finance.rows import read_rows
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

ONE, TWO, THREE = (picture(n) for n in (1, 2, 3))
TABLE = table([row(1), row(2)])


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path / "cache")})


def shown(files: Files) -> list[bytes]:
    return [row.image_path.read_bytes() for row in read_rows(files).rows]


LAYOUTS: Mapping[str, Mapping[str, bytes]] = {
    "as published": {"MMfin.zip": archive({"MMfin/1.jpg": ONE, "MMfin/2.jpg": TWO})},
    "no top folder in the archive": {"MMfin.zip": archive({"1.jpg": ONE, "2.jpg": TWO})},
    "another top folder in the archive": {"MMfin.zip": archive({"data/1.jpg": ONE, "data/2.jpg": TWO})},
    "deep in the archive": {"MMfin.zip": archive({"x/y/images/1.JPG": ONE, "x/y/images/2.jpg": TWO, "x/read.me": b""})},
    "another case": {"mmfin.ZIP": archive({"MMFin/1.JPG": ONE, "MMFin/2.JPG": TWO})},
    "unpacked": {"MMfin/1.jpg": ONE, "MMfin/2.jpg": TWO},
    "unpacked twice as deep": {"MMfin/MMfin/1.jpg": ONE, "MMfin/MMfin/2.jpg": TWO},
    "unpacked into images": {"images/1.jpg": ONE, "images/2.jpg": TWO},
    "beside the table": {"1.jpg": ONE, "2.jpg": TWO},
    "built here": {"images/MMfin/1.jpg": ONE, "images/MMfin/2.jpg": TWO},
    "unpacked beside the archive": {"MMfin/1.jpg": ONE, "MMfin/2.jpg": TWO, "MMfin.zip": archive({"a.jpg": THREE})},
    "an empty folder beside the archive": {"MMfin/.keep/x": b"", "MMfin.zip": archive({"1.jpg": ONE, "2.jpg": TWO})},
    "with the other language": {
        **{"MMfin_CN/1.jpg": THREE, "MMfin_CN/2.jpg": THREE, "MMfin_CN.tsv": TABLE},
        **{"pictures/1.jpg": ONE, "pictures/2.jpg": TWO},
    },
}


@pytest.mark.parametrize("above", ["", "mme_finance", "MME-Finance", "mme-finance"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_pictures_are_found_where_people_put_them(tmp_path: Path, settings: Settings, layout: str, above: str) -> None:
    put(tmp_path / "data" / above, {"MMfin.tsv": TABLE, **LAYOUTS[layout]})
    before = sorted((tmp_path / "data").rglob("*"))
    found = locate(language="en", data_dir=tmp_path / "data", settings=settings)
    assert (found.origin, found.table) == ("data_dir", tmp_path / "data" / above / "MMfin.tsv")
    assert shown(found) == [ONE, TWO]
    assert sorted((tmp_path / "data").rglob("*")) == before, "a folder of somebody else stays as it was"
    assert locate(language="en", settings=replace(settings, data_dir=tmp_path / "data")) == found
    same = put(tmp_path / "same", {"MMfin.tsv": TABLE, **LAYOUTS["as published"]})
    assert revision_of(found) == revision_of(locate(language="en", data_dir=same, settings=settings))


@pytest.mark.parametrize(
    "name",
    [
        *("MMfin/1.jpg", "1.jpg", "./1.jpg", "./images/1.jpg", "images\\1.jpg", "MMfin\\1.jpg", " 1.jpg ", "1.JPG"),
        *("/home/someone/MMfin/1.jpg", "C:\\Users\\me\\1.jpg", "https://host/a/1.jpg", "a/../1.jpg"),
    ],
)
def test_a_picture_is_named_from_somewhere(tmp_path: Path, name: str) -> None:
    put(tmp_path / "MMfin", {"1.jpg": ONE, "2.jpg": TWO})
    pictures = Pictures(tmp_path / "MMfin", tmp_path)
    assert pictures.find([name]) == {name: tmp_path / "MMfin" / "1.jpg"}


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../secret.jpg", "/", "../../data/secret.jpg", "x" * 5000, "a\0b.jpg", "MMfin", "3.jpg"]
)
def test_a_picture_that_is_none_of_ours(tmp_path: Path, name: str) -> None:
    put(tmp_path / "data", {"secret.jpg": ONE, "set/MMfin/1.jpg": TWO})
    assert Pictures(tmp_path / "data" / "set" / "MMfin", tmp_path / "data" / "set").find([name]) == {}


def test_an_absolute_path_is_not_followed(tmp_path: Path) -> None:
    put(tmp_path, {"secret.jpg": ONE, "data/1.jpg": TWO})
    assert Pictures(tmp_path / "data", tmp_path / "data").find([str(tmp_path / "secret.jpg")]) == {}


def test_several_pictures_of_one_name_are_no_guess(tmp_path: Path) -> None:
    put(tmp_path, {"en/a/1.jpg": ONE, "en/b/1.jpg": TWO})
    pictures = Pictures(tmp_path, tmp_path)
    names = ["1.jpg", "a/1.jpg", "B/1.jpg"]
    assert pictures.find(names) == {"a/1.jpg": tmp_path / "en/a/1.jpg", "B/1.jpg": tmp_path / "en/b/1.jpg"}


def test_one_picture_under_two_names_is_no_guess(tmp_path: Path) -> None:
    """Somebody has put the pictures of all folders into one: which one is left there nobody knows."""
    put(tmp_path, {"1.jpg": ONE, "2.jpg": TWO})
    pictures = Pictures(tmp_path, tmp_path)
    assert pictures.find(["desktop/1.jpg", "mobile/1.jpg", "mobile/2.jpg"]) == {"mobile/2.jpg": tmp_path / "2.jpg"}
    assert len(pictures.find(["MMfin/1.jpg", "1.jpg", "./1.jpg"])) == 3


@pytest.mark.parametrize(
    ("names", "dropped"),
    [
        (["MMfin/1.jpg", "MMfin/1.JPG"], []),
        (["MMfin/1.JPG", "mmfin/1.jpg", "1.jpg"], []),
        (["MMfin/1.jpg", "/old/pics/1.jpg"], ["/old/pics/1.jpg"]),
        (["/old/pics/1.jpg", "1.jpg"], []),
        (["1.jpg", "/old/1.jpg", "/new/1.jpg"], ["/old/1.jpg", "/new/1.jpg"]),
        (["MMfin/1.jpg", "/home/me/mmfin/1.jpg", "C:\\pics\\1.jpg"], ["C:\\pics\\1.jpg"]),
        (["/home/me/MMfin/1.jpg", "/old/1.jpg"], ["/home/me/MMfin/1.jpg", "/old/1.jpg"]),
    ],
)
def test_only_guesses_are_dropped_where_names_clash(tmp_path: Path, names: list[str], dropped: list[str]) -> None:
    put(tmp_path / "MMfin", {"1.jpg": ONE, "2.jpg": TWO})
    for root, beside in ((tmp_path / "MMfin", tmp_path), (tmp_path, tmp_path)):
        found = Pictures(root, beside).find([*names, "MMfin/2.jpg"])
        assert [name for name in names if name not in found] == dropped
        assert found["MMfin/2.jpg"] == tmp_path / "MMfin" / "2.jpg"
        assert {path for name, path in found.items() if name in names} <= {tmp_path / "MMfin" / "1.jpg"}


def test_the_table_itself_can_be_named(tmp_path: Path, settings: Settings) -> None:
    put(tmp_path, {"mine.tsv": TABLE, "MMfin_CN.tsv": TABLE, "mine.zip": archive({"1.jpg": ONE, "2.jpg": TWO})})
    assert shown(locate(language="en", data_dir=tmp_path / "mine.tsv", settings=settings)) == [ONE, TWO]
    with pytest.raises(DataError, match="holds those of zh"):
        locate(language="en", data_dir=tmp_path / "MMfin_CN.tsv", settings=settings)
    with pytest.raises(DataError, match=r"expected a folder or a \.tsv file"):
        locate(language="en", data_dir=tmp_path / "mine.zip", settings=settings)


def test_an_archive_that_changes_is_unpacked_again(tmp_path: Path, settings: Settings) -> None:
    folder = put(tmp_path / "a", {"MMfin.tsv": TABLE, "MMfin.zip": archive({"1.jpg": ONE, "2.jpg": TWO})})
    before = locate(language="en", data_dir=folder, settings=settings)
    first = revision_of(before)
    put(folder, {"MMfin.zip": archive({"1.jpg": ONE, "2.jpg": THREE})})
    after = locate(language="en", data_dir=folder, settings=settings)
    assert (after, shown(after)) == (before, [ONE, THREE])
    assert revision_of(after).files["MMfin.tsv"] == first.files["MMfin.tsv"]
    assert str(revision_of(after)) != str(first)


def test_the_revision_is_over_the_table_and_the_pictures_it_names(tmp_path: Path, settings: Settings) -> None:
    folder = put(tmp_path / "a", {"MMfin.tsv": TABLE, "MMfin/1.jpg": ONE, "MMfin/2.jpg": TWO})
    files = locate(language="en", data_dir=folder, settings=settings)
    first = revision_of(files)
    assert (set(first.files), len(first.short)) == ({"MMfin.tsv", "pictures"}, 16)
    put(folder, {"MMfin/3.jpg": THREE})
    assert revision_of(files) == first, "a picture that no row is about"
    put(folder, {"MMfin/2.jpg": ONE, "MMfin/1.jpg": TWO})
    assert revision_of(files) != first, "two pictures in each other's place"


def test_nothing_there_says_where_it_looked(tmp_path: Path, settings: Settings) -> None:
    with pytest.raises(DataError, match=r"expected MMfin_CN\.tsv.*found none") as caught:
        locate(language="zh", data_dir=put(tmp_path / "a", {"MMfin.tsv": TABLE}), settings=settings)
    assert str(tmp_path / "a" / "MME-Finance") in str(caught.value)


def test_an_archive_that_is_not_safe(tmp_path: Path, settings: Settings) -> None:
    folder = put(tmp_path / "a", {"MMfin.tsv": TABLE, "MMfin.zip": archive({"../../1.jpg": ONE})})
    with pytest.raises(DataError, match="leaves the folder"):
        locate(language="en", data_dir=folder, settings=settings)
    assert not list(tmp_path.rglob("1.jpg"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"language": "fr"}, "language: expected one of en, zh, got 'fr'"),
        ({"language": "en", "source": "hub"}, "source: expected one of auto.*got 'hub'"),
        ({"language": "en", "source": "data_dir"}, "data_dir needs a folder"),
    ],
)
def test_options_that_do_not_exist(settings: Settings, options: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        locate(settings=settings, **options)  # type: ignore[arg-type]


def test_offline_without_a_copy_says_what_to_do(settings: Settings) -> None:
    with pytest.raises(DataError, match=r"hithink-ai/MME-Finance: .*switched off.*data_dir or FIN_TASKS_DATA"):
        locate(language="en", settings=replace(settings, offline=True))
