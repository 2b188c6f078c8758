"""Texts that spreadsheet programs would run as formulas."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.data.tables import quote_formulas


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("=1+1", "'=1+1"),
        (" =1+1", "' =1+1"),
        ("\r=1+1", "'\r'=1+1"),
        ("\tHYPERLINK(A1)", "'\tHYPERLINK(A1)"),
        ("a\r=1+1", "a\r'=1+1"),
        ("a\n=1+1", "a\n'=1+1"),
        ("\t=1+1", "'\t'=1+1"),
        ("\u3000\uff1d1+1", "'\u3000\uff1d1+1"),
        ("\uff20SUM(A1)", "'\uff20SUM(A1)"),
        ("\uff0d1+1", "'\uff0d1+1"),
        ("a;=1+1", "a;'=1+1"),
        ("a; +cmd|' /C calc'!A0", "a;' +cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
    ],
)
def test_formulas_are_quoted(text: str, quoted: str) -> None:
    assert quote_formulas(text) == quoted


@pytest.mark.parametrize(
    "text", ["", "-1.5", "+1,000", "a=b", "1;-2", "a - b", "x; y", "-3 "]
)
def test_other_texts_stay(text: str) -> None:
    assert quote_formulas(text) == text


@given(st.text(alphabet="=+-@;\t\r\n \uff1d1a'"))
def test_nothing_is_lost(text: str) -> None:
    quoted = quote_formulas(text)
    assert quoted.replace("'", "") == text.replace("'", "")
    for part in (
        quoted.replace("\t", ";").replace("\r", ";").replace("\n", ";").split(";")
    ):
        assert not part.strip().startswith(("=", "@", "\uff1d"))
