"""Ask the hub for the commit, the files and the hashes of a data set."""

from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from pydantic import BaseModel, Field, ValidationError, field_validator

from fin_tasks.errors import WebError, first_problem
from fin_tasks.settings import Settings
from fin_tasks.web import Limits, Request, Web

from .files import write_file
from .pins import PINS_FILE, Pin, Pins

SECONDS = 30.0
"""Time for an answer."""


class _LargeFile(BaseModel):
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")


class _File(BaseModel):
    rfilename: str
    size: int | None = None
    lfs: _LargeFile | None = None

    @field_validator("rfilename")
    @classmethod
    def _stays_below_its_folder(cls, name: str) -> str:
        if name.startswith("/") or ".." in name.split("/"):
            raise ValueError("expected a path below the data set's folder")
        return name


class _Listing(BaseModel):
    """What the hub says of a data set."""

    sha: str = Field(pattern=r"^[0-9a-f]{40}$")
    siblings: list[_File] = []


def look_up(pins: Pins, revision: str | None, settings: Settings) -> Pins:
    """Return pins with the commit and files of a revision, which the hub is asked for once.

    The revision is a commit, branch or tag; by default it is the newest commit.
    """
    known = known_pins(pins, revision, settings)
    if known.revision:
        return known
    expected = (
        f"{pins.repo}: expected to look up {revision or 'main'} at {settings.hub}"
    )
    if settings.offline:
        raise pins.fetch_error(expected, "downloads are switched off")
    url = f"{settings.hub}/api/datasets/{pins.repo}"
    if revision:
        url += f"/revision/{quote(revision, safe='')}"
    request = Request(url=f"{url}?blobs=true", headers=authorization(settings))
    limits = Limits(seconds=SECONDS, n_bytes=64 << 20, retries=3)
    try:
        with Web(follow_redirects=True) as web:
            listing = _Listing.model_validate_json(web.send(request, limits).result())
    except WebError as error:
        raise pins.fetch_error(expected, error) from error
    except ValidationError as error:
        raise pins.fetch_error(
            expected, f"its answer cannot be used ({first_problem(error)})"
        ) from error
    files = []
    for file in listing.siblings:
        sha256 = file.lfs.sha256 if file.lfs else None
        files.append(Pin(file.rfilename, file.size, sha256))
    known = replace(pins, revision=listing.sha, files=tuple(files))
    write_file(_listing_file(pins, revision, settings), PINS_FILE.dump_json(known))
    return known


def known_pins(pins: Pins, revision: str | None, settings: Settings) -> Pins:
    """Return the pins of a revision if the hub was asked for it before, else pins without files."""
    file = _listing_file(pins, revision, settings)
    return PINS_FILE.validate_json(file.read_bytes()) if file.is_file() else pins


def _listing_file(pins: Pins, revision: str | None, settings: Settings) -> Path:
    name = quote(revision or "main", safe="")
    return settings.cache_dir / pins.name / f"files-{name}.json"


def authorization(settings: Settings) -> dict[str, str]:
    """Return the header with the user's token for the hub, if there is one."""
    from huggingface_hub import get_token

    token = settings.hub_token or get_token()
    return {"Authorization": f"Bearer {token}"} if token else {}
