import zipfile
from pathlib import Path

import pytest

from fin_tasks.benchmarks.mme_finance.unpacking import unpack
from fin_tasks.errors import DataError


def packed(path: Path, names: list[str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return path


def test_pictures_are_unpacked_without_clutter_and_under_their_names(tmp_path: Path) -> None:
    archive = packed(tmp_path / "a.zip", ["a/1.jpg", "__MACOSX/1.jpg", "a/.DS_Store", "a/图.png"])
    raw = archive.read_bytes()  # a name that is not marked as UTF-8, as macOS writes it
    archive.write_bytes(raw.replace(b"\x00\x08\x00\x00", b"\x00\x00\x00\x00"))
    unpack(archive, tmp_path / "a")
    assert sorted(path.name for path in (tmp_path / "a" / "a").iterdir()) == ["1.jpg", "图.png"]


@pytest.mark.parametrize("names", [["../evil.jpg"], ["/evil.jpg"], ["a\\..\\..\\evil.jpg"], ["a.jpg", "a.jpg"]])
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_nothing_is_unpacked_from_an_unsafe_archive(tmp_path: Path, names: list[str]) -> None:
    (tmp_path / "in").mkdir()
    archive = packed(tmp_path / "in" / "a.zip", names)
    with pytest.raises(DataError, match=r"a\.zip: expected a zip archive of pictures"):
        unpack(archive, tmp_path / "in" / "a")
    assert [path.name for path in tmp_path.rglob("*")] == ["in", "a.zip"]


def test_a_folder_of_the_user_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(DataError, match="Move it away"):
        unpack(packed(tmp_path / "a.zip", ["1.jpg"]), tmp_path / "a")
