"""The templates that all benchmarks share, and the reader of texts in the authors' code."""

import ast
from pathlib import Path

import pytest

from fin_tasks.benchmarks.authors_code import assigned_texts
from fin_tasks.benchmarks.request import Prompts, read_prompts
from fin_tasks.errors import DataError

PROMPTS = Prompts(
    system="Say {question}.",
    user=r"{context}Q: {question} \frac{1}{2}",
    cue="A{head}:",
    context="See {context}. ",
)


def test_fields_are_filled_once_and_other_braces_stay() -> None:
    messages = PROMPTS.fill(question="{context}?", context="{question}", head="1")
    assert messages == {
        "system": "Say {question}.",
        "prompt": r"See {question}. Q: {context}? \frac{1}{2}",
        "cue": "A1:",
    }


def test_without_a_context_nothing_stands_in_its_place() -> None:
    assert PROMPTS.fill(question="5?", head="")["prompt"] == r"Q: 5? \frac{1}{2}"


def test_a_file_of_templates_by_mode(tmp_path: Path) -> None:
    file = tmp_path / "house.yaml"
    file.write_text("cot: {system: S, user: U}\npot: {system: P, user: Q, cue: C}\n")
    assert read_prompts(file, "pot") == Prompts(system="P", user="Q", cue="C")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("text = 'a' 'b'", "ab"),
        ("text = 'a' + 'b' + 'c'", "abc"),
        ("text = f'a' 'b'", "ab"),
        ("text = ''\ntext += 'a'\ntext = 'b'", "a"),
        ("text = other()\nif ready:\n    text = 'a'", "a"),
        ("text = f'a{name}'", None),
        ("text = 'a' + name", None),
        ("text = 3", None),
        ("other = 'a'", None),
    ],
)
def test_texts_that_the_authors_assign(code: str, text: str | None) -> None:
    path = Path("authors.py")
    if text is None:
        with pytest.raises(DataError, match=r"authors\.py: expected a text in text"):
            assigned_texts(path, ast.parse(code), ["text"])
    else:
        assert assigned_texts(path, ast.parse(code), ["text"])["text"] == text
