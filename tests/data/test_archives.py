"""Archives as strangers make them: honest, old-fashioned, broken, hostile."""

import io
import json
import random
import stat
import struct
import subprocess
import sys
import threading
import time
import unicodedata
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.data import archive_names, archives
from fin_tasks.data.archive_names import name_of
from fin_tasks.data.archives import MARKER, Limits, unpack
from fin_tasks.errors import DataError

Entries = Mapping[str, bytes] | list[tuple[str | zipfile.ZipInfo, bytes]]


def pack(path: Path, entries: Entries, method: int = zipfile.ZIP_DEFLATED) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the library tells of names that come twice
        with zipfile.ZipFile(path, "w", method) as archive:
            for name, body in entries.items() if isinstance(entries, Mapping) else entries:
                archive.writestr(name, body)
    return path


def of_mode(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


def with_raw_name(path: Path, name: bytes, body: bytes) -> Path:
    """Pack one file whose name is these bytes, without the mark of UTF-8."""
    placeholder = "N" * len(name)
    pack(path, {placeholder: body})
    path.write_bytes(path.read_bytes().replace(placeholder.encode(), name))
    return path


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "unpacked"


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != MARKER
    }


def test_files_come_out_as_they_went_in(tmp_path: Path, target: Path) -> None:
    files = {"MMfin/1.jpg": b"one" * 9999, "MMfin/图/2.png": b"", "3.jpg": bytes(range(256))}
    found = unpack(pack(tmp_path / "a.zip", files), target)
    assert found == tuple(target / name for name in files), "in the archive's order"
    assert files_of(target) == {name: files[name] for name in sorted(files)}
    assert {path.name for path in target.parent.iterdir()} == {"unpacked", ".unpacked.lock"}


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=8).filter(
            lambda name: not set(name) & set("/\\:.")
        ),
        st.binary(max_size=64),
        min_size=1,
        max_size=5,
    )
)
def test_any_decent_archive(tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]) -> None:
    files = {unicodedata.normalize("NFC", name).casefold(): body for name, body in files.items()}
    folder = tmp_path_factory.mktemp("any")
    unpack(pack(folder / "a.zip", files), folder / "out")
    assert files_of(folder / "out") == dict(sorted(files.items(), key=lambda item: folder / item[0]))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("/etc/passwd", "an absolute path"),
        ("\\\\server\\share\\x", "an absolute path"),
        ("\\x", "an absolute path"),
        ("C:\\x", "an absolute path"),
        ("c:x", "an absolute path"),
        ("../x", "leaves the folder"),
        ("a/../../x", "leaves the folder"),
        ("a/..", "leaves the folder"),
        ("a\\..\\..\\x", "leaves the folder"),
        ("a/..\\x", "leaves the folder"),
        (".hidden/../../x", "leaves the folder"),
        ("__MACOSX/../../x", "leaves the folder"),
        ("../", "leaves the folder"),
        ("a/C:/x", "an absolute path"),
        ("a/\x1b[31mx", "control a terminal"),
        ("a\nb", "control a terminal"),
        ("a" * 256, "more than 255 bytes"),
        ("图" * 86, "more than 255 bytes"),
    ],
)
def test_names_that_must_not_be_written(tmp_path: Path, target: Path, name: str, reason: str) -> None:
    path = pack(tmp_path / "a.zip", {"good.jpg": b"x", name: b"evil"})
    with pytest.raises(DataError, match=f"{reason}.*Nothing was unpacked") as caught:
        unpack(path, target)
    assert "\x1b" not in str(caught.value)
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] in (["a.zip", ".unpacked.lock"], ["a.zip"])


def test_a_colon_is_a_stream_on_windows_only(tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pack(tmp_path / "a.zip", {"Screen 10:30:05.png": b"x"})
    assert unpack(path, target)
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
    monkeypatch.setattr(archive_names, "_WINDOWS", True)
    with pytest.raises(DataError, match="a name with a colon"):
        archive_names.safe_entries(path, entries, most=1)


def test_a_name_cut_by_a_zero_byte(tmp_path: Path, target: Path) -> None:
    with pytest.raises(DataError, match="control a terminal"):
        unpack(with_raw_name(tmp_path / "a.zip", b"a.jpg\0.exe", b"x"), target)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        (stat.S_IFLNK, "a link"),
        *((kind, "neither a file nor a folder") for kind in (stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK)),
    ],
)
@pytest.mark.parametrize("name", ["link", ".link", "folder/"])
def test_links_and_devices(tmp_path: Path, target: Path, kind: int, reason: str, name: str) -> None:
    path = pack(tmp_path / "a.zip", [(of_mode(name, kind | 0o777), b"/etc"), ("link/passwd", b"x")])
    with pytest.raises(DataError, match=reason):
        unpack(path, target)
    assert not target.exists()


