"""XFinBench's rows as documents of lm-eval; `docs/xfinbench.md` explains the options."""

import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from string import ascii_uppercase
from typing import Any

from PIL import Image

from fin_tasks.answers.paper import MARKER
from fin_tasks.benchmarks.xfinbench import prompts as wording
from fin_tasks.benchmarks.xfinbench.math_types import read_labels
from fin_tasks.benchmarks.xfinbench.score import CAPABILITIES, parse_truth
from fin_tasks.data.documents import dataset_of, draw, refuse_typos
from fin_tasks.data.fetch import Located, locate, sha256_of
from fin_tasks.data.tables import read_csv
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

__all__ = ["PRESETS", "SPLITS", "SUBSETS", "blank_image", "figure", "items_of", "load", "parse_choices", "read_rows"]

SUBSETS: Mapping[str, str] = {"bool": "bool", "mcq": "mcq", "mcq_visual": "mcq", "calc": "calcu"}
"""Part of the benchmark to the value of the file's `task` column."""
SPLITS: Mapping[str, str] = {"test": "dataset/test_set.csv", "validation": "dataset/validation_set.csv"}
PRESETS: Mapping[str, tuple[str, Mapping[str, int]]] = {
    "human": ("test", {"bool": 400, "mcq": 170, "calcu": 430}),
    "sensitivity": ("validation", {"bool": 253, "mcq": 67, "calcu": 180}),
}
"""The samples of the paper's studies: the split, and the rows of each task."""

