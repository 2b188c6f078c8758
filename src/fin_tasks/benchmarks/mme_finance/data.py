"""MME-Finance's rows as documents of lm-eval; `docs/mme_finance.md` explains the options."""

import logging
import shutil
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import cache
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from PIL import Image
from tqdm import tqdm

from fin_tasks.data.documents import IMAGE_MARK, dataset_of, hash_of
from fin_tasks.data.locate import Located, sha256_of
from fin_tasks.data.pictures import BROKEN, FORMATS, opened, upright_file
from fin_tasks.data.tables import read_table
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.waiting import one_at_a_time

from ..contract import Document
from ..request import Documents, Request, read_prompts
from . import VERSION, multi_turn, prompts, upstream

TABLES: Mapping[tuple[str, str], str] = {
    ("open", "en"): "MMfin",
    ("open", "zh"): "MMfin_CN",
    ("binary", "zh"): "MMfin_Binary",
    ("multi_turn", "zh"): "MMfin_MT_CN",
}
"""The name of a table and of its archive of pictures, by part and language."""

_COLUMNS = ("index", "question", "answer", "image_path")
_CATEGORY_COLUMNS = ("task_category", "image_type", "image_style")
# Of an archive of pictures, unpacked.
_MAX_UNPACKED = 4 << 30
_MAX_FILES = 100_000
_OPTIONAL_COLUMNS = (*_CATEGORY_COLUMNS, "background")

FilesByFolder = Mapping[Path, Set[Path]]
"""The files below each folder that may have pictures."""
_log = logging.getLogger(__name__)


class Row(NamedTuple):
    """A row of a table. A conversation has several questions and answers, and may have several pictures."""

    id: str
    cells: Mapping[str, str]
    questions: Sequence[str]
    answers: Sequence[str]
    pictures: Sequence[Path]
    """Empty if a file is missing."""


def load(
    *,
    part: str = "open",
    language: str,
    na: bool = False,
    **metadata: Any,
) -> Documents:
    """Return the documents of one part and language as the split `test`; `Request` names the other metadata.

    The metadata `variants` and `sampling` have no effect.
    """
    options = ("part", "language", "na")
    # The authors send one message of the user.
    fixed = {"system_role": "system"}
    request = Request.of(
        "mme_finance", metadata, split="test", others=options, fixed=fixed
    )
    if request.split not in (None, "test"):
        raise ConfigError(f"mme_finance split: expected test, got {request.split!r}.")
    if part == "multi_turn" and request.corrections is not None:
        raise ConfigError(
            "mme_finance corrections: expected none for conversations, whose turns need each other."
        )
    stem = TABLES[part, language]
    located = request.locate([f"{stem}.tsv"])
    files = located.with_files([f"{stem}.zip"], optional=True)
    rows, left_out = _read_table(files, stem, part)
    wording = _house_wording(part, language)
    if request.prompts == "upstream":
        wording = upstream.wording_of(
            part, language, source=request.source, data_dir=request.data_dir
        )
    asked = {"part": part, "language": language, "na": na}
    facts: dict[str, Any] = {
        "scorer": VERSION,
        "split": "test",
        **asked,
        "prompts": {"set": request.prompts, "sha256": hash_of(*wording)},
        "data": files.provenance(),
        "left_out": left_out,
    }
    if request.sample_n is not None:
        facts["sample"] = request.sample_facts()
    drawn = request.draw(rows, "id")
    originals = set(chain.from_iterable(row.pictures for row in drawn))
    copies = files.settings.cache_dir / "upright"
    # Half a second for each large photograph.
    bar = tqdm(originals, desc="Turning pictures upright", unit="picture", disable=None)
    upright = {path: upright_file(path, copies) for path in bar}
    docs: list[Document] = []
    for row in drawn:
        pictures = [str(upright[path].absolute()) for path in row.pictures]
        docs += _documents(row, pictures, asked, wording)
    if request.corrections is not None:
        from ..corrections import corrected_documents

        docs, facts["corrections"] = corrected_documents(
            "mme_finance", docs, request.corrections, _TASKS[part].format(language)
        )
    return {"test": dataset_of(docs, facts)}


