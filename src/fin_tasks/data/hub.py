"""Ask the hub for the commit, the files and the hashes of a data set."""

from dataclasses import replace
from urllib.parse import quote

from fin_tasks.data.files import write_file
from fin_tasks.data.pins import PINS_FILE, Pin, Pins
from fin_tasks.settings import Settings

_SECONDS = 30


def look_up(pins: Pins, revision: str | None, settings: Settings) -> Pins:
    """Return pins with the commit and files of a revision, which are asked for once.

    The revision is a commit, branch or tag; by default it is the newest commit.
    """
    name = revision or "main"
    answer = settings.cache_dir / pins.name / f"files-{quote(name, safe='')}.json"
    if answer.is_file():
        return PINS_FILE.validate_json(answer.read_bytes())
    from huggingface_hub import HfApi

    try:
        if settings.offline:
            raise ConnectionError("downloads are switched off")
        api = HfApi(endpoint=settings.hub, token=settings.hub_token)
        info = api.dataset_info(pins.repo, revision=revision, files_metadata=True, timeout=_SECONDS)
    except Exception as error:  # the client raises its own errors and those of its HTTP library
        expected = f"{pins.repo}: expected to look up {name} at {settings.hub}"
        raise pins.fetch_error(expected, error) from error
    files = []
    for sibling in info.siblings or ():
        sha256 = sibling.lfs.sha256 if sibling.lfs else None
        files.append(Pin(sibling.rfilename, sibling.size, sha256))
    known = replace(pins, revision=str(info.sha), files=tuple(files))
    write_file(answer, PINS_FILE.dump_json(known))
    return known
