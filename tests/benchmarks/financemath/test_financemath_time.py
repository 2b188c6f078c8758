"""No reader of FinanceMath takes long over a text that repeats itself: models get stuck in loops."""

import time
from collections.abc import Callable

import pytest

from fin_tasks.answers import programs as any_programs
from fin_tasks.benchmarks.financemath.extraction import read_answer
from fin_tasks.benchmarks.financemath.judge import judge_request, parse_verdict
from fin_tasks.benchmarks.financemath.programs import extract_program

SIZE = 100_000
SECONDS = 20.0  # a quarter of a second alone; minutes, where time grows with the square of the length
TOKENS = [
    "a:\n",
    "- a:\n",
    "a is: ",
    *(
        "\n",
        " ",
        "\t",
        "*",
        "9",
        "(",
        ")",
        "[",
        "]",
        "{",
        "=",
        "≈",
        "$",
        "¤",
        "<",
        "#",
        "-",
        "_",
        "\\",
        "`",
        "|",
        "/",
        "^",
        ":",
    ),
    *(
        "```",
        "```python",
        "```\n",
        "\n\n",
        " \n",
        "is ",
        "a ",
        "a",
        "1 ",
        "1,",
        "1.",
        "\n1",
        "\n1. ",
        "(5 ",
        "1/",
        "= 1 ",
        "| 1 ",
    ),
    *(
        "\n- 5",
        "\na = 5",
        "$$",
        "\\[",
        "\\\\",
        "&",
        "\\boxed{",
        "\\frac{",
        "<think>",
        "</think>",
        ".",
        "!\n",
        ", ",
        "and ",
    ),
    *(
        "Therefore, the answer is ",
        "the answer is 5 and ",
        "Answer:\n",
        "Therefore, ",
        "So ",
        "there are 3 x. ",
        "where ",
        "is:\n",
    ),
    *(
        "between ",
        "from ",
        "in 2019 ",
        "after 5 years, ",
        "S&P 500 ",
        "Year 1 ",
        "A ",
        "twelve ",
        "hundred-",
        "one and ",
        "cannot ",
    ),
]
STARTS = ("Therefore, the answer is ", "Therefore, the value after 3 years is:\n", "So ")
READERS: dict[str, Callable[[str], object]] = {
    "read_answer": read_answer,
    "judge_request": judge_request,
    "parse_verdict": lambda text: parse_verdict('{"answer": "5"}', text),
    "verdict of a strange reply": lambda text: parse_verdict(text, "5"),
    "extract_program": extract_program,
    "robust extract_program": any_programs.extract_program,
}


@pytest.mark.parametrize("token", TOKENS, ids=repr)
def test_repeated_tokens(token: str) -> None:
    text = (token * (SIZE // len(token) + 1))[:SIZE]
    runs = [(name, read, text) for name, read in READERS.items()]
    runs += [("read_answer", read_answer, f"{start}{text}x") for start in STARTS]
    slow = {}
    for name, read, form in runs:
        begin = time.thread_time()
        read(form)
        took = time.thread_time() - begin
        if took > SECONDS:
            slow[name, form[:30]] = round(took, 1)
    assert not slow
