import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.benchmarks.bizbench.contexts import MARK, cut
from fin_tasks.errors import ConfigError


@given(st.text(st.sampled_from("ab \n|")), st.integers(1, 40))
def test_what_is_shown_and_what_is_dropped_make_the_text(text: str, limit: int) -> None:
    found = cut(text, limit)
    if len(text) <= limit:
        assert (found.text, found.dropped) == (text, 0)
        return
    kept = text[: len(text) - found.dropped]
    assert 0 < len(kept) <= limit
    assert found.text in (kept + MARK.format(dropped=found.dropped), kept + "\n" + MARK.format(dropped=found.dropped))


def test_lines_stay_whole_then_words() -> None:
    table = "| a | 1 |\n| b | 2 |\n| c | 3 |"
    assert cut(table, 25).text.startswith("| a | 1 |\n| b | 2 |\n[... 9 characters")
    assert cut(table, 19).text.startswith("| a | 1 |\n| b | 2 |\n[... 10 characters"), "a line may end at the limit"
    assert cut("one\nseven and eight words", 20).text.startswith("one\nseven and eight \n[... 5 ")
    assert cut("x" * 30, 20).dropped == 10


def test_no_limit_and_no_sense() -> None:
    assert cut("a" * 10**6, None).dropped == 0
    assert cut("", 1).text == ""
    with pytest.raises(ConfigError, match="at least 1 character"):
        cut("ab", 0)
