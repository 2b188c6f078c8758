"""Mathematical types of calculations: labels by a model, and accuracy by type."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, completion, serve
from typer.testing import CliRunner

from fin_tasks.benchmarks.xfinbench import data as xfinbench
from fin_tasks.benchmarks.xfinbench.data import load
from fin_tasks.benchmarks.xfinbench.math_types import read_types
from fin_tasks.benchmarks.xfinbench.score import metric_values, metrics_of, read
from fin_tasks.cli import app
from fin_tasks.errors import DataError

SAMPLE = Path(xfinbench.__file__).with_name("sample")
MARKER = "Therefore, my answer is"


@pytest.fixture(autouse=True)
def _own_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_proxy: None) -> None:
    for name in [name for name in os.environ if name.startswith("FIN_TASKS")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))


@pytest.mark.parametrize(
    ("reply", "named", "reason"),
    [
        (f"{MARKER} Arithmetic Reasoning.", ["arithmetic"], ""),
        (f"It adds. {MARKER} **Statistical Reasoning** and **Numeric Commonsense**.",
         ["statistical", "numeric_commonsense"], ""),
        (f"{MARKER}:\n\n1. Algebraic Reasoning: it finds x, y and z\n2. Logical Reasoning (premises, rules)",
         ["algebraic", "logical"], ""),
        (f"{MARKER} that this question needs Geometry Reasoning. Arithmetic comes for free.", ["geometry"], ""),
        (f"{MARKER} logical. No: {MARKER} scientific", ["scientific"], ""),
        (f"{MARKER} Arithmetic Reasoning, arithmetic reasoning", ["arithmetic"], ""),
        ("Arithmetic Reasoning, I would say.", [], "no marker"),
        (f"{MARKER} Financial Reasoning.", [], "unknown type 'financial reasoning'"),
        (f"{MARKER} Arithmetic Reasoning and Financial Reasoning.", [], "unknown type 'financial reasoning'"),
        (f"{MARKER} Arithmetic, Statistical, and Logical Reasoning.", [], "3 types"),
        (f"{MARKER} .", [], "no types"),
        (f"{MARKER}", [], "no types"),
    ],
)  # fmt: skip
def test_types_are_read_behind_the_last_marker(reply: str, named: list[str], reason: str) -> None:
    assert read_types(reply) == (named, reason)


def label(folder: Path, say: Any) -> tuple[Any, list[dict[str, str]], int]:
    """Return the printed summary, the rows of the CSV file and the number of requests."""

    def answer(body: dict[str, Any]) -> Answer:
        return completion(say(body["messages"][-1]["content"]))

    with serve(answer) as served:
        command = ["label", "math", "--model", "m", "--base-url", served.base_url, "--out", str(folder / "types.csv")]
        command += ["--split", "validation", "--data-dir", str(SAMPLE), "--json"]
        for _ in range(2):  # the second time from the disk
            found = CliRunner().invoke(app, command, catch_exceptions=False)
        with (folder / "types.csv").open(encoding="utf-8", newline="") as file:
            return json.loads(found.output), list(csv.DictReader(file)), len(served.bodies)


def test_labels_make_accuracy_by_type(tmp_path: Path) -> None:
    def say(prompt: str) -> str:
        if "crusher" in prompt:
            return f"{MARKER} Arithmetic Reasoning, Logical Reasoning."
        return (
            f"{MARKER} Guessing." if "Therefore, my answer" in prompt and "bond" in prompt else f"{MARKER} Arithmetic."
        )

    summary, rows, requests = label(tmp_path, say)
    assert requests == summary["n"] == len(rows)
    assert [row["math_types"] for row in rows if row["id"] == "sample_2"] == ["arithmetic;logical"]
    unnamed = [row["id"] for row in rows if not row["math_types"]]
    assert summary["not_labeled"] == {"unknown type 'guessing'": len(unnamed)} and unnamed
    assert summary["shares"]["arithmetic"] == 1 and summary["shares"]["logical"] == 1 / summary["labeled"]

    ((_, found),) = load(subset="calc", source="sample", math_types=str(tmp_path / "types.csv")).items()
    docs = {doc["id"]: doc for doc in found.to_list()}
    wrong = metric_values(docs["sample_2"], [read(docs["sample_2"], f"{MARKER} [1]", variant="paper")])
    assert (wrong["acc_em_arithmetic"], wrong["acc_err_logical"], wrong["acc_em_algebraic"]) == (0.0, 0.0, None)
    doc = docs[unnamed[0]]
    right = metric_values(doc, [read(doc, doc["target"], variant="paper")])
    assert right["acc"] == 1 and {right[name] for name in right if name.endswith(("_arithmetic", "_logical"))} == {None}
    assert list(metrics_of(subset="calc", mode="cot", math_types="f")) == list(right)
    assert "acc_em_arithmetic" not in metrics_of(subset="calc", mode="cot")
    for text in ("id,math_types\nother,arithmetic\n", "id,math_types\nsample_2,guessing\n"):
        (tmp_path / "bad.csv").write_text(text)
        with pytest.raises(DataError, match="types"):
            load(subset="calc", source="sample", math_types=str(tmp_path / "bad.csv"))
