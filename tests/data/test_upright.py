import io
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from fin_tasks.data.pictures import upright_file, upright_files


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
        return [round(gray / 10) for gray in image.convert("L").resize((2, 2), Image.Resampling.BOX).tobytes()]


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", [None, 1, 3, 6, 8])
def test_a_picture_is_shown_upright(tmp_path: Path, form: str, orientation: int | None) -> None:
    path, copies = tmp_path / "a", tmp_path / "copies"
    path.write_bytes(content(form, orientation))
    shown = upright_file(path, copies)
    if orientation in (None, 1):
        assert (shown, copies.exists()) == (path, False)
        return
    assert (shown.parent, upright_file(shown, copies)) == (copies, shown)
    with Image.open(path) as image:
        ImageOps.exif_transpose(image).save(tmp_path / "expected.png")
    assert quarters(shown) == quarters(tmp_path / "expected.png") != quarters(path)
    assert upright_files([path, path], copies) == {path: shown}


def test_formats_that_chat_models_do_not_take(tmp_path: Path) -> None:
    path, copies = tmp_path / "a.jpg", tmp_path / "copies"
    for form, mode in (("BMP", "RGB"), ("TIFF", "CMYK"), ("TIFF", "F")):
        path.write_bytes(content(form, mode=mode))
        copy = upright_file(path, copies)
        assert copy.read_bytes().startswith(b"\x89PNG")
    path.write_bytes(content("BMP")[:-100])
    assert upright_file(path, copies) == path, "broken"
    path.write_bytes(b"BM, said the file")
    assert upright_file(path, copies) == path, "no picture, no change"
