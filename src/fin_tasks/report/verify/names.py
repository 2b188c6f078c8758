"""Names that strangers choose: which ones are the same, and the folders that they get."""

import hashlib
import re
import unicodedata

_MAX_FOLDER = 60  # characters
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?|.*\.(json|ya?ml)")
"""Devices of Windows, and names of files on a board."""
_ALPHABETS = (
    *("LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE"),
    *("COPTIC", "GEORGIAN", "LISU", "OSAGE", "TIFINAGH", "VAI"),
)
"""Alphabets with letters that look the same."""
_LOOKS = {
    "01i": "oll",
    "авекмнорстухіјѕԁԛԝһӏ": "abekmhopctyxljsdqwhl",
    "αβεζηικμνορτυχ": "abeznlkmvoptux",
    "ɑɡıɩʟᴏ": "aglllo",
}
_AS_LATIN = str.maketrans("".join(_LOOKS), "".join(_LOOKS.values()))
"""Letters and digits that look like a Latin letter; `1`, `l` and a capital `I` look the same."""
_INVISIBLE = {"\u115f", "\u1160"}
"""Letters of Korean without any shape."""


def folder_name(name: str) -> str:
    """Return the name of a folder; names that differ only in upper and lower case share one."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    folder = re.sub(r"[^a-z0-9._-]+", "-", plain)[:_MAX_FOLDER].strip("._-")
    if folder and folder == plain and not _RESERVED.fullmatch(folder):
        return folder
    digest = hashlib.sha256(plain.encode("utf-8", "replace")).hexdigest()[:8]
    stem = folder.replace(".", "-")
    return f"{stem}-{digest}" if stem else f"name-{digest}"


def letters_of(text: str) -> str:
    """Return the letters and digits of a text; those that look the same are the same.

    >>> letters_of("GPT-40") == letters_of("gрt 4o")  # the second has a Russian letter
    True
    """
    plain = unicodedata.normalize("NFKC", text).casefold().translate(_AS_LATIN)
    letters = filter(str.isalnum, plain)
    return "".join(letter for letter in letters if letter not in _INVISIBLE)


def name_key(name: str) -> str:
    """Return a key that is equal for names that people read as the same."""
    return letters_of(name) or unicodedata.normalize("NFKC", name).casefold()


def mixed_alphabets(name: str) -> list[str]:
    """Return the alphabets of a name whose letters look the same, if it mixes several."""
    alphabets = set()
    for character in name:
        alphabet = unicodedata.name(character, "").partition(" ")[0]
        if alphabet in _ALPHABETS:
            alphabets.add(alphabet.capitalize())
    return sorted(alphabets) if len(alphabets) > 1 else []
