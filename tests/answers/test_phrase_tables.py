"""Every row of the tables of wordings is backed by a case."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from case_files import rows

from fin_tasks.answers.choices import read_choice
from fin_tasks.answers.phrases import Phrases
from fin_tasks.answers.quantities import read_quantity
from fin_tasks.answers.types import Extraction
from fin_tasks.answers.verdicts import read_verdict


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
    yield from Phrases("choices").sources["frames"]
    for table in ("frames", "idioms", "short_forms"):
        yield from Phrases("verdicts").sources[table]
    for table in ("result_verbs", "other_verbs"):
        for verb in Phrases("quantities").sources[table]:
            yield f"number behind {verb!r}"


@pytest.mark.parametrize("wording", [*wordings()])
def test_a_case_is_read_by_the_wording(wording: str, rules: list[str]) -> None:
    assert [rule for rule in rules if rule.endswith(f": {wording}")] != []


def announcements() -> Iterator[str]:
    for table in ("label", "sentence", "prose", "working"):
        yield from Phrases("announced").sources[table]


@pytest.mark.parametrize(
    "place", [*announcements(), "box", "table row", "first line", "last line"]
)
def test_a_case_is_read_at_the_place(place: str, rules: list[str]) -> None:
    assert [rule for rule in rules if rule.startswith(f"{place}: ")] != []


@pytest.mark.parametrize("row", Phrases("chinese").sources["wordings"].values())
def test_every_chinese_wording_changes_its_example(row: Mapping[str, str]) -> None:
    pattern = Phrases("chinese").pattern(row["pattern"])
    assert pattern.sub(row["replacement"], row["example"]) != row["example"]
