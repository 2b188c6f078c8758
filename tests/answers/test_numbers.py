"""Numbers in every way people write them."""

import math

from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.notation import plain
from fin_tasks.answers.numbers import find_numbers


@given(cents=st.integers(1, 10**14))
def test_every_grouping_comes_back(cents: int) -> None:
    english = f"{cents / 100:,.2f}"
    swapped = english.replace(",", "_").replace(".", ",").replace("_", ".")
    for text in (english, english.replace(",", "\u202f"), english.replace(",", "{,}"), swapped):
        assert [found.number.value for found in find_numbers(plain(text))] == [float(f"{cents / 100:.2f}")]


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    for found in find_numbers(plain(text)):
        assert all(math.isfinite(reading) for reading in found.number.readings)
