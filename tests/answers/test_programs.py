"""The program in a response."""

import pytest

from fin_tasks.answers.programs import extract_program

WHOLE = "def solution():\n    x = 2\n    return x * 3"
OTHER = "```python\ndef price(rate):\n    return 100 / rate\n\nclass Bond:\n    def value(self):\n        return 1\n```"


@pytest.mark.parametrize(
    "response",
    [
        WHOLE.replace("\n", "\r\n"),
        f"Here it is:\n```Python\nimport math\n\n{WHOLE}\nprint(solution())\n```\nIt returns 6.",
        f"```python\n{WHOLE}",
        f"<think>maybe\n```python\ndef solution():\n    return 1\n```\n</think>\n```python\n{WHOLE}\n```",
        f"```python\ndef solution():\n    return 1\n```\nWait, no.\n```python\n{WHOLE}\n```\n```\nx()\n```",
        "    x = 2\n    return x * 3\n```",
        "x = 2\n    return x * 3\n```\nThis is the answer.",
        "x = 2\nreturn x * 3",
        "for i in range(7):\n    if i == 6:\n        return i\nreturn 9",
        "```python\ndef three():\n    return 3\n\nreturn 2 * three()\n```",
        f"The function follows.\n\n{WHOLE}\n```\nDone.",
        f"{WHOLE}\n\nThis function multiplies. Therefore, my answer is [6].",
        f"{WHOLE}\n\nif True:\n    print(solution())",
        "    x = 2\n    return x * 3\n\nThe result is six.",
        "1. Code:\n   ```python\n   def solution():\n       x = 2\n       return x * 3\n   ```\n2. Done.",
    ],
)
def test_the_program_is_found_and_gives_six(response: str) -> None:
    namespace: dict[str, object] = {}
    exec(extract_program(response) or "", namespace)  # noqa: S102 - the programs above
    assert namespace["solution"]() == 6  # type: ignore[operator]


@pytest.mark.parametrize("response", ["", "I would divide 6 by 2.", "```json\n{}\n```", f"<think>\n{WHOLE}", OTHER])
def test_no_program(response: str) -> None:
    assert extract_program(response) is None