_TASKS = {"open": "mme_finance_{}", "binary": "mme_finance_binary_{}"}
"""The task of a part, with its language; tasks share the ids of questions."""


@cache
def _house_wording(part: str, language: str) -> prompts.Wording:
    """Return our own wording; the requirements of open questions are those of the judge's rubric."""
    file = Path(__file__).with_name("house.yaml")
    template = read_prompts(file, f"{language}_{part}")
    requirements = {}
    if part == "open":
        for name, category in load_rubric(f"mme_finance_{language}").categories.items():
            requirements[name] = category.requirements
    between_sentences = " " if language == "en" else ""
    return prompts.Wording(template, requirements, between_sentences)


def _read_table(
    files: Located,
    stem: str,
    part: str,
) -> tuple[list[Row], dict[str, list[str]]]:
    """Return the rows that can be asked, and the indexes of the others by reason.

    Raises:
        DataError: No row can be asked.
    """
    path = files.files[f"{stem}.tsv"]
    archive = files.files.get(f"{stem}.zip")
    folders = [path.with_suffix(""), path.parent]
    if archive:
        folders = [
            _unpack(archive, files.settings.cache_dir / "mme_finance" / "pictures")
        ]
    files_by_folder = {folder: set(folder.rglob("*")) for folder in folders}
    columns = list(_COLUMNS)
    if part == "open":
        columns += _CATEGORY_COLUMNS
    rows = {}
    left_out = defaultdict(list)
    for record in read_table(path, columns):
        cells = {**dict.fromkeys(_OPTIONAL_COLUMNS, ""), **record.cells}
        row = _row_of(cells, part, files_by_folder)
        problem = _problem_of(row, part)
        if record.surplus > 0 or not row.id:
            problem = "broken-row"
        elif row.id in rows:
            problem = "duplicate-index"
        if problem:
            left_out[problem].append(row.id or f"line {record.line}")
        else:
            rows[row.id] = row
    counts = {problem: len(indexes) for problem, indexes in left_out.items()}
    if counts:
        _log.warning("mme_finance, %s.tsv: rows left out: %s", stem, counts)
    if not rows:
        raise DataError(
            f"mme_finance: expected at least one usable row in {stem}.tsv, left out {counts}. "
            "Fetch the file again."
        )
    return list(rows.values()), left_out


def _unpack(archive: Path, cache: Path) -> Path:
    """Unpack the pictures of a zip archive into a folder of the cache, once, and return the folder."""
    target = cache / sha256_of(archive)[:16]
    if target.is_dir():
        return target
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock = target.with_suffix(".lock")
        with one_at_a_time(lock, f"unpacks {archive}"):
            if target.is_dir():
                return target
            draft = target.with_suffix(".part")
            shutil.rmtree(draft, ignore_errors=True)  # of a process that was killed
            try:
                _extract(archive, draft)
                draft.rename(target)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        OSError,
        RuntimeError,
        ValueError,
    ) as error:
        raise DataError(
            f"{archive}: expected a zip archive of pictures, got {error}. Fetch it again."
        ) from error
    return target


def _extract(archive: Path, folder: Path) -> None:
    # Archives of macOS name files in UTF-8 without saying so.
    with zipfile.ZipFile(archive, metadata_encoding="utf-8") as opened:
        # `zipfile` unpacks no more of a file than the archive states.
        sizes = [file.file_size for file in opened.infolist()]
        if sum(sizes) > _MAX_UNPACKED or len(sizes) > _MAX_FILES:
            raise ValueError(
                f"{len(sizes):,} files of {sum(sizes):,} bytes, more than {_MAX_FILES:,} or {_MAX_UNPACKED:,}"
            )
        opened.extractall(folder)


