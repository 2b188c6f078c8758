"""The sample in the package is what its generator makes."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.mme_finance.exact import Truth, score_exact
from fin_tasks.benchmarks.mme_finance.files import STEMS, locate
from fin_tasks.benchmarks.mme_finance.planning import plan_pictures, rows_of, table_text
from fin_tasks.benchmarks.mme_finance.row import CATEGORIES, IMAGE_STYLES, IMAGE_TYPES, LANGUAGES, Language
from fin_tasks.benchmarks.mme_finance.rows import read_rows
from fin_tasks.benchmarks.mme_finance.scene_making.indicators import INDICATORS
from fin_tasks.benchmarks.mme_finance.scenes import IndicatorScene, MixedScene, StatisticsScene
from fin_tasks.data.fetch import sha256_of
from fin_tasks.errors import ConfigError
from fin_tasks.settings import Settings

SAMPLE = locate(language="en", source="sample", settings=Settings.from_environ()).table.parent
MANIFEST: dict[str, Any] = json.loads((SAMPLE / "manifest.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_rows_are_what_the_generator_makes(language: Language) -> None:
    made = table_text(rows_of(plan_pictures(language, n=MANIFEST["n"], seed=MANIFEST["seed"])))
    assert (SAMPLE / f"{STEMS[language]}.tsv").read_text(encoding="utf-8") == made


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_category_type_and_style_is_there(language: Language) -> None:
    files = locate(language=language, source="sample", settings=Settings.from_environ())
    found = read_rows(files)
    assert not found.defects
    assert len(found.rows) >= 44
    assert Counter(row.category for row in found.rows).keys() == CATEGORIES.keys()
    assert {row.image_type for row in found.rows} == set(IMAGE_TYPES)
    assert {row.image_style for row in found.rows} == set(IMAGE_STYLES)
    for row in found.rows:
        if row.truth:
            assert score_exact(Truth.from_json(row.truth), row.answer, language=language) is True


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_indicator_and_form_of_chart_is_there(language: Language) -> None:
    scenes = [picture.scene for picture in plan_pictures(language, n=MANIFEST["n"], seed=MANIFEST["seed"])]
    assert {scene.indicator for scene in scenes if isinstance(scene, IndicatorScene)} == set(INDICATORS)
    charts = [scene for scene in scenes if isinstance(scene, StatisticsScene)]
    assert {chart.form for chart in charts} == {"bar", "line", "pie"}
    assert {chart.printed for chart in charts} == {True, False}
    pages = [scene for scene in scenes if isinstance(scene, MixedScene)]
    assert len({tuple(type(part) for part in page.parts) for page in pages}) == 3


def test_the_files_are_those_of_the_manifest() -> None:
    assert {name: sha256_of(SAMPLE / name) for name in MANIFEST["sha256"]} == MANIFEST["sha256"]
    pictures = {f"images/{path.name}" for path in (SAMPLE / "images").iterdir()}
    assert pictures == {name for name in MANIFEST["sha256"] if name.startswith("images/")}
    assert sum((SAMPLE / name).stat().st_size for name in pictures) <= 3_500_000


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_pictures_are_what_the_generator_draws(language: Language) -> None:
    import numpy as np
    from PIL import Image

    from fin_tasks.benchmarks.mme_finance.drawing.draw import draw
    from fin_tasks.benchmarks.mme_finance.drawing.fonts import font_file

    try:
        font = font_file(language)
    except ConfigError as error:
        pytest.skip(f"no font for Chinese is installed: {error}")
    if font.sha256 != MANIFEST["fonts"][language]["sha256"]:
        pytest.skip(f"the sample was drawn with {MANIFEST['fonts'][language]['name']}, here is {font.path}")
    pictures = plan_pictures(language, n=MANIFEST["n"], seed=MANIFEST["seed"])
    half = pictures[:6] if language == "en" else pictures[6:12]  # every type once, for the sake of time
    for picture in half:
        with Image.open(SAMPLE / "images" / picture.name) as there:
            kept = np.asarray(there.convert("RGB"), dtype=float)
        made = np.asarray(draw(picture.scene, style=picture.style, seed=picture.seed), dtype=float)
        assert kept.shape == made.shape
        # a palette, JPEG, or another release of a library moves single pixels, never the picture
        assert np.abs(kept - made).mean() < 4, picture.name


def test_pictures_are_small_and_of_their_kind() -> None:
    from PIL import Image

    for path in (SAMPLE / "images").iterdir():
        with Image.open(path) as picture:
            assert (picture.format, picture.mode) == (("JPEG", "RGB") if path.suffix == ".jpg" else ("PNG", "P"))
            assert max(picture.size) <= 1600


def test_nothing_but_the_set_is_in_the_folder() -> None:
    names = {path.name for path in Path(SAMPLE).iterdir()}
    assert names == {"MMfin.tsv", "MMfin_CN.tsv", "images", "manifest.json"}
