"""MME-Finance's rows as documents of lm-eval; `docs/mme_finance.md` explains the options."""

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fin_tasks.benchmarks.mme_finance import VERSION, multi_turn, upstream
from fin_tasks.benchmarks.mme_finance import prompts as texts
from fin_tasks.benchmarks.mme_finance.exact import parse_truth
from fin_tasks.benchmarks.mme_finance.images import Pictures, is_usable, unpack
from fin_tasks.benchmarks.mme_finance.score import CATEGORIES
from fin_tasks.data.documents import dataset_of, draw_rows, refuse_typos, sample_facts
from fin_tasks.data.files import sha256_of
from fin_tasks.data.locate import Located, locate
from fin_tasks.data.pictures import upright_files
from fin_tasks.data.tables import read_csv
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

TABLES: Mapping[tuple[str, str], str] = {
    ("open", "en"): "MMfin",
    ("open", "zh"): "MMfin_CN",
    ("binary", "zh"): "MMfin_Binary",
    ("multi_turn", "zh"): "MMfin_MT_CN",
}
"""Part and language to the name of the table and of its archive of pictures."""

_SAMPLE = Path(__file__).with_name("sample")
_COLUMNS = ("index", "question", "answer", "image_path")
_CATEGORY_COLUMNS = ("task_category", "image_type", "image_style")
_log = logging.getLogger(__name__)


class Row(NamedTuple):
    """A row of a table: its cells, questions, answers and pictures; a conversation has several of each."""

    cells: Mapping[str, str]
    questions: Sequence[str]
    answers: Sequence[str]
    pictures: Sequence[Path]


def load(
    *,
    part: str = "open",
    language: str,
    na: bool = False,
    split: str | None = None,
    source: str = "auto",
    data_dir: str | None = None,
    data_revision: str | None = None,
    prompts: str = "house",
    sample_n: int | None = None,
    sample_seed: int = 0,
    **unknown: Any,
) -> dict[str, Any]:
    """Return `{"test": datasets.Dataset}` of one part and language; `info.description` holds the provenance as JSON."""
    refuse_typos("mme_finance", unknown, sorted(set(load.__kwdefaults__ or ()) | {"language"}))
    options = {"prompts": (prompts, ("house", "upstream")), "split": (split or "test", ("test",))}
    for name, (value, allowed) in options.items():
        if value not in allowed:
            raise ConfigError(
                f"mme_finance {name}: expected one of {', '.join(allowed)}, got {value!r}."
            )
    if (part, language) not in TABLES:
        known = ", ".join(map(" in ".join, TABLES))
        raise ConfigError(
            f"mme_finance part and language: expected one of {known}, got {part!r} in {language!r}."
        )
    settings, stem = Settings.from_environ(), TABLES[part, language]
    place: dict[str, Any] = {"source": source, "data_dir": data_dir}
    files = locate(
        "mme_finance",
        [f"{stem}.tsv"],
        **place,
        settings=settings,
        sample=_SAMPLE,
        revision=data_revision,
    ).with_files([f"{stem}.zip"], optional=True)
    rows, left_out, data = _read(files, stem, part, settings)
    counts = ", ".join(
        f"{kind} {len(ids)} ({', '.join(ids[:5])})" for kind, ids in left_out.items()
    )
    if counts:
        _log.warning("mme_finance %s, %s: rows left out: %s", part, language, counts)
    rows = draw_rows("mme_finance", rows, sample_n, sample_seed, lambda row: row.cells["index"])
    if not rows:
        where = f"{files.files[f'{stem}.tsv']} (left out: {counts or 'nothing'})"
        raise DataError(
            f"mme_finance: expected at least one usable row in {where}. Fetch the file again."
        )
    wording = texts.house(part, language)
    if prompts == "upstream":
        wording = upstream.wording(language, **place) if part == "open" else texts.BARE
    facts = {
        "scorer": VERSION,
        "split": "test",
        "part": part,
        "language": language,
        "na": na,
        "prompts": {"set": prompts, "sha256": wording.sha256()},
        "data": data,
        "left_out": left_out,
        **sample_facts(sample_n, sample_seed),
    }
    docs = [doc for row in rows for doc in _docs(row, part, language, na, wording)]
    return {"test": dataset_of(docs, facts)}


