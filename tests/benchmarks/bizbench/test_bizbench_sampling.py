from dataclasses import dataclass

import pytest

from fin_tasks.benchmarks.bizbench.row import Kind, Part, Row
from fin_tasks.benchmarks.bizbench.sampling import CHOICE_ROWS, PAPER_ROWS, in_no_column, paper_sample
from fin_tasks.errors import ConfigError

# Table 3 of the long version: 18 models' multi-choice figures, and those of quantity extraction, CoT and PoT
CHOICE = (
    *(80.1, 69.5, 83.0, 77.3, 61.7, 75.2, 61.7, 68.1, 51.1),
    *(89.4, 77.3, 72.3, 78.0, 78.7, 70.2, 56.7, 55.3, 56.7),
)
QUANTITY = (
    *(64.3, 69.6, 71.3, 73.5, 64.9, 63.0, 47.9, 33.4, 37.6, 51.5, 66.3, 30.6, 61.3, 57.1, 68.2, 39.6, 24.2, 35.7, 29.2),
    *(62.1, 60.7, 53.2, 59.9, 71.6, 56.5, 59.9, 47.9, 67.4, 45.4, 60.2, 15.6, 56.3, 47.1, 44.6, 34.3, 9.5, 1.4),
)


@dataclass(frozen=True)
class _Read:
    rows: tuple[Row, ...]


def row(place: int, part: Part, kind: Kind) -> Row:
    return Row(
        id=f"test_{place}",
        part=part,
        kind=kind,
        question="?",
        context="",
        context_type="",
        options=("a", "b") if kind == "choice" else (),
        answer="1",
        program="",
    )


def split(choices: int, numbers: int) -> _Read:
    made: list[tuple[Part, Kind]] = [("finknow", "choice")] * choices + [("codetatqa", "number")] * numbers
    made += [("secnum", "number")] * 300 + [("formulaeval", "code")] * 50
    mixed = [made[(7919 * place) % len(made)] for place in range(len(made))]
    return _Read(tuple(row(place, part, kind) for place, (part, kind) in enumerate(mixed)))


def test_the_sizes_follow_from_the_published_figures() -> None:
    def fits(size: int, figures: tuple[float, ...]) -> bool:
        shares = {round(1000 * count / size) for count in range(size + 1)}
        return all(round(10 * figure) in shares for figure in figures)

    pairs = [(n, PAPER_ROWS - n) for n in range(1, PAPER_ROWS) if fits(n, CHOICE) and fits(PAPER_ROWS - n, QUANTITY)]
    assert pairs == [(CHOICE_ROWS, PAPER_ROWS - CHOICE_ROWS)] == [(141, 359)]


def test_the_papers_strata_without_secnum() -> None:
    drawn = paper_sample(split(800, 3600))
    assert len({row.id for row in drawn}) == 500
    assert sum(row.kind == "choice" for row in drawn) == 141
    assert sum(row.kind == "number" for row in drawn) == 359
    assert "secnum" not in {row.part for row in drawn}


def test_the_draw_is_the_same_for_ever() -> None:
    drawn = paper_sample(split(20, 60), n=10)
    assert [row.id for row in drawn] == [f"test_{place}" for place in (5, 53, 161, 197, 209, 226, 262, 303, 404, 411)]


def test_the_draw_depends_on_the_seed_and_not_on_the_order() -> None:
    read = split(400, 900)
    first = paper_sample(read)
    places = [int(row.id.removeprefix("test_")) for row in first]
    assert places == sorted(places), "in the file's order"
    shuffled = _Read(read.rows[::-1])
    assert set(paper_sample(shuffled)) == set(first)
    assert set(paper_sample(read, seed=43)) != set(first)
    assert set(paper_sample(read, n=100)) < set(first)


def test_knowledge_that_asks_for_a_number_is_in_neither_column() -> None:
    odd = row(9, "finknow", "number")
    read = _Read((*split(3, 4).rows, odd))
    assert odd not in paper_sample(read)
    assert in_no_column(read) == (odd,)


@pytest.mark.parametrize(
    ("choices", "numbers", "expected"), [(50, 900, (50, 450)), (900, 50, (450, 50)), (3, 4, (3, 4))]
)
def test_too_few_of_one_kind_are_made_up_for_by_the_other(
    choices: int, numbers: int, expected: tuple[int, int]
) -> None:
    drawn = paper_sample(split(choices, numbers))
    assert tuple(sum(row.kind == kind for row in drawn) for kind in ("choice", "number")) == expected


def test_no_rows_is_no_sample() -> None:
    with pytest.raises(ConfigError, match="at least 1 row"):
        paper_sample(split(1, 1), n=0)
