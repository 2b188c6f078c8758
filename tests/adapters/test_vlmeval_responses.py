"""Responses beside VLMEvalKit's files, in every format and without the kit; tests/contract has the kits themselves."""

import json
from pathlib import Path

import pandas as pd
import pytest

from fin_tasks.adapters.vlmeval_responses import Responses
from fin_tasks.errors import DataError

ODD = ["N/A", "nan", "007.50", "=1+1", "x" * 42_000]
DATA = pd.DataFrame({"index": range(len(ODD)), "question": [f"What is {i}?" for i in range(len(ODD))]})


def responses(*asked: str) -> Responses:
    """As in a new process; `asked` says what each question is now."""
    return Responses("MMEFinance", DATA, asked or ["a"] * len(ODD), {"hash": "1"})


def write(table: pd.DataFrame, path: Path) -> None:
    """As upstream's kit does."""
    if path.suffix == ".xlsx":
        with pd.ExcelWriter(path, engine="openpyxl") as writer:
            short = table.assign(prediction=[str(one)[:32_767] for one in table["prediction"]])
            short.to_excel(writer, index=False)
    elif path.suffix == ".json":
        path.write_text(json.dumps(table.to_dict("records")))
    else:
        table.to_csv(path, sep="\t" if path.suffix == ".tsv" else ",", index=False)


def saved(folder: Path, ending: str = "xlsx") -> Path:
    path = folder / "T1" / f"m_MMEFinance.{ending}"
    path.parent.mkdir(exist_ok=True)
    table, kept = DATA.assign(prediction=ODD), responses()
    kept.keep(path, table)
    write(table, path)
    kept.seal(path)
    return path


@pytest.mark.parametrize("ending", ["xlsx", "tsv", "csv", "json"])
def test_a_table_and_its_copy_in_a_new_run_give_the_whole_responses(tmp_path: Path, ending: str) -> None:
    path = saved(tmp_path, ending)
    copy = tmp_path / "T2" / path.name
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    for place in (path, copy):
        assert list(responses().read(place).values()) == ODD


def test_an_edited_table_counts_as_it_is(tmp_path: Path) -> None:
    path = saved(tmp_path, "tsv")
    path.write_text(path.read_text().replace("nan", "seven"))
    assert responses().read(path)["1"] == "seven"
    path.write_text(path.read_text().replace("What is 3", "Which is 3"))
    with pytest.raises(DataError, match="index '3'"):
        responses().read(path)


def test_responses_to_something_else_are_left_out(tmp_path: Path) -> None:
    path = saved(tmp_path)
    now = responses("a", "b", "a", "a", "a")
    with pytest.raises(DataError, match="index '1'"):
        now.read(path)
    assert list(now.read(path, strict=False)) == ["0", "2", "3", "4"]
    pickle = path.with_name("m_MMEFinance_checkpoint.pkl")
    assert now.restore(pickle, dict(enumerate(ODD))) == {i: ODD[i] for i in (0, 2, 3, 4)}


def test_half_a_line_of_a_killed_run_costs_one_response(tmp_path: Path) -> None:
    path = tmp_path / "T1" / "m_MMEFinance_checkpoint.pkl"
    path.parent.mkdir()
    responses().keep(path, dict(enumerate(ODD[:4])))
    beside = path.with_name("m_MMEFinance_responses.jsonl")
    beside.write_text(beside.read_text()[:-20])
    assert list(responses().restore(path, dict(enumerate(ODD)))) == [0, 1, 2]
    responses().keep(path, {3: "again"})
    assert responses().restore(path, {3: "again"}) == {3: "again"}


def test_a_conversation_is_a_list(tmp_path: Path) -> None:
    path = tmp_path / "m_MMEFinance.tsv"
    kept, table = responses(), DATA.head(2).assign(prediction=[["N/A", "b"], ["c"]])
    kept.keep(path, table)
    write(table, path)
    kept.seal(path)
    assert responses().read(path) == {"0": ["N/A", "b"], "1": ["c"]}