@pytest.mark.parametrize("second", ["a/1.jpg", "A/1.JPG", "a\\1.jpg", "./a//1.jpg", "a", "a/1.jpg/x"])
def test_two_files_under_one_name(tmp_path: Path, target: Path, second: str) -> None:
    path = pack(tmp_path / "a.zip", [("a/1.jpg", b"1"), (second, b"2")])
    with pytest.raises(DataError, match="each name once"):
        unpack(path, target)


def test_names_equal_but_for_how_accents_are_written(tmp_path: Path, target: Path) -> None:
    names = [unicodedata.normalize(form, "é.jpg") for form in ("NFC", "NFD")]
    with pytest.raises(DataError, match="each name once"):
        unpack(pack(tmp_path / "a.zip", dict.fromkeys(names, b"")), target)


def test_an_encrypted_file(tmp_path: Path, target: Path) -> None:
    path = pack(tmp_path / "a.zip", {"a.jpg": b"x"})
    body = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        body[body.index(mark) + offset] |= 1
    path.write_bytes(body)
    with pytest.raises(DataError, match="which is encrypted"):
        unpack(path, target)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        (Limits(entries=2), "at most 2 entries, got 3"),
        (Limits(file_bytes=1999), "at most 1,999 in a file, got 2,000 bytes"),
        (Limits(total_bytes=5999), "at most 5,999 in all, got 6,000 bytes"),
    ],
)
def test_an_archive_that_is_too_large(tmp_path: Path, target: Path, limits: Limits, expected: str) -> None:
    path = pack(tmp_path / "a.zip", {f"{n}.jpg": bytes([n]) * 2000 for n in range(3)})
    with pytest.raises(DataError, match=expected):
        unpack(path, target, limits=limits)
    assert not target.exists()
    assert len(unpack(path, target, limits=Limits(entries=3, file_bytes=2000, total_bytes=6000))) == 3


def test_a_bomb_is_known_by_its_ratio(tmp_path: Path, target: Path) -> None:
    path = pack(tmp_path / "a.zip", {"zeros.bmp": bytes(8 << 20)})
    with pytest.raises(DataError, match="at most 200 bytes from one"):
        unpack(path, target)
    assert unpack(path, target, limits=Limits(ratio=2000))


def test_a_bomb_of_many_small_files_is_known_by_its_ratio(tmp_path: Path, target: Path) -> None:
    path = pack(tmp_path / "a.zip", {f"{n}.bmp": bytes(1 << 20) for n in range(40)})
    with pytest.raises(DataError, match=r"at most 200 bytes from one, got 41,943,040 bytes in all from [\d,]{6}\."):
        unpack(path, target)
    assert not target.exists()
    photo = random.Random(1).randbytes(1 << 19)  # noqa: S311
    mixed = {f"{n}.jpg": bytes(1 << 20) for n in range(40)} | {"photo.jpg": photo}
    assert unpack(pack(tmp_path / "b.zip", mixed), target), "flat pictures beside photographs are no bomb"


def test_entries_that_claim_the_same_bytes_are_counted_once(tmp_path: Path, target: Path) -> None:
    path = pack(tmp_path / "a.zip", {f"{n}.bmp": bytes(1 << 20) for n in range(40)})
    body = bytearray(path.read_bytes())
    at = body.index(b"PK\x01\x02")
    while at >= 0:
        body[at + 20 : at + 24] = struct.pack("<I", 1 << 20)  # the packed size that the directory tells
        at = body.find(b"PK\x01\x02", at + 4)
    path.write_bytes(body)
    with pytest.raises(DataError, match="at most 200 bytes from one"):
        unpack(path, target)


