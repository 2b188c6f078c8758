"""The program in a response."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.answers.programs import extract_program

WHOLE = "def solution():\n    x = 2\n    return x * 3"

OTHER = "```python\ndef price(rate):\n    return 100 / rate\n\nclass Bond:\n    def value(self):\n        return 1\n```"


@pytest.mark.parametrize(
    "response",
    [
        WHOLE,
        f"Here it is:\n```python\n{WHOLE}\n```\nIt returns 6.",
        f"```\n{WHOLE}\n```",
        f"```Python\n{WHOLE}\nprint(solution())\n```",
        f"```python\n{WHOLE}",
        f"```python\nimport math\n\n{WHOLE}\n```",
        f"<think>maybe\n```python\ndef solution():\n    return 1\n```\n</think>\n```python\n{WHOLE}\n```",
        f"```python\ndef solution():\n    return 1\n```\nWait, that is wrong.\n```python\n{WHOLE}\n```",
        f"```python\n{WHOLE}\n```\nUse it like this:\n```python\nprint(solution())\n```",
        "    x = 2\n    return x * 3\n```",
        "x = 2\n    return x * 3\n```\nThis is the answer.",
        "x = 2\nreturn x * 3",
        "```python\nx = 2\nreturn x * 3\n```",
        "```python\ndef three():\n    return 3\n\nreturn 2 * three()\n```",
        f"The function follows.\n\n{WHOLE}\n```\nDone.",
        WHOLE.replace("\n", "\r\n"),
        f"{WHOLE}\n\nThis function multiplies. Therefore, my answer is [6].",
        f"{WHOLE}\n\nif True:\n    print(solution())",
        "    x = 2\n    return x * 3\n\nThe result is six.",
        "1. Code:\n   ```python\n   def solution():\n       x = 2\n       return x * 3\n   ```\n2. Done.",
    ],
)
def test_the_program_is_found_and_gives_six(response: str) -> None:
    program = extract_program(response)
    assert program is not None
    namespace: dict[str, object] = {}
    exec(program, namespace)  # noqa: S102 - the programs above
    assert namespace["solution"]() == 6  # type: ignore[operator]


@pytest.mark.parametrize(
    "response", ["", "I would divide 6 by 2.", "```json\n{}\n```", "<think>\n```python\ndef solution():", OTHER]
)
def test_no_program(response: str) -> None:
    assert extract_program(response) is None


def test_a_body_that_opens_with_a_block_keeps_its_shape() -> None:
    program = extract_program("for i in range(3):\n    if i:\n        return i\nreturn 9")
    assert program is not None
    ast.parse(program)


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    program = extract_program(text)
    assert program is None or isinstance(program, str)
