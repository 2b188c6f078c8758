"""A scene of any type from a seed."""

from collections.abc import Callable, Mapping
from random import Random

from fin_tasks.benchmarks.mme_finance.row import IMAGE_TYPES, LANGUAGES, Language
from fin_tasks.benchmarks.mme_finance.scene_making.figure_scenes import statistics_scene, table_scene
from fin_tasks.benchmarks.mme_finance.scene_making.mixed import mixed_scene
from fin_tasks.benchmarks.mme_finance.scene_making.price_scenes import candle_scene, indicator_scene
from fin_tasks.benchmarks.mme_finance.scene_making.report import document_scene
from fin_tasks.benchmarks.mme_finance.scenes import Scene
from fin_tasks.errors import ConfigError

__all__ = ["make_scene"]

_MAKERS: Mapping[str, Callable[[Random, Language], Scene]] = {
    "candlestick chart": candle_scene,
    "technical indicator chart": indicator_scene,
    "statistical chart": statistics_scene,
    "table": table_scene,
    "document": document_scene,
    "mixed chart": mixed_scene,
}


def make_scene(image_type: str, *, language: Language, seed: int) -> Scene:
    """Make a scene; the same arguments make the same one anywhere.

    Both languages show the same data for the same seed, so that a bilingual set asks about the same things.

    Args:
        image_type: One of `row.IMAGE_TYPES`.
        language: `en` or `zh`.
        seed: Any whole number.

    Raises:
        ConfigError: Another type or language, or the prices or the indicators' library are not installed.
    """
    if image_type not in _MAKERS:
        raise ConfigError(f"scene: expected an image type of {', '.join(IMAGE_TYPES)}, got {image_type!r}")
    if language not in LANGUAGES:
        raise ConfigError(f"scene: expected a language of {', '.join(LANGUAGES)}, got {language!r}")
    return _MAKERS[image_type](Random(f"{image_type} {seed}"), language)  # noqa: S311 - nothing secret
