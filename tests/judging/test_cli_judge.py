"""`fin-tasks judge` from a file of predictions to a run folder."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from chat_server import Answer, completion, serve
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.errors import JudgeError

ROWS = [
    {"index": 7, "answer": "1", "prediction": "one", "task_category": "OCR", "image_type": "table"},
    {
        "index": 3,
        "answer": "2",
        "prediction": "two",
        "task_category": "OCR",
        "image_type": "document",
    },
    {
        "index": 5,
        "answer": "3",
        "prediction": "three",
        "task_category": "Not Applicable",
        "image_type": "table",
    },
    {
        "index": 9,
        "answer": "4",
        "prediction": "",
        "task_category": "Image Caption",
        "image_type": "table",
    },
]
pytestmark = pytest.mark.usefixtures("own_cache")
SCORES = {"one": "5", "two": "Score: 2", "three": "3"}


def answer(body: dict[str, Any]) -> Answer:
    text = body["messages"][1]["content"].split("BEGIN RESPONSE")[1].split("END RESPONSE")[0]
    return completion(next(score for word, score in SCORES.items() if word in text), usage=(100, 1))


def run(tmp_path: Path, *options: str) -> Any:
    rows = [{**row, "question": f"{row['index']}?", "image_style": "screenshot"} for row in ROWS]
    (tmp_path / "gpt").mkdir(exist_ok=True)
    pd.DataFrame(rows).to_excel(file := tmp_path / "gpt" / "gpt_MMEFinance.xlsx", index=False)
    out = ["--out", str(tmp_path / "out")]
    return CliRunner().invoke(
        app, ["judge", str(file), "--rubric", "mme_finance_en", "--model", "m", *out, *options]
    )


def test_from_a_workbook_to_a_run_folder(tmp_path: Path) -> None:
    with serve(answer) as served:
        done = run(tmp_path, "--base-url", served.base_url, "--json")
        again = run(tmp_path, "--base-url", served.base_url, "--json")
    assert done.exception is None, done.output
    found = json.loads(done.stdout)
    assert (found["n"], found["unscored"], found["requests"]) == (
        4,
        2,
        7,
    )  # five tries for the second response
    assert found["overall"] == pytest.approx(20 * (5 + 2 + 3 + 0) / 4)
    assert found["overall_robust"] == pytest.approx(20 * (5 + 3) / 2)
    assert found["by_category"] == {"OCR": 70, "Not Applicable": 60, "Image Caption": 0}
    assert found["by_type"] == {"table": pytest.approx(160 / 3), "document": 40}
    assert found["by_style"] == {"screenshot": 50}
    assert "2 of 4 responses are unscored" in done.stderr
    second = json.loads(again.stdout)
    assert (second["requests"], second["overall"]) == (
        5,
        found["overall"],
    )  # only what could not be read

    assert (found["split"], found["source"]) == ("unknown", "unknown")
    results = json.loads(Path(found["results"]).read_text())
    provenance = results["configs"]["mme_finance_en"]["metadata"]["provenance"]
    assert (provenance["split"], provenance["source"]) == ("unknown", "unknown")
    assert results["model_name"] == "gpt"
    judge = results["configs"]["mme_finance_en"]["metadata"]["judge"]
    assert (judge["model"], judge["rubric"], judge["usage"]["prompt_tokens"]) == (
        "m",
        "mme_finance_en@2",
        700,
    )
    assert "127.0.0.1" not in json.dumps(results)
    (samples,) = Path(found["results"]).parent.glob(
        f"samples_*{Path(found['results']).stem[8:]}.jsonl"
    )
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    by_filter = {
        name: [line for line in lines if line["filter"] == name] for name in ("paper", "robust")
    }
    assert [line["doc"]["id"] for line in by_filter["paper"]] == ["7", "3", "5", "9"]
    assert [line["score"] for line in by_filter["paper"]] == [100, 40, 60, 0]
    assert [line["score"] for line in by_filter["robust"]] == [100, None, 60, None]
    assert [line["answer"] for line in by_filter["robust"]] == [5, None, 3, None]
    assert by_filter["paper"][0]["doc"]["image_type"] == "table"


def test_a_judge_that_is_down_is_an_error_after_saving(tmp_path: Path) -> None:
    with serve(lambda _: (400, {}, {})) as served:
        done = run(tmp_path, "--base-url", served.base_url, "--json")
    assert isinstance(done.exception, JudgeError)
    found = json.loads(done.stdout)
    assert (found["unscored"], found["by_category"]["OCR"]) == (4, None)
    assert Path(found["results"]).is_file()
