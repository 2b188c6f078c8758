"""XFinBench's rows as documents of lm-eval; `docs/xfinbench.md` explains the options."""

import logging
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from PIL import Image

from fin_tasks.benchmarks.final_answer import READER_OPTIONS
from fin_tasks.benchmarks.short_answers_paper import MARKER
from fin_tasks.benchmarks.xfinbench import VERSION
from fin_tasks.benchmarks.xfinbench import prompts as wording
from fin_tasks.benchmarks.xfinbench.document import CAPABILITIES
from fin_tasks.benchmarks.xfinbench.math_types import read_labels
from fin_tasks.benchmarks.xfinbench.truth import parse_truth
from fin_tasks.data.documents import dataset_of, draw_rows, refuse_typos, sample_facts
from fin_tasks.data.files import sha256_of
from fin_tasks.data.locate import Located, locate
from fin_tasks.data.tables import read_csv
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

SUBSETS: Mapping[str, str] = {"bool": "bool", "mcq": "mcq", "mcq_visual": "mcq", "calc": "calcu"}
"""Part of the benchmark to the value of the file's `task` column."""
SPLITS: Mapping[str, str] = {
    "test": "dataset/test_set.csv",
    "validation": "dataset/validation_set.csv",
}
PRESETS: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "human": ("test", {"bool": 400, "mcq": 170, "calcu": 430}),
    "sensitivity": ("validation", {"bool": 180, "mcq": 67, "calcu": 253}),
}
"""The split of each study in the paper, and its number of rows by task; its figures fit no other numbers."""

COLUMNS = (
    "id",
    "task",
    "question",
    "choice",
    "ground_truth",
    "figure",
    "fin_capability",
    "gold_fin_term_id",
)
_SAMPLE = Path(__file__).with_name("sample")
_CHOICE = re.compile(r"(?:^|\n|\\n)[ \t]*\(?([A-Z])[.):][ \t]*")
_log = logging.getLogger(__name__)


def load(
    *,
    subset: str,
    mode: str = "cot",
    split: str | None = None,
    source: str = "auto",
    data_dir: str | None = None,
    prompts: str = "house",
    style: str | None = None,
    blank_image: bool = False,
    knowledge: str = "none",
    top_k: int = 3,
    encoder: str | None = None,
    sample_n: Any = None,
    sample_seed: int = 0,
    sampling: str | None = None,
    math_types: str | None = None,
    **unknown: Any,
) -> dict[str, Any]:
    """Return `{split: datasets.Dataset}` of one subset; `info.description` holds the provenance as JSON."""
    known = set(load.__kwdefaults__ or ()) - {"mode"}  # `model` is no typo of it
    refuse_typos("xfinbench", unknown, [*sorted(known), *READER_OPTIONS])
    preset, sizes = PRESETS.get(str(sample_n), ("test", None))
    split = split or preset
    options = {
        "subset": (subset, SUBSETS),
        "split": (split, SPLITS),
        "knowledge": (knowledge, wording.CONDITIONS),
    }
    for name, (value, allowed) in {**options, "prompts": (prompts, ("house", "upstream"))}.items():
        if value not in allowed:
            raise ConfigError(
                f"xfinbench {name}: expected one of {', '.join(allowed)}, got {value!r}."
            )
    chosen, task = wording.style_named(style, mode=mode), SUBSETS[subset]

    settings, table = Settings.from_environ(), SPLITS["validation" if source == "sample" else split]
    files = locate(
        "xfinbench", [table], source=source, data_dir=data_dir, settings=settings, sample=_SAMPLE
    )
    n = sizes[task] if sizes else sample_n
    rows, facts = _choose(files, table, subset, n, sample_seed, study=sizes is not None)
    facts |= {
        "scorer": VERSION,
        "split": split,
        "style": chosen._asdict(),
        "blank_image": blank_image,
        **sample_facts(sample_n, sample_seed),
    }
    if sampling is not None:
        facts["sampling"] = sampling
    if math_types and task == "calcu":
        facts["math_types"] = sha256_of(Path(math_types))
        labels = read_labels(Path(math_types), [row["id"] for row in rows])
        for row in rows:
            row["math_types"] = labels.get(row["id"], [])
    terms: list[list[wording.Term]] = [[] for _ in rows]
    if knowledge != "none":
        bank = files.with_files(["dataset/knowledge_bank.csv"]).files["dataset/knowledge_bank.csv"]
        terms, facts["retrieval"] = wording.find_terms(
            rows, bank, knowledge, top_k, encoder, settings
        )

    templates = wording.house_prompts() if prompts == "house" else wording.upstream_prompts(files)
    facts["prompts"] = {"set": prompts, "sha256": templates.sha256(knowledge=knowledge != "none")}
    docs = []
    for row, shown in zip(rows, terms, strict=True):
        question, choices = (
            row["question"],
            row.pop("choice").replace("\\n", "\n"),
        )  # some cells spell it out
        if prompts == "house":
            question, choices = question.strip(), lettered(row["choices"])
        prompt = templates.fill(task, chosen, question=question, choices=choices, terms=shown)
        if subset == "mcq_visual" or blank_image:
            prompt["prompt"] = "<image>\n" + prompt["prompt"]
        named = [{"id": term.id, "name": term.name, "score": term.score} for term in shown]
        docs.append(
            {
                **row,
                "subset": subset,
                "mode": chosen.mode,
                "target": _target(row),
                "terms": named,
                **prompt,
            }
        )
    return {split: dataset_of(docs, facts)}


