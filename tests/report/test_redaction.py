"""Secrets stay out of reports, and all else stays in."""

import json
from typing import Any

from fin_tasks.report.redact import without_secrets

HIDDEN = "hidden7value"

NAMES = """
api_key API-KEY x-api-key headers extra_headers env environ hf_token use_auth_token password api_keys
aws_secret_access_key credentials_json accessToken clientSecret passphrase cookie azure_key1 signature bearer_token
APIKey privateKey authorization
"""


def test_secrets_are_known_by_their_names() -> None:
    for name in NAMES.split():
        for value in (HIDDEN, [HIDDEN], {"OTHER": HIDDEN}):
            shown = without_secrets({"model": {name: value, "dtype": "float"}})
            assert HIDDEN not in json.dumps(shown), name


NUMBERS = """
max_tokens max_gen_toks stop_token_ids num_key_value_heads image_token_limit add_bos_token
"""
WORDS = "tokenizer signal authority kv_cache_dtype sha256 judge pretrained"
KEPT: list[dict[str, Any]] = [
    *({name: 5} for name in NUMBERS.split()),
    *({name: "x"} for name in WORDS.split()),
]


def test_what_decides_the_answers_is_kept() -> None:
    for setting in KEPT:
        assert without_secrets(setting) == setting


# A made-up secret of each kind; joined from parts, as scanners of repositories know them, too.
KINDS = {
    "Anthropic": "sk-" + "ant-api03-" + HIDDEN,
    "Artifactory": "AKC" + "p8" + HIDDEN,
    "AWS": "ASIA" + "IOSFODNN7" + HIDDEN,
    "Azure storage": "AccountKey=" + HIDDEN + "==",
    "Discord": "MTIzNDU2Nzg5MDEyMzQ1Njc4" + ".Gabcde." + HIDDEN + "x" * 15,
    "GitHub, fine-grained": "github_" + "pat_" + HIDDEN,
    "GitLab": "glpat-" + HIDDEN,
    "Google": "AIza" + "SyA" + HIDDEN,
    "Groq": "gsk_" + HIDDEN,
    "JSON web token": "eyJhbGciOiJI" + ".eyJzdWIiOiIx." + HIDDEN,
    "Mailchimp": "0123456789abcdef" * 2 + "-us12",
    "npm": "npm_" + HIDDEN,
    "NVIDIA": "nvapi-" + HIDDEN,
    "OpenAI": "sk-" + "proj-" + HIDDEN,
    "Perplexity": "pplx-" + HIDDEN,
    "private key": "-----BEGIN RSA PRIVATE "
    + f"KEY-----\n{HIDDEN}\n-----END RSA PRIVATE KEY-----",
    "PyPI": "pypi-" + "AgEIcHlwaS5vcmc" + HIDDEN,
    "Replicate": "r8_" + HIDDEN,
    "SendGrid": "SG." + "ngeVfQFYQlKU0ufo8x5d1A." + HIDDEN,
    "Slack": "xoxb-" + "12345678-" + HIDDEN,
    "Slack, app": "xapp-" + "1-A012345-" + HIDDEN,
    "Slack, hook": "https://hooks.slack.com/" + "services/T000/B000/" + HIDDEN,
    "Square": "sq0csp-" + HIDDEN,
    "Stripe": "sk_" + "live_" + HIDDEN,
    "Telegram": "110201543:" + "AAHdqTcvCH1vGWJxfSeofSAs0K5PALD" + "hidd",
    "Twilio": "SK" + "0123456789abcdef" * 2,
    "xAI": "xai-" + HIDDEN,
}


def test_secrets_are_known_by_their_formats() -> None:
    for kind, secret in KINDS.items():
        shown = without_secrets(f"pretrained=x,note {secret}")
        assert HIDDEN not in shown and secret not in shown, kind
        assert shown.startswith("pretrained=x,note "), kind


def test_settings_can_be_written_as_json() -> None:
    odd = {"nan": float("nan"), "huge": 10**400, "big": 2**60, "half": "\ud800", "n": 2}
    shown = json.loads(json.dumps(without_secrets(odd), allow_nan=False))
    assert (shown["n"], shown["half"], shown["big"]) == (2, "\\ud800", hex(2**60))


TEXTS = [
    f"pass={HIDDEN}",
    f"db_pass: {HIDDEN}",
    f"ghp_{HIDDEN}",
    f"AKIA{HIDDEN}ABCDEF",
    f"http://h/v1?api_key={HIDDEN}&x=1",
    f"https://a.blob/x?version=3&sig={HIDDEN}",
    f"https://ann:{HIDDEN}@host/v1",
    f"Authorization: Basic {HIDDEN}",
    f"Bearer {HIDDEN}",
    f"-H 'api-key: {HIDDEN}'",
    json.dumps({"api_key": HIDDEN}),
    f"{{'headers': {{'A': '{HIDDEN}'}}}}",
    f"model=x,OPENAI_API_KEY={HIDDEN}",
    f"password: {HIDDEN}",
    "hf_" + HIDDEN,
    "sk-" + HIDDEN,
]


def test_secrets_are_known_within_texts() -> None:
    for text in TEXTS:
        assert HIDDEN not in json.dumps(without_secrets({"note": [text]})), text


def test_nothing_is_nested_too_deeply_to_be_looked_at() -> None:
    deep: Any = HIDDEN
    for _ in range(50_000):
        deep = {"a": [deep]}
    assert HIDDEN not in json.dumps(without_secrets(deep))


HOMES = [
    "/home/ann/m",
    "/Users/ann/m",
    "c:\\users\\ann\\m",
    "see /home/ann/x",
    "/mnt/home/ann/m",
    "/mnt/c/Users/ann/m",
    "/mnt/data/users/ann",
    "file:///home/ann/m",
]


def test_names_of_home_folders_are_left_out() -> None:
    for home in HOMES:
        assert "ann" not in without_secrets(home), home
