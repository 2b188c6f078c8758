"""Secrets stay out of reports, and all else stays in."""

import json
from typing import Any

import pytest

from fin_tasks.report.redact import without_secrets

HIDDEN = "hidden7value"

NAMES = """
api_key API-KEY x-api-key headers extra_headers env environ hf_token use_auth_token password api_keys
aws_secret_access_key credentials_json accessToken clientSecret passphrase cookie azure_key1 signature bearer_token
APIKey privateKey authorization
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_secrets_are_known_by_their_names(name: str) -> None:
    for value in (HIDDEN, [HIDDEN], {"OTHER": HIDDEN}):
        assert HIDDEN not in json.dumps(without_secrets({"model": {name: value, "dtype": "float"}}))


KEPT: list[dict[str, Any]] = [
    *(
        {name: 5}
        for name in (
            "max_tokens",
            "max_gen_toks",
            "stop_token_ids",
            "num_key_value_heads",
            "image_token_limit",
        )
    ),
    {"add_bos_token": True},
    *(
        {name: "x"}
        for name in (
            "tokenizer",
            "signal",
            "authority",
            "kv_cache_dtype",
            "sha256",
            "judge",
            "pretrained",
        )
    ),
]


@pytest.mark.parametrize("setting", KEPT)
def test_what_decides_the_answers_is_kept(setting: dict[str, Any]) -> None:
    assert without_secrets(setting) == setting


TEXTS = [
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


@pytest.mark.parametrize("text", TEXTS)
def test_secrets_are_known_within_texts(text: str) -> None:
    assert HIDDEN not in json.dumps(without_secrets({"note": [text]}))


def test_nothing_is_nested_too_deeply_to_be_looked_at() -> None:
    deep: Any = HIDDEN
    for _ in range(50_000):
        deep = {"a": [deep]}
    assert HIDDEN not in json.dumps(without_secrets(deep))


@pytest.mark.parametrize(
    "home", ["/home/ann/m", "/Users/ann/m", "c:\\users\\ann\\m", "see /home/ann/x"]
)
def test_names_of_home_folders_are_left_out(home: str) -> None:
    assert "ann" not in without_secrets(home)
