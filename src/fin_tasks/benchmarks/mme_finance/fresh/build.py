"""Sets of fresh questions in MME-Finance's own form: planned from a seed, drawn in parallel, finished when killed."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

import joblib
import pandas as pd
from tqdm import tqdm

import fin_tasks
from fin_tasks.benchmarks.mme_finance.fresh.draw import font
from fin_tasks.benchmarks.mme_finance.fresh.questions import CATEGORIES, questions
from fin_tasks.benchmarks.mme_finance.fresh.scenes import TYPES, Prices, Scene, make_scene, read_prices, words
from fin_tasks.benchmarks.mme_finance.fresh.styles import STYLES
from fin_tasks.data.fetch import sha256_of
from fin_tasks.errors import ConfigError

__all__ = ["CATEGORIES", "Picture", "build_set", "plan"]

_COLUMNS = ["index", "question", "answer", "image_path", "task_category", "image_type", "image_style", "background"]
_COLUMNS += ["truth"]  # ours
_LIBRARIES = ("matplotlib", "mplfinance", "numpy", "pandas", "pillow", "stockstats")
_TABLES = {"en": "MMfin.tsv", "zh": "MMfin_CN.tsv"}
_GENERATOR = 3  # goes up with every change of plans or pictures


@dataclass(frozen=True)
class Picture:
    """A picture to draw, and what is asked about it: rows of the set's table."""

    file: str
    scene: Scene
    seed: str
    rows: list[dict[str, str]]


def plan(language: str, *, n: int, seed: int, prices: Prices, categories: Sequence[str] = CATEGORIES) -> list[Picture]:
    """Plan pictures with `n` questions, spread evenly over categories, types and styles.

    No question comes twice. A larger set starts with the smaller one of the same seed.
    """
    asked, crossed, seen, pictures = Counter[str](), Counter[tuple[str, str]](), set[str](), list[Picture]()
    for place in range(20 * n + 100):
        image_type = TYPES[place % len(TYPES)]
        style = list(STYLES)[(place + place // 12) % len(STYLES)]  # meets every type within 24 pictures
        scene = make_scene(image_type, language, Random(f"{seed} {place}"), prices)
        file = f"images/{language}_{place:05d}.{'jpg' if style == 'mobile photograph' else 'png'}"
        shown = {"image_path": file, "image_type": image_type, "image_style": style, "background": ""}
        least, most, rows = min(asked[name] for name in categories), min(2, n - len(seen)), list[dict[str, str]]()
        rarest = {name: (asked[name] > least + 1, crossed[image_type, name], asked[name]) for name in categories}
        for category in sorted(categories, key=rarest.__getitem__):
            made = questions(scene, category, Random(f"{seed} {place} {category}"))
            new = next((row for row in made if row["question"] not in seen), None)
            if new and len(rows) < most:
                rows.append({"index": str(len(seen)), **new, **shown})
                seen.add(new["question"])
                asked[category] += 1
                crossed[image_type, category] += 1
        if rows:
            pictures.append(Picture(file, scene, f"{seed} {place} {style}", rows))
        if len(seen) == n:
            return pictures
    raise ConfigError(f"build mme_finance: expected --prices with enough days for {n} questions, got too few.")


def build_set(
    folder: Path,
    *,
    n: int,
    seed: int,
    languages: Sequence[str] = tuple(_TABLES),
    categories: Sequence[str] = CATEGORIES,
    prices: Path | None = None,
    jobs: int = 1,
) -> dict[str, Any]:
    """Build a set of `n` questions in each language, or finish or enlarge the one in the folder; return its manifest.

    Pictures that are there are kept; the tables appear when all pictures are drawn.

    Raises:
        ConfigError: An option is not possible, the folder holds another set, or a font for Chinese is missing.
        DataError: The prices cannot be read.
    """
    for option, given, known in (("language", languages, _TABLES), ("category", categories, CATEGORIES)):
        if not given or (unknown := [name for name in given if name not in known]):
            got = unknown[0] if given else "none"
            raise ConfigError(f"build mme_finance: expected as {option} some of {', '.join(known)}, got {got!r}.")
    pieces = read_prices(prices)
    chosen = [name for name in CATEGORIES if name in categories]
    content = [words(name) for name in _TABLES], [(symbol, *days.sum().round(2)) for symbol, days in pieces]
    sums = {"words_and_prices": sha256(repr(content).encode()).hexdigest()}
    made_of: dict[str, Any] = {"seed": seed, "categories": chosen, "generator": _GENERATOR, **sums}
    manifest: dict[str, Any] = {"made_by": f"fin-tasks {fin_tasks.__version__}: build mme_finance", **made_of}
    try:
        (folder / "images").mkdir(parents=True, exist_ok=True)
        path = folder / "manifest.json"
        before = json.loads(path.read_text(encoding="utf-8")) if path.exists() else made_of
        if other := [key for key in made_of if before.get(key) != made_of[key]]:
            found = f"another {other[0]} ({before.get(other[0])!r})"
            raise ConfigError(f"{folder}: expected no other set, got one with {found}. Name another folder with --out.")
        _write(path, json.dumps(manifest, indent=2))  # a run that is killed can go on
        plans = {name: plan(name, n=n, seed=seed, prices=pieces, categories=chosen) for name in languages}
        missing = [one for pictures in plans.values() for one in pictures if not (folder / one.file).exists()]
        with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
            calls = [joblib.delayed(_draw)(one, folder) for one in missing]
            done = joblib.Parallel(n_jobs=jobs, return_as="generator")(calls)
            list(tqdm(done, "Drawing pictures", len(calls), unit="picture", disable=None))
        manifest |= {"n": n, "languages": list(languages), "libraries": {name: version(name) for name in _LIBRARIES}}
        manifest |= {"fonts": {name: sha256_of(Path(font(name))) for name in languages}, "counts": {}}
        for language, pictures in plans.items():
            table = pd.DataFrame([row for one in pictures for row in one.rows])[_COLUMNS]
            _write(folder / _TABLES[language], table.to_csv(sep="\t", index=False, lineterminator="\n"))
            columns = {column: table[column].value_counts().sort_index().to_dict() for column in _COLUMNS[4:7]}
            manifest["counts"][language] = {"rows": len(table), "pictures": len(pictures), **columns}
        _write(path, json.dumps(manifest, ensure_ascii=False, indent=2) + "\n")
    except OSError as error:
        raise ConfigError(f"{folder}: expected a folder that can be written to, got {error}.") from error
    return {**manifest, "drawn": len(missing)}


def _draw(one: Picture, folder: Path) -> None:
    image, target = STYLES[one.rows[0]["image_style"]](one.scene, Random(one.seed)), folder / one.file
    part = target.with_name(f".{target.name}")
    image.save(part, "JPEG" if target.suffix == ".jpg" else "PNG", quality=85)
    part.replace(target)


def _write(path: Path, text: str) -> None:
    part = path.with_name(f".{path.name}")
    part.write_text(text, encoding="utf-8", newline="\n")
    part.replace(path)
