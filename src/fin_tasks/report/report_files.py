"""The files of a report in their folder: all of a new one, or all of the old one."""

import csv
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from fin_tasks.errors import ConfigError
from fin_tasks.report.collect import Collected
from fin_tasks.report.earlier import RECORD, Parts
from fin_tasks.report.markdown_tables import write_tables
from fin_tasks.report.paper_tables import make
from fin_tasks.report.report_figures import write_figures
from fin_tasks.report.schema import FORMAT, check
from fin_tasks.report.settings import text_of
from fin_tasks.report.tables import Document
from fin_tasks.sandbox import escape

if TYPE_CHECKING:
    from fin_tasks.report.site.sample_runs import SampleIndex

__all__ = ["NAMES", "check_folder", "write_csv", "write_report"]

NAMES = ("leaderboard.json", "leaderboard.csv", "tables", "figures", "index.html", "samples", RECORD)
"""What a report has in its folder; other files in it are left alone."""

_OWN = ("data.revision", "prompts.sha256", "fin_tasks")
"""Of a run's provenance, with a column of their own; model arguments stand together in one."""
_HARNESSES = ("lm_eval_version", "vlmeval_version")
_FORMULA = ("=", "+", "-", "@", "\t")  # spreadsheets run cells that begin with these


def check_folder(out: Path, *, inputs: Iterable[Path] = ()) -> None:
    """Find out before the work that a report cannot be written, or would replace what is none.

    Args:
        out: Where it is to be.
        inputs: What it is to be made of; nothing is written among that.

    Raises:
        ConfigError: It is no folder, has files of a report's names without a report's `leaderboard.json`, is one of
            the inputs, or would replace one.
    """
    _check_apart(out, inputs)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--out {out}: expected a folder to write to, got {error.strerror}.") from error
    there = [name for name in NAMES if (out / name).exists() or (out / name).is_symlink()]
    if there and not _is_ours(out / NAMES[0]):
        raise ConfigError(
            f"--out {out}: expected a new folder, or one with an earlier report; {', '.join(there)} would be replaced, "
            f"and {NAMES[0]} is not there or not ours. Name another folder, or remove them."
        )


def _check_apart(out: Path, inputs: Iterable[Path]) -> None:
    real = out.resolve()
    replaced = [real / name for name in NAMES]
    for path in inputs:
        given = path.resolve()
        within = any(given.is_relative_to(name) for name in replaced)
        among = given.is_dir() and real.is_relative_to(given) and out.is_dir() and any(out.iterdir())
        if given == real or within or (among and not _is_ours(out / NAMES[0])):
            raise ConfigError(
                f"--out {out}: expected a folder apart from the results, got one that {path} is in or that is in it. "
                "Name a new folder, as nothing is written back into results."
            )


def write_report(
    document: Document,
    collected: Collected,
    out: Path,
    *,
    samples: bool = True,
    tell: Callable[[str], None] | None = None,
) -> list[str]:
    """Write everything; what an earlier report left under the same names is replaced once all is there.

    Figures and samples that would be the same again are taken over from the earlier report.

    Args:
        document: Of `leaderboard.document`.
        collected: Of which it was made.
        out: As `check_folder` found it.
        samples: Write questions and responses too, for the page.
        tell: Told what is being written.

    Returns:
        The paths of the files within the folder, sorted; those of samples as one, and without the record.

    Raises:
        DataError: The document is not as its schema says.
    """
    tell = tell or (lambda _: None)
    check(document)
    with _replacing(out) as stage:
        parts = Parts(stage, out)

        def write_numbers() -> None:
            _write_numbers(document, stage, parts, tell)
            tell("samples")

        index = None
        if samples:  # other processes write them while this one does the rest
            index = _write_samples(collected, stage, parts, write_numbers, tell)
        else:
            write_numbers()
        _write_page(document, stage, index, tell)
        written = sorted(path.relative_to(stage) for path in stage.rglob("*") if path.is_file())
        parts.save()
    shown = (f"{path.parts[0]}/" if path.parts[0] == "samples" else path.as_posix() for path in written)
    return list(dict.fromkeys(shown))


