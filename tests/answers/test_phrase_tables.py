"""Every row of the tables of wordings is backed by a case."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from case_files import rows

from fin_tasks.answers.phrases.announced import ANNOUNCEMENTS
from fin_tasks.answers.phrases.choices import FRAMES as CHOICE_FRAMES
from fin_tasks.answers.phrases.quantities import OTHER_VERBS, RESULT_VERBS
from fin_tasks.answers.phrases.verdicts import FRAMES as VERDICT_FRAMES
from fin_tasks.answers.phrases.verdicts import IDIOMS, SHORT_FORMS
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


def verb_rules(verbs: Mapping[str, Any]) -> list[str]:
    return [f"number behind {name!r}" for name in verbs]


@pytest.mark.parametrize(
    "wording",
    [
        *CHOICE_FRAMES,
        *VERDICT_FRAMES,
        *IDIOMS,
        *SHORT_FORMS,
        *verb_rules(RESULT_VERBS),
        *verb_rules(OTHER_VERBS),
    ],
)
def test_a_case_is_read_by_the_wording(wording: str, rules: list[str]) -> None:
    assert [rule for rule in rules if rule.endswith(f": {wording}")] != []


def announcements() -> Iterator[str]:
    for table in ANNOUNCEMENTS.values():
        yield from table


@pytest.mark.parametrize("place", [*announcements(), "box", "table row", "first line", "last line"])
def test_a_case_is_read_at_the_place(place: str, rules: list[str]) -> None:
    assert [rule for rule in rules if rule.startswith(f"{place}: ")] != []


def test_every_translation_has_an_example() -> None:
    for language in languages():
        for phrase in language.phrases:
            assert phrase.pattern.sub(phrase.english, phrase.example) != phrase.example
