"""Files of a data set on the Hugging Face hub whose commit is not pinned in this package.

The hub is asked once which commit a branch stands at and which files, with sizes and checksums, that commit holds. Both
are written down in the cache, so that later runs use the same commit without asking; the store downloads and checks
the files as it does pinned ones. `huggingface_hub` does the asking and knows the token of `hf auth login`.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fin_tasks.data.sources import RemoteFile, Source
from fin_tasks.data.store import Store
from fin_tasks.errors import DataError, FetchError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from huggingface_hub.hf_api import DatasetInfo

__all__ = ["Snapshot", "remembered", "snapshot"]

_COMMIT = re.compile(r"[0-9a-f]{40}")
_BRANCH = "main"
_UNSTATED = "none stated"
_PATIENCE = 30.0
"""Seconds to wait for the hub's answer."""

_FIELDS: Mapping[str, str] = {
    "id": "the data set",
    "sha": "the data set (its commit)",
    "siblings": "the data set (its files)",
    "rfilename": "a file (its path)",
    **dict.fromkeys(("sha256", "size", "pointerSize"), "a file's 'lfs' (its checksum)"),
}
"""Fields an answer must have, and of what."""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Files of a data set at one commit.

    Attributes:
        repo: `owner/name`.
        revision: The commit, 40 hex digits.
        licence: As the data set's page states it, else as `snapshot` was told.
        files: Path in the data set to the file here.
    """

    repo: str
    revision: str
    licence: str
    files: Mapping[str, Path]


@dataclass(frozen=True, kw_only=True)
class _Listing:
    """What the hub said of a commit; the licence is empty where the page states none."""

    repo: str
    revision: str
    licence: str
    gated: bool
    files: tuple[dict[str, Any], ...]


def snapshot(
    repo: str,
    *,
    patterns: Sequence[str],
    revision: str | None,
    settings: Settings,
    licence: str = _UNSTATED,
    notify: Callable[[str], None] | None = None,
) -> Snapshot:
    """Return files of a data set, downloaded where they are not here.

    Args:
        repo: `owner/name`.
        patterns: Shell patterns of the paths wanted; `*` matches slashes too.
        revision: Commit, branch or tag. A branch or tag is looked up anew each time there is a network. None is the
            commit `main` stood at when it was last looked up, which happens at the first use.
        settings: Where the hub and the cache are, the token, and whether downloads are allowed.
        licence: What is known of it from elsewhere, for a page that states none.
        notify: Told the commit and the licence when something is downloaded for the first time.

    Raises:
        FetchError: The data set, the revision or the files cannot be had: missing, gated, offline, unreachable. The
            message says what to do.
        DataError: A file is not the one the hub lists, its path would leave the folder, or the cache cannot be used.
    """
    cache = _cache(repo, settings)
    listing = _listing(repo, revision, cache, settings)
    listing = replace(listing, licence=listing.licence or licence)
    wanted = [file for file in listing.files if any(fnmatchcase(str(file["path"]), pattern) for pattern in patterns)]
    if not wanted:
        raise FetchError(
            f"{repo} at {listing.revision[:12]}: expected files like {', '.join(patterns)}, got "
            f"{', '.join(str(file['path']) for file in listing.files[:8]) or 'no file'}. Name another revision, or put "
            "the files into a folder and set data_dir."
        )
    source = _source(listing, wanted, cache.name, settings)
    # the store knows the variable only; the token of `hf auth login` is in a file
    store = Store(replace(settings, hub_token=_token(settings)), notify=notify)
    try:
        files = store.get_all(source, [file.path for file in source.files])
    except FetchError as error:
        raise FetchError(f"{error} {_gate(repo, settings)}" if listing.gated else str(error)) from error
    return Snapshot(repo=repo, revision=listing.revision, licence=listing.licence, files=files)


def remembered(repo: str, settings: Settings) -> Source | None:
    """Return the files of the commit that `snapshot` uses without a revision, as listed; None before the first use.

    Raises:
        DataError: What was written down cannot be read.
    """
    cache = _cache(repo, settings)
    commit = _read_refs(cache).get(f"{repo}@{_BRANCH}")
    listing = _read_listing(cache, commit) if commit else None
    return None if listing is None else _source(listing, listing.files, cache.name, settings)


def _listing(repo: str, revision: str | None, cache: Path, settings: Settings) -> _Listing:
    name = revision or _BRANCH
    commit = name if _COMMIT.fullmatch(name) else _read_refs(cache).get(f"{repo}@{name}")
    # a branch that is asked for by name may have moved
    known = _read_listing(cache, commit) if commit and (revision in (None, commit) or settings.offline) else None
    if known is not None and known.repo == repo:
        return known
    if settings.offline:
        raise FetchError(
            f"{repo}: expected to look up {name} at {settings.hub}, but downloads are switched off (FIN_TASKS_OFFLINE "
            f"or HF_HUB_OFFLINE). Unset it. {_by_hand(cache)}"
        )
    found = _asked(repo, name, cache, settings)
    _write(cache / f"{found.revision}.json", asdict(found))
    if name != found.revision:
        _write(cache / "refs.json", {**_read_refs(cache), f"{repo}@{name}": found.revision})
    return found


def _asked(repo: str, name: str, cache: Path, settings: Settings) -> _Listing:
    """Ask the hub."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import (
        GatedRepoError,
        HfHubHTTPError,
        OfflineModeIsEnabled,
        RepositoryNotFoundError,
        RevisionNotFoundError,
    )

    # OSError and the base of the hub's own errors cover all that a connection may do, whichever HTTP library
    # huggingface_hub is built on: requests, httpx or httpx2
    failures: tuple[type[BaseException], ...] = (OSError, *HfHubHTTPError.__bases__)
    subject = f"{repo}: expected to look up {name} at {settings.hub}"
    try:
        info = HfApi(endpoint=settings.hub, token=_token(settings) or False).dataset_info(
            repo, revision=name, files_metadata=True, timeout=_PATIENCE
        )
        return _listing_of(repo, info)
    except GatedRepoError as error:
        raise FetchError(f"{subject}, but the data set is gated. {_gate(repo, settings)}") from error
    except RevisionNotFoundError as error:
        raise FetchError(f"{subject}, but it has no such revision. Name a commit, or none for the newest.") from error
    except RepositoryNotFoundError as error:
        raise FetchError(
            f"{subject}, but there is no such data set, or none your account may see. Check its page; for a private or "
            f"gated one run `hf auth login` or set HF_TOKEN. {_by_hand(cache)}"
        ) from error
    except OfflineModeIsEnabled as error:
        raise FetchError(f"{subject}, but HF_HUB_OFFLINE is set. Unset it. {_by_hand(cache)}") from error
    except failures as error:
        refused = getattr(getattr(error, "response", None), "status_code", None) in (401, 403)
        advice = _gate(repo, settings) if refused else "Try again later."
        raise FetchError(f"{subject}, but {_short(error)}. {advice} {_by_hand(cache)}") from error
    except (KeyError, ValueError, TypeError) as error:
        raise FetchError(
            f"{subject}, but {_unlike_the_hub(error)}. Is HF_ENDPOINT right, or does a proxy answer? {_by_hand(cache)}"
        ) from error