SCORER_VERSION = 2  # goes up with every change that moves a score
_SAMPLE = Path(__file__).with_name("sample")
COLUMNS = ("id", "task", "question", "choice", "ground_truth", "figure", "fin_capability", "gold_fin_term_id")
_UNUSABLE = {"unknown-task", "cell-count", "empty-id", "duplicate-id", "empty-question", "mcq-without-choices"}
_UNUSABLE |= {"unexpected-figure", "missing-figure"}
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
    n: int | str | None = None,
    seed: int = 0,
    sampling: str | None = None,
    math_types: str | None = None,
    **unknown: Any,
) -> dict[str, Any]:
    """Return `{split: datasets.Dataset}` of one subset; `info.description` holds the provenance as JSON."""
    refuse_typos("xfinbench", unknown, sorted(set(load.__kwdefaults__ or ()) - {"mode"}))  # `model` is no typo of it
    preset = PRESETS.get(n) if isinstance(n, str) else None
    if not (n is None or preset or (type(n) is int and n > 0)):
        raise ConfigError(f"xfinbench n: expected a number of rows, {' or '.join(PRESETS)}, got {n!r}.")
    if preset and split not in (None, preset[0]):
        raise ConfigError(f"xfinbench split: n {n!r} is a sample of {preset[0]}, got {split!r}. Leave split out.")
    split = preset[0] if preset else split or "test"
    options = {"subset": (subset, SUBSETS), "split": (split, SPLITS), "knowledge": (knowledge, wording.CONDITIONS)}
    for name, (value, allowed) in {**options, "prompts": (prompts, ("house", "upstream"))}.items():
        if value not in allowed:
            raise ConfigError(f"xfinbench {name}: expected one of {', '.join(allowed)}, got {value!r}.")
    chosen, task, visual = wording.style_named(style, mode=mode), SUBSETS[subset], subset == "mcq_visual"

    settings, table = Settings.from_environ(), SPLITS["validation" if source == "sample" else split]
    files = locate("xfinbench", [table], source=source, data_dir=data_dir, settings=settings, sample=_SAMPLE)
    rows = _read_once(files.files[table], files.provenance()["revision"])
    of_task = [{**row, "defects": [*row["defects"]]} for row in rows if row["task"] in (task, "")]
    with_figures = _find_figures(files, of_task) if visual or (preset and task == "mcq") else files
    own = [row for row in of_task if row["task"] != "mcq" or bool(row["figure"]) == visual]
    asked = [row for row in (of_task if preset else own) if not _UNUSABLE.intersection(row["defects"])]
    size = preset[1][task] if preset else None if isinstance(n, str) else n
    if preset and size and len(asked) < size:
        raise ConfigError(f"xfinbench n: expected at least {size} usable rows of the task, got {len(asked)}.")
    asked = draw("xfinbench", asked, size, seed, lambda row: str(row["id"]))
    asked = [row for row in asked if bool(row["figure"]) == visual]
    left_out = {kind: ids for kind in sorted(_UNUSABLE) if (ids := [r["id"] for r in own if kind in r["defects"]])}
    counts = ", ".join(f"{kind} {len(ids)}" for kind, ids in left_out.items())
    if counts:
        _log.warning("xfinbench %s, %s: rows left out: %s", subset, split, counts)
    if not asked:
        where = f"{files.files[table]} (n: {n}, left out: {counts or 'nothing'})"
        raise DataError(f"xfinbench {subset}: no row to ask in {where}. Leave out this task, or take another seed.")

    house, facts = prompts == "house", {}
    terms: list[list[wording.Term]] = [[] for _ in asked]
    if knowledge != "none":
        bank = files.more(["dataset/knowledge_bank.csv"]).files["dataset/knowledge_bank.csv"]
        terms, facts["retrieval"] = wording.find_terms(asked, bank, knowledge, top_k, encoder, settings)
    templates = wording.house_prompts() if house else wording.upstream_prompts(_texts(files))
    labels = read_labels(Path(math_types), [row["id"] for row in asked]) if math_types and task == "calcu" else None
    docs = []
    for row, shown in zip(asked, terms, strict=True):
        question, choices = row["question"], row["choice"].replace("\\n", "\n")  # some cells spell it out
        if house:
            lettered = map(". ".join, zip(ascii_uppercase, row["choices"], strict=False))
            question, choices = question.strip(), "\n".join(lettered)
        prompt = templates.fill(task, chosen, question=question, choices=choices, terms=shown)
        mark = "<image>\n" if visual or blank_image else ""
        labeled = {} if labels is None else {"math_types": labels.get(row["id"], [])}
        docs.append({**labeled, **_doc(row, subset, chosen.mode, shown), **prompt, "prompt": mark + prompt["prompt"]})
    provenance = {
        "scorer": SCORER_VERSION,
        "split": split,
        "style": chosen._asdict(),
        "prompts": {"set": prompts, "sha256": templates.sha256(knowledge=knowledge != "none")},
        "data": (with_figures if visual else files).provenance(),
        "blank_image": blank_image,
        "left_out": left_out,
        "defects": dict(sorted(Counter(kind for row in own for kind in row["defects"]).items())),
        **facts,
        **({} if n is None else {"n": n, "seed": seed}),
        **({} if labels is None else {"math_types": sha256_of(Path(str(math_types)))}),
        **({} if sampling is None else {"sampling": sampling}),
    }
    return {split: dataset_of(docs, provenance)}


