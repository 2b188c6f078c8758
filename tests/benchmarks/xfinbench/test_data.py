"""Rows as lm-eval documents."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

import fin_tasks
from fin_tasks.benchmarks.xfinbench.data import blank_image, figure, load
from fin_tasks.errors import ConfigError, DataError

REAL = Path(__file__).parents[4] / "shared" / "data"
HEADER = "id,task,question,choice,ground_truth,figure,fin_capability,gold_fin_term_id\n"

needs_real_files = pytest.mark.skipif(
    not (REAL / "xfinbench").is_dir(), reason="the real files are not beside the checkout"
)


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("FIN_TASKS_DATA", raising=False)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")


def documents(**options: Any) -> list[dict[str, Any]]:
    (rows,) = load(**options).values()
    return rows.to_list()


def provenance(**options: Any) -> dict[str, Any]:
    (rows,) = load(**options).values()
    return dict(json.loads(rows.info.description))


def folder(path: Path, rows: str) -> Path:
    path.mkdir(exist_ok=True)
    (path / "validation_set.csv").write_text(HEADER + rows, encoding="utf-8")
    return path


@pytest.mark.parametrize(("subset", "least"), [("bool", 24), ("mcq", 12), ("mcq_visual", 6), ("calc", 30)])
def test_the_sample_has_enough_of_everything(subset: str, least: int) -> None:
    docs = documents(subset=subset, source="sample")
    assert len(docs) >= least
    assert all((doc["figure_path"] != "") == (subset == "mcq_visual") for doc in docs)
    assert all(doc["prompt"].startswith("<image>\n") == (subset == "mcq_visual") for doc in docs)
    if subset == "calc":
        assert sum(doc["has_table"] for doc in docs) >= 8


def test_harness_options_that_are_not_ours_are_ignored() -> None:
    assert documents(subset="bool", source="sample", pretrained="gpt2", dtype="float32", version=1.0)


@needs_real_files
def test_the_real_validation_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_TASKS_DATA", str(REAL))
    counts = {subset: len(documents(subset=subset, split="validation")) for subset in ("bool", "mcq", "calc")}
    assert counts == {"bool": 435, "mcq": 147, "calc": 396}
    tables = sum(doc["has_table"] for doc in documents(subset="calc", split="validation"))
    assert tables == 59
    facts = provenance(subset="mcq_visual", split="validation")
    assert facts["rows"] == 2
    assert len(facts["left_out"]["missing-figure"]) == 20
    with pytest.raises(DataError, match=r"test_set\.csv"):
        load(subset="bool")  # the split of the published tables, which is not at hand


@needs_real_files
def test_choices_are_lines_whichever_way_the_file_spells_them() -> None:
    for prompts in ("house", "upstream"):
        (doc, _) = documents(subset="mcq_visual", split="validation", data_dir=str(REAL), prompts=prompts)
        assert "Choices:\nA. Point A\nB. Point B\nC. Point C\n" in doc["prompt"]


@needs_real_files
def test_provenance_tells_wordings_and_styles_apart() -> None:
    options = {"subset": "calc", "split": "validation", "data_dir": str(REAL)}
    house, upstream = provenance(**options), provenance(**options, prompts="upstream")
    plain = provenance(**options, style="cot")
    assert (house["prompts"]["set"], upstream["prompts"]["set"]) == ("house", "upstream")
    assert house["data"] == upstream["data"]
    assert house["fin_tasks"] == fin_tasks.__version__
    assert len({facts["hash"] for facts in (house, upstream, plain)}) == 3
    assert provenance(**options)["hash"] == house["hash"]
    assert plain["style"] == {"mode": "cot", "role": False}
    assert documents(**options, style="cot")[0]["system"] == ""


def test_a_figure_is_opened_and_a_blank_one_drawn() -> None:
    doc = documents(subset="mcq_visual", source="sample")[0]
    (picture,) = figure(doc)
    assert picture.mode == "RGB"
    assert len(picture.getcolors(1 << 24)) > 10
    (white,) = blank_image(doc)
    assert white.getcolors() == [(white.width * white.height, (255, 255, 255))]
    text = documents(subset="bool", source="sample", blank_image=True)[0]
    assert text["prompt"].startswith("<image>\n")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    data = folder(tmp_path / "x", "v1,bool,Is it?,,1.0,,TU,\n")
    options = {"subset": "bool", "split": "validation", "data_dir": str(data)}
    before = provenance(**options)
    folder(data, "v1,bool,Is it?,,1.0,,TU,\nv2,bool,Is it so?,,0.0,,TU,\n")
    os.utime(data / "validation_set.csv", (1, 1))
    assert len(documents(**options)) == 2
    assert provenance(**options)["hash"] != before["hash"]


def test_nothing_to_ask_is_an_error_that_says_why(tmp_path: Path) -> None:
    data = folder(tmp_path / "x", 'v1,mcq,Which?,"A. x\nB. y",A,vali_figure_1,TU,\n')
    with pytest.raises(DataError, match=r"mcq_visual: expected at least one usable row.*missing-figure"):
        load(subset="mcq_visual", split="validation", data_dir=str(data))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subset": "essay"}, "subset to be one of bool, mcq, mcq_visual, calc, got 'essay'"),
        ({"subset": "bool", "split": "train"}, "metadata split: expected one of test, validation, got 'train'"),
        ({"subset": "bool", "prompts": "mine"}, "metadata prompts: expected one of house, upstream, got 'mine'"),
        ({"subset": "bool", "source": "web"}, "got 'web'"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load(**options)


def test_upstream_without_a_network_says_what_to_put_where(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"test_set\.csv.*FIN_TASKS_DATA"):
        load(subset="bool", source="upstream")
