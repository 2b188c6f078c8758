"""Responses beside VLMEvalKit's tables, in every format and without the kit; tests/contract has the kits themselves."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from fin_tasks.adapters.vlmeval_responses import Responses
from fin_tasks.errors import DataError

ODD: list[Any] = ["N/A", "nan", "007.50", "=1+1", "x" * 42_000]
DATA = pd.DataFrame({"index": range(len(ODD)), "question": [f"What is {i}?" for i in range(len(ODD))]})


def responses(*asked: str) -> Responses:
    """As in a new process; `asked` says what each question is now."""
    return Responses("MMEFinance", DATA, asked or ["a"] * len(ODD), {"hash": "1"})


def saved(folder: Path, ending: str = "xlsx", said: list[Any] = ODD) -> Path:
    path = folder / "T1" / f"m_MMEFinance.{ending}"
    path.parent.mkdir()
    table = DATA.assign(prediction=said)
    if ending == "xlsx":  # as upstream's kit does
        with pd.ExcelWriter(path, engine="openpyxl") as writer:
            table.assign(prediction=[str(one)[:32_767] for one in said]).to_excel(writer, index=False)
    elif ending == "json":
        path.write_text(json.dumps(table.to_dict("records")))
    else:
        table.to_csv(path, sep="\t" if ending == "tsv" else ",", index=False)
    responses().keep(path, path, table)
    return path


@pytest.mark.parametrize("ending", ["xlsx", "tsv", "csv", "json"])
def test_a_table_and_its_copy_in_a_new_run_give_the_whole_responses(tmp_path: Path, ending: str) -> None:
    path = saved(tmp_path, ending)
    copy = tmp_path / "T2" / path.name
    copy.parent.mkdir()
    copy.write_bytes(path.read_bytes())
    for place in (path, copy):
        assert list(responses().read(place).values()) == ODD


def test_a_conversation_is_a_list(tmp_path: Path) -> None:
    said = [["N/A", "b"], ["c"], [], ["d"], ["e"]]
    assert list(responses().read(saved(tmp_path, "tsv", said)).values()) == said


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
