"""MME-Finance's rows as documents of lm-eval; `docs/mme_finance.md` explains the options."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from fin_tasks.data.documents import dataset_of, hash_of, sample_facts
from fin_tasks.data.pictures import upright_files
from fin_tasks.errors import ConfigError, DataError

from ..request import Documents, Request
from . import VERSION, multi_turn, prompts, upstream
from .exact import parse_truth
from .table import Row, read_table

TABLES: Mapping[tuple[str, str], str] = {
    ("open", "en"): "MMfin",
    ("open", "zh"): "MMfin_CN",
    ("binary", "zh"): "MMfin_Binary",
    ("multi_turn", "zh"): "MMfin_MT_CN",
}
"""The name of a table and of its archive of pictures, by part and language."""

_log = logging.getLogger(__name__)


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
    request = Request.of("mme_finance", metadata, split="test", others=options)
    if request.split not in (None, "test"):
        raise ConfigError(f"mme_finance split: expected test, got {request.split!r}.")
    stem = TABLES[part, language]
    located = request.locate([f"{stem}.tsv"])
    files = located.with_files([f"{stem}.zip"], optional=True)
    rows, left_out = read_table(files, stem, part)
    counts = {problem: len(indexes) for problem, indexes in left_out.items()}
    if counts:
        _log.warning("mme_finance %s, %s: rows left out: %s", part, language, counts)
    if not rows:
        raise DataError(
            f"mme_finance: expected at least one usable row in {stem}.tsv, left out {counts}. "
            "Fetch the file again."
        )
    wording = prompts.house_wording(part, language)
    if request.prompts == "upstream":
        wording = prompts.BARE
        if part == "open":
            wording = upstream.wording(
                language, source=request.source, data_dir=request.data_dir
            )
    asked = {"part": part, "language": language, "na": na}
    truths = [row.cells["truth"] for row in rows]
    judge_free = part == "open" and all(truths)
    facts = {
        "scorer": VERSION,
        "split": "test",
        **asked,
        "prompts": {"set": request.prompts, "sha256": hash_of(*wording)},
        # Only fresh questions have an exact truth.
        "data": {**files.provenance(), "is_own": files.is_own or any(truths)},
        "left_out": left_out,
        **sample_facts(request.sample_n, request.sample_seed),
    }
    if judge_free:
        facts |= {"judge_free": True, "headline": "exact"}
    drawn = request.draw(rows, "id")
    drawn_pictures = chain.from_iterable(row.pictures for row in drawn)
    upright = upright_files(drawn_pictures, files.settings.cache_dir / "upright")
    shared = {**asked, "judge_free": judge_free}
    docs: list[dict[str, Any]] = []
    for row in drawn:
        pictures = [str(upright[path].absolute()) for path in row.pictures]
        docs += _documents(row, pictures, shared, wording)
    return {"test": dataset_of(docs, facts)}


def _documents(
    row: Row,
    pictures: Sequence[str],
    shared: Mapping[str, Any],
    wording: prompts.Wording,
) -> Iterator[dict[str, Any]]:
    """Yield the document of a row, or one for each turn of a conversation.

    Marks in the questions of a conversation are the places of its pictures; without marks, all pictures open it.
    """
    cells = row.cells
    has_marks = multi_turn.MARK in "".join(row.questions)
    n_shown = 0 if has_marks else len(pictures)
    opening_marks = prompts.IMAGE_MARK * n_shown
    # A broken truth is an error now, and not after the model answered.
    parse_truth(cells["truth"])
    doc = {
        **shared,
        "category": cells["task_category"],
        "image_type": cells["image_type"],
        "image_style": cells["image_style"],
        "background": cells["background"] if cells["background"].strip() else "",
        "index": row.id,
        "image_path": pictures[0],
        "system": "",
        "cue": prompts.CUES[shared["language"]] if wording.name == "house" else "",
        "truth": cells["truth"],
    }
    turns = enumerate(zip(row.questions, row.answers, strict=True), start=1)
    for turn, (question, answer) in turns:
        n_shown += question.count(multi_turn.MARK)
        prompt = question.replace(multi_turn.MARK, prompts.IMAGE_MARK)
        if turn == 1:
            prompt = opening_marks + wording.fill(prompt, doc)
        doc |= {
            "id": row.id,
            "question": question,
            "prompt": prompt,
            "answer": answer,
            "target": answer,
        }
        if shared["part"] == "multi_turn":
            doc |= {
                "id": f"{row.id}-{turn}",
                "question": question.replace(multi_turn.MARK, "").strip(),
                "image_paths": pictures[:n_shown],
                "turn": turn,
                "turns": len(row.questions),
            }
        yield dict(doc)
