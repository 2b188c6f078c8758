"""People label the rows of a run as the run holds them, a user's own judged rows too."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image
from studies_at_work import TASK, agree, draw, fill_all, read, sample_docs, write_judged

from fin_tasks.errors import DataError

N = 12
Docs = list[dict[str, Any]]


def own_docs() -> Docs:
    """Return questions of one's own under ids that the benchmark has, too."""
    docs = []
    for place, doc in enumerate(sample_docs()[:N]):
        question = f"My question {place}?"
        docs.append(
            {"id": str(doc["id"]), "question": question, "answer": f"gold {place}"}
        )
    return docs


def judged(folder: Path, docs: Docs) -> Path:
    return write_judged(folder, {TASK: docs}, lambda place: 20.0 * (place % 6))


def drawn(tmp_path: Path, docs: Docs, *options: object) -> pd.DataFrame:
    run = judged(tmp_path / "run", docs)
    sheets = draw(tmp_path / "a.csv", "mme_finance_judge", run, "--n", N, *options)
    return read(sheets[0])


def test_own_judged_rows_are_labelled_and_compared(tmp_path: Path) -> None:
    run = judged(tmp_path / "judged", own_docs())
    sheets = draw(tmp_path / "mine.csv", "mme_finance_judge", run, "--n", N)
    table = read(sheets[0])
    assert set(table["question"]) == {f"My question {place}?" for place in range(N)}
    places = table["question"].str.extract(r"(\d+)", expand=False)
    assert list(table["gold"]) == [f"gold {place}" for place in places]
    assert list(table["response"]) == [f"said {place}" for place in places]
    fill_all(sheets, score=[min(5, int(place) % 6 + 1) for place in places])
    (line,) = agree(sheets, run)["runs"]
    assert (line["labels"], line["n"], line["judge_mean"]) == (N, N, 50.0)
    assert line["corrected"] == pytest.approx(100 * (1 + 2 + 3 + 4 + 5 + 5) / 30)


def test_questions_of_the_benchmark_keep_what_the_run_lacks(tmp_path: Path) -> None:
    docs = [dict(doc) for doc in sample_docs()[:N]]
    paths = [doc["image_path"] for doc in docs]
    for doc in docs:
        doc["image_path"] = "/another/machine.png"
    docs[0]["question"] = docs[0]["prompt"] = "Another version of it?"
    table = drawn(tmp_path, docs)
    pictures = dict(zip(table["question"], table["picture"], strict=True))
    assert pictures.pop("Another version of it?") == "/another/machine.png"
    assert set(pictures.values()) == set(paths[1:])


def test_the_pictures_of_a_run_are_bundled(tmp_path: Path) -> None:
    docs = own_docs()
    files = [str(tmp_path / "a.png"), str(tmp_path / "b.png")]
    for file in files:
        Image.new("RGB", (2, 2)).save(file)
    docs[0] |= {"image_path": files[0], "image_paths": files}
    table = drawn(tmp_path, docs, "--bundle")
    (line,) = table[table["question"] == "My question 0?"].to_dict("records")
    names = [line["picture"], line["picture_2"]]
    assert names == [f"a_pictures/{line['row']}.png", f"a_pictures/{line['row']}_2.png"]
    assert all((tmp_path / name).is_file() for name in names)


def test_a_file_that_is_no_picture_is_not_bundled(tmp_path: Path) -> None:
    docs = own_docs()
    secret = tmp_path / "key.png"
    secret.write_text("secret")
    docs[0]["image_paths"] = [str(secret)]
    with pytest.raises(DataError, match="--bundle"):
        drawn(tmp_path, docs, "--bundle")


@pytest.mark.parametrize("broken", [{"choices": "A"}, {"terms": [1]}])
def test_a_row_that_cannot_be_labelled_is_named(
    tmp_path: Path, broken: dict[str, Any]
) -> None:
    docs = own_docs()
    docs[1] |= broken
    with pytest.raises(DataError, match=r"samples_.*jsonl, line 2: "):
        drawn(tmp_path, docs)
