"""Every row of the tables of wordings is backed by a case."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from case_files import rows

from fin_tasks.answers.phrases import read_yaml
from fin_tasks.answers.read import read_choice, read_quantity, read_verdict
from fin_tasks.answers.translate import languages
from fin_tasks.answers.types import Extraction


def extraction_of(case: Mapping[str, Any]) -> Extraction[Any]:
    if case["task"] == "bool":
        return read_verdict(case["response"])
    if case["task"] == "mcq":
        return read_choice(case["response"], case["choice"].split("\n"))
    return read_quantity(case["response"])


@pytest.fixture(scope="module")
def rules() -> list[str]:
    return [extraction_of(case).rule for case in rows("reader")]


def wordings() -> Iterator[str]:
    yield from read_yaml("choices")["frames"]
    for table in ("frames", "idioms", "short_forms"):
        yield from read_yaml("verdicts")[table]
    for table in ("result_verbs", "other_verbs"):
        for verb in read_yaml("quantities")[table]:
            yield f"number behind {verb!r}"


@pytest.mark.parametrize("wording", [*wordings()])
def test_a_case_is_read_by_the_wording(wording: str, rules: list[str]) -> None:
    assert [rule for rule in rules if rule.endswith(f": {wording}")] != []


def announcements() -> Iterator[str]:
    for table in ("label", "prose"):
        yield from read_yaml("announced")[table]


@pytest.mark.parametrize(
    "place", [*announcements(), "box", "table row", "first line", "last line"]
)
def test_a_case_is_read_at_the_place(place: str, rules: list[str]) -> None:
    assert [rule for rule in rules if rule.startswith(f"{place}: ")] != []


def test_every_translation_has_an_example() -> None:
    for language in languages():
        for phrase in language.phrases:
            assert phrase.pattern.sub(phrase.english, phrase.example) != phrase.example
