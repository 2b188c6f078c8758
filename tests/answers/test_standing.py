"""The lines at the ends of a response."""

import pytest

from fin_tasks.answers.standing import standing_lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("---", []),
        ("**5**", [("5", "")]),
        ("```\n5\n```", [("5", "")]),
        ("one\n\n> two\n***", [("two", "one"), ("one", "two")]),
        ("## one\ntwo\n- three", [("three", "two"), ("one", "two")]),
        ("a\n- 5", [("- 5", "a"), ("a", "- 5")]),  # a minus as well as a bullet
        ("a\n" + "x" * 401, [("", "a"), ("a", "")]),
    ],
)
def test_lines_at_both_ends(text: str, lines: list[tuple[str, str]]) -> None:
    assert standing_lines(text) == lines


def test_a_long_response_is_read_at_its_ends_only() -> None:
    assert standing_lines("first\n" + "middle\n" * 5000 + "last") == [("last", "middle"), ("first", "middle")]
