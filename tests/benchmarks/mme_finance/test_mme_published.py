"""The published figures: averages and whole points hold, but where the file and docs/published_mme_finance.md say."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from fin_tasks.benchmarks.mme_finance.published import (
    IMPLIED_ROWS,
    UNRELIABLE_ELSEWHERE,
    Figure,
    published,
)
from fin_tasks.benchmarks.mme_finance.row import CATEGORIES, IMAGE_STYLES, IMAGE_TYPES
from fin_tasks.errors import ConfigError

DOCS = Path(__file__).resolve().parents[3] / "docs" / "published_mme_finance.md"
BY_SHORT = {category.short: category for category in CATEGORIES.values()}
PARTS = {"3": "2", "8": "7", "10": "9"}
"""Tables by type and style, to the one with the same runs' overall scores."""


def rows_of(figure: Figure) -> int:
    if figure.by == "category":
        return BY_SHORT[figure.name].rows[figure.language]
    if figure.by == "overall":
        return sum(category.rows[figure.language] for category in CATEGORIES.values())
    return IMPLIED_ROWS[figure.language][figure.name]


def weighted(figures: tuple[Figure, ...]) -> float:
    rows = [rows_of(figure) for figure in figures]
    return sum(n * figure.value for n, figure in zip(rows, figures, strict=True)) / sum(rows)


def models(table: str) -> list[str]:
    return list(dict.fromkeys(figure.model for figure in published(table=table)))


def overall_of(table: str, model: str) -> float:
    (figure,) = published(table=PARTS.get(table, table), model=model, by="overall")
    return figure.value


def averages(table: str) -> Iterator[tuple[str, str, float, float]]:
    """Model, what is averaged, the average over rows, the overall score as printed."""
    for model in models(table):
        for by in ("image_type", "image_style") if table in PARTS else ("category",):
            yield model, by, weighted(published(table=table, model=model, by=by)), overall_of(table, model)


def points_missed(figure: Figure) -> float:
    """How far a score is from the nearest that whole points of 5 per row can give."""
    points = 5 * rows_of(figure)
    return abs(100 * round(figure.value * points / 100) / points - figure.value)


@pytest.mark.parametrize("table", ["2", "7", "9"])
def test_overall_is_the_average_of_the_categories_over_rows(table: str) -> None:
    found = list(averages(table))
    assert len(found) == len(models(table)) > 10
    failing = [(model, average, overall) for model, _, average, overall in found if abs(average - overall) > 0.02]
    assert failing == []


def test_overall_over_types_and_styles_is_what_the_page_lists() -> None:
    found = [
        f"| {table} | {model} | {by.replace('_', ' ')} | {average:.2f} | {overall:.2f} |"
        for table in PARTS
        for model, by, average, overall in averages(table)
        if abs(average - overall) > 0.02
    ]
    page = DOCS.read_text(encoding="utf-8").split("## What does not add up")[1].split("\n## ")[0]
    assert [line for line in page.splitlines() if line.startswith("| ")][1:] == found


def test_two_models_are_swapped() -> None:
    """By style and by type each fits the other's overall score, so the flag says so on every figure of both."""
    by_style = {model: average for model, by, average, _ in averages("10") if by == "image_style"}
    small, large = "Qwen2VL-2B", "Qwen2VL-7B"
    assert by_style[small] == pytest.approx(overall_of("9", large), abs=0.005)
    assert by_style[large] == pytest.approx(overall_of("9", small), abs=0.005)
    for table in ("9", "10"):
        for model in (small, large):
            assert all("swapped" in figure.note for figure in published(table=table, model=model))