def _row_of(
    cells: Mapping[str, str],
    part: str,
    files_by_folder: FilesByFolder,
) -> Row:
    texts = [cells[name] for name in ("question", "answer", "image_path")]
    lists = [[text] for text in texts]
    if part == "multi_turn":
        lists = [multi_turn.list_of(text) for text in texts]
    questions, answers, names = lists
    paths = []
    for name in names:
        path = _find_picture(name, files_by_folder)
        if path:
            paths.append(path)
    if len(paths) < len(names):
        paths = []
    return Row(cells["index"].strip(), cells, questions, answers, paths)


def _find_picture(name: str, files_by_folder: FilesByFolder) -> Path | None:
    """Return the picture at a path of a table, else the only one of a folder whose path ends with this path."""
    parts = PurePosixPath(name.strip().replace("\\", "/")).parts
    for folder, files in files_by_folder.items():
        exact = folder.joinpath(*parts)
        if exact in files:
            return exact
        similar = [file for file in files if file.parts[-len(parts) :] == parts]
        if len(similar) == 1:
            return similar[0]
    return None


def _problem_of(row: Row, part: str) -> str:
    """Return why a row cannot be asked; empty if it can."""
    category = row.cells["task_category"]
    has_questions = all(map(str.strip, row.questions))
    has_answers = all(map(str.strip, row.answers))
    n_marks = "".join(row.questions).count(multi_turn.MARK)
    is_broken = False
    for path in row.pictures:
        try:
            Image.open(path, formats=FORMATS).close()  # decodes no pixels
        except BROKEN:
            is_broken = True
    problems = {
        "empty-question": not row.questions or not has_questions,
        "unknown-category": part == "open" and category not in prompts.CATEGORIES,
        "empty-answer": category != prompts.ALLOW_NA and not has_answers,
        "not-as-many-answers": len(row.answers) != len(row.questions),
        "picture-missing": not row.pictures or n_marks > len(row.pictures),
        "picture-broken": is_broken,
    }
    return next((name for name, is_present in problems.items() if is_present), "")


def _documents(
    row: Row,
    pictures: Sequence[str],
    asked: Mapping[str, Any],
    wording: prompts.Wording,
) -> Iterator[dict[str, Any]]:
    """Yield the document of a row, or one for each turn of a conversation.

    Marks in the questions of a conversation are the places of its pictures; without marks, all pictures open it.
    """
    cells = row.cells
    background = cells["background"]
    if not background.strip():
        background = ""
    has_marks = multi_turn.MARK in "".join(row.questions)
    n_shown = 0
    if not has_marks:
        n_shown = len(pictures)
    question, *later_questions = [
        question.replace(multi_turn.MARK, IMAGE_MARK) for question in row.questions
    ]
    category = cells["task_category"]
    requirements = wording.requirements.get(category, "")
    if asked["na"] and category != prompts.ALLOW_NA:
        requirements += wording.between_requirements
        requirements += wording.requirements[prompts.ALLOW_NA]
    first = wording.template.fill(
        question=question, requirements=requirements, context=background
    )
    opening_marks = IMAGE_MARK * n_shown
    texts = [opening_marks + first["prompt"], *later_questions]
    doc = {
        **asked,
        "category": category,
        "image_type": cells["image_type"],
        "image_style": cells["image_style"],
        "background": background,
        "index": row.id,
        "image_path": pictures[0],
        "system": first["system"],
        "cue": first["cue"],
    }
    turns = zip(texts, row.questions, row.answers, strict=True)
    for turn, (prompt, question, answer) in enumerate(turns, start=1):
        n_shown += question.count(multi_turn.MARK)
        doc |= {
            "id": row.id,
            "question": question,
            "prompt": prompt,
            "answer": answer,
            "target": answer,
        }
        if asked["part"] == "multi_turn":
            doc |= {
                "id": f"{row.id}-{turn}",
                "question": question.replace(multi_turn.MARK, "").strip(),
                "image_paths": pictures[:n_shown],
                "turn": turn,
                "turns": len(row.questions),
            }
        yield dict(doc)


def open_pictures(doc: Document) -> list[Image.Image]:
    """Open the pictures of a document, in a conversation those up to its turn; lm-eval calls this as `doc_to_image`."""
    return opened(doc.get("image_paths") or [doc["image_path"]])
