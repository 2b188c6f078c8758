"""Statements and mitigations as data: ours, a user's own, and files that say nothing useful."""

import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.dynostock.data import load
from fin_tasks.benchmarks.dynostock.statements import (
    MITIGATIONS,
    STATEMENTS,
    read_mitigations,
    read_statements,
)
from fin_tasks.errors import ConfigError

pytestmark = pytest.mark.usefixtures("shared_cache")


def loaded(**options: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    usual: dict[str, Any] = {
        "bias": "statement",
        "window": 4,
        "mode": "text",
        "source": "sample",
        "frequency": "monthly",
        "sample_n": 3,
    }
    documents = load(**usual | options)["test"]
    return documents.to_list(), json.loads(documents.info.description)


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_is_one_line_of_the_prompt(name: str) -> None:
    """Without it the prompt is that of the arm none; the two directions differ in this line only."""
    docs, facts = loaded(statement=name)
    without, facts_without = loaded(statement=name, arm="none")
    assert (facts["statement"]["name"], "statement" in facts_without) == (name, False)
    for doc, other in zip(docs, without, strict=True):
        lines = doc["prompt"].split("\n")
        (sentence,) = set(lines) - set(other["prompt"].split("\n"))
        lines.remove(sentence)
        assert "\n".join(lines) == other["prompt"]
        assert sentence.startswith("- ")
        assert "{" not in sentence
        assert doc["signal"] == other["signal"]
    if name == "placebo":
        assert {doc["statement"] for doc in docs} == {None}
        with pytest.raises(ConfigError, match="no arm flipped"):
            loaded(statement=name, arm="flipped")
        return
    flipped, _ = loaded(statement=name, arm="flipped")
    for doc, other in zip(docs, flipped, strict=True):
        assert doc["statement"] == doc["signal"] == 1 - other["statement"]
        assert doc["prompt"] != other["prompt"]


def test_entries_of_the_paper_are_those_of_its_tasks() -> None:
    chosen, facts = loaded(statement="authority")
    usual, _ = loaded(bias="authority")
    assert facts["windows"] == "authority"
    assert [doc["prompt"] for doc in chosen] == [doc["prompt"] for doc in usual]
    with pytest.raises(ConfigError, match="expected none in a task of recency"):
        loaded(bias="recency", statement="framing")


def test_a_statement_of_ones_own_with_a_given_direction(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "tip:\n title: A tip\n direction: down\n sentence: My neighbor sold {ticker}.\n"
    )
    docs, facts = loaded(statements=str(file))
    assert facts["statement"]["name"] == "tip"
    assert {(doc["statement"], doc["signal"]) for doc in docs} == {(0, 0)}
    assert all(f"- My neighbor sold {doc['ticker']}." in doc["prompt"] for doc in docs)
    flipped, _ = loaded(statements=str(file), arm="flipped")
    assert {(doc["statement"], doc["signal"]) for doc in flipped} == {(1, 0)}
    with pytest.raises(ConfigError, match="expected one of tip, got 'framing'"):
        loaded(statements=str(file), statement="framing")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- a\n- b\n", "statements by name"),
        ("{}", "statements by name"),
        ("Tip:\n title: x\n sentence: '{movement}'\n", "Tip"),
        ("tip:\n title: x\n", "sentence"),
        ("tip:\n title: x\n sentence: '{price}'\n", r"slots among .*got \{price\}"),
        ("tip:\n title: x\n sentence: '{ticker.a}'\n", r"got \{ticker.a\}"),
        ("tip:\n title: x\n sentence: '{movement!r}'\n", r"got \{movement\}"),
        ("tip:\n title: x\n sentence: '{movement'\n", "slots such as"),
        ("tip:\n title: x\n sentence: '{name} {direction}'\n", r"got \{name\}"),
        ("tip:\n title: x\n sentence: Hello.\n", "the same for a rise and a fall"),
        (
            "tip:\n title: x\n direction: none\n sentence: '{movement}'\n",
            "without a direction",
        ),
        ("tip:\n title: x\n direction: sideways\n sentence: Hm.\n", "direction"),
        ("a" * 300_000, "bytes"),
    ],
)
def test_a_file_that_is_no_list_of_statements(
    text: str, problem: str, tmp_path: Path
) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=problem) as error:
        read_statements(file)
    assert str(file) in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "help:\n title: x\n",
        "help:\n title: x\n sentence: '{movement}'\n",
        "help:\n title: x\n history: 99\n",
    ],
)
def test_a_file_that_is_no_list_of_mitigations(text: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=str(file)):
        read_mitigations(file)


@pytest.mark.parametrize("name", MITIGATIONS)
def test_a_mitigation_adds_a_guideline_or_a_longer_past(name: str) -> None:
    """The statement and the question stay; all that is shown ends on the same day."""
    docs, facts = loaded(mitigation=name)
    without, facts_without = loaded()
    assert facts["mitigation"]["name"] == name and "mitigation" not in facts_without
    n_longer = 0
    for doc, other in zip(docs, without, strict=True):
        assert (doc["end"], doc["truth"]) == (other["end"], other["truth"])
        if MITIGATIONS[name].sentence:
            facts = other["prompt"].split("\n\nNow forecast")[0]
            added = doc["prompt"].replace(facts, "")
            assert added.startswith("\n- ")
            assert "{" not in added
        else:
            n_longer += len(doc["prompt"]) > len(other["prompt"])
            assert doc["prompt"].rsplit("Latest report", 1)[1] in other["prompt"]
    assert n_longer > len(docs) / 2 or MITIGATIONS[name].sentence


def test_mitigations_apply_to_the_tasks_of_the_paper_and_to_our_prompts_only() -> None:
    docs, _ = loaded(bias="recency", mitigation="warning")
    assert "- Beware" in docs[0]["prompt"]
    for options in ({"prompt": "naive"}, {"prompts": "upstream"}):
        with pytest.raises(ConfigError, match="in the style structured"):
            loaded(bias="recency", mitigation="warning", **options)
    # Metadata are those of all tasks of a run; one that asks for no forecast has no use for it.
    _, facts = loaded(bias="recall", window=None, after="2012-01", mitigation="warning")
    assert "mitigation" not in facts


def test_windows_without_the_event_of_a_statement_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text(
        "case:\n title: A case\n windows: authority\n sentence: On {day} came {movement}.\n"
    )
    docs, facts = loaded(statements=str(file), sample_n=15)
    asked, facts_without = loaded(statements=str(file), arm="none", sample_n=15)
    assert 0 < len(docs) < len(asked)
    assert sum(facts["left_out"].values()) == len(asked) - len(docs)
    assert "left_out" not in facts_without
