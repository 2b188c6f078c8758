"""What reports leave out of strangers' files: keys, tokens and passwords, by name or by look, and whose home it is."""

import json
import re
from typing import Any

__all__ = ["is_secret", "without_secrets"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")  # of snake_case, kebab-case and camelCase
_SECRET_WORDS = frozenset(
    {"auth", "oauth", "authorization", "authentication", "bearer", "cookie", "cookies", "creds", "credential"}
    | {"credentials", "env", "envs", "environ", "environment", "header", "headers", "jwt", "pat", "passphrase"}
    | {"passwd", "password", "passwords", "pwd", "sas", "secret", "secrets", "session", "sig", "signature"}
)
_JOINED = re.compile(r"(?:api|auth|access|client|private|refresh|secret|subscription)(?:keys?|tokens?|secrets?)$")
_KEYS, _TOKENS = frozenset({"key", "keys"}), frozenset({"token", "tokens"})
_NO_KEYS = frozenset({"cache", "dtype", "file", "heads", "num", "path", "size"})
_NO_TOKENS = frozenset(  # what models' arguments count, or what marks a place in a text
    {"begin", "bos", "budget", "cls", "context", "count", "end", "eos", "image", "limit", "mask", "max", "min", "num"}
    | {"pad", "per", "prefix", "sep", "skip", "special", "start", "stop", "suffix", "think", "thinking", "type", "unk"}
)
_LOOK = re.compile(  # what services' keys look like, wherever they stand
    r"\b(?:sk|pk|rk)-[\w-]{8,}|\bhf_\w{8,}|\bgh[pousr]_\w{8,}|\bAKIA[0-9A-Z]{12,}|\bxox[a-z]-[\w-]{8,}"
    r"|\bAIza[\w-]{20,}|\beyJ[\w-]{8,}\.[\w.-]+|\bBearer\s+(?:(?=\S*\d)\S{4,}|\S{20,})|(?<=://)[^/\s@]+(?=@)",
    re.IGNORECASE,
)
_NAMED = re.compile(  # a name and its sign, as in headers, addresses, command lines and objects
    r"(?P<before>[?&]?)(?<![\w-])(?P<name>[A-Za-z][\w-]*)(?P<quote>[\"']?)\s*[:=]\s*"
)
_VALUE = re.compile(
    r"\"[^\"]*\"|'[^']*'|\{[^{}]*\}|\[[^\[\]]*\]|(?:Basic|Bearer|Digest|Token)\s+[^\s\"',;]+|[^\s\"',;&#{}\[\]()]+"
)
_HINTS = frozenset(
    {"auth", "cookie", "cred", "env", "header", "jwt", "key", "pass", "pwd", "sas", "secret", "session", "sig", "token"}
)
_LOOK_HINTS = (
    "sk-",
    "pk-",
    "rk-",
    "hf_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "akia",
    "xox",
    "aiza",
    "eyj",
    "bearer",
    "://",
)
_HOME_HINTS = ("/home/", "/users/", "/root", ":\\users\\")
_PLAIN = frozenset({"authorization", "passphrase", "passwd", "password", "pwd"})  # say so even in running text
_HOME = re.compile(r"(?<![\w.-])(?:/(?:home|Users)/[^/\s\"']+|/root|[A-Za-z]:\\(?i:Users)\\[^\\\s\"']+)(?=[/\\]|$)")
_REMOVED = "[removed]"
_TOO_DEEP = "[nested too deeply]"
_DEEPEST = 100
_LONGEST_JSON = 100_000


def without_secrets(value: Any, *, depth: int = 0) -> Any:
    """Leave out of a JSON value what is nobody's business: keys and tokens, by name or by look, and whose home it is.

    Args:
        value: Of any kind. What is nested deeper than anything that people write is left out.
        depth: Of it, within a value that was given.

    Example:
        >>> without_secrets({"path": "/home/ann/models/m", "headers": {"x": 1}, "url": "https://ann:pw@host/v1?key=k"})
        {'path': '~/models/m', 'url': 'https://[removed]@host/v1?key=[removed]'}
    """
    if isinstance(value, str):
        return _text(value, depth)
    if not isinstance(value, (dict, list)):
        return value
    if depth > _DEEPEST:
        return _TOO_DEEP
    if isinstance(value, list):
        return [without_secrets(inner, depth=depth + 1) for inner in value]
    return {
        _text(str(name), depth): without_secrets(inner, depth=depth + 1)
        for name, inner in value.items()
        if not is_secret(str(name))
    }


def is_secret(name: str) -> bool:
    """Say whether what has this name is nobody's business.

    Example:
        >>> [is_secret(name) for name in ("clientSecret", "azure_key1", "tokens", "env", "x-api-key")]
        [True, True, True, True, True]
        >>> [is_secret(name) for name in ("tokenizer", "max_tokens", "add_bos_token", "signal", "key_file")]
        [False, False, False, False, False]
    """
    words = {word.lower() for word in _WORD.findall(name)}
    if words & _SECRET_WORDS or any(_JOINED.search(word) for word in words):
        return True
    return bool((words & _KEYS and not words & _NO_KEYS) or (words & _TOKENS and not words & _NO_TOKENS))


def _text(text: str, depth: int) -> str:
    if text[:1] in ("{", "[") and len(text) <= _LONGEST_JSON and depth <= _DEEPEST:
        text = _json_text(text, depth)
    folded = text.casefold()  # looking for a few letters first takes a tenth of the time, and most texts have none
    if any(hint in folded for hint in _HINTS):
        text = _without_values(text)
    if any(hint in folded for hint in _LOOK_HINTS):
        text = _LOOK.sub(_REMOVED, text)
    return _HOME.sub("~", text) if any(hint in folded for hint in _HOME_HINTS) else text


def _json_text(text: str, depth: int) -> str:
    """Leave secrets out of a text that is a JSON object or list; as it is where there are none."""
    try:
        value = json.loads(text)
        kept = without_secrets(value, depth=depth + 1)
    except (ValueError, RecursionError):
        return text
    return text if kept == value else json.dumps(kept, ensure_ascii=False)


def _without_values(text: str) -> str:
    """Leave out what stands after the name of a secret."""
    kept, at = [], 0
    for match in _NAMED.finditer(text):
        value = _VALUE.match(text, match.end()) if match.start() >= at and _tells(match) else None
        if value is not None:
            kept += [text[at : match.end()], _REMOVED]
            at = value.end()
    return "".join([*kept, text[at:]])


def _tells(match: re.Match[str]) -> bool:
    name = match["name"]
    # a lone word such as `key` is one of running text, or of a program, where nothing else says that it is a name
    telling = match["before"] or match["quote"] or len(_WORD.findall(name)) > 1 or name.lower() in _PLAIN
    return bool(telling) and is_secret(name)
