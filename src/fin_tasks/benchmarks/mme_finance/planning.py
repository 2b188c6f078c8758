"""Which pictures a fresh set has, and what is asked about each."""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from random import Random

from fin_tasks.benchmarks.mme_finance.questions.ask import ask
from fin_tasks.benchmarks.mme_finance.questions.question import Question
from fin_tasks.benchmarks.mme_finance.row import CATEGORIES, IMAGE_STYLES, IMAGE_TYPES, Language
from fin_tasks.benchmarks.mme_finance.scene_making.make import make_scene
from fin_tasks.benchmarks.mme_finance.scenes import Scene, StatisticsScene
from fin_tasks.errors import ConfigError

__all__ = [
    "COLUMNS",
    "DRAWING",
    "EXACT_CATEGORIES",
    "IMAGES",
    "Picture",
    "expected_categories",
    "plan_pictures",
    "rows_of",
    "table_text",
]

IMAGES = "images"
"""The folder of pictures, beside the tables."""

COLUMNS = (
    "index",
    "question",
    "answer",
    "image_path",
    "task_category",
    "image_type",
    "image_style",
    "background",
    "truth",
)
"""The published files' columns, and one more for the exact truth as JSON."""

EXACT_CATEGORIES = tuple(name for name, category in CATEGORIES.items() if category.kind != "subjective")
"""Categories whose answers need no judge."""

DRAWING = 2
"""Goes up when the same scene is drawn differently, so that no older picture is kept for it."""

_PER_PICTURE = 2
"""Questions about one picture, of different categories."""

_UNEVEN = 1
"""How many questions more than the rarest a category may get, so that every type carries every category in turn."""

_UNPRINTED = 1 / 3
"""Share of bar and line charts without printed values, so that values have to be estimated."""


@dataclass(frozen=True, kw_only=True)
class Picture:
    """A picture to draw, and what is asked about it.

    Attributes:
        scene: What it shows.
        image_type: One of `IMAGE_TYPES`.
        style: One of `IMAGE_STYLES`.
        seed: For the drawing.
        name: Of the file; it holds a key of the content, so a file that is there is right.
        questions: Category and question.
    """

    scene: Scene
    image_type: str
    style: str
    seed: int
    name: str
    questions: tuple[tuple[str, Question], ...]


def plan_pictures(language: Language, *, n: int, seed: int, categories: Sequence[str] | None = None) -> list[Picture]:
    """Plan the pictures that carry `n` questions, spread evenly over categories, types and styles.

    Types come in turn; a picture takes the style that its type, and then the whole set, has fewest of, and the
    categories that have the fewest questions so far among those its scene can carry.

    Args:
        language: Of the set.
        n: Questions.
        seed: Another seed makes another set.
        categories: Keys of `CATEGORIES`; all of them where None.

    Raises:
        ConfigError: No question, or a category that does not exist.
    """
    names = expected_categories(n, categories)
    asked: Counter[str] = Counter()
    crossed: Counter[tuple[str, str]] = Counter()
    kept: Counter[str | tuple[str, str]] = Counter()
    pictures: list[Picture] = []
    for place in count():
        missing = n - asked.total()
        if missing == 0:
            return pictures
        image_type = IMAGE_TYPES[place % len(IMAGE_TYPES)]
        random = Random(f"{seed} {place}")  # noqa: S311 - nothing secret
        scene = _scene(image_type, language, random)
        order = _order(names, asked, crossed, image_type)
        questions = _questions(scene, order, random.getrandbits(63), most=min(_PER_PICTURE, missing))
        if not questions:
            continue
        asked.update(category for category, _ in questions)
        crossed.update((image_type, category) for category, _ in questions)
        style = min(
            IMAGE_STYLES,
            key=lambda style: (kept[image_type, style], kept[style], (IMAGE_STYLES.index(style) - place) % 4),
        )
        kept.update([style, (image_type, style)])
        drawing_seed = random.getrandbits(63)
        pictures.append(
            Picture(
                scene=scene,
                image_type=image_type,
                style=style,
                seed=drawing_seed,
                name=_name(scene, language, style, drawing_seed, place),
                questions=questions,
            )
        )
    raise AssertionError("the loop above only ends by returning")


def rows_of(pictures: Sequence[Picture]) -> list[dict[str, str]]:
    """Return the table's rows, one per question."""
    rows: list[dict[str, str]] = []
    for picture in pictures:
        for category, question in picture.questions:
            cells = (
                str(len(rows)),
                question.question,
                question.answer,
                f"{IMAGES}/{picture.name}",
                category,
                picture.image_type,
                picture.style,
                question.background,
                question.truth.to_json() if question.truth else "",
            )
            rows.append(dict(zip(COLUMNS, cells, strict=True)))
    return rows


def table_text(rows: Sequence[Mapping[str, str]]) -> str:
    """Return rows as tab-separated text, quoted as pandas reads it."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def expected_categories(n: int, categories: Sequence[str] | None) -> list[str]:
    """Return the categories asked for, in their usual order.

    Raises:
        ConfigError: No question, or a category that does not exist.
    """
    if n < 1:
        raise ConfigError(f"build mme-finance: expected at least 1 question, got {n}.")
    if categories is None:
        return list(CATEGORIES)
    if not categories or (unknown := [name for name in categories if name not in CATEGORIES]):
        raise ConfigError(
            f"build mme-finance categories: expected some of {', '.join(CATEGORIES)}, got "
            f"{unknown[0] if categories else 'none'!r}."
        )
    return [name for name in CATEGORIES if name in categories]


def _scene(image_type: str, language: Language, random: Random) -> Scene:
    scene = make_scene(image_type, language=language, seed=random.getrandbits(63))
    # drawn for every type, so that what follows does not depend on it
    is_unprinted = random.random() < _UNPRINTED
    if isinstance(scene, StatisticsScene) and scene.form != "pie" and is_unprinted:
        return replace(scene, printed=False)
    return scene


def _order(names: Sequence[str], asked: Counter[str], crossed: Counter[tuple[str, str]], image_type: str) -> list[str]:
    """Put first what the type has carried least often, after what the whole set is short of."""
    least = min(asked[name] for name in names)
    return sorted(
        names,
        key=lambda name: (asked[name] > least + _UNEVEN, crossed[image_type, name], asked[name], names.index(name)),
    )


def _questions(scene: Scene, categories: Sequence[str], seed: int, *, most: int) -> tuple[tuple[str, Question], ...]:
    found: list[tuple[str, Question]] = []
    for category in categories:
        if len(found) == most:
            break
        if (question := ask(scene, category, seed=seed)) is not None:
            found.append((category, question))
    return tuple(found)


def _name(scene: Scene, language: Language, style: str, seed: int, place: int) -> str:
    key = hashlib.sha256(f"{DRAWING} {style} {seed} {scene!r}".encode()).hexdigest()[:12]
    return f"{language}_{place:05d}_{key}.{'jpg' if style == 'mobile photograph' else 'png'}"
