"""Pictures as text, in messages of OpenAI's form."""

import base64
from pathlib import Path

from fin_tasks.errors import EndpointError

_TYPE_BY_MAGIC = {
    b"\x89PNG": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
    b"RIFF": "image/webp",
}


def picture_url(path: Path) -> str:
    """Return a picture file as a `data:` URL; raise EndpointError unless a chat model takes it."""
    try:
        content = path.read_bytes()
    except (OSError, ValueError) as error:
        raise EndpointError(
            f"picture {path}: expected a file that can be read, got {error}."
        ) from error
    for magic, media_type in _TYPE_BY_MAGIC.items():
        if content.startswith(magic):
            return f"data:{media_type};base64,{base64.b64encode(content).decode()}"
    raise EndpointError(
        f"picture {path}: expected PNG, JPEG, GIF or WebP, got {content[:8]!r}. Convert the file."
    )
