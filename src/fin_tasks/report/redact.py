"""Remove keys, tokens, passwords and names of home folders from settings."""

import math
import re
from typing import Any

_FIELD_NAME = (
    r"(?:key(?!word)|token(?!i[sz])|secret|passw|passphrase|(?<![a-z])pass(?![a-z@])|pwd|credential"
    r"|cookie|header|auth(?!ority|ors?\b)|bearer|environ|\benv\b|\bsig\b|signature)"
)
# A short number or a switch is no secret, whatever its name is.
_PLAIN_VALUE = r"(?:[\d.]{1,9}|true|false|none|null)"
_QUOTED = r"\"[^\"]*\"|'[^']*'|\{[^}]*\}|\[[^\]]*\]"
_SECRET_FIELD = re.compile(_FIELD_NAME, re.IGNORECASE)
_SWITCH = re.compile(_PLAIN_VALUE, re.IGNORECASE)
_PAIR = re.compile(
    rf"({_FIELD_NAME}[\w-]{{0,40}}[\"']?\s*[:=]\s*)(?!{_PLAIN_VALUE}\b)"
    rf"(?:{_QUOTED}|[^\s\"',;?&#}}\])]+)",
    re.IGNORECASE,
)
# The formats of detect-secrets' plugins (github.com/Yelp/detect-secrets), and of providers of models.
_FORMATS = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*-----|$)",
    r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*",  # JSON web token
    r"\b(?:sk|pk|rk)[-_][\w-]{8,}",  # OpenAI, Anthropic, Stripe
    r"\b(?:hf|gsk|r8|npm|dop_v1|github_pat|gh[pousr])_\w{8,}",
    r"\b(?:glpat|gldt|glrt|nvapi|xai|pplx|pypi|xox[a-z]|xapp|sq0[a-z]{3}|SG|dckr_pat)[-.][\w.-]{8,}",
    r"\b(?:AKIA|ASIA|ABIA|ACCA|AIza|AKC)[\w-]{8,}",  # AWS, Google, Artifactory
    r"\b(?:AC|SK)[0-9a-f]{32}\b",  # Twilio
    r"\b[0-9a-f]{32}-us\d{1,2}\b",  # Mailchimp
    r"\b\d{8,10}:[\w-]{35}\b",  # Telegram
    r"\b[MN][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}",  # Discord
    r"(?<=hooks\.slack\.com/services/)[\w/]+",
    r"(?<=://)[^/\s@]+(?=@)",  # user and password of an address
    r"\b(?:basic|bearer)\s+(?=\S*\d)[^\s\"']{4,}",
)
_SECRET = re.compile("|".join(_FORMATS), re.IGNORECASE | re.DOTALL)
_HOME = re.compile(
    r"(?<![\w.-])(?:/(?:mnt|media|export|net|nfs|data|Volumes)(?:/[\w.-]+){0,3})?"
    r"(?:/(?:home|[Uu]sers)/[^/\s\"',;]+|/root)(?=[/\\\s\"',;]|$)"
    r"|(?<![\w.-])[A-Za-z]:\\(?i:Users)\\[^\\\s\"']+(?=[/\\]|$)"
)
_MAX_DEPTH = 30
_MAX_INTEGER = 2**53
"""The largest integer that every reader of JSON keeps."""


def without_secrets(value: Any, *, depth: int = 0) -> Any:
    """Remove secrets and home folders from a JSON value, by the names of fields and by their look.

    The result can be written as JSON: NaN, infinity and huge integers become texts.
    """
    if isinstance(value, str):
        return _clean_text(value)
    if isinstance(value, dict | list) and depth >= _MAX_DEPTH:
        return "[nested too deeply]"
    if isinstance(value, list):
        return [without_secrets(item, depth=depth + 1) for item in value]
    if isinstance(value, dict):
        clean = {}
        for name, inner in value.items():
            if not _SECRET_FIELD.search(str(name)) or _SWITCH.fullmatch(str(inner)):
                clean[_clean_text(str(name))] = without_secrets(inner, depth=depth + 1)
        return clean
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and abs(value) > _MAX_INTEGER:
        return hex(value)  # decimal digits of huge numbers are refused
    return value


def printable(text: str) -> str:
    """Escape unpaired surrogates, which UTF-8 cannot encode."""
    if text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


def _clean_text(text: str) -> str:
    text = _SECRET.sub("[removed]", printable(text))
    text = _PAIR.sub(r"\1[removed]", text)
    return _HOME.sub("~", text)
