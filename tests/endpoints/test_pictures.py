"""Pictures inside requests."""

import base64
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.endpoints.old_chat import ChatRequest
from fin_tasks.endpoints.pictures import Picture, map_leaves, packed
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


_JSON = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_JSON)
def test_packed_is_the_json_of_what_was_given(content: Any) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": content}]}
    assert json.loads(packed(body)) == map_leaves(body, _whole)


def test_pictures_are_packed_in_their_places(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.png" for name in "ab"]
    for path in paths:
        path.write_bytes(PNG + path.stem.encode())
    a, b = map(Picture, paths)
    body = {"content": ['"', {"url": a}, "价格 \ud83d", {"url": b}, {"url": a}], "max_tokens": 3}
    told = {"content": ['"', {"url": a.data_address()}, "价格 ?", {"url": b.data_address()}, {"url": a.data_address()}]}
    assert json.loads(packed(body)) == {**told, "max_tokens": 3}


def _whole(leaf: Any) -> Any:
    return leaf.encode("utf-8", "replace").decode() if isinstance(leaf, str) else leaf
