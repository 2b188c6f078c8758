"""MME-Finance's rows as documents of lm-eval; `docs/mme_finance.md` explains the options."""

import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fin_tasks.benchmarks.mme_finance import VERSION, multi_turn, upstream
from fin_tasks.benchmarks.mme_finance import prompts as texts
from fin_tasks.benchmarks.mme_finance.exact import parse_truth
from fin_tasks.benchmarks.mme_finance.table import Row, read_table
from fin_tasks.data.documents import dataset_of, draw_rows, refuse_typos, sample_facts
from fin_tasks.data.locate import locate
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

if TYPE_CHECKING:
    from datasets import Dataset

TABLES: Mapping[tuple[str, str], str] = {
    ("open", "en"): "MMfin",
    ("open", "zh"): "MMfin_CN",
    ("binary", "zh"): "MMfin_Binary",
    ("multi_turn", "zh"): "MMfin_MT_CN",
}
"""Part and language to the name of the table and of its archive of pictures."""

_SAMPLE = Path(__file__).with_name("sample")
_log = logging.getLogger(__name__)


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
) -> "dict[str, Dataset]":
    """Return `{"test": datasets.Dataset}` of one part and language; `info.description` holds the provenance as JSON."""
    refuse_typos("mme_finance", unknown, [*(load.__kwdefaults__ or ()), "language"])
    if prompts not in ("house", "upstream"):
        raise ConfigError(
            f"mme_finance prompts: expected house or upstream, got {prompts!r}."
        )
    if split not in (None, "test"):
        raise ConfigError(f"mme_finance split: expected test, got {split!r}.")
    settings = Settings.from_environ()
    stem = TABLES[part, language]
    located = locate(
        "mme_finance",
        [f"{stem}.tsv"],
        source=source,
        data_dir=data_dir,
        settings=settings,
        sample=_SAMPLE,
        revision=data_revision,
    )
    files = located.with_files([f"{stem}.zip"], optional=True)
    table = read_table(files, stem, part, settings.cache_dir)
    left_out = {problem: len(indexes) for problem, indexes in table.left_out.items()}
    if left_out:
        _log.warning("mme_finance %s, %s: rows left out: %s", part, language, left_out)
    if not table.rows:
        problem = f"expected at least one usable row in {stem}.tsv, left out {left_out}"
        raise DataError(f"mme_finance: {problem}. Fetch the file again.")
    rows = draw_rows("mme_finance", table.rows, sample_n, sample_seed, _index_of)
    wording = texts.house(part, language)
    if prompts == "upstream":
        wording = texts.BARE
        if part == "open":
            wording = upstream.wording(language, source=source, data_dir=data_dir)
    asked = {"part": part, "language": language, "na": na}
    truths = [row.cells["truth"] for row in table.rows]
    judge_free = part == "open" and all(truths)
    # Only fresh questions have an exact truth.
    is_own = files.is_own or any(truths)
    facts = {
        "scorer": VERSION,
        "split": "test",
        **asked,
        "prompts": {"set": prompts, "sha256": wording.sha256()},
        "data": {**table.data, "is_own": is_own},
        "left_out": table.left_out,
        **sample_facts(sample_n, sample_seed),
    }
    if judge_free:
        facts |= {"judge_free": True, "headline": "exact"}
    docs: list[dict[str, Any]] = []
    for row in rows:
        docs += _documents(row, {**asked, "judge_free": judge_free}, wording)
    return {"test": dataset_of(docs, facts)}


def _index_of(row: Row) -> str:
    return row.cells["index"]


def _documents(
    row: Row, shared: Mapping[str, Any], wording: texts.Wording
) -> Iterator[dict[str, Any]]:
    """Yield the document of a row, or one for each turn of a conversation."""
    cells = row.cells
    pictures = [path.absolute() for path in row.pictures]
    # A broken truth is an error now, and not after the model answered.
    parse_truth(cells["truth"])
    doc = {
        **shared,
        "index": cells["index"],
        "category": cells["task_category"],
        "image_type": cells["image_type"],
        "image_style": cells["image_style"],
        "background": cells["background"] if cells["background"].strip() else "",
        "image_path": str(pictures[0]),
        "system": "",
        "cue": texts.CUES[shared["language"]] if wording.name == "house" else "",
        "truth": cells["truth"],
    }
    if shared["part"] == "multi_turn":
        for turn in multi_turn.turns_of(row, pictures, wording):
            yield {**doc, **turn}
        return
    category = doc["category"] if shared["part"] == "open" else ""
    also = ""
    if shared["na"] and category != texts.ALLOW_NA:
        also = wording.requirements[texts.ALLOW_NA]
    question = row.questions[0]
    answer = row.answers[0]
    prompt = wording.fill(question, category, background=doc["background"], also=also)
    yield {
        **doc,
        "id": doc["index"],
        "question": question,
        "answer": answer,
        "target": answer,
        "prompt": texts.IMAGE_MARK + prompt,
    }
