"""`fin-tasks build mme-finance`."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fin_tasks.cli.options import Json
from fin_tasks.errors import ConfigError

if TYPE_CHECKING:
    from fin_tasks.benchmarks.mme_finance.building import Built
    from fin_tasks.benchmarks.mme_finance.row import Language

__all__ = ["build_mme_finance"]


def build_mme_finance(
    n: Annotated[
        int, typer.Option("--n", min=1, help="Questions in each language; about half as many pictures.")
    ] = 110,
    seed: Annotated[int, typer.Option(help="Another seed makes another set, which nobody has seen yet.")] = 1,
    lang: Annotated[str, typer.Option(help="Languages, with a comma between: en, zh.")] = "en,zh",
    categories: Annotated[
        str | None,
        typer.Option(
            help="Categories, with commas between, by name or abbreviation, such as OCR,ER.", show_default="all"
        ),
    ] = None,
    objective: Annotated[
        bool, typer.Option("--objective", help="Only categories with exact truths, which need no judge.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the set.", show_default="mme_finance/seed-SEED in the cache"),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Processes that draw pictures; the files are the same.")] = 1,
    as_json: Json = False,
) -> None:
    """Make a new set of questions about charts, tables and reports, in MME-Finance's own form.

    Prices are real, companies with accounts made up; every truth is computed from what the picture shows. Running it
    again keeps the pictures that are drawn already; a larger --n enlarges the set.
    """
    languages = _languages(lang)
    chosen = _categories(categories, objective=objective)

    from tqdm import tqdm

    from fin_tasks.benchmarks.mme_finance.building import build_set
    from fin_tasks.settings import Settings

    folder = out or Settings.from_environ().cache_dir / "mme_finance" / _folder_name(seed, chosen)
    with tqdm(desc="Drawing pictures", unit="picture", disable=None) as bar:

        def advance(done: int, of: int) -> None:
            if bar.total != of:
                bar.reset(of)
            bar.update(done - bar.n)

        built = build_set(folder, n=n, seed=seed, languages=languages, categories=chosen, jobs=jobs, on_done=advance)
    if as_json:
        told = {key: built.manifest[key] for key in ("n", "seed", "languages", "categories", "counts")}
        print(json.dumps({**told, "folder": str(folder), "pictures": built.pictures, "drawn": built.drawn}))
    else:
        _show(built)


def _languages(value: str) -> "list[Language]":
    from fin_tasks.benchmarks.mme_finance.row import LANGUAGES

    names = [part.strip() for part in value.split(",")]
    if wrong := [name for name in names if name not in LANGUAGES]:
        raise ConfigError(f"build mme-finance --lang: expected {' or '.join(LANGUAGES)}, got {wrong[0]!r}.")
    return [language for language in LANGUAGES if language in names]


def _categories(value: str | None, *, objective: bool) -> list[str] | None:
    from fin_tasks.benchmarks.mme_finance.planning import EXACT_CATEGORIES
    from fin_tasks.benchmarks.mme_finance.row import CATEGORIES

    if value is None:
        return list(EXACT_CATEGORIES) if objective else None
    known = {form.casefold(): name for name, category in CATEGORIES.items() for form in (name, category.short)}
    parts = [part.strip() for part in value.split(",")]
    if wrong := [part for part in parts if part.casefold() not in known]:
        listed = ", ".join(f"{category.short} ({name})" for name, category in CATEGORIES.items())
        raise ConfigError(f"build mme-finance --categories: expected some of {listed}, got {wrong[0]!r}.")
    chosen = [known[part.casefold()] for part in parts]
    if objective and (judged := [name for name in chosen if name not in EXACT_CATEGORIES]):
        raise ConfigError(
            f"build mme-finance --objective: expected categories with exact truths ({', '.join(EXACT_CATEGORIES)}), "
            f"got {judged[0]!r}."
        )
    return chosen


def _folder_name(seed: int, categories: list[str] | None) -> str:
    from fin_tasks.benchmarks.mme_finance.planning import EXACT_CATEGORIES
    from fin_tasks.benchmarks.mme_finance.row import CATEGORIES

    if categories is None:
        return f"seed-{seed}"
    if set(categories) == set(EXACT_CATEGORIES):
        return f"seed-{seed}-objective"
    shorts = [category.short for name, category in CATEGORIES.items() if name in categories]
    return f"seed-{seed}-{'-'.join(shorts)}"


def _show(built: "Built") -> None:
    from rich.console import Console
    from rich.table import Table

    counts: Mapping[str, Mapping[str, Any]] = built.manifest["counts"]
    table = Table("", *(f"{language}" for language in counts))
    for title, key in (("category", "by_category"), ("type", "by_type"), ("style", "by_style")):
        table.add_section()
        names = sorted({name for count in counts.values() for name in count[key]})
        for place, name in enumerate(names):
            shown = [str(count[key].get(name, 0)) for count in counts.values()]
            table.add_row(f"{title if place == 0 else '':9} {name}", *shown)
    table.add_section()
    table.add_row("questions", *(str(count["rows"]) for count in counts.values()))
    table.add_row("with an exact truth", *(str(count["exact"]) for count in counts.values()))
    table.add_row("pictures", *(str(count["pictures"]) for count in counts.values()))
    Console().print(table)
    print(f"{built.pictures} pictures: {built.drawn} drawn, {built.pictures - built.drawn} already there")
    print(f"The set is in {built.folder}")
    print(f"""Use it: lm_eval --tasks mme_finance_en ... --metadata '{{"data_dir": "{built.folder}"}}'""")