def _listing_of(repo: str, info: "DatasetInfo") -> _Listing:
    """Take what is needed of an answer; a KeyError names a field that is not there."""
    if info.sha is None or info.siblings is None:
        raise KeyError("sha" if info.sha is None else "siblings")
    if not _COMMIT.fullmatch(info.sha):
        raise ValueError(f"it names no commit but {info.sha!r}")
    stated = getattr(info.card_data, "license", None)
    licence = ", ".join(map(str, stated)) if isinstance(stated, list) else str(stated or "")
    files = tuple(
        {"path": entry.rfilename, "size": entry.size, "sha256": entry.lfs.sha256 if entry.lfs else None}
        for entry in info.siblings
    )
    return _Listing(repo=repo, revision=info.sha, licence=licence, gated=bool(info.gated), files=files)


def _source(listing: _Listing, files: Sequence[Mapping[str, Any]], name: str, settings: Settings) -> Source:
    """Make the listing a source; that checks every path and checksum."""
    return Source(
        name=name,
        host="hub",
        repo=listing.repo,
        revision=listing.revision,
        licence=listing.licence or _UNSTATED,
        non_commercial="nc" in re.split(r"\W+", listing.licence.lower()),
        homepage=f"{settings.hub}/datasets/{listing.repo}",
        files=tuple(RemoteFile(path=file["path"], size=file["size"], sha256=file["sha256"]) for file in files),
    )


def _cache(repo: str, settings: Settings) -> Path:
    """Return the folder of a data set, named like the benchmark: `kensho/bizbench` is in `bizbench`."""
    return settings.cache_dir / re.sub(r"[^a-z0-9_-]", "-", repo.rpartition("/")[2].lower())


def _token(settings: Settings) -> str | None:
    from huggingface_hub import get_token

    return settings.hub_token or get_token()


def _read_refs(cache: Path) -> dict[str, str]:
    raw = _read(cache / "refs.json")
    return {str(name): str(commit) for name, commit in raw.items()} if raw else {}


def _read_listing(cache: Path, commit: str) -> _Listing | None:
    raw = _read(cache / f"{commit}.json")
    try:
        return None if raw is None else _Listing(**{**raw, "files": tuple(raw["files"])})
    except (TypeError, KeyError) as error:
        raise _spoilt(cache / f"{commit}.json", error) from error


def _read(path: Path) -> dict[str, Any] | None:
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _spoilt(path, error) from error
    if not isinstance(raw, dict):
        raise _spoilt(path, raw)
    return raw


def _write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a record in one step: readers see the old one or the new one, never half of it."""
    from tempfile import NamedTemporaryFile

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(
            "w", encoding="utf-8", dir=path.parent, prefix=path.name, suffix=".part", delete=False
        ) as draft:
            json.dump(content, draft, indent=1)
        Path(draft.name).replace(path)
    except OSError as error:
        raise DataError(
            f"{path}: expected to write it, got {error.strerror or error!r}. "
            "Free some space, or set FIN_TASKS_CACHE to a folder you may write."
        ) from error


def _spoilt(path: Path, found: object) -> DataError:
    return DataError(f"{path}: expected what the hub said of a data set, got {found!r}. Delete it and try again.")


def _gate(repo: str, settings: Settings) -> str:
    return (
        f"Accept the conditions on {settings.hub}/datasets/{repo} with your account, then run `hf auth login` or set "
        "HF_TOKEN to a token that may read gated data sets."
    )


def _by_hand(cache: Path) -> str:
    return (
        f"Or download it where there is a network and copy {cache}, or put the data set's files into a folder and name "
        "it with data_dir or FIN_TASKS_DATA."
    )


def _unlike_the_hub(error: Exception) -> str:
    if isinstance(error, KeyError):
        field = str(error.args[0])
        return f"the answer lacks the field {field!r} of {_FIELDS.get(field, 'a record')}"
    return f"the answer is not the hub's ({_short(error)})"


def _short(error: BaseException) -> str:
    """Return the first line of a message: the hub's errors add a request id and an address below."""
    lines = str(error).strip().splitlines()
    return (lines[0] if lines else type(error).__name__)[:200].rstrip(".")