def _choose(
    files: Located, table: str, subset: str, n: Any, seed: int, *, study: bool
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Draw n usable rows of a subset, all if None, and return them with the provenance of the table.

    A study of the paper draws from choices with and without a figure at once.
    """
    task, visual = SUBSETS[subset], subset == "mcq_visual"
    rows = [row for row in read_rows(files.files[table]) if row["task"] in (task, "")]
    provenance = files.provenance()
    if visual or (study and task == "mcq"):
        found = _find_figures(files, rows)
        provenance = found.provenance() if visual else provenance
    own = [row for row in rows if row["task"] != "mcq" or bool(row["figure"]) == visual]
    usable = [row for row in (rows if study else own) if not row["flaw"]]
    asked = [
        row for row in draw_rows("xfinbench", usable, n, seed, lambda row: row["id"]) if row in own
    ]
    left_out: dict[str, list[str]] = {}
    for row in own:
        if flaw := row.pop("flaw"):
            left_out.setdefault(flaw, []).append(row["id"])
    counts = ", ".join(f"{kind} {len(ids)}" for kind, ids in left_out.items())
    if counts:
        _log.warning("xfinbench %s: rows of %s left out: %s", subset, table, counts)
    if not asked:
        where = f"{files.files[table]} (sample_n: {n}, left out: {counts or 'nothing'})"
        raise DataError(
            f"xfinbench {subset}: no row to ask in {where}. "
            "Leave out this task, or take another sample_seed."
        )
    return asked, {"data": provenance, "left_out": left_out}


def _target(row: Mapping[str, Any]) -> str:
    """Return the right answer as a response."""
    truth = row["ground_truth"]
    if row["task"] == "bool":
        truth = "true" if parse_truth("bool", truth).value else "false"
    return f"{MARKER} [{truth}]" if row["task"] == "calcu" else f"{MARKER} {truth}."


def _find_figures(files: Located, rows: Sequence[dict[str, Any]]) -> Located:
    names = sorted({row["figure"] for row in rows if re.fullmatch(r"[\w-]+", row["figure"])})
    paths = [
        f"dataset/figures/{name}.{suffix}" for suffix in ("jpeg", "jpg", "png") for name in names
    ]
    found = files.with_files(paths, optional=True)
    pictures = {path.stem: str(path) for path in found.files.values() if path.suffix != ".csv"}
    for row in rows:
        row["figure_path"] = pictures.get(row["figure"], "")
        if row["figure"] and not row["figure_path"]:
            row["flaw"] = "missing-figure"
    return found


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read a table of questions. `task` is empty if it is unknown, and `flaw` says why a row cannot be used."""
    rows: list[dict[str, Any]] = []
    ids = {""}
    for record in read_csv(path, COLUMNS):
        cells = {column: record.cells[column].strip() for column in COLUMNS}
        row: dict[str, Any] = {
            **{column: record.cells[column] for column in ("question", "choice", "ground_truth")},
            **{column: cells[column] for column in ("id", "figure")},
            "task": cells["task"] if cells["task"] in SUBSETS.values() else "",
            "choices": parse_choices(cells["choice"]) or items_of(cells["choice"], "\n"),
            "capabilities": [
                code for code in items_of(cells["fin_capability"]) if code in CAPABILITIES
            ],
            "has_table": re.search(r"\\begin\{(?:table|tabular)", cells["question"]) is not None,
            "figure_path": "",
            "gold_terms": items_of(cells["gold_fin_term_id"]),
        }
        flaw = "mcq-without-choices" if row["task"] == "mcq" and not row["choices"] else ""
        if record.surplus or row["id"] in ids or not cells["question"] or not row["task"]:
            flaw = "malformed"
        rows.append({**row, "flaw": flaw})
        ids.add(row["id"])
    return rows


def parse_choices(cell: str) -> list[str]:
    """Return the texts of lettered choices without their letters; empty if they are not lettered A, B, C in order."""
    starts: list[re.Match[str]] = []
    for match in _CHOICE.finditer(cell):
        if match[1] == ascii_uppercase[len(starts) : len(starts) + 1]:
            starts.append(match)
    if len(starts) < 2 or cell[: starts[0].start()].strip():
        return []
    ends = [match.start() for match in starts[1:]] + [len(cell)]
    texts = [cell[match.end() : end].strip() for match, end in zip(starts, ends, strict=True)]
    return texts if all(texts) else []


def lettered(choices: Iterable[str]) -> str:
    """Return choices with their letters, a line each."""
    return "\n".join(
        f"{letter}. {choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False)
    )


def items_of(cell: str, separators: str = ";:,") -> list[str]:
    """Split a cell into its items, and return each once."""
    return list(dict.fromkeys(filter(None, map(str.strip, re.split(f"[{separators}]", cell)))))


def figure(doc: Mapping[str, Any]) -> list[Image.Image]:
    """Open a document's figure; lm-eval calls this as `doc_to_image`."""
    with Image.open(doc["figure_path"]) as picture:
        return [picture.convert("RGB")]


def blank_image(doc: Mapping[str, Any]) -> list[Image.Image]:
    """Return a white picture for a question that has no figure."""
    return [Image.new("RGB", (336, 336), "white")]
