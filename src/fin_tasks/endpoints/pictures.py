"""Pictures inside a request: named by their content in its key, and read only when it is sent."""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from uuid import uuid4

from fin_tasks.errors import EndpointError

__all__ = ["Picture", "is_picture", "map_leaves", "packed"]


@dataclass(frozen=True)
class Picture:
    """A picture file, to be put where a message takes the address of a picture.

    `{"type": "image_url", "image_url": {"url": Picture(path)}}` stands for a data address with the file's own bytes.
    Only the path is held, so that a thousand questions about a thousand pictures need the memory of those under way.

    Attributes:
        path: A PNG, JPEG, GIF or WebP file; its content tells which, not its name.
    """

    path: Path

    @cached_property
    def sha256(self) -> str:
        """The content's SHA-256, as hexadecimal digits.

        Raises:
            EndpointError: The file cannot be read.
        """
        return hashlib.sha256(self._read()).hexdigest()

    def data_address(self) -> str:
        """Read the file, and return its content as a `data:` address.

        Raises:
            EndpointError: As `data_address_bytes`.
        """
        return self.data_address_bytes().decode("ascii")

    def data_address_bytes(self) -> bytes:
        """Read the file, and return its content as a `data:` address in ASCII, ready to be sent.

        Raises:
            EndpointError: The file cannot be read, is no picture that chat models take, or is not the one any more
                that `sha256` was told of: a reply would be kept under the name of another picture.
        """
        content = self._read()
        found = hashlib.sha256(content).hexdigest()
        if found != self.sha256:
            raise EndpointError(
                f"picture {self.path}: expected the content it had before (SHA-256 {self.sha256[:12]}...), got another "
                f"({found[:12]}...). Leave pictures alone while a run reads them, and run again."
            )
        return b"data:%s;base64,%s" % (self._mime_type(content).encode(), base64.b64encode(content))

    def _read(self) -> bytes:
        try:
            return self.path.read_bytes()
        except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
            raise EndpointError(
                f"picture {self.path}: expected a file that can be read, got {getattr(error, 'strerror', error)}."
            ) from error

    def _mime_type(self, content: bytes) -> str:
        if content.startswith(b"\x89PNG\r\n\x1a\n"):
            return "image/png"
        if content.startswith(b"\xff\xd8\xff"):
            return "image/jpeg"
        if content.startswith((b"GIF87a", b"GIF89a")):
            return "image/gif"
        if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
            return "image/webp"
        raise EndpointError(
            f"picture {self.path}: expected PNG, JPEG, GIF or WebP, got {len(content):,} bytes that begin with "
            f"{content[:8]!r}. Convert the file."
        )


def packed(body: Mapping[str, Any]) -> bytes:
    """Return a request as JSON in UTF-8, pictures as `data:` addresses, halves of characters as question marks.

    A picture is put between the texts as it is encoded: to look through a few hundred kilobytes for characters to
    escape, and once more to encode them, takes longer than to send them.

    Raises:
        EndpointError: A picture cannot be read, or is none that chat models take.
        ValueError: A number that JSON does not have.
        TypeError: Something else that JSON does not have.

    Example:
        >>> packed({"messages": [{"role": "user", "content": "What?"}]})
        b'{"messages": [{"role": "user", "content": "What?"}]}'
    """
    mark, pictures = uuid4().hex, []  # nobody who writes a text of the request can know it

    def noted(leaf: Any) -> Any:
        if not isinstance(leaf, Picture):
            return leaf
        pictures.append(leaf)
        return mark

    text = json.dumps(map_leaves(body, noted), ensure_ascii=False, allow_nan=False)
    first, *others = text.encode("utf-8", "replace").split(f'"{mark}"'.encode())
    parts = [first]
    for picture, part in zip(pictures, others, strict=True):
        parts += [b'"', picture.data_address_bytes(), b'"', part]
    return b"".join(parts)


def map_leaves(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """Return JSON-compatible data, every text, number and picture in it replaced by what `leaf` makes of it.

    Example:
        >>> map_leaves({"url": [Picture(Path("a.png")), 1]}, lambda x: x.path.name if isinstance(x, Picture) else x)
        {'url': ['a.png', 1]}
    """
    if isinstance(value, Mapping):
        return {key: map_leaves(inner, leaf) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [map_leaves(inner, leaf) for inner in value]
    return leaf(value)


def is_picture(leaf: Any) -> bool:
    """Return whether a part of a message is a picture: one of ours, or a data address."""
    return isinstance(leaf, Picture) or (isinstance(leaf, str) and leaf.startswith("data:image/"))
