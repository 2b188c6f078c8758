"""Pictures the right way up, and in formats that chat models take."""

import io
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from fin_tasks.data.upright import change_of, upright_file, upright_files
from fin_tasks.endpoints.pictures import Picture
from fin_tasks.errors import DataError


def content(form: str, orientation: int | None = None, mode: str = "RGB") -> bytes:
    """Four quarters of different greys, 64 by 32."""
    image = Image.new("L", (64, 32))
    for at, grey in enumerate((20, 90, 160, 230)):
        image.paste(grey, (at % 2 * 32, at // 2 * 16, at % 2 * 32 + 32, at // 2 * 16 + 16))
    out = io.BytesIO()
    note = Image.Exif()
    if orientation is not None:
        note[0x0112] = orientation
    image.convert(mode).save(out, form, exif=note.tobytes() if orientation is not None else b"")
    return out.getvalue()


def quarters(path: Path) -> list[int]:
    with Image.open(path) as image:
        grey = image.convert("L")
    places = [(x, y) for y in (1, 3) for x in (1, 3)]
    return [round(grey.getpixel((grey.width * x // 4, grey.height * y // 4)) / 10) * 10 for x, y in places]  # type: ignore[operator]


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "GIF"])
@pytest.mark.parametrize("orientation", [None, 1, 0, 9])
def test_a_picture_nobody_can_mistake_goes_as_it_is(tmp_path: Path, form: str, orientation: int | None) -> None:
    path = tmp_path / "a"
    path.write_bytes(content(form, None if form == "GIF" else orientation))
    assert change_of(path) is None
    assert upright_file(path, tmp_path / "copies") == path
    assert not (tmp_path / "copies").exists()


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", range(2, 9))
def test_one_that_is_stored_turned_is_shown_upright(tmp_path: Path, form: str, orientation: int) -> None:
    path = tmp_path / "a"
    path.write_bytes(content(form, orientation))
    assert change_of(path) == "turned"
    copy = upright_file(path, tmp_path / "copies")
    assert copy is not None and copy.suffix == (".jpg" if form == "JPEG" else ".png")
    assert change_of(copy) is None, "all readers see the copy alike"
    with Image.open(path) as image:
        expected = tmp_path / "expected.png"
        ImageOps.exif_transpose(image).save(expected)
    assert quarters(copy) == quarters(expected) != quarters(path)
    assert Picture(copy).data_address()


@pytest.mark.parametrize(
    ("form", "mode"), [("BMP", "RGB"), ("BMP", "1"), ("TIFF", "CMYK"), ("TIFF", "F"), ("TIFF", "L")]
)
def test_formats_that_chat_models_do_not_take_become_png(tmp_path: Path, form: str, mode: str) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(content(form, mode=mode))
    assert change_of(path) == "converted"
    copy = upright_file(path, tmp_path / "copies")
    assert copy is not None and Picture(copy).data_address().startswith("data:image/png")


def test_a_copy_is_made_once_and_is_the_same_again(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(content("JPEG", 6))
    copy = upright_file(path, tmp_path / "copies")
    assert copy is not None
    body, made = copy.read_bytes(), copy.stat().st_mtime_ns
    assert upright_file(path, tmp_path / "copies") == copy
    assert copy.stat().st_mtime_ns == made
    copy.unlink()
    assert upright_files([path, path], tmp_path / "copies") == {path: copy}
    assert copy.read_bytes() == body
    assert [one.name for one in (tmp_path / "copies").iterdir()] == [copy.name]


def test_a_note_behind_a_pngs_pixels_counts(tmp_path: Path) -> None:
    body = content("PNG")
    note = content("PNG", 3)
    at = note.index(b"eXIf") - 4
    (size,) = struct.unpack(">I", note[at : at + 4])
    chunk = note[at : at + 12 + size]
    assert zlib.crc32(chunk[4:-4]) == struct.unpack(">I", chunk[-4:])[0]
    end = body.index(b"IEND") - 4
    path = tmp_path / "a.png"
    path.write_bytes(body[:end] + chunk + body[end:])
    assert change_of(path) == "turned"


def test_what_cannot_be_turned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, text = tmp_path / "a.bmp", tmp_path / "text.bmp"
    path.write_bytes(content("BMP")[:-100])
    text.write_bytes(b"BM, said the file")
    assert upright_file(path, tmp_path / "copies") is None
    assert (change_of(text), upright_file(text, tmp_path / "copies")) == (None, text)
    path.write_bytes(content("BMP"))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 2000)
    assert upright_file(path, tmp_path / "copies") is None


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "a.bmp"
    path.write_bytes(content("BMP"))
    with pytest.raises(DataError, match="expected to write an upright copy"):
        upright_file(path, path / "copies")
