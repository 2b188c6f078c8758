"""Fresh labelled sets of any size: questions planned from a seed, pictures drawn, tables in MME-Finance's own form.

A seed makes a set that nobody has published, so no model can have seen it. Both languages ask the same things about the
same data. The first rows of a larger set are those of a smaller one with the same seed, so that a set can grow.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import fin_tasks
from fin_tasks.benchmarks.mme_finance.files import STEMS
from fin_tasks.benchmarks.mme_finance.planning import (
    DRAWING,
    IMAGES,
    Picture,
    expected_categories,
    plan_pictures,
    rows_of,
    table_text,
)
from fin_tasks.benchmarks.mme_finance.row import LANGUAGES, Language
from fin_tasks.data.fetch import sha256_of
from fin_tasks.errors import ConfigError

__all__ = ["Built", "build_set"]

_MANIFEST = "manifest.json"
_LIBRARIES = ("matplotlib", "numpy", "pandas", "pillow", "stockstats")


@dataclass(frozen=True, kw_only=True)
class Built:
    """What was built.

    Attributes:
        folder: Where it is; `data_dir` for the tasks.
        manifest: As in `manifest.json`.
        pictures: How many there are.
        drawn: How many of them were drawn now; the others were there.
    """

    folder: Path
    manifest: Mapping[str, Any]
    pictures: int
    drawn: int


def build_set(
    folder: Path,
    *,
    n: int,
    seed: int,
    languages: Sequence[Language] = LANGUAGES,
    categories: Sequence[str] | None = None,
    jobs: int = 1,
    on_done: Callable[[int, int], None] | None = None,
) -> Built:
    """Build a set, or finish or enlarge one that the folder holds.

    Pictures that are there already are kept; tables and manifest appear when all pictures are drawn. The files do not
    depend on `jobs`.

    Args:
        folder: Where to; made if it is missing.
        n: Questions in each language.
        seed: Another seed makes another set.
        languages: Some of `LANGUAGES`.
        categories: Keys of `CATEGORIES`; all of them where None.
        jobs: Processes that draw.
        on_done: Told how many pictures are done, and of how many.

    Raises:
        ConfigError: An option means nothing, the folder holds another set or cannot be written, or a font for Chinese
            or a package is missing.
    """
    from fin_tasks.benchmarks.mme_finance.drawing.fonts import font_file

    names = expected_categories(n, categories)
    chosen = [language for language in LANGUAGES if language in languages]
    if not chosen or set(languages) - set(LANGUAGES):
        raise ConfigError(f"build mme-finance: expected languages of {', '.join(LANGUAGES)}, got {list(languages)!r}.")
    if jobs < 1:
        raise ConfigError(f"build mme-finance jobs: expected at least 1 process, got {jobs}.")
    made_of = {"seed": seed, "categories": names}
    fonts = {language: font_file(language) for language in chosen}
    with _owned(folder, made_of):
        plans = {language: plan_pictures(language, n=n, seed=seed, categories=names) for language in chosen}
        pictures = [picture for plan in plans.values() for picture in plan]
        drawn = _draw_missing(pictures, folder / IMAGES, jobs=jobs, on_done=on_done)
        tables = {language: rows_of(plan) for language, plan in plans.items()}
        for language, rows in tables.items():
            _write(folder / f"{STEMS[language]}.tsv", table_text(rows))
        manifest = {
            "made_by": f"fin-tasks {fin_tasks.__version__}: build mme-finance",
            **made_of,
            "n": n,
            "languages": chosen,
            "drawing": DRAWING,
            "libraries": {name: version(name) for name in _LIBRARIES},
            "fonts": {language: {"name": font.name, "sha256": font.sha256} for language, font in fonts.items()},
            "counts": {language: _counts(rows) for language, rows in tables.items()},
            "sha256": _hashes(folder, tables),
        }
        _write(folder / _MANIFEST, json.dumps(manifest, ensure_ascii=False, indent=2) + "\n")
    return Built(folder=folder, manifest=manifest, pictures=len(pictures), drawn=drawn)


@contextmanager
def _owned(folder: Path, made_of: Mapping[str, Any]) -> Iterator[None]:
    """Hold the folder, so that unfinished files in it were left by a run that was killed; refuse another set's."""
    from filelock import FileLock

    try:
        (folder / IMAGES).mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".lock"):
            _expect_same(folder / _MANIFEST, made_of)
            for unfinished in (folder / IMAGES).glob(".*"):
                unfinished.unlink()
            yield
        (folder / ".lock").unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(
            f"{folder}: expected a folder that a set can be written to, got {error.strerror or error!r}."
        ) from error


def _expect_same(manifest: Path, made_of: Mapping[str, Any]) -> None:
    if not manifest.is_file():
        return
    try:
        found = json.loads(manifest.read_text(encoding="utf-8"))
        before = {name: found.get(name) for name in made_of}
    except (ValueError, AttributeError):
        before = {"manifest": "unreadable"}
    if before != made_of:
        raise ConfigError(
            f"{manifest.parent}: expected an empty folder or the same set ({dict(made_of)!r}), got {before!r}. "
            "Name another folder with --out."
        )


def _draw_missing(
    pictures: Sequence[Picture], folder: Path, *, jobs: int, on_done: Callable[[int, int], None] | None
) -> int:
    missing = [picture for picture in pictures if not (folder / picture.name).is_file()]
    done = len(pictures) - len(missing)
    if on_done is not None:
        on_done(done, len(pictures))
    for _ in _drawn(missing, folder, jobs):
        done += 1
        if on_done is not None:
            on_done(done, len(pictures))
    return len(missing)


def _drawn(pictures: Sequence[Picture], folder: Path, jobs: int) -> Iterator[Path]:
    if jobs == 1 or len(pictures) < 2:
        yield from (_draw_one(picture, folder) for picture in pictures)
        return
    import joblib

    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        calls = [joblib.delayed(_draw_one)(picture, folder) for picture in pictures]
        yield from joblib.Parallel(n_jobs=jobs, batch_size=1, return_as="generator")(calls)


def _draw_one(picture: Picture, folder: Path) -> Path:
    """Draw a picture, whole or not at all."""
    from PIL import Image

    from fin_tasks.benchmarks.mme_finance.drawing.draw import draw, save

    image = draw(picture.scene, style=picture.style, seed=picture.seed)
    if not picture.name.endswith(".jpg"):
        image = image.quantize(colors=128, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    unfinished = save(image, folder / f".{Path(picture.name).stem}-{os.getpid()}", style=picture.style)
    return unfinished.replace(folder / picture.name)


def _counts(rows: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    return {
        "rows": len(rows),
        "exact": sum(bool(row["truth"]) for row in rows),
        "pictures": len({row["image_path"] for row in rows}),
        **{
            f"by_{short}": dict(sorted(Counter(row[column] for row in rows).items()))
            for short, column in (("category", "task_category"), ("type", "image_type"), ("style", "image_style"))
        },
    }


def _hashes(folder: Path, tables: Mapping[Language, Sequence[Mapping[str, str]]]) -> dict[str, str]:
    names = [f"{STEMS[language]}.tsv" for language in tables]
    names += sorted({row["image_path"] for rows in tables.values() for row in rows})
    return {name: sha256_of(folder / name) for name in names}


def _write(path: Path, text: str) -> None:
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    unfinished.write_text(text, encoding="utf-8", newline="\n")
    unfinished.replace(path)
