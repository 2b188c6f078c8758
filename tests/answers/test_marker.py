"""Where a response commits itself."""

import pytest

from fin_tasks.answers.marker import committed_text


@pytest.mark.parametrize(
    ("text", "behind"),
    [
        ("Therefore, my answer is 5.", " 5."),
        ("therefore my answer is 5.", " 5."),
        ("Therefore, my final answer is: 5.", ": 5."),
        ("**Therefore, my answer is** 5", "** 5"),
        ("Therefore,\nmy answer is 5", " 5"),
        ("Therefore, my answer would be 5", " 5"),
        ("Therefore, my answer is 4. Therefore, my answer is 5", " 5"),
        ("Therefore, my answer is 5. Therefore, my answer is", " 5. Therefore, my answer is"),
        ("Therefore, my answer is 5. So the answer is 6.", " 5. So the answer is 6."),
        ("I end with 'Therefore, my answer is'. The answer is 6.", " 6."),
        ("The correct option is B", " B"),
        ("The call option is worth 3", None),
        ("Final answer: 5", " 5"),
        ("**Answer:** 5", "** 5"),
        ("The answer to the question is 5", " 5"),
        ("Therefore, my answer is 5\nQuestion: 6? Therefore, my answer is 7", " 5"),
        ("Therefore, my answer is 5\n\n**Question 2:** Therefore, my answer is 7", " 5"),
        ("Statement: x.\nTherefore, my answer is 5", " 5"),
        ("Therefore, my answer is\n\nQuestion: 6?", None),
        ("Answer: 5\nQuestion: 6?\nAnswer: 7", " 5"),
        ("No marker at all", None),
        (
            "We divide.\n\nTherefore, the ratio is about 2.5.\n\nLet me know!",
            " the ratio is about 2.5.\n\nLet me know!",
        ),
        ("6 / 3 = 2. **Thus**, it is 2.", " it is 2."),
        ("Therefore, step one gives 2.\n\nStep two.\n\nNow 3 + (", None),
        ("So the ratio is 2.\nQuestion: 6?\nSo it is 7.", " the ratio is 2."),
        ("Work.\n\n### Final Answer\n\n5", "\n\n5"),
        ("**Answer**\n5\n\nBecause it is.", "\n5\n\nBecause it is."),
        ("**Answer**\n\nTo begin with, we take 5", None),
        ("### Answer\n\n1. We take 5", None),
        ("An answer\n5", None),
        ("Verdict: 5", " 5"),
        ("Answer - 5", "5"),
        ("an answer - 5 of them", None),
        ('{"answer": 5}', " 5}"),
        ("Therefore, my answer is", None),
        ("Therefore, my answer is **[ ]**.", None),
        ("", None),
    ],
)
def test_committed_text(text: str, behind: str | None) -> None:
    assert committed_text(text) == behind
