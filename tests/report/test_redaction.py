"""What is nobody's business stays out of reports, and all else stays in."""

import json
from typing import Any

import pytest

from fin_tasks.report.redact import is_secret, without_secrets

HIDDEN = "hidden7value"

NAMES = """
api_key apikey API-KEY openai_api_key x-api-key header headers extra_headers default_headers env environ hf_token
token use_auth_token password tokens keys api_keys secret_key aws_secret_access_key subscription-key authtoken
credentials_json apiKey accessToken clientSecret passphrase cookie azure_key1 api_token_v2 signature bearer_token
auth_header APIKey privateKey OPENAI_API_KEYS
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_secrets_are_known_by_their_names(name: str) -> None:
    assert is_secret(name)
    for value in (HIDDEN, [HIDDEN], {"OTHER": HIDDEN}):
        assert HIDDEN not in json.dumps(without_secrets({"model": {name: value, "dtype": "float"}}))


KEPT = """
tokenizer max_tokens max_gen_toks add_bos_token think_end_token stop_token_ids prefix_token_id signal authority
key_file kv_cache_dtype num_key_value_heads rows_with_more_terms tokeniser image_token_limit monkey sha256 judge
pretrained revision
"""


@pytest.mark.parametrize("name", KEPT.split())
def test_what_decides_the_answers_is_kept(name: str) -> None:
    assert without_secrets({name: "5"}) == {name: "5"}


TEXTS = [
    f"ghp_{HIDDEN}",
    f"AKIA{HIDDEN}ABCDEF",
    f"https://ANN:{HIDDEN}@host",
    f"http://h/v1?api_key={HIDDEN}&x=1",
    f"https://host/v1?key={HIDDEN}",
    f"https://a.blob/x?version=3&sig={HIDDEN}",
    f"https://ann:{HIDDEN}@host/v1",
    f"https://{HIDDEN}@host",
    f"Authorization: Basic {HIDDEN}",
    f"Bearer {HIDDEN}",
    f"-H 'api-key: {HIDDEN}'",
    f'curl -H "Authorization: Bearer {HIDDEN}" host',
    json.dumps({"api_key": HIDDEN}),
    json.dumps({"headers": {"x": {"y": HIDDEN}}}),
    f"{{'headers': {{'A': '{HIDDEN}'}}}}",
    f"{{'token': '{HIDDEN}', 'a': 1}}",
    f"OPENAI_API_KEY={HIDDEN}",
    f"password: {HIDDEN}",
    "hf_" + HIDDEN,
    "sk-" + HIDDEN,
]


@pytest.mark.parametrize("text", TEXTS)
def test_secrets_are_known_within_texts(text: str) -> None:
    assert HIDDEN not in str(without_secrets(text))
    assert HIDDEN not in json.dumps(without_secrets({"note": [text]}))


PROSE = [
    "sorted(rows, key=lambda row: row.date)",
    "Bearer bonds and basic earnings per share",
    "Key: A. Token: B; Victoria's Secret: net sales",
    "see https://finance.example/quote?p=AAPL&interval=1d",
    '{"answer": "x", "score": 1}',
    "results_x.json, line 1, doc.id: expected a text, got ['r']",
    "judge.max_tokens: expected a whole number",
]


@pytest.mark.parametrize("text", PROSE)
def test_running_text_and_programs_stay_as_they_are(text: str) -> None:
    assert without_secrets(text) == text


def test_nothing_is_nested_too_deeply_to_be_looked_at() -> None:
    deep: Any = HIDDEN
    for _ in range(50_000):
        deep = {"a": [deep]}
    assert HIDDEN not in json.dumps(without_secrets(deep))


@pytest.mark.parametrize(
    "home", ["/home/ann/m", "/Users/ann/m", "C:\\Users\\ann\\m", "c:\\users\\ann\\m", "see /home/ann/x"]
)
def test_whose_home_it_is_is_left_out(home: str) -> None:
    assert "ann" not in without_secrets(home)
    assert "~" in without_secrets(home)
