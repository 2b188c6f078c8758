"""The memorization gap of scripted models: one computes, one knows the answers."""

import json
from pathlib import Path
from typing import Any

import pytest
from run_files import board_of
from typer.testing import CliRunner

import fin_tasks
from fin_tasks.cli import app

MODELS = ("computes", "knows")


def run(*words: object) -> str:
    done = CliRunner().invoke(app, [*map(str, words)])
    assert done.exit_code == 0, f"{done.output}{done.exception}"
    return done.stdout


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of two models on the published questions of the sample, and on variants."""
    folder = tmp_path_factory.mktemp("memorization")
    build = ("build", "variants", "financemath", "--source", "sample")
    run(*build, "--out", folder / "made")
    own_options: dict[str, dict[str, str]] = {
        "published": {"source": "sample"},
        "variants": {"source": "sample", "variants": str(folder / "made")},
    }
    for name, options in own_options.items():
        docs = fin_tasks.load("financemath", **options)
        for model in MODELS:
            rows = []
            for doc in docs:
                response = doc["target"]
                if model == "knows" and name == "variants":
                    response = (
                        f"Therefore, the answer is {doc['published_truth']:.12g}."
                    )
                rows.append({"id": doc["question_id"], "response": response})
            file = folder / f"{name}-{model}.jsonl"
            file.write_text("".join(json.dumps(row) + "\n" for row in rows))
            out = folder / "runs" / name / model
            replay = ("replay", "task", "financemath", file, "--model", model)
            run(*replay, "--metadata", json.dumps(options), "--out", out)
    return folder / "runs"


def compared(results: Path, *words: object) -> list[dict[str, Any]]:
    paths = (results / "published", results / "variants")
    output = run("compare", *paths, "--by", "variant", *words, "--json")
    lines: list[dict[str, Any]] = json.loads(output)["lines"]
    return lines


def test_one_that_computes_has_no_gap_and_one_that_knows_has_one(results: Path) -> None:
    computes, knows = compared(results)
    for line, name, gap in ((computes, "computes", 0), (knows, "knows", 1)):
        assert (line["run"], line["value"], line["recalled"]) == (name, gap, gap)
    assert (knows["published"], knows["variants"], knows["spread"]) == (1, 0, 0)
    assert computes["p"] == 1 and knows["p"] < 0.05
    assert (knows["against"], knows["difference"]) == ("computes", 1)
    assert knows["p_holm"] < 0.05 and computes["against"] is None


def test_a_question_counts_once_and_groups_stand_apart(results: Path) -> None:
    lines = compared(results, "--by", "topic", "--baseline", "knows")
    whole = [line for line in lines if not line["group"]]
    groups = [line for line in lines if line["group"] and line["run"] == "knows"]
    assert [line["run"] for line in whole] == ["knows", "computes"]
    assert whole[1]["difference"] == -1
    variants = (results.parent / "made" / "variants.jsonl").read_text().splitlines()
    sources = {json.loads(line)["source"] for line in variants}
    assert whole[0]["n"] == len(sources) < len(variants)
    assert sum(line["n"] for line in groups) == len(sources)


def test_what_cannot_be_compared_is_one_sentence_and_tasks_have_plain_names(
    results: Path,
) -> None:
    assert {line["heading"] for line in compared(results)} == {"financemath · cot"}
    command = ["compare", str(results), "--by", "variant", "--baseline", "nobody"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code != 0
    assert "expected one of computes, knows, got 'nobody'" in str(done.exception)
    command[-1] = "knows"
    printed = CliRunner().invoke(app, command).stdout
    assert "financemath · cot" in printed and "split=variants" not in printed
    command[1] = str(results / "variants")
    done = CliRunner().invoke(app, command)
    assert done.exit_code != 0
    assert "expected runs of a model on published questions" in str(done.exception)


def test_the_leaderboard_has_the_gaps_if_variants_were_asked(
    results: Path, tmp_path: Path
) -> None:
    gaps = board_of(results).gaps
    paper = [gap for gap in gaps if "/paper/" in gap.task]
    assert [(gap.model, gap.gap) for gap in paper] == [("computes", 0), ("knows", 1)]
    assert board_of(results / "published").gaps == []
