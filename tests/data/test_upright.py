"""Pictures that are stored on their side, and formats that chat models do not take."""

import io
from pathlib import Path

import pytest
from PIL import Image

from fin_tasks.data.pictures import upright_file

GRAYS = [20, 90, 160, 230]


def content(form: str, orientation: int | None = None, mode: str = "RGB") -> bytes:
    """Four quarters of different grays, 64 by 32."""
    image = Image.new("L", (2, 2))
    image.putdata(GRAYS)
    out = io.BytesIO()
    note = Image.Exif()
    note[0x0112] = orientation or 1
    large = image.resize((64, 32), Image.Resampling.NEAREST).convert(mode)
    large.save(out, form, exif=note.tobytes() if orientation else b"")
    return out.getvalue()


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize(
    ("orientation", "order"),
    [(None, ""), (1, ""), (3, [3, 2, 1, 0]), (6, [2, 0, 3, 1]), (8, [1, 3, 0, 2])],
)
def test_a_picture_is_shown_upright(
    tmp_path: Path, form: str, orientation: int | None, order: list[int]
) -> None:
    path = tmp_path / "a"
    copies = tmp_path / "copies"
    path.write_bytes(content(form, orientation))
    shown = upright_file(path, copies)
    if not order:
        assert (shown, copies.exists()) == (path, False)
        return
    assert (shown.parent, upright_file(shown, copies)) == (copies, shown)
    assert shown.suffix == (".jpg" if form == "JPEG" else ".png")
    with Image.open(shown) as image:
        quarters = image.convert("L").resize((2, 2), Image.Resampling.BOX).tobytes()
    assert list(quarters) == pytest.approx([GRAYS[place] for place in order], abs=5)


def test_formats_that_chat_models_do_not_take(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    copies = tmp_path / "copies"
    for form, mode in (("BMP", "RGB"), ("TIFF", "CMYK"), ("TIFF", "F")):
        path.write_bytes(content(form, mode=mode))
        copy = upright_file(path, copies)
        assert copy.read_bytes().startswith(b"\x89PNG")
    path.write_bytes(content("BMP")[:-100])
    assert upright_file(path, copies) == path, "broken"
    path.write_bytes(b"BM, said the file")
    assert upright_file(path, copies) == path, "no picture, no change"
