"""Sets of fresh questions in MME-Finance's own form, planned from a seed and drawn."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd
from tqdm import tqdm

import fin_tasks
from fin_tasks.benchmarks.mme_finance.fresh.draw import STYLES, show
from fin_tasks.benchmarks.mme_finance.fresh.questions import CATEGORIES, questions
from fin_tasks.benchmarks.mme_finance.fresh.scenes import (
    IMAGE_TYPES,
    Part,
    Prices,
    make_scene,
    read_prices,
)
from fin_tasks.errors import ConfigError

_COLUMNS = [
    "index",
    "question",
    "answer",
    "image_path",
    "task_category",
    "image_type",
    "image_style",
    "background",
]
_LIBRARIES = ("matplotlib", "numpy", "pandas", "pillow")
_TABLES = {"en": "MMfin.tsv", "zh": "MMfin_CN.tsv"}


@dataclass(frozen=True)
class Picture:
    """A picture to draw, and the questions about it: rows of the set's table."""

    file: str
    parts: list[Part]
    style: str
    seed: str
    rows: list[dict[str, str]]


def plan(language: str, *, n: int, seed: int, prices: Prices) -> list[Picture]:
    """Plan pictures with `n` different questions, spread evenly over categories, types and styles.

    A larger set starts with the smaller one of the same seed.
    """
    asked, crossed = Counter[str](), Counter[tuple[str, str]]()
    seen, pictures = set[str](), list[Picture]()
    for place in count():  # ends, because there are always new figures and reports
        image_type = IMAGE_TYPES[place % len(IMAGE_TYPES)]
        style = list(STYLES)[
            (place + place // 12) % len(STYLES)
        ]  # meets every type within 24 pictures
        parts = make_scene(image_type, language, Random(f"{seed} {place}"), prices)
        file = f"images/{language}_{place:05d}.{'jpg' if style == 'mobile photograph' else 'png'}"
        one = Picture(file, parts, style, f"{seed} {place} {style}", [])
        rarest = {name: (crossed[image_type, name], asked[name]) for name in CATEGORIES}
        for category in sorted(CATEGORIES, key=rarest.__getitem__):
            made = questions(parts, language, category, Random(f"{seed} {place} {category}"))
            new = next((row for row in made if row["question"] not in seen), None)
            if new is None or len(one.rows) == 2 or len(seen) == n:
                continue
            shown = {
                "image_path": file,
                "image_type": image_type,
                "image_style": style,
                "background": "",
            }
            one.rows.append({"index": str(len(seen)), **new, **shown})
            seen.add(new["question"])
            asked[category] += 1
            crossed[image_type, category] += 1
        if one.rows:
            pictures.append(one)
        if len(seen) == n:
            break
    return pictures


def build_set(
    folder: Path,
    *,
    n: int,
    seed: int,
    languages: Sequence[str] = tuple(_TABLES),
    prices: Path | None = None,
) -> dict[str, Any]:
    """Build a set of `n` questions in each language in a new folder, and return its manifest."""
    if not languages or not set(languages) <= _TABLES.keys():
        raise ConfigError(
            f"build mme_finance: expected languages among en, zh, got {', '.join(languages) or 'none'}."
        )
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(
            f"{folder}: expected a new or empty folder, got one with files. Name another with --out."
        )
    pieces = read_prices(prices)
    (folder / "images").mkdir(parents=True, exist_ok=True)
    counts = {}
    for language in languages:
        planned = plan(language, n=n, seed=seed, prices=pieces)
        for one in tqdm(planned, f"Drawing pictures ({language})", unit="picture", disable=None):
            show(one.parts, language, one.style, Random(one.seed)).save(
                folder / one.file, quality=85
            )
        table = pd.DataFrame([row for one in planned for row in one.rows])[[*_COLUMNS, "truth"]]
        table.to_csv(folder / _TABLES[language], sep="\t", index=False, lineterminator="\n")
        counted = {
            column: table[column].value_counts().sort_index().to_dict() for column in _COLUMNS[4:7]
        }
        counts[language] = {"rows": len(table), "pictures": len(planned), **counted}
    manifest: dict[str, Any] = {
        "made_by": f"fin-tasks {fin_tasks.__version__}: build mme_finance",
        "n": n,
        "seed": seed,
        "prices": prices.name if prices else "sample",
        "libraries": {name: version(name) for name in _LIBRARIES},
        "counts": counts,
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    return manifest
