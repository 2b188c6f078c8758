"""`fin-tasks judge` from a file of predictions to a run folder."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from chat_server import Answer, completion, serve
from typer.testing import CliRunner

from fin_tasks import report
from fin_tasks.benchmarks.mme_finance.data import load
from fin_tasks.benchmarks.mme_finance.score import score_judged
from fin_tasks.cli import app
from fin_tasks.errors import JudgeError
from fin_tasks.judging.item import Judged
from fin_tasks.judging.judge import JudgeModel
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.report.conditions import differences
from fin_tasks.saved.run_folder import SavedRun, write_run

ROWS = [
    {
        "index": index,
        "question": f"{index}?",
        "answer": answer,
        "prediction": prediction,
        "task_category": category,
        "image_type": image_type,
        "image_style": "screenshot",
    }
    for index, answer, prediction, category, image_type in (
        (7, "1", "one", "OCR", "table"),
        (3, "2", "two", "OCR", "document"),
        (5, "3", "three", "Not Applicable", "table"),
        (9, "4", "", "Image Caption", "table"),
    )
]
pytestmark = pytest.mark.usefixtures("own_cache")
DOWN = "http://127.0.0.1:9/v1"
SCORES = {"one": "5", "two": "Score: 2", "three": "3"}


def answer(body: dict[str, Any]) -> Answer:
    text = body["messages"][1]["content"].split("BEGIN RESPONSE")[1]
    text = text.split("END RESPONSE")[0]
    score = next(score for word, score in SCORES.items() if word in text)
    return completion(score, usage=(100, 1))


def judge(file: Path, out: Path, url: str, *options: str) -> Any:
    """Run `fin-tasks judge`."""
    command = ["judge", str(file), "--rubric", "mme_finance_en", "--model", "m"]
    command += ["--out", str(out), "--base-url", url, *options]
    return CliRunner().invoke(app, command)


def run(tmp_path: Path, url: str, *options: str) -> Any:
    """Judge the rows in a workbook."""
    (tmp_path / "gpt").mkdir(exist_ok=True)
    file = tmp_path / "gpt" / "gpt_MMEFinance.xlsx"
    pd.DataFrame(ROWS).to_excel(file, index=False)
    return judge(file, tmp_path / "out", url, *options)


def test_from_a_workbook_to_a_run_folder(tmp_path: Path) -> None:
    with serve(answer) as served:
        done = run(tmp_path, served.base_url, "--json")
        again = run(tmp_path, served.base_url, "--json")
    assert done.exception is None, done.output
    found = json.loads(done.stdout)
    # Five tries for the second response.
    assert [found[name] for name in ("n", "unscored", "requests")] == [4, 2, 7]
    assert found["overall"] == pytest.approx(20 * (5 + 2 + 3 + 0) / 4)
    assert found["overall_robust"] == pytest.approx(20 * (5 + 3) / 2)
    assert found["by_category"] == {"OCR": 70, "Not Applicable": 60, "Image Caption": 0}
    assert found["by_type"] == {"table": pytest.approx(160 / 3), "document": 40}
    assert found["by_style"] == {"screenshot": 50}
    assert "2 of 4 responses are unscored" in done.stderr
    second = json.loads(again.stdout)
    # Only for what could not be read.
    assert (second["requests"], second["overall"]) == (5, found["overall"])
    assert (found["split"], found["source"]) == ("unknown", "unknown")
    results = json.loads(Path(found["results"]).read_text())
    metadata = results["configs"]["mme_finance_en"]["metadata"]
    provenance = metadata["provenance"]
    assert (provenance["split"], provenance["source"]) == ("unknown", "unknown")
    facts = metadata["judge"]
    assert results["model_name"] == "gpt"
    assert (facts["model"], facts["rubric"]) == ("m", "mme_finance_en@2")
    assert facts["usage"]["prompt_tokens"] == 700
    assert "127.0.0.1" not in json.dumps(results)
    stamp = Path(found["results"]).stem.removeprefix("results")
    (samples,) = Path(found["results"]).parent.glob(f"samples_*{stamp}.jsonl")
    lines = [json.loads(line) for line in samples.read_text().splitlines()]
    paper = [line for line in lines if line["filter"] == "paper"]
    robust = [line for line in lines if line["filter"] == "robust"]
    assert [line["doc"]["id"] for line in paper] == ["7", "3", "5", "9"]
    assert [line["score"] for line in paper] == [100, 40, 60, 0]
    assert [line["score"] for line in robust] == [100, None, 60, None]
    assert [line["answer"] for line in robust] == [5, None, 3, None]
    assert paper[0]["doc"]["image_type"] == "table"


def test_a_judge_that_is_down_writes_no_run(tmp_path: Path) -> None:
    with serve(lambda _: (400, {}, {})) as served:
        done = run(tmp_path, served.base_url, "--json")
    assert isinstance(done.exception, JudgeError)
    assert not (tmp_path / "out").exists()
    assert done.stdout == ""


def test_many_failures_are_an_error_after_saving(tmp_path: Path) -> None:
    def sometimes(body: dict[str, Any]) -> Answer:
        text = body["messages"][1]["content"].rpartition("BEGIN RESPONSE")[2]
        return (400, {}, {}) if "\nthree" in text else answer(body)

    with serve(sometimes) as served:
        done = run(tmp_path, served.base_url, "--json")
        assert isinstance(done.exception, JudgeError)
        found = json.loads(done.stdout)
        assert (found["unscored"], Path(found["results"]).is_file()) == (3, True)
        assert "1 of 3 responses" in str(done.exception)
        again = run(tmp_path, served.base_url, "--json", "--max-failed", "0.9")
    assert again.exception is None


def test_what_the_console_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789")
    with serve(answer) as served:
        done = run(tmp_path, served.base_url)
        assert "2 of 4 responses are unscored" in done.stderr
        assert "no key" not in done.stderr
        done = run(tmp_path, served.base_url, "--key-env", "OTHER_KEY")
        assert "no key, as OTHER_KEY is not set" in done.stderr


def test_a_dry_run_asks_nothing(tmp_path: Path) -> None:
    prices = tmp_path / "prices.yaml"
    prices.write_text("models: {m: {input: 10, output: 1000}}")
    with serve(answer) as served:
        options = [served.base_url, "--json", "--token-prices", str(prices)]
        first = json.loads(run(tmp_path, *options, "--dry-run").stdout)
        assert (first["n"], first["without_response"], first["requests"]) == (4, 1, 3)
        assert 1_000 < first["prompt_tokens_without_pictures"] < 10_000
        assert first["completion_tokens"] == 3 * 3
        cost = (first["prompt_tokens_without_pictures"] * 10 + 9 * 1000) / 1e6
        assert first["cost_without_pictures"] == pytest.approx(cost)
        assert served.bodies == []
        assert not (tmp_path / "out").exists()
        run(tmp_path, *options)
        second = json.loads(run(tmp_path, *options, "--dry-run").stdout)
        assert (second["requests"], second["cached"]) == (0, 3)
        assert second["completion_tokens"] == second["cost_without_pictures"] == 0


def test_limits_of_requests(tmp_path: Path) -> None:
    with serve(answer, pause=0.05) as served:
        run(tmp_path, served.base_url, "--concurrency", "1")
        assert served.most_at_once == 1
    done = run(tmp_path, DOWN, "--timeout", "0")
    assert "judge_timeout" in str(done.exception)
    done = run(tmp_path, DOWN, "--requests-per-minute", "0")
    assert "judge_requests_per_minute" in str(done.exception)


def own_rubric(folder: Path) -> Path:
    judges = Path(__file__).parents[2] / "judges"
    text = (judges / "mme_finance_en.yaml").read_text("utf-8")
    path = folder / "own.yaml"
    path.write_text(text.replace("name: mme_finance_en", "name: strict"), "utf-8")
    return path


@pytest.mark.parametrize(
    ("stem", "task"),
    [
        ("gpt_MMEFinance", "mme_finance_en"),
        ("gpt_MMEFinance_NA", "mme_finance_en_na"),
        ("gpt_MMEFinance_CN", "mme_finance_zh"),
        ("samples_mme_finance_zh_na_2026-01-01T00-00-00", "mme_finance_zh_na"),
        ("predictions", "mme_finance_en"),
    ],
)
def test_results_have_the_name_of_the_task(
    tmp_path: Path, stem: str, task: str
) -> None:
    file = tmp_path / f"{stem}.jsonl"
    file.write_text(json.dumps(ROWS[0]))
    rubric = ("--rubric", str(own_rubric(tmp_path)))
    with serve(answer) as served:
        done = judge(file, tmp_path / "out", served.base_url, "--json", *rubric)
    found = json.loads(done.stdout)
    assert (found["task"], found["rubric"]) == (task, "strict@2")
    (result,) = report.read(tmp_path / "out").runs[0].tasks
    assert (result.task, result.benchmark) == (task, "mme_finance")


def test_a_judged_run_can_be_compared_with_its_original(tmp_path: Path) -> None:
    options = {"language": "en", "source": "sample", "sample_n": 6, "sample_seed": 3}
    documents = load(**options)["test"]
    docs = list(documents)
    rubric = load_rubric("mme_finance_en")
    facts = JudgeModel(model="m", base_url=(DOWN,)).facts(rubric)
    responses = [Judged("one")] * len(docs)
    original = score_judged(rubric, docs, responses, task="mme_finance_en")
    provenance = json.loads(documents.info.description)
    run = SavedRun(original, provenance, {"judge": facts})
    write_run(tmp_path / "original", [run], model="gpt", made_by="fin-tasks judge")
    (file,) = (tmp_path / "original").rglob("samples_*.jsonl")
    with serve(lambda _: completion("4")) as served:
        done = judge(file, tmp_path / "again", served.base_url, "--json")
    assert done.exception is None, done.output
    assert json.loads(done.stdout)["source"] == "sample"
    first, second = report.read([tmp_path / "original", tmp_path / "again"]).runs
    assert differences(first.tasks[0], second.tasks[0]) == []
    assert second.tasks[0].provenance["sample"] == {"n": 6, "seed": 3}
    assert (first.model, second.model) == ("gpt", "gpt")
