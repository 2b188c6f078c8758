import io
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from fin_tasks.data.pictures import change_of, upright_file, upright_files


def content(form: str, orientation: int | None = None, mode: str = "RGB") -> bytes:
    """Four quarters of different grays, 64 by 32."""
    image = Image.new("L", (64, 32))
    for at, gray in enumerate((20, 90, 160, 230)):
        image.paste(gray, (at % 2 * 32, at // 2 * 16, at % 2 * 32 + 32, at // 2 * 16 + 16))
    out, note = io.BytesIO(), Image.Exif()
    note[0x0112] = orientation or 1
    image.convert(mode).save(out, form, exif=note.tobytes() if orientation else b"")
    return out.getvalue()


def quarters(path: Path) -> list[int]:
    with Image.open(path) as image:
        gray = image.convert("L")
    places = [(x, y) for y in (1, 3) for x in (1, 3)]
    return [round(gray.getpixel((gray.width * x // 4, gray.height * y // 4)) / 10) for x, y in places]  # type: ignore[operator]


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", [None, 1, 3, 6, 8])
def test_a_picture_is_shown_upright(tmp_path: Path, form: str, orientation: int | None) -> None:
    path, copies = tmp_path / "a", tmp_path / "copies"
    path.write_bytes(content(form, orientation))
    shown = upright_file(path, copies)
    assert shown is not None
    if orientation in (None, 1):
        assert (shown, change_of(path), copies.exists()) == (path, None, False)
        return
    assert (change_of(path), change_of(shown), shown.parent) == ("turned", None, copies)
    with Image.open(path) as image:
        ImageOps.exif_transpose(image).save(tmp_path / "expected.png")
    assert quarters(shown) == quarters(tmp_path / "expected.png") != quarters(path)
    made = shown.stat().st_mtime_ns
    assert upright_files([path, path], copies) == {path: shown}
    assert shown.stat().st_mtime_ns == made, "the copy is made once"


@pytest.mark.parametrize(("form", "mode"), [("BMP", "RGB"), ("TIFF", "CMYK"), ("TIFF", "F")])
def test_formats_that_chat_models_do_not_take_become_png(tmp_path: Path, form: str, mode: str) -> None:
    (tmp_path / "a.jpg").write_bytes(content(form, mode=mode))
    copy = upright_file(tmp_path / "a.jpg", tmp_path / "copies")
    assert change_of(tmp_path / "a.jpg") == "converted"
    assert copy is not None and copy.read_bytes().startswith(b"\x89PNG")


def test_a_broken_or_huge_picture_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.bmp"
    path.write_bytes(content("BMP")[:-100])
    assert upright_file(path, tmp_path / "copies") is None
    path.write_bytes(content("BMP"))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 2000)
    assert upright_file(path, tmp_path / "copies") is None
    path.write_bytes(b"BM, said the file")
    assert (change_of(path), upright_file(path, tmp_path / "copies")) == (None, path), "no picture, no change"
