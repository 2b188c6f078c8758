"""Remove keys, tokens, passwords and names of home folders from settings."""

import json
import re
from typing import Any

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")  # of snake_case, kebab-case and camelCase
_SECRET = re.compile(
    r"o?auth|authtoken|authorization|authentication|bearer|cookies?|creds|credentials?|envs?|environ|environment"
    r"|headers?|jwt|pat|passphrase|passwd|passwords?|pwd|sas|secrets?|session|sig|signature|apikey"
)
_NO_KEY = re.compile(r"cache|dtype|file|heads|num|path|size")
_NO_TOKEN = re.compile(
    r"begin|bos|budget|cls|context|count|end|eos|image|limit|mask|max|min|num|pad|per|prefix|prompt|response|sep|skip"
    r"|special|start|stop|suffix|think|thinking|type|unk"
)
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|rk)-[\w-]{8,}|\bhf_\w{8,}|\bgh[pousr]_\w{8,}|\bAKIA[0-9A-Z]{12,}|\bxox[a-z]-[\w-]{8,}"
    r"|\bAIza[\w-]{20,}|\beyJ[\w-]{8,}\.[\w.-]+|(?<=://)[^/\s@]+(?=@)"
    r"|(?:authorization\W{1,4}(?:basic|bearer)\s+|\bBearer\s+(?=\S*\d))[^\s\"']{4,}",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?P<name>[A-Za-z][\w-]*)(?P<sign>[\"']?\s*[:=]\s*)(?P<value>\"[^\"]*\"|'[^']*'|\{[^}]*\}|[^\s\"',;?&#}\])]+)"
)
_HOME = re.compile(r"(?<![\w.-])(?:/(?:home|Users)/[^/\s\"']+|/root|[A-Za-z]:\\(?i:Users)\\[^\\\s\"']+)(?=[/\\]|$)")
_DEEPEST = 30


def without_secrets(value: Any, *, depth: int = 0) -> Any:
    """Remove keys, tokens and home folders from a JSON value, by the names of fields and by their look.

    Example:
        >>> without_secrets({"path": "/home/ann/models/m", "headers": {"x": 1}, "url": "https://ann:pw@host/v1?api_key=k"})
        {'path': '~/models/m', 'url': 'https://[removed]@host/v1?api_key=[removed]'}
    """
    if isinstance(value, str):
        if value[:1] in ("{", "[") and depth < _DEEPEST:
            try:
                found = json.loads(value)
                kept = without_secrets(found, depth=depth + 1)
                return value if kept == found else json.dumps(kept, ensure_ascii=False)
            except (ValueError, RecursionError):
                pass  # it only begins like JSON
        return _HOME.sub("~", _NAMED.sub(_hidden, _LOOKS_SECRET.sub("[removed]", value)))
    if isinstance(value, (dict, list)) and depth >= _DEEPEST:
        return "[nested too deeply]"
    if isinstance(value, list):
        return [without_secrets(one, depth=depth + 1) for one in value]
    if isinstance(value, dict):
        kept = {name: one for name, one in value.items() if not is_secret(str(name))}
        return {without_secrets(str(name)): without_secrets(one, depth=depth + 1) for name, one in kept.items()}
    return value


def _hidden(found: re.Match[str]) -> str:
    # running text has "Key: A" and "key=lambda"; a secret without quotes behind a colon holds a digit
    prose = found["value"] == "lambda" or (":" in found["sign"] and not re.search(r"[\d\"'{]", found["value"]))
    return found[0] if prose or not is_secret(found["name"]) else f"{found['name']}{found['sign']}[removed]"


def is_secret(name: str) -> bool:
    """Return whether a field of this name holds a secret.

    Example:
        >>> [is_secret(name) for name in ("clientSecret", "azure_key1", "token", "env", "x-api-key")]
        [True, True, True, True, True]
        >>> [is_secret(name) for name in ("tokenizer", "max_tokens", "add_bos_token", "signal", "key_file")]
        [False, False, False, False, False]
    """
    words = {word.lower() for word in _WORD.findall(name)}

    def has(pattern: re.Pattern[str]) -> bool:
        return any(map(pattern.fullmatch, words))

    key, token = words & {"key", "keys"}, words & {"token", "tokens"}
    return has(_SECRET) or bool(key and not has(_NO_KEY)) or bool(token and not has(_NO_TOKEN))