def _write_numbers(document: Document, stage: Path, parts: Parts, tell: Callable[[str], None]) -> None:
    tell("table")
    text = json.dumps(document, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    (stage / NAMES[0]).write_text(f"{text}\n", encoding="utf-8")
    write_csv(document, stage / NAMES[1])
    shapes = make(document)
    tell("tables")
    (stage / "tables").mkdir()
    write_tables(document, stage / "tables", shapes=shapes)
    tell("figures")
    (stage / "figures").mkdir()
    write_figures(document, stage / "figures", shapes=shapes, parts=parts)


def _write_samples(
    collected: Collected, stage: Path, parts: Parts, meanwhile: Callable[[], None], tell: Callable[[str], None]
) -> "SampleIndex":
    from fin_tasks.report.site.sample_store import write_samples

    def advance(done: int, total: int) -> None:
        tell(f"samples of {done:,} of {total:,} runs")

    return write_samples(collected, stage, parts=parts, meanwhile=meanwhile, on_done=advance)


def _write_page(document: Document, stage: Path, index: "SampleIndex | None", tell: Callable[[str], None]) -> None:
    from fin_tasks.report.site.page import write_page

    tell("page")
    write_page(document, stage, samples=index)


def write_csv(document: Document, path: Path) -> None:
    """Write a line per value with its task, interval and where it is from; no number is an empty cell."""
    tasks, runs = ({one["id"]: one for one in document[kind]} for kind in ("tasks", "runs"))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        header: list[str] = []
        for entry in document["entries"]:
            facts = document["groups"].get(entry["group"], {})
            line = _line(entry, tasks[entry["task"]], runs[entry["run"]], document["metrics"][entry["metric"]], facts)
            if not header:
                header = list(line)
                writer.writerow(header)
            writer.writerow([_cell(line[name]) for name in header])


def _line(
    entry: Mapping[str, Any],
    task: Mapping[str, Any],
    run: Mapping[str, Any],
    metric: Mapping[str, Any],
    group: Mapping[str, str],
) -> dict[str, Any]:
    facts = run["provenance"]
    said = {name: text_of(facts.get(f"provenance.{name}", "")) for name in _OWN}
    arguments = {name.removeprefix("model_args."): of for name, of in facts.items() if name.startswith("model_args.")}
    return {
        "model": entry["model"],
        **{name: task[name] for name in ("benchmark", "task", "split", "variant", "mode", "style", "retrieval", "arm")},
        "judge": entry["judge"],
        "metric": entry["metric"],
        **{name: entry[name] for name in ("value", "low", "high")},
        "unit": metric["unit"],
        "higher_is_better": metric["higher_is_better"],
        "n": entry["n"] if entry["n"] or entry["value"] is None else None,  # None where not known
        "unscored": entry["unscored"],
        "marks": "; ".join(entry["marks"]),
        "group": entry["group"],
        "source": run["source"],
        "date": run["date"],
        # data of several files have no revision of their own: what stands for all of them is in the group
        "data_revision": said["data.revision"] or group.get("data", ""),
        "prompts_sha256": said["prompts.sha256"] or group.get("prompts", ""),
        "fin_tasks": said["fin_tasks"],
        "harness_version": next((text_of(facts[name]) for name in _HARNESSES if name in facts), ""),
        "model_args": ", ".join(f"{name}={value}" for name, value in arguments.items()),
        "run": entry["run"],
        "path": run["path"],
    }


def _cell(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    text = escape(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def _is_ours(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return FORMAT.encode() in file.read(100)
    except OSError:
        return False


@contextmanager
def _replacing(out: Path) -> Iterator[Path]:
    """Give a folder to write to; when all went well its files go to `out`, else nothing has changed there."""
    stage = Path(mkdtemp(prefix=".report-", dir=out))  # in the same file system, so that moving is renaming
    old = Path(mkdtemp(prefix=".report-", dir=out))
    try:
        yield stage
        _swap(out, stage, old)
        shutil.rmtree(old)
    finally:
        shutil.rmtree(stage, ignore_errors=True)
        if old.exists() and not any(old.iterdir()):  # what could not be put back stays here
            old.rmdir()


def _swap(out: Path, stage: Path, old: Path) -> None:
    moved: list[tuple[Path, Path]] = []
    try:
        for names, source, target in ((NAMES, out, old), (_all_names(stage), stage, out)):
            for name in names:
                if (source / name).exists() or (source / name).is_symlink():
                    (source / name).rename(target / name)
                    moved.append((source / name, target / name))
    except BaseException:
        for before, after in reversed(moved):
            after.rename(before)
        raise


def _all_names(folder: Path) -> Sequence[str]:
    return [path.name for path in folder.iterdir()]
