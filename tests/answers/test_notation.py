"""LaTeX, Markdown and typography become plain text."""
# ruff: noqa: RUF001  (the signs that are to be read)

import pytest

from fin_tasks.answers.notation import boxed, plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("–5 −5 —5", "-5 -5 -5"),
        ("1\u202f234\u00a0567", "1 234 567"),
        (r"\$5 and \%", "¤5 and %"),
        ("US$5, HK$6, €7, 8 EUR", "¤5, ¤6, ¤7, 8 ¤"),
        ("EURO USDT", "EURO USDT"),
        (r"1{,}234\,567", "1,234 567"),
        (r"\frac{1}{2}", "1/2"),
        (r"\text{B}", "B"),
        (r"$\boxed{A}$", "¤ A¤"),
        (r"\mathbf{5}", "5"),
        ("**5** `6` __7__", "5 6 7"),
        ("10**6", "10^6"),
        ("**10**", "10"),
        ("10⁻⁵", "10^-5"),
        ("５％", "5%"),
        ("2½", "2 1/2"),
        ("<b>5</b>", "5"),
        ("a < b > c", "a < b > c"),
        (r"\[ x \]", "x"),
        ("[x]", "[x]"),
        ("\\", "\\"),
    ],
)
def test_plain(text: str, expected: str) -> None:
    assert plain(text).strip() == expected


@pytest.mark.parametrize(
    ("text", "held"),
    [
        (r"\boxed{5}", "5"),
        (r"\boxed{4} \boxed{5}", "5"),
        (r"\boxed{\text{a {b} c}} d", r"\text{a {b} c}"),
        (r"\fbox{5}", "5"),
        (r"\boxed{5", "5"),
        ("no box", None),
    ],
)
def test_boxed(text: str, held: str | None) -> None:
    assert boxed(text) == held
