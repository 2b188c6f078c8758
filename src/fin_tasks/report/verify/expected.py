"""What a submission says of its task, held against the verifier's own: gold data, settings, questions and documents."""

from fin_tasks.benchmarks.scored_task import SCORINGS
from fin_tasks.data.locate import load_pins, pinned_benchmarks
from fin_tasks.settings import Settings

from .. import Fields
from ..conditions import settings_of
from ..corrected_samples import CORRECTIONS
from ..model import TaskResult
from .items import Item, Options, Rows
from .scores import InstalledTask, different

# Fields of documents with files, which differ between machines.
_FILES = {"chart", "figure_path", "image_path", "image_paths"}
# Settings that other items check, or that change no score of a row.
_FREE = ("data.origin", "rows", "repeats")


def options_for(result: TaskResult, options: Options) -> Options:
    """Return the options without corrections if a task was asked about the published questions."""
    if CORRECTIONS in result.settings:
        return options
    metadata = {**options.metadata}
    metadata.pop("corrections", None)
    return options._replace(metadata=metadata)


def check_gold(task: InstalledTask, revision: str | None) -> Item:
    """Say which gold data the verifier has, and whether their hashes are known."""
    benchmark = task.file.benchmark.name
    provenance = task.provenance
    data = provenance["data"]
    ours = data.get("revision") or provenance["hash"]
    origin = data["origin"]
    is_known = origin in ("upstream", "sample", "package") or ours == revision
    is_pinned = benchmark in pinned_benchmarks()
    if is_pinned and origin == "data_dir" and not data.get("is_own"):
        pins = load_pins(benchmark, Settings.from_environ())
        is_known = is_known or any(pin.sha256 for pin in pins.files)
    evidence = f"{origin}, split {provenance.get('split')}, revision {ours}"
    if is_known:
        return Item("gold data", "verified", evidence)
    evidence += f": if you know these files, add --revision {ours}"
    return Item("gold data", "not verified", evidence)


def different_settings(
    result: TaskResult, task: InstalledTask
) -> dict[str, str | None]:
    """Return the verifier's values of the settings that a submission has otherwise; None for no value."""
    own_settings = settings_of(
        {"provenance": task.provenance}, version=version_of(task)
    )
    is_recording = result.settings.get("data.origin") == "recording"
    own_values = {}
    for name in different(result.settings, own_settings):
        is_compared = name in own_settings or not is_recording
        if is_compared and name not in _FREE and not name.startswith("judge."):
            own_values[name] = own_settings.get(name)
    return own_values


def version_of(task: InstalledTask) -> str:
    """Return the version of a task's benchmark as results name it."""
    return str(task.file.benchmark.version)


def wrong_rows(rows: Rows, docs: Fields) -> list[str]:
    """Return the rows that are missing, foreign, or without the claims of a scoring."""
    details = [f"{row_id}: not asked" for row_id in sorted(docs.keys() - rows.keys())]
    for row_id, row in rows.items():
        if row_id not in docs:
            details.append(f"{row_id}: no question of the task")
        elif len(row.claims) < len(SCORINGS):
            details.append(f"{row_id}: a scoring is missing")
    return details


def changed_documents(rows: Rows, docs: Fields) -> dict[str, list[str]]:
    """Return what differs from our documents in those of a submission, by field."""
    details_by_field: dict[str, list[str]] = {}
    for row_id in sorted(rows.keys() & docs.keys()):
        claimed = rows[row_id].doc
        doc = docs[row_id]
        for name in different(claimed, doc):
            if name in doc.keys() - _FILES:
                detail = f"{row_id}: {name} {claimed[name]!r:.80}"
                details_by_field.setdefault(name, []).append(detail)
    return details_by_field