def test_figures_that_are_no_whole_points_are_flagged_and_no_others() -> None:
    scores = [figure for figure in published(metric="score") if figure.by != "overall"]
    odd = {id(figure) for figure in scores if points_missed(figure) > 0.0101}
    flagged = {id(figure) for figure in scores if "whole number of points" in figure.note}
    assert odd == flagged
    assert len(odd) == 24


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", [*IMAGE_TYPES, *IMAGE_STYLES])
def test_rows_that_are_not_printed(language: str, name: str) -> None:
    """Of all numbers within a tenth of it, the one we take makes the most scores whole points, and by far."""
    values = [figure.value for figure in published(language=language, name=name)]
    rows = IMPLIED_ROWS[language][name]

    def misses(n: int) -> int:
        return sum(abs(100 * round(v * n / 20) / (5 * n) - v) > 0.0101 for v in values)

    others = [n for n in range(9 * rows // 10, 11 * rows // 10 + 2) if n != rows]
    assert min(map(misses, others)) >= misses(rows) + 2


@pytest.mark.parametrize(("language", "rows"), [("en", 1171), ("zh", 1103)])
def test_rows_add_up(language: str, rows: int) -> None:
    implied = IMPLIED_ROWS[language]
    assert sum(implied[name] for name in IMAGE_TYPES) == rows
    assert sum(implied[name] for name in IMAGE_STYLES) == rows
    assert sum(category.rows[language] for category in CATEGORIES.values()) == rows


def test_tables_are_complete() -> None:
    counts = {table: len(published(table=table)) for table in ("2", "3", "4", "5", "7", "8", "9", "10")}
    assert counts == {
        "2": 19 * 12,
        "3": 19 * 10,
        "4": 2 * (7 + 4),
        "5": 2 * 4,
        "7": 14 * 12,
        "8": 14 * 10,
        "9": 14 * 12,
        "10": 14 * 10,
    }
    assert overall_of("2", "Qwen2VL-72B") == 65.69
    assert all(model not in models("2") for model, language in UNRELIABLE_ELSEWHERE if language == "en")


def test_pictures_help_the_better_judges() -> None:
    """What section 4.3 says of tables 4 and 5 in words."""
    with_picture = {f.judge: f.value for f in published(table="4", name="with picture", metric="spearman")}
    without = {f.judge: f.value for f in published(table="4", name="without picture", metric="spearman")}
    assert max({**without, **with_picture}, key={**without, **with_picture}.__getitem__) == "GPT-4o"
    assert with_picture["GPT-4o"] > without["GPT-4o"]
    assert len(without) == 7
    by_name = {f.name: f.value for f in published(table="5", metric="spearman")}
    assert min(v for k, v in by_name.items() if "objective" in k) > max(v for k, v in by_name.items() if "subj" in k)
    assert by_name["with picture, subjective"] > by_name["without picture, subjective"]
    differences = {f.name: f.value for f in published(table="5", metric="mean_absolute_difference")}
    assert all(
        differences[f"with picture, {k}"] < differences[f"without picture, {k}"] for k in ("objective", "subjective")
    )
    # half of the difference over all lies on each side of it
    assert differences["with picture, objective"] < 0.84 < differences["with picture, subjective"]
    assert by_name["with picture, objective"] > with_picture["GPT-4o"] > by_name["with picture, subjective"]


def test_figures_are_found_by_their_fields() -> None:
    assert {f.judge for f in published(language="zh")} == {"Qwen2VL-72B"}
    with pytest.raises(ConfigError, match="published figures, value: "):
        published(value="63.18")
    with pytest.raises(ConfigError, match=r"model: expected one of Yi-VL-34B, .* got 'GPT4o'"):
        published(model="GPT4o")


def test_every_cell_of_the_file_is_sound() -> None:
    figures = published()
    keys = [(f.table, f.model, f.language, f.not_applicable, f.judge, f.by, f.name, f.metric) for f in figures]
    assert len(set(keys)) == len(keys), "no figure twice"
    names = {
        "overall": {"all"},
        "category": {category.short for category in CATEGORIES.values()},
        "image_type": set(IMAGE_TYPES),
        "image_style": set(IMAGE_STYLES),
        "judge": {f"{how} picture{k}" for how in ("with", "without") for k in ("", ", objective", ", subjective")},
    }
    highest = {"score": 100, "spearman": 1, "mean_absolute_difference": 5}
    for figure in figures:
        assert figure.name in names[figure.by]
        assert 0 <= figure.value <= highest[figure.metric]
        assert (figure.model_kind in ("open", "proprietary"), figure.language in ("en", "zh")) == (True, True)
        assert figure.not_applicable in ("own_category", "everywhere")
        assert bool(figure.note) == figure.unreliable
