"""Ask a question of a category about a scene."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from fin_tasks.benchmarks.mme_finance.exact_words import tokens
from fin_tasks.benchmarks.mme_finance.questions import (
    candle_places,
    candles,
    document_prose,
    documents,
    estimates,
    indicator_prose,
    indicators,
    statistics_charts,
    statistics_prose,
    statistics_sums,
    stock_prose,
    table_prose,
    tables,
)
from fin_tasks.benchmarks.mme_finance.questions.question import Forms, Question, say
from fin_tasks.benchmarks.mme_finance.row import CATEGORIES
from fin_tasks.benchmarks.mme_finance.scenes import (
    CandleScene,
    DocumentScene,
    IndicatorScene,
    MixedScene,
    Scene,
    StatisticsScene,
    TableScene,
)
from fin_tasks.errors import ConfigError

__all__ = ["ask"]

_FORMS: Mapping[type[Any], Forms[Any]] = {
    CandleScene: {**candles.FORMS, **candle_places.FORMS, **estimates.CANDLES, **stock_prose.FORMS},
    IndicatorScene: {**indicators.FORMS, **estimates.INDICATORS, **indicator_prose.FORMS},
    StatisticsScene: {**statistics_charts.FORMS, **statistics_sums.FORMS, **statistics_prose.FORMS},
    TableScene: {**tables.FORMS, **table_prose.FORMS},
    DocumentScene: {**documents.FORMS, **document_prose.FORMS},
}
_CAPTION = "Image Caption"
_PLACES: Mapping[type[Any], tuple[str, str]] = {
    CandleScene: ("Look at the candlestick chart on the page.", "请看图中的K线图部分。"),
    IndicatorScene: ("Look at the indicator chart on the page.", "请看图中的技术指标部分。"),
    TableScene: ("Look at the table on the page.", "请看图中的表格部分。"),
    DocumentScene: ("Look at the text on the page.", "请看图中的文字部分。"),
}
_CHARTS: Mapping[str, tuple[str, str]] = {
    "bar": ("Look at the bar chart on the page.", "请看图中的柱状图部分。"),
    "line": ("Look at the line chart on the page.", "请看图中的折线图部分。"),
    "pie": ("Look at the pie chart on the page.", "请看图中的饼图部分。"),
}


def ask(scene: Scene, category: str, *, seed: int) -> Question | None:
    """Ask about a scene.

    About a page of several parts, the question names the part it is about.

    Args:
        scene: What the picture shows.
        category: A key of `row.CATEGORIES`.
        seed: Chooses the form of the question and what it is about; the same seed asks the same in both languages.

    Returns:
        The question, in the scene's language; None where the scene cannot carry one of the category.

    Raises:
        ConfigError: The category does not exist.
    """
    if category not in CATEGORIES:
        raise ConfigError(f"questions: expected a category of {', '.join(CATEGORIES)}, got {category!r}.")
    random = Random(f"{category} {seed}")  # noqa: S311 - nothing secret
    if isinstance(scene, MixedScene):
        return _about_part(scene, category, random)
    return _asked(scene, category, random)


def _asked(scene: Scene, category: str, random: Random) -> Question | None:
    return next(_all_asked(scene, category, random), None)


def _all_asked(scene: Scene, category: str, random: Random) -> Iterator[Question]:
    """Every question of a category that the scene carries, in a random order."""
    forms = list(_FORMS[type(scene)].get(category, ()))
    random.shuffle(forms)
    for form in forms:
        if (question := form(scene, random)) is not None:
            yield question


def _about_part(scene: MixedScene, category: str, random: Random) -> Question | None:
    if category == _CAPTION:
        return _caption(scene, random)
    parts = list(scene.parts)
    random.shuffle(parts)
    for part in parts:
        english, chinese = _CHARTS[part.form] if isinstance(part, StatisticsScene) else _PLACES[type(part)]
        for question in _all_asked(part, category, random):
            if _is_unique(scene, part, question) and not _is_told(question, english, chinese):
                place = say(scene.language, f"{english} ", chinese)
                return replace(question, question=place + question.question)
    return None


def _is_told(question: Question, *places: str) -> bool:
    """Whether the words that name a part of the page hold the answer, such as that it is a pie chart."""
    if question.truth is None:
        return False
    forms = [*question.truth.accepted, *(form for part in question.truth.parts for form in part)]
    return any(tokens(form) in tokens(place) for form in forms for place in places)


def _caption(scene: MixedScene, random: Random) -> Question:
    """Ask for all parts at once."""
    told = [question.answer for part in scene.parts if (question := _asked(part, _CAPTION, random)) is not None]
    return Question(
        question=say(scene.language, "Describe the page, one part after the other.", "请逐一描述页面中的各个部分。"),
        answer=say(
            scene.language,
            f'The page is titled "{scene.title}". {" ".join(told)}',
            f"页面标题为《{scene.title}》。{''.join(told)}",
        ),
    )


def _is_unique(scene: MixedScene, part: Scene, question: Question) -> bool:
    """Whether what no part tells is asked: another part may answer what this one cannot."""
    if question.truth is None or question.truth.kind != "not_applicable":
        return True
    return isinstance(part, CandleScene) or not any(isinstance(other, CandleScene) for other in scene.parts)
