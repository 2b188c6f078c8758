"""People label the rows of a run as the run holds them, a user's own judged rows too."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from own_runs import run, write_run
from PIL import Image

from fin_tasks.benchmarks.mme_finance.data import load
from fin_tasks.errors import DataError

N = 12


def own_docs() -> list[dict[str, Any]]:
    """Return questions of one's own under ids that the benchmark has, too."""
    ids = [doc["id"] for doc in load(language="en", source="sample")["test"]]
    return [
        {
            "id": str(name),
            "question": f"My question {place}?",
            "answer": f"gold {place}",
        }
        for place, name in enumerate(ids[:N])
    ]


def draw(folder: Path, out: Path, *options: object) -> pd.DataFrame:
    command = ("label", "draw", folder, "--study", "mme_finance_judge")
    run(*command, "--source", "sample", "--n", N, "--out", out, *options)
    return pd.read_csv(out.with_stem(f"{out.stem}_1"), dtype=str, na_filter=False)


def test_own_judged_rows_are_labelled_and_compared(tmp_path: Path) -> None:
    judged = write_run(tmp_path / "judged", own_docs())
    out = tmp_path / "mine.csv"
    table = draw(judged, out)
    assert set(table["question"]) == {f"My question {place}?" for place in range(N)}
    places = table["question"].str.extract(r"(\d+)", expand=False)
    assert list(table["gold"]) == [f"gold {place}" for place in places]
    assert list(table["response"]) == [f"said {place}" for place in places]
    sheets = sorted(tmp_path.glob("mine_*.csv"))
    for sheet in sheets:
        points = [str(min(5, int(place) % 6 + 1)) for place in places]
        table.assign(score=points).to_csv(sheet, index=False)
    found = json.loads(
        run("label", "agree", *sheets, "--judge", judged, "--json").stdout
    )
    (line,) = found["runs"]
    assert (line["labels"], line["n"], line["judge_mean"]) == (N, N, 50.0)
    assert line["corrected"] == pytest.approx(100 * (1 + 2 + 3 + 4 + 5 + 5) / 30)


def test_questions_of_the_benchmark_keep_what_the_run_lacks(tmp_path: Path) -> None:
    docs = [dict(doc) for doc in load(language="en", source="sample")["test"]][:N]
    there = {doc["id"]: doc["image_path"] for doc in docs}
    for doc in docs:
        doc["image_path"] = "/another/machine.png"
    docs[0]["question"] = docs[0]["prompt"] = "Another version of it?"
    table = draw(write_run(tmp_path / "run", docs), tmp_path / "a.csv")
    pictures = dict(zip(table["question"], table["picture"], strict=True))
    assert pictures.pop("Another version of it?") == "/another/machine.png"
    assert set(pictures.values()) == set(list(there.values())[1:])


def test_the_pictures_of_a_run_are_bundled_and_no_other_file(tmp_path: Path) -> None:
    docs = own_docs()
    files = []
    for name in ("a", "b"):
        files.append(tmp_path / f"{name}.png")
        Image.new("RGB", (2, 2)).save(files[-1])
    docs[0]["image_path"] = str(files[0])
    docs[0]["image_paths"] = list(map(str, files))
    table = draw(write_run(tmp_path / "run", docs), tmp_path / "a.csv", "--bundle")
    (line,) = table[table["question"] == "My question 0?"].to_dict("records")
    names = [line["picture"], line["picture_2"]]
    assert names == [f"a_pictures/{line['row']}.png", f"a_pictures/{line['row']}_2.png"]
    assert all((tmp_path / name).is_file() for name in names)
    secret = tmp_path / "key.png"
    secret.write_text("secret")
    docs[0]["image_paths"] = [str(secret)]
    with pytest.raises(DataError, match="--bundle"):
        draw(write_run(tmp_path / "bad", docs), tmp_path / "b.csv", "--bundle")


@pytest.mark.parametrize("broken", [{"choices": "A"}, {"terms": [1]}])
def test_a_row_that_cannot_be_labelled_is_named(
    tmp_path: Path, broken: dict[str, Any]
) -> None:
    docs = own_docs()
    docs[1] |= broken
    with pytest.raises(DataError, match=r"samples_.*jsonl, line 2: "):
        draw(write_run(tmp_path / "run", docs), tmp_path / "a.csv")