def test_what_ends_early_is_said_so(tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pack(tmp_path / "a.zip", {"a.jpg": b"x"})

    def end(*_: object, **__: object) -> None:
        raise EOFError

    monkeypatch.setattr(zipfile.ZipFile, "open", end)
    with pytest.raises(DataError, match="a whole zip archive, got one that ends early"):
        unpack(path, target)


def test_what_comes_counts_and_not_what_is_said(tmp_path: Path, target: Path) -> None:
    """The directory says 10 bytes where 4 MiB come: at most 10 are written, and their checksum is wrong."""
    path = pack(tmp_path / "a.zip", {"a.bmp": bytes(4 << 20)})
    body = bytearray(path.read_bytes())
    at = body.index(b"PK\x01\x02")
    body[at + 24 : at + 28] = struct.pack("<I", 10)
    path.write_bytes(body)
    with pytest.raises(DataError, match="a whole zip archive"):
        unpack(path, target)
    assert not target.exists()


def test_a_file_larger_than_said_is_stopped(tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a library that believed nobody would be stopped while it inflates."""
    path = pack(tmp_path / "a.zip", {"a.bmp": b"x"})
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *_, **__: io.BytesIO(bytes(5 << 20)))
    with pytest.raises(DataError, match="more than 2,000,000 bytes"):
        unpack(path, target, limits=Limits(file_bytes=2_000_000))
    assert not target.exists()


@pytest.mark.parametrize("spoil", [lambda body: body[:-30], lambda body: b"", lambda body: b"<html>not found</html>"])
def test_something_that_is_no_archive(tmp_path: Path, target: Path, spoil: Callable[[bytes], bytes]) -> None:
    path = pack(tmp_path / "a.zip", {"a.jpg": b"x" * 99})
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(DataError, match=r"a\.zip: expected a whole zip archive.*Fetch it again"):
        unpack(path, target)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_STORED])
def test_spoilt_content(tmp_path: Path, target: Path, method: int) -> None:
    path = pack(tmp_path / "a.zip", {"a.jpg": bytes(range(256)) * 40}, method)
    body = bytearray(path.read_bytes())
    body[100:200] = bytes(byte ^ 0x5A for byte in body[100:200])
    path.write_bytes(body)
    with pytest.raises(DataError, match="a whole zip archive"):
        unpack(path, target)
    assert not target.exists()


def test_a_missing_archive(tmp_path: Path, target: Path) -> None:
    with pytest.raises(DataError, match="expected a readable file"):
        unpack(tmp_path / "none.zip", target)


def test_clutter_and_folders_are_no_files(tmp_path: Path, target: Path) -> None:
    names = [
        "./",
        "MMfin/",
        "MMfin/1.jpg",
        "__MACOSX/MMfin/._1.jpg",
        ".DS_Store",
        "MMfin/.hidden/2.jpg",
        "MMfin/._1.jpg",
    ]
    assert unpack(pack(tmp_path / "a.zip", dict.fromkeys(names, b"")), target) == (target / "MMfin" / "1.jpg",)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("股票/走势图.jpg".encode("gbk"), "股票/走势图.jpg"),
        ("股票/走势图.jpg".encode(), "股票/走势图.jpg"),
        ("誠\\1.jpg".encode("gbk"), "誠/1.jpg"),
        ("café.jpg".encode("cp437"), "café.jpg"),
    ],
)
def test_names_without_the_mark_of_utf_8(tmp_path: Path, target: Path, raw: bytes, name: str) -> None:
    assert unpack(with_raw_name(tmp_path / "a.zip", raw, b"x"), target) == (target / name,)


def test_a_second_byte_that_looks_like_a_backslash(tmp_path: Path) -> None:
    """Trail bytes of GBK may be 0x5C: read as CP437 the name would fall apart into folders."""
    name = "誠.jpg"
    raw = name.encode("gbk")
    with zipfile.ZipFile(with_raw_name(tmp_path / "a.zip", raw, b"x")) as archive:
        assert name_of(archive.infolist()[0]) == name


def test_unpacked_once_and_again_when_the_archive_changes(tmp_path: Path, target: Path) -> None:
    path = pack(tmp_path / "a.zip", {"1.jpg": b"1", "2.jpg": b"2"})
    unpack(path, target)
    stamps = [target.stat().st_ino, (target / "1.jpg").stat().st_mtime_ns]
    assert unpack(path, target) == (target / "1.jpg", target / "2.jpg")
    assert [target.stat().st_ino, (target / "1.jpg").stat().st_mtime_ns] == stamps
    pack(path, {"1.jpg": b"!"})
    assert unpack(path, target) == (target / "1.jpg",)
    assert files_of(target) == {"1.jpg": b"!"}


def test_a_folder_that_lost_a_file_is_made_whole(tmp_path: Path, target: Path) -> None:
    path = pack(tmp_path / "a.zip", {"1.jpg": b"1", "2.jpg": b"2"})
    unpack(path, target)
    (target / "2.jpg").unlink()
    (target / "1.jpg").write_bytes(b"")
    unpack(path, target)
    assert files_of(target) == {"1.jpg": b"1", "2.jpg": b"2"}


def test_a_folder_of_somebody_else_is_left_alone(tmp_path: Path, target: Path) -> None:
    target.mkdir(parents=True)
    (target / "thesis.txt").write_text("mine")
    with pytest.raises(DataError, match="Move it away"):
        unpack(pack(tmp_path / "a.zip", {"1.jpg": b"1"}), target)
    assert files_of(target) == {"thesis.txt": b"mine"}


def test_what_is_unpacked_needs_no_right_to_write(
    tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = pack(tmp_path / "a.zip", {"1.jpg": b"1"})
    unpack(path, target)

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(archives, "_locked", refuse)
    assert unpack(path, target)


def test_an_interrupted_run_leaves_nothing_half(tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pack(tmp_path / "a.zip", {"1.jpg": b"1"})
    unpack(path, target)
    pack(path, {"1.jpg": b"2", "2.jpg": b"2"})
    inflate = archives._inflate

    def stop(opened: zipfile.ZipFile, entry: archives.Entry, place: Path, most: int) -> int:
        if entry.path == "2.jpg":
            raise KeyboardInterrupt
        return inflate(opened, entry, place, most)

    monkeypatch.setattr(archives, "_inflate", stop)
    with pytest.raises(KeyboardInterrupt):
        unpack(path, target)
    assert files_of(target) == {"1.jpg": b"1"}, "what was there before"
    assert {place.name for place in target.parent.iterdir()} == {"unpacked", ".unpacked.lock"}


def test_what_a_killed_run_left_is_cleared_away(tmp_path: Path, target: Path) -> None:
    left = target.parent / ".unpacked.abc.part"
    left.mkdir(parents=True)
    (left / "1.jpg").write_bytes(b"half")
    other = target.parent / ".unpacked-too.abc.part"
    other.mkdir()
    unpack(pack(tmp_path / "a.zip", {"1.jpg": b"1"}), target)
    assert not left.exists()
    assert other.exists(), "somebody else's"


def test_a_marker_that_is_spoilt(tmp_path: Path, target: Path) -> None:
    path = pack(tmp_path / "a.zip", {"1.jpg": b"1"})
    unpack(path, target)
    for text in ("", "[]", "{}", json.dumps({"sha256": 1, "files": []})):
        (target / MARKER).write_text(text)
        assert unpack(path, target) == (target / "1.jpg",)


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match=r"expected to unpack it into .*FIN_TASKS_CACHE"):
        unpack(pack(tmp_path / "a.zip", {"1.jpg": b"1"}), tmp_path / "file" / "out")


def test_several_processes_at_once(tmp_path: Path, target: Path) -> None:
    """All find the files; one of them wrote."""
    path = pack(tmp_path / "a.zip", {f"{n}.jpg": bytes([n]) * 50_000 for n in range(100)}, zipfile.ZIP_STORED)
    code = (
        "import sys; from pathlib import Path; from fin_tasks.data.archives import unpack\n"
        "print(len(unpack(Path(sys.argv[1]), Path(sys.argv[2]))), Path(sys.argv[2]).stat().st_ino)"
    )
    command = [sys.executable, "-c", code, str(path), str(target)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    said = {process.communicate(timeout=180)[0].strip() for process in running}
    assert said == {f"100 {target.stat().st_ino}"}


def test_a_second_process_waits(tmp_path: Path, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = pack(tmp_path / "a.zip", {"1.jpg": b"1"})
    inflate, calls = archives._inflate_all, []

    def slowly(*arguments: object) -> dict[str, int]:
        calls.append(arguments)
        time.sleep(0.3)
        return inflate(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(archives, "_inflate_all", slowly)
    threads = [threading.Thread(target=unpack, args=(path, target)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