@lru_cache(maxsize=2)  # the tasks of a group read the same file
def _read_once(path: Path, _revision: str) -> list[dict[str, Any]]:
    return read_rows(path)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read a table of questions, one dict a row: `task` is empty if unknown, `defects` names what is odd."""
    rows: list[dict[str, Any]] = []
    ids: set[str] = set()
    questions: set[str] = set()
    for record in read_csv(path, COLUMNS):
        cells = {column: record.cells[column].strip() for column in COLUMNS}
        question = " ".join(cells["question"].split())
        row: dict[str, Any] = {
            **{column: record.cells[column] for column in ("question", "choice", "ground_truth")},
            **{column: cells[column] for column in ("id", "figure")},
            "task": cells["task"] if cells["task"] in SUBSETS.values() else "",
            "choices": parse_choices(cells["choice"]) or items_of(cells["choice"], "\n"),
            "capabilities": [code for code in items_of(cells["fin_capability"]) if code in CAPABILITIES],
            "has_table": re.search(r"\\begin\{(?:table|tabular)", question) is not None,
            "figure_path": "",
            "gold_terms": items_of(cells["gold_fin_term_id"]),
        }
        odd = {**_odd(row, cells), "cell-count": record.surplus, "duplicate-id": row["id"] in ids}
        odd["duplicate-question"] = question in questions
        row["defects"] = [kind for kind, found in odd.items() if found]
        rows.append(row)
        ids.add(row["id"])
        questions |= {question} - {""}
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


def items_of(cell: str, separators: str = ";:,") -> list[str]:
    """Return the items of a cell that holds several, each once."""
    return list(dict.fromkeys(filter(None, map(str.strip, re.split(f"[{separators}]", cell)))))


def _odd(row: Mapping[str, Any], cells: Mapping[str, str]) -> dict[str, Any]:
    task, choices, choice = row["task"], row["choices"], cells["choice"]
    truth, text = parse_truth(task, cells["ground_truth"]), cells["ground_truth"]
    mcq, calcu = task == "mcq", task == "calcu"
    return {
        "unknown-task": not task,
        "empty-id": not row["id"],
        "empty-question": not cells["question"],
        "mcq-without-choices": mcq and not choices,
        "unexpected-figure": row["figure"] and not mcq,
        "bool-truth-as-integer": task == "bool" and text in ("0", "1"),
        "en-dash-minus": calcu and re.search("[‐‑‒–—−]", text),
        "scientific-notation": calcu and re.search(r"\d[eE][-+]?\d", text),
        "zero-truth": calcu and truth.value == 0,
        "several-numbers": truth.flaw == "two numbers",
        "unusable-truth": task and truth.flaw not in ("", "two numbers"),
        "truth-not-a-choice": mcq and choices and truth.value not in [None, *ascii_uppercase[: len(choices)]],
        "unreadable-choices": mcq and choices and not parse_choices(choice),
        "literal-newline-in-choices": "\\n" in choice and len(choices) > len(choice.splitlines()),
        "colon-separated-capabilities": ":" in cells["fin_capability"],
        "unknown-capability": set(items_of(cells["fin_capability"])) - set(CAPABILITIES),
    }


def _find_figures(files: Located, rows: Sequence[dict[str, Any]]) -> Located:
    names = sorted({row["figure"] for row in rows if re.fullmatch(r"[\w-]+", row["figure"])})
    paths = [f"dataset/figures/{name}.{suffix}" for suffix in ("jpeg", "jpg", "png") for name in names]
    found = files.more(paths, optional=True)
    pictures = {path.stem: path for path in found.files.values() if path.suffix != ".csv"}
    for row in rows:
        row["figure_path"] = str(pictures.get(row["figure"], ""))
        row["defects"] += ["missing-figure"] if row["figure"] and not row["figure_path"] else []
    return found


def _texts(files: Located) -> dict[str, str]:
    paths = {name: f"evaluate/prompt_template/{name}" for name in wording.TEMPLATES}
    found = files.more(tuple(paths.values())).files
    try:
        return {name: found[path].read_text(encoding="utf-8") for name, path in paths.items()}
    except UnicodeDecodeError as error:
        raise DataError(f"xfinbench prompts: expected UTF-8, got {error}. Fetch the files again.") from error


def _doc(row: Mapping[str, Any], subset: str, mode: str, terms: Sequence[wording.Term]) -> dict[str, Any]:
    keys = ("id", "task", "question", "choices", "ground_truth", "capabilities", "has_table", "gold_terms")
    kept = {key: row[key] for key in (*keys, "figure", "figure_path")}
    truth, verdict = row["ground_truth"], "true." if parse_truth("bool", row["ground_truth"]).value else "false."
    target = {"bool": verdict, "mcq": f"{truth}.", "calcu": f"[{truth}]"}[row["task"]]
    shown = [{"id": term.id, "name": term.name, "score": term.score} for term in terms]
    return {**kept, "subset": subset, "mode": mode, "target": f"{MARKER} {target}", "terms": shown}


def figure(doc: Mapping[str, Any]) -> list[Image.Image]:
    """Open a document's figure; lm-eval calls this as `doc_to_image`."""
    with Image.open(doc["figure_path"]) as picture:
        return [picture.convert("RGB")]


def blank_image(doc: Mapping[str, Any]) -> list[Image.Image]:
    """Return a white picture for a question that has no figure."""
    return [Image.new("RGB", (336, 336), "white")]
