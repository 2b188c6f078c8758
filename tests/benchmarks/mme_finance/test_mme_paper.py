"""How the authors read a judge's replies: the case file, and texts that hypothesis makes up."""

import json
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from case_files import rows
from figures import figures_of
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.benchmarks.mme_finance.score import paper_points, read, read_points
from fin_tasks.judging.item import Judged
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.stats.averages import average

EN = load_rubric("mme_finance_en")
MT = load_rubric("mme_finance_mt_zh")
CASES = rows("judge_replies")


@pytest.mark.parametrize("case", [case for case in CASES if "reply" in case], ids=str)
def test_one_reply(case: dict[str, Any]) -> None:
    for name in ("mme_finance_en", "mme_finance_zh"):
        assert paper_points(load_rubric(name), case["reply"]) == case["paper"]


@pytest.mark.parametrize("case", [case for case in CASES if "replies" in case], ids=str)
def test_all_replies_of_a_response(case: dict[str, Any]) -> None:
    replies = tuple(case["replies"])
    judged = Judged(case.get("response", "Friday."), replies, case.get("error", ""))
    assert read_points(EN, judged, "paper").answer == case["paper"]


@pytest.mark.parametrize("case", [case for case in CASES if "seven" in case], ids=str)
def test_seven_dimensions(case: dict[str, Any]) -> None:
    expected = None
    if case["paper"]:
        points = zip(MT.dimensions, case["paper"], strict=True)
        expected = {name: point for name, point in points if point is not None}
    assert paper_points(MT, case["seven"]) == expected


def test_a_conversation_without_a_score_has_none_in_any_dimension() -> None:
    assert read_points(MT, Judged(" "), "paper").scores == {}
    unread = ("?",) * len(MT.temperatures)
    assert read_points(MT, Judged("Friday.", unread), "paper").scores == {}


def test_the_tries_are_those_of_the_rubric_that_was_asked() -> None:
    """A rubric of the user's asks twice; the house rubric asks five times."""
    own = EN.model_copy(update={"temperatures": (0.0, 1.0)})
    replies = ("no",) * len(own.temperatures)
    doc = {"part": "open", "language": "en", "na": False, "category": "OCR"}
    reading = read(doc, Judged("Friday.", replies, "unread", own), scoring="paper")
    assert (reading.answer, reading.unscored) == (0, False)
    assert read(doc, Judged("Friday.", replies, "unread"), scoring="paper").unscored


# --- Replies of every kind about turns of conversations: what is expected follows from how they are made ---

VALUES: list[tuple[Callable[[Random], Any], Callable[[Any], int | None]]] = [
    (lambda random: random.randint(0, 10), lambda value: value),
    (lambda random: random.randint(11, 10**20), lambda value: 10),
    (lambda random: -random.randint(1, 10**6), lambda value: 0),
    (lambda random: random.randint(0, 99) / 10, lambda value: int(value)),
    (lambda random: f" {random.randint(0, 10)}", lambda value: int(value[1:])),
    (
        lambda random: random.choice(["8.5", "八", "", "nine", "10/10"]),
        lambda value: None,
    ),
    (
        lambda random: random.choice([None, [9], (9,), {"score": 9}, b"x", 3 + 1j]),
        lambda _: None,
    ),
    (lambda random: random.choice([True, False]), lambda value: int(value)),
]
WRAPPINGS = [
    ("{}", True),
    ("I looked at the picture first.\n{}\nThat is all.", True),
    ("```python\n{}\n```", True),
    ("<think>5 or 6?</think>{}", True),
    ("By {{rules}}: {}", False),
    ("{}, as in {{this}}", False),
    ("{{{}", False),
]


def scripted_reply(random: Random) -> tuple[str, dict[str, int]]:
    """Return a reply, and the points that the authors read in it."""
    values = {}
    points = {}
    for name, title in MT.dimensions.items():
        make, read_value = random.choice(VALUES)
        if random.random() < 0.1:
            continue  # the judge forgets a dimension
        values[title] = make(random)
        point = read_value(values[title])
        if point is not None:
            points[name] = point
    kind = random.randrange(12)
    if kind == 0:
        null_is_not_python = json.dumps({**dict.fromkeys(values, 5), "x": None})
        return null_is_not_python, {}
    if kind == 1:
        return f"{values}".rstrip("}"), {}
    if kind == 2:
        return "\n".join(f"{title}: {value}" for title, value in values.items()), {}
    wrapping, is_readable = random.choice(WRAPPINGS)
    return wrapping.format(values), points if is_readable else {}


def test_replies_of_every_kind_about_conversations() -> None:
    """Each dimension is read by itself; one that cannot be read leaves the others as they are."""
    random = Random(7)  # noqa: S311
    doc = {"part": "multi_turn", "language": "zh", "na": False, "category": ""}
    readings = []
    totals: dict[str, list[int]] = {name: [] for name in MT.dimensions}
    for _ in range(1500):
        text, points = scripted_reply(random)
        assert paper_points(MT, text) == (points or None), text
        replies = (text,) * len(MT.temperatures)
        judged = Judged("Friday.", replies, "unread")
        readings.append(read(doc, judged, scoring="paper"))
        for name, point in points.items():
            totals[name].append(point)
    rows = [figures_of("mme_finance", doc, [reading]) for reading in readings]
    for name, points_read in totals.items():
        metric = "score" if name == "overall" else f"score_{name}"
        assert 375 < len(points_read) < 750
        of_all = average(row[metric] for row in rows)
        assert of_all == pytest.approx(10 * sum(points_read) / 1500)
        read_only = average(row[f"{metric}_read"] for row in rows)
        assert read_only == pytest.approx(10 * sum(points_read) / len(points_read))


@given(st.text())
def test_no_reply_raises(reply: str) -> None:
    for rubric in (EN, MT):
        score = paper_points(rubric, reply)
        assert score is None or (isinstance(score, int) and 0 <= score <= 5)


@given(st.text(alphabet="{}[]()'\"\\\0:,0123456789eE-+*/%ab创造性总分"))
def test_no_odd_dict_raises(reply: str) -> None:
    score = paper_points(MT, "{'总分': " + reply + "}")
    assert score is None or (isinstance(score, dict) and 0 <= min(score.values()) <= 10)