def _read(
    files: Located, stem: str, part: str, settings: Settings
) -> tuple[list[Row], dict[str, list[str]], dict[str, Any]]:
    """Return the rows that can be asked, the indexes of the others by reason, and the hashes of table and pictures."""
    table, archive = files.files[f"{stem}.tsv"], files.files.get(f"{stem}.zip")
    cache = settings.cache_dir / "mme_finance" / "pictures"
    pictures = Pictures(table, unpack(archive, cache) if archive else None)
    columns = _COLUMNS + (_CATEGORY_COLUMNS if part == "open" else ())
    rows, left_out, seen = list[Row](), dict[str, list[str]](), set[str]()
    for record in read_csv(table, columns, delimiter="\t"):
        cells = {
            **dict.fromkeys(_CATEGORY_COLUMNS, ""),
            "background": "",
            "truth": "",
            **record.cells,
        }
        cells["index"] = cells["index"].strip()
        row, odd = _row(cells, part, pictures)
        if record.surplus > 0 or not cells["index"]:
            odd = "broken-row"
        elif cells["index"] in seen:
            odd = "duplicate-index"
        seen.add(cells["index"])
        if odd:
            left_out.setdefault(odd, []).append(cells["index"] or f"line {record.line}")
        else:
            rows.append(row)
    paths = dict.fromkeys(path for row in rows for path in row.pictures)
    turned = upright_files(paths, settings.cache_dir / "upright")
    shown = [row._replace(pictures=[turned[path] for path in row.pictures]) for row in rows]
    # the same pictures have the same hash in an archive and in a folder
    content = hashlib.sha256("\n".join(sorted(map(sha256_of, paths))).encode()).hexdigest()
    hashed = {f"{stem}.tsv": sha256_of(table), f"{stem} pictures": content}
    revision = hashlib.sha256(
        "".join(f"{value}  {name}\n" for name, value in hashed.items()).encode()
    ).hexdigest()[:16]
    return (
        shown,
        left_out,
        {
            "origin": files.origin,
            "commit": files.commit,
            "revision": revision,
            # only fresh questions have a truth that needs no judge
            "is_own": files.is_own or any(row.cells["truth"] for row in rows),
            "files": hashed,
        },
    )


def _row(cells: Mapping[str, str], part: str, pictures: Pictures) -> tuple[Row, str]:
    """Return a row, and the reason why it cannot be asked or an empty text."""
    texts_in = multi_turn.list_of if part == "multi_turn" else lambda cell: [cell]
    questions, answers, names = (
        texts_in(cells[name]) for name in ("question", "answer", "image_path")
    )
    paths = [pictures.find(name) for name in names]
    usable = [path for path in paths if path is not None and is_usable(path)]
    reasons = {
        "empty-question": not questions or not all(map(str.strip, questions)),
        "unknown-category": part == "open" and cells["task_category"] not in CATEGORIES,
        "empty-answer": cells["task_category"] != texts.ALLOW_NA
        and not all(map(str.strip, answers)),
        "not-as-many-answers": len(answers) != len(questions),
        "picture-missing": not paths or None in paths,
        "picture-broken": len(usable) < len(paths),
        "not-as-many-pictures": sum(question.count(multi_turn.MARK) for question in questions)
        > len(paths),
    }
    return Row(cells, questions, answers, usable), next(
        (kind for kind, odd in reasons.items() if odd), ""
    )


def _docs(
    row: Row, part: str, language: str, na: bool, wording: texts.Wording
) -> Iterator[dict[str, Any]]:
    cells = row.cells
    doc: dict[str, Any] = {
        "part": part,
        "index": cells["index"],
        "language": language,
        "na": na,
        "category": cells["task_category"],
        "image_type": cells["image_type"],
        "image_style": cells["image_style"],
        "background": cells["background"] if cells["background"].strip() else "",
        "image_path": str(row.pictures[0].absolute()),
        "system": "",
        "cue": texts.CUES[language] if wording.name == "house" else "",
        "truth": cells["truth"],
    }
    if part == "multi_turn":
        pictures = [path.absolute() for path in row.pictures]
        for turn in multi_turn.turns_of(cells, row.questions, row.answers, pictures, wording):
            yield {**doc, **turn}
        return
    parse_truth(
        doc["truth"]
    )  # a malformed truth is an error now, and not after the model has answered
    question, category = row.questions[0], doc["category"] if part == "open" else ""
    also = wording.requirements[texts.ALLOW_NA] if na and category != texts.ALLOW_NA else ""
    prompt = wording.fill(question, category, background=doc["background"], also=also)
    own = {
        "id": doc["index"],
        "question": question,
        "answer": row.answers[0],
        "target": row.answers[0],
    }
    yield {**doc, **own, "prompt": texts.IMAGE_MARK + prompt}
