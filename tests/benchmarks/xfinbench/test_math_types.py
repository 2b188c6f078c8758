"""Mathematical types by a model, against a server on this machine with scripted replies."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, completion, serve
from typer.testing import CliRunner

from fin_tasks.benchmarks.xfinbench.data import load
from fin_tasks.benchmarks.xfinbench.math_types import read_calculations, types_in
from fin_tasks.cli import app
from fin_tasks.errors import DataError

SAID = "I add. Therefore, my answer is arithmetic, statistical."


@pytest.mark.parametrize(
    ("reply", "types"),
    [
        (SAID, ["statistical", "arithmetic"]),
        ("Therefore, my answer is **Numeric Commonsense**.", ["numeric_commonsense"]),
        ("Therefore, my answer is numeric_commonsense", ["numeric_commonsense"]),
        (
            "Therefore, my answer is Logical Reasoning and Algebraic Reasoning.",
            ["logical", "algebraic"],
        ),
        (
            "Logical? Therefore, my answer is logical. No. Therefore, my answer is [geometry].",
            ["geometry"],
        ),
        ("<think>Therefore, my answer is logical.</think> Nothing.", []),
        ("Therefore, my answer is arithmetic, statistical, logical.", []),
        ("Therefore, my answer is finance.", []),
        ("arithmetic", []),
    ],
)
def test_what_a_reply_names(reply: str, types: list[str]) -> None:
    assert types_in(reply) == types


def label(
    out: Path, url: str, *more: str, status: int = 0
) -> tuple[dict[str, Any], str]:
    arguments = ["xfinbench", "types", "--model", "m", "--source", "sample", "--json"]
    arguments += ["--base-url", url, "--out", str(out), *more]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == status, done.output
    return json.loads(done.stdout), done.stderr


def test_labels_are_written_and_used(tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(body: dict[str, Any]) -> Answer:
        prompt = body["messages"][-1]["content"]
        asked.append(prompt)
        return completion(SAID)

    file = tmp_path / "types.csv"
    rows = read_calculations("validation", source="sample")
    with serve(answer) as served:
        summary, _ = label(file, served.base_url, "--limit", "3")
        assert (summary["asked"], summary["labeled"], len(asked)) == (3, 3, 3)
        summary, _ = label(file, served.base_url, "--limit", "5")
        assert len(asked) == 5, "the second run asks for two more"
    for row in rows[:5]:
        (prompt,) = [text for text in asked if row.question.strip() in text]
        assert f"Answer: {row.ground_truth}" in prompt
        assert "7. scientific: " in prompt
    shares = {share["type"]: share for share in summary["shares"]}
    assert shares["arithmetic"]["percent"] == 100.0
    assert shares["arithmetic"]["printed"] == 80.8
    assert shares["geometry"] == {"type": "geometry", "percent": 0.0, "printed": None}
    with file.open() as stream:
        written = list(csv.DictReader(stream))
    assert [line["id"] for line in written] == [row.id for row in rows[:5]]
    (docs,) = load(subset="calc", source="sample", math_types=str(file)).values()
    types = {doc["id"]: doc["math_types"] for doc in docs}
    assert types[rows[0].id] == ["statistical", "arithmetic"]
    assert types[rows[5].id] == []
    (docs,) = load(subset="bool", source="sample", math_types=str(file)).values()
    assert "math_types" not in docs[0]


@pytest.mark.parametrize("row", ["other,arithmetic", "sample_2,guessing"])
def test_labels_of_other_questions_are_refused(tmp_path: Path, row: str) -> None:
    file = tmp_path / "types.csv"
    file.write_text(f"id,math_types\n{row}\n")
    with pytest.raises(DataError, match="expected types of the questions that are"):
        load(subset="calc", source="sample", math_types=str(file))


def test_replies_that_cannot_be_read_are_listed_and_asked_again(tmp_path: Path) -> None:
    replies = iter(["I do not know.", SAID])

    with serve(lambda _: completion(next(replies))) as served:
        file = tmp_path / "types.csv"
        summary, error = label(file, served.base_url, "--limit", "1", status=1)
        assert list(summary["unread"].values()) == ["I do not know."]
        assert "--ask-again" in error
        label(file, served.base_url, "--limit", "1", status=1)
        summary, _ = label(file, served.base_url, "--limit", "1", "--ask-again")
    assert (summary["labeled"], summary["unread"]) == (1, {})
