"""Remove keys, tokens, passwords and names of home folders from settings."""

import re
from typing import Any

_SECRET = re.compile(  # names of fields
    r"api_?key|secret|passw|passphrase|pwd|credential|creds|cookie|header|auth(?!ori[ts]|ors?\b)|bearer|environ|\benv\b"
    r"|jwt|\bsig\b|signature|session",
    re.IGNORECASE,
)
_KEY = re.compile(r"key(?!word)|token(?!i[sz])", re.IGNORECASE)  # names of secrets, unless the value is one of these:
_PLAIN = re.compile(r"[\d.]{1,9}|true|false|none|null|lambda", re.IGNORECASE)
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{8,}|\bhf_\w{8,}|\bgh[pousr]_\w{8,}|\bAKIA[0-9A-Z]{12,}|\bxox[a-z]-[\w-]{8,}"
    r"|\bAIza[\w-]{20,}|\beyJ[\w-]{8,}\.[\w.-]+|(?<=://)[^/\s@]+(?=@)"
    r"|(?:authorization\W{1,4}(?:basic|bearer)\s+|\bBearer\s+(?=\S*\d))[^\s\"']{4,}",
    re.IGNORECASE,
)
_PAIR = re.compile(
    r"(?P<name>[A-Za-z][\w-]*)(?P<sign>[\"']?\s*[:=]\s*)(?P<value>\"[^\"]*\"|'[^']*'|\{[^}]*\}|[^\s\"',;?&#}\])]+)"
)
_HOME = re.compile(r"(?<![\w.-])(?:/(?:home|Users)/[^/\s\"']+|/root|[A-Za-z]:\\(?i:Users)\\[^\\\s\"']+)(?=[/\\]|$)")
_DEEPEST = 30


def without_secrets(value: Any, *, depth: int = 0) -> Any:
    """Remove keys, tokens and home folders from a JSON value, by the names of fields and by their look.

    Example:
        >>> without_secrets({"path": "/home/ann/m", "headers": {"x": 1}, "max_tokens": 5, "url": "http://a:pw@h/?key=k"})
        {'path': '~/m', 'max_tokens': 5, 'url': 'http://[removed]@h/?key=[removed]'}
    """
    if isinstance(value, str):
        return _HOME.sub("~", _PAIR.sub(_hidden, _LOOKS_SECRET.sub("[removed]", value)))
    if isinstance(value, (dict, list)) and depth >= _DEEPEST:
        return "[nested too deeply]"
    if isinstance(value, list):
        return [without_secrets(one, depth=depth + 1) for one in value]
    if isinstance(value, dict):
        kept = {str(name): one for name, one in value.items() if not _is_secret(str(name), one)}
        return {without_secrets(name): without_secrets(one, depth=depth + 1) for name, one in kept.items()}
    return value


def _is_secret(name: str, value: Any) -> bool:
    is_plain = not isinstance(value, (dict, list)) and _PLAIN.fullmatch(str(value))
    return bool(_SECRET.search(name) or (_KEY.search(name) and not is_plain))


def _hidden(found: re.Match[str]) -> str:
    # running text has "Key: A"; a secret without quotes behind a colon holds a digit
    is_prose = ":" in found["sign"] and not re.search(r"[\d\"'{]", found["value"])
    is_shown = is_prose or not _is_secret(found["name"], found["value"])
    return found[0] if is_shown else f"{found['name']}{found['sign']}[removed]"
