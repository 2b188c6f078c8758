"""Every row of the tables of wordings is backed by a case."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from case_files import rows

import fin_tasks
from fin_tasks.answers.choices import read_choice
from fin_tasks.answers.phrases import Phrases
from fin_tasks.answers.quantities import read_quantity
from fin_tasks.answers.read import _AFTER, _BEFORE
from fin_tasks.answers.text import CURRENCY, find_near, plain
from fin_tasks.answers.types import Extraction
from fin_tasks.answers.verdicts import read_verdict

PACKAGE = Path(fin_tasks.__file__).parent
CHINESE = Phrases("chinese")
REASONING = Phrases("reasoning")
ANNOUNCED = Phrases(
    "announced",
    tables=["marker", "label", "sentence", "prose", "working"],
    ignore_case=False,
)
# What models write. Two responses stand together, so that the words also stand in the middle of a text.
RESPONSES = [case["response"] for case in rows("reader")]
TEXTS = ["\n\n".join(RESPONSES[i : i + 2]) for i in range(0, len(RESPONSES), 2)]


def spans(matches: Iterable[re.Match[str]]) -> list[tuple[int, int]]:
    return [match.span() for match in matches]


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


@pytest.mark.parametrize("name", REASONING.sources["marks"])
def test_a_case_has_the_mark_of_reasoning(name: str) -> None:
    mark = REASONING.pattern(REASONING.sources["marks"][name]["opens"])
    assert [case for case in rows("reasoning") if mark.search(case["text"])] != []


@pytest.mark.parametrize("row", CHINESE.sources["wordings"].values())
def test_a_chinese_wording_changes_its_example_and_stands_near_its_characters(
    row: Mapping[str, str],
) -> None:
    pattern = CHINESE.pattern(row["pattern"])
    assert pattern.sub(row["replacement"], row["example"]) != row["example"]
    for text in [row["example"], *TEXTS]:
        near = find_near(row["needs"], pattern, text, before=100, after=100)
        assert spans(near) == spans(pattern.finditer(text))


@pytest.mark.parametrize("style", list(ANNOUNCED.tables))
def test_an_announcement_is_looked_for_near_its_words(style: str) -> None:
    for name, pattern in ANNOUNCED.tables[style].items():
        words = ANNOUNCED.sources["words"][name]
        for text in map(str.lower, TEXTS):
            near = find_near(words, pattern, text, before=_BEFORE, after=_AFTER)
            assert spans(near) == spans(pattern.finditer(text))


def test_every_pattern_is_used() -> None:
    """By a module, or by another pattern of its file."""
    code = "".join(file.read_text("utf-8") for file in PACKAGE.rglob("*.py"))
    for file in (PACKAGE / "answers" / "phrases").glob("*.yaml"):
        text = file.read_text("utf-8")
        for name in yaml.safe_load(text):
            in_code = re.search(rf"[\"'.]{re.escape(name)}\b", code)
            assert in_code or f"{{{name}}}" in text, f"{file.name}: {name}"


@pytest.mark.parametrize(
    "text",
    [
        "US$5",
        "A$ 5",
        "€5",
        "5 NOK",
        "Rs. 5",
        "Euro 5",
        "euros 5",
        "5元",
        "5万美元",
        "5英镑",
        "5 人民币",
    ],
)
def test_a_currency_has_one_sign(text: str) -> None:
    assert CURRENCY in plain(text)
    assert not re.search("[$€A-Za-z]", plain(text))


@pytest.mark.parametrize(
    "text", ["BUSD 5", "CHUS$5", "USDA", "Rsk 5", "$A$", "neuro 5"]
)
def test_no_currency_is_found_inside_a_word(text: str) -> None:
    assert re.sub(CURRENCY, "$", plain(text)) == text
