"""Names that strangers choose: which ones are the same, and the folders that they get."""

import hashlib
import re
import unicodedata

_MAX_FOLDER = 60  # characters
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?|.*\.(json|ya?ml)")
"""Devices of Windows, and names of files on a board."""
_ALPHABETS = ("LATIN", "CYRILLIC", "GREEK")
"""Alphabets with letters that look the same."""


def folder_name(name: str) -> str:
    """Return the name of a folder; names that differ in upper case alone share one."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    folder = re.sub(r"[^a-z0-9._-]+", "-", plain)[:_MAX_FOLDER].strip("._-")
    if folder and folder == plain and not _RESERVED.fullmatch(folder):
        return folder
    digest = hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:8]
    stem = folder.replace(".", "-")
    return f"{stem}-{digest}" if stem else f"name-{digest}"


def name_key(name: str) -> str:
    """Return what names share that people read as the same: its letters and digits."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    key = "".join(character for character in plain if character.isalnum())
    return key or plain


def mixed_alphabets(name: str) -> list[str]:
    """Return the alphabets of a name whose letters look the same, if it mixes several."""
    alphabets = set()
    for character in name:
        alphabet = unicodedata.name(character, "").partition(" ")[0]
        if alphabet in _ALPHABETS:
            alphabets.add(alphabet.capitalize())
    return sorted(alphabets) if len(alphabets) > 1 else []
