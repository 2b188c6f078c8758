"""The real lm-eval on every task of BizBench, with a model that gives the right answers."""

import json
from typing import Any

import pytest
from in_process import parts_of, run, samples

PROGRAMS = ("fincode", "codefinqa", "codetatqa", "paper_quantity_pot")
TEXTS = (
    "convfinqa_e",
    "tatqa_e",
    "secnum",
    "finknow",
    "paper_choice",
    "paper_quantity",
)


@pytest.fixture(scope="module")
def gold() -> dict[str, Any]:
    return run("bizbench", "bizbench_paper", answer=lambda doc: str(doc["target"]))


def test_right_answers_are_right_in_every_task(gold: dict[str, Any]) -> None:
    results = gold["results"]
    for name in (*PROGRAMS, *TEXTS, "formulaeval"):
        task = results[f"bizbench_{name}"]
        assert (
            task["acc,robust"] == task["acc_err,paper"] == task["acc_err,robust"] == 1.0
        ), name
        assert (
            task["unscored,paper"],
            task["unscored,robust"],
            task["no_answer,robust"],
        ) == (
            0.0,
            0.0,
            0.0,
        ), name
        # The authors compare floats as they are, and answers in the file are rounded.
        assert (task["acc,paper"] == 1.0) == (name not in PROGRAMS), name
        assert task.get("execution_rate,paper", "N/A" if name in TEXTS else None) == (
            "N/A" if name in TEXTS else 1.0
        )
    assert (
        results["bizbench"]["acc_err,paper"] == results["bizbench"]["acc,robust"] == 1.0
    )
    assert parts_of(gold, "bizbench_paper_choice")["acc_finknow,paper"] == 1.0
    assert "acc_secnum,paper" not in parts_of(gold, "bizbench_paper_quantity")
    assert "acc_secnum,paper" not in parts_of(gold, "bizbench_secnum")
    assert "bizbench_paper" not in results


def test_results_say_what_was_run(gold: dict[str, Any]) -> None:
    facts = gold["configs"]["bizbench_paper_choice"]["metadata"]["provenance"]
    assert (facts["data"]["origin"], facts["sample"]) == (
        "sample",
        {"n": 500, "seed": 0},
    )
    assert gold["configs"]["bizbench_formulaeval"]["metadata"]["sandbox"]["tier"] in (
        "bwrap",
        "landlock",
    )
    read = {
        s["doc"]["kind"]: json.loads(s["filtered_resps"][0][0])
        for s in samples(gold, "bizbench_formulaeval")
    }
    assert read["code"]["answer"] == "8/8" and read["choice"]["answer"] in "ABCD"


def test_a_model_without_answers() -> None:
    found = run("bizbench", limit=2)
    results = found["results"]
    for name in (*TEXTS[:4], *PROGRAMS[:3], "formulaeval"):
        task = results[f"bizbench_{name}"]
        assert (
            task["acc,paper"] == task["acc,robust"] == 0.0
            and task["no_answer,robust"] == 1.0
        ), name
    endings = parts_of(found, "bizbench_fincode")
    assert endings["exception,paper"] == endings["no_code,robust"] == 1.0
