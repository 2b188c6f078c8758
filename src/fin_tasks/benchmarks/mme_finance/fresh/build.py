"""Sets of fresh questions in MME-Finance's own form, planned from a seed and drawn."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
from tqdm import tqdm

import fin_tasks
from fin_tasks.errors import ConfigError

from ..data import TABLES
from ..score import CATEGORIES
from .company import LANGUAGES
from .draw import STYLES, draw_picture
from .questions import Question, questions
from .scenes import KINDS, Panel, make_scene

_MAX_QUESTIONS = 2  # about one picture


@dataclass(frozen=True)
class Picture:
    """A picture to draw, and the questions about it: rows of the set's table."""

    file: str
    panels: list[Panel]
    style: str
    rows: list[Question] = field(default_factory=list)


def plan(language: str, *, n: int, seed: int) -> list[Picture]:
    """Plan pictures with `n` different questions, spread evenly over categories, types and styles.

    A larger set starts with the smaller one of the same seed.
    """
    n_by_category: Counter[str] = Counter()
    wordings: set[str] = set()
    pictures = []
    types = list(KINDS)
    for number in count():  # the loop ends, because companies and reports never run out
        image_type = types[number % len(types)]
        # 24 pictures show each type in each style.
        style = STYLES[(number + number // 12) % len(STYLES)]
        panels = make_scene(image_type, language, Random(f"{seed} {number}"))
        suffix = "jpg" if style == "mobile photograph" else "png"
        picture = Picture(f"images/{language}_{number:05d}.{suffix}", panels, style)
        pictures.append(picture)
        for category in sorted(CATEGORIES, key=n_by_category.__getitem__):
            random = Random(f"{seed} {number} {category}")
            candidates = questions(panels, language, category, random)
            new_rows = [row for row in candidates if row["question"] not in wordings]
            if not new_rows:
                continue
            row = {
                **new_rows[0],
                "index": str(len(wordings)),
                "image_path": picture.file,
                "image_type": image_type,
                "image_style": style,
                "background": "",
            }
            picture.rows.append(row)
            wordings.add(row["question"])
            n_by_category[category] += 1
            if len(wordings) == n:
                return pictures
            if len(picture.rows) == _MAX_QUESTIONS:
                break
    return pictures


def build_set(
    folder: Path,
    *,
    n: int,
    seed: int,
    languages: Sequence[str] = LANGUAGES,
) -> dict[str, Any]:
    """Build a set of `n` questions in each language in a new folder, and return its manifest."""
    if not set(languages) <= set(LANGUAGES):
        raise ConfigError(
            f"build mme_finance: expected en or zh, got {', '.join(languages)}."
        )
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(
            f"{folder}: expected a new or empty folder, got one with files. Name another with --out."
        )
    (folder / "images").mkdir(parents=True, exist_ok=True)
    counts = {}
    for language in languages:
        pictures = plan(language, n=n, seed=seed)
        rows = []
        title = f"Drawing pictures ({language})"
        for picture in tqdm(pictures, title, unit="picture", disable=None):
            random = Random(f"{seed} {picture.file}")
            image = draw_picture(picture.panels, language, picture.style, random)
            image.save(folder / picture.file, quality=85)
            rows += picture.rows
        file = folder / f"{TABLES['open', language]}.tsv"
        pd.DataFrame(rows).to_csv(file, sep="\t", index=False, lineterminator="\n")
        counts[language] = {"rows": len(rows), "pictures": len(pictures)}
    manifest: dict[str, Any] = {
        "made_by": f"fin-tasks {fin_tasks.__version__}: build mme_finance",
        "n": n,
        "seed": seed,
        "counts": counts,
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    (folder / "manifest.json").write_text(text, "utf-8")
    return manifest
