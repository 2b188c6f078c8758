"""Pictures inside requests."""

import base64
import hashlib
from pathlib import Path

import pytest

from fin_tasks.endpoints.chat import ChatRequest
from fin_tasks.endpoints.pictures import Picture
from fin_tasks.errors import EndpointError

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"


def _request(path: Path) -> ChatRequest:
    content = [{"type": "image_url", "image_url": {"url": Picture(path)}}]
    return ChatRequest(messages=[{"role": "user", "content": content}])


@pytest.mark.parametrize(
    ("content", "mime_type"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0jfif", "image/jpeg"),
        (b"GIF89a...", "image/gif"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "image/webp"),
    ],
)
def test_the_content_tells_the_type_and_stays_as_it_is(tmp_path: Path, content: bytes, mime_type: str) -> None:
    path = tmp_path / "named.jpg"
    path.write_bytes(content)
    head, _, data = Picture(path).data_address().partition(",")
    assert head == f"data:{mime_type};base64"
    assert base64.b64decode(data, validate=True) == content


@pytest.mark.parametrize("content", [b"", b"<svg/>", b"BM......", b"RIFF\x10\0\0\0WAVE"])
def test_what_is_no_picture(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(content)
    with pytest.raises(EndpointError, match=r"a\.png: expected PNG, JPEG, GIF or WebP"):
        Picture(path).data_address()


@pytest.mark.parametrize("name", ["none.png", ".", "zero\0byte.png"])
def test_what_cannot_be_read(tmp_path: Path, name: str) -> None:
    with pytest.raises(EndpointError, match="expected a file that can be read"):
        _ = Picture(tmp_path / name).sha256


def test_a_picture_that_changes_on_the_way_is_not_sent(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(PNG)
    picture = Picture(path)
    assert picture.sha256 == hashlib.sha256(PNG).hexdigest()
    path.write_bytes(PNG + b"other")
    with pytest.raises(EndpointError, match="expected the content it had before"):
        picture.data_address()


def test_a_key_holds_the_content_not_the_path(tmp_path: Path) -> None:
    one, same, other = tmp_path / "1.png", tmp_path / "2.png", tmp_path / "3.png"
    for path, content in [(one, PNG), (same, PNG), (other, PNG + b"!")]:
        path.write_bytes(content)
    assert _request(one).key("m") == _request(same).key("m") != _request(other).key("m")
    assert _request(one).key("m") != _request(one).key("n")
