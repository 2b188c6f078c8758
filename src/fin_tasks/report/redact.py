"""Remove keys, tokens, passwords and names of home folders from settings."""

import re
from typing import Any

_NAME = (  # of a field that holds a secret, unless its value is a short number or a switch
    r"(?:key(?!word)|token(?!i[sz])|secret|passw|passphrase|pwd|credential|cookie|header|auth(?!ority|ors?\b)|bearer"
    r"|environ|\benv\b|\bsig\b|signature)"
)
_PLAIN = r"(?:[\d.]{1,9}|true|false|none|null)"
_QUOTED = r"\"[^\"]*\"|'[^']*'|\{[^}]*\}|\[[^\]]*\]"
_FIELD, _SWITCH = re.compile(_NAME, re.IGNORECASE), re.compile(_PLAIN, re.IGNORECASE)
_PAIR = re.compile(
    rf"({_NAME}[\w-]{{0,40}}[\"']?\s*[:=]\s*)(?!{_PLAIN}\b)(?:{_QUOTED}|[^\s\"',;?&#}}\])]+)",
    re.IGNORECASE,
)
_LOOKS_SECRET = re.compile(
    r"\b(?:sk-|hf_|gh[pousr]_|AKIA|AIza)[\w-]{8,}|(?<=://)[^/\s@]+(?=@)|\b(?:basic|bearer)\s+(?=\S*\d)[^\s\"']{4,}",
    re.IGNORECASE,
)
_HOME = re.compile(
    r"(?<![\w.-])(?:/(?:home|Users)/[^/\s\"']+|/root|[A-Za-z]:\\(?i:Users)\\[^\\\s\"']+)(?=[/\\]|$)"
)
_DEEPEST = 30


def without_secrets(value: Any, *, depth: int = 0) -> Any:
    """Remove keys, tokens and home folders from a JSON value, by the names of fields and by their look."""
    if isinstance(value, str):
        return _HOME.sub("~", _PAIR.sub(r"\1[removed]", _LOOKS_SECRET.sub("[removed]", value)))
    if isinstance(value, (dict, list)) and depth >= _DEEPEST:
        return "[nested too deeply]"
    if isinstance(value, list):
        return [without_secrets(one, depth=depth + 1) for one in value]
    if isinstance(value, dict):
        kept = [
            name
            for name, one in value.items()
            if not _FIELD.search(str(name)) or _SWITCH.fullmatch(str(one))
        ]
        return {
            without_secrets(str(name)): without_secrets(value[name], depth=depth + 1)
            for name in kept
        }
    return value
