"""The two ways to split text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.errors import ConfigError
from fin_tasks.retrieval.tokens import STOP_WORDS, TOKENISERS, open_tokeniser


@given(st.text())
def test_white_space_changes_nothing(text: str) -> None:
    assert open_tokeniser("whitespace").split(text) == text.split()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Bonds, bond; BOND's bond.", ["bond"] * 4),
        ("the issuer\u2019s yields", ["issuer", "yield"]),
        ("issuers' options", ["issuer", "option"]),
        ("Black-Scholes (1973)", ["black", "schole", "1973"]),
        ("snake_case", ["snake", "case"]),
        ("What is it to be? It's here, don't!", []),
        ("the 'forward' rate", ["forward", "rate"]),
        ("risk-free rate of 2.5%", ["risk", "free", "rate", "2", "5"]),
        ("Itô calculus", ["itô", "calculus"]),
        ("' '' -", []),
    ],
)
def test_english(text: str, tokens: list[str]) -> None:
    assert open_tokeniser("english").split(text) == tokens


@given(st.text())
def test_english_gives_words_for_any_text(text: str) -> None:
    tokens = open_tokeniser("english").split(text)
    assert all(token and not any(c.isspace() for c in token) for token in tokens)


@given(st.text(alphabet=st.characters(codec="ascii")))
def test_english_ignores_case(text: str) -> None:
    split = open_tokeniser("english").split
    assert split(text.upper()) == split(text.lower()) == split(text)


def test_no_stop_word_is_left() -> None:
    # each is one token, or it could not be told from others and would stay in
    assert open_tokeniser("english").split(" ".join(sorted(STOP_WORDS))) == []


def test_facts_tell_them_apart() -> None:
    names = [open_tokeniser(name).facts["name"] for name in TOKENISERS]
    assert names == list(TOKENISERS) == ["whitespace", "english"]
    assert open_tokeniser("english").facts["stemmer"].startswith("snowball english ")


def test_unknown_name() -> None:
    with pytest.raises(ConfigError, match="tokeniser: expected one of whitespace, english, got 'porter'"):
        open_tokeniser("porter")
