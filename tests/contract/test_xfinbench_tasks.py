"""XFinBench's tasks in the real lm-eval: right answers score 1, and what the model was given stands in the results."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from chat_server import completion, serve
from in_process import run, samples
from test_chat_server import REPLY, lm_eval

from fin_tasks.errors import ConfigError

TASKS = ("xfinbench_bool", "xfinbench_mcq", "xfinbench_calc")
PROGRAM = "xfinbench_calc_pot"
DASH = "\N{EN DASH}"  # some truths write their minus so


def gold(doc: Mapping[str, Any]) -> str:
    if doc["mode"] == "pot":
        return f"```python\ndef solution():\n    return {doc['ground_truth'].replace(DASH, '-')}\n```"
    return str(doc["target"]).replace(DASH, "-")


def test_right_answers_score_one_in_both_variants() -> None:
    found = run("xfinbench", "xfinbench_calc_da", PROGRAM, answer=gold, sees=True)
    for task in (*TASKS, "xfinbench_mcq_visual", "xfinbench_calc_da"):
        for variant in ("paper", "robust"):
            assert found["results"][task][f"acc,{variant}"] == pytest.approx(1.0, abs=0.05)  # the sample has bad truths
    assert found["results"]["xfinbench"]["acc,robust"] == pytest.approx(1.0, abs=0.05)
    assert found["results"][PROGRAM]["execution_rate,robust"] >= 0.9
    facts = found["configs"][PROGRAM]["metadata"]
    assert facts["sandbox"]["tier"] in ("bwrap", "landlock", "monty")
    assert facts["usage"].keys() == {"prompt_tokens", "response_tokens", "estimated", "seconds_of_all_tasks"}
    assert facts["usage"]["estimated"] and facts["usage"]["response_tokens"] > 0


@pytest.mark.parametrize("knowledge", ["bm25", "dense", "oracle"])
def test_knowledge_goes_before_the_question_and_into_the_provenance(knowledge: str) -> None:
    found = run("xfinbench_calc", limit=3, knowledge=knowledge, top_k=2)
    plain = run("xfinbench_calc", limit=3)
    for sample, without in zip(samples(found, "xfinbench_calc"), samples(plain, "xfinbench_calc"), strict=True):
        terms, prompt = sample["doc"]["terms"], sample["doc"]["prompt"]
        assert terms and all(f"{term['name']}: " in prompt for term in terms)
        assert prompt.endswith(without["doc"]["prompt"])
        if knowledge == "oracle":
            assert [term["id"] for term in terms] == sample["doc"]["gold_terms"]
    given, none = (one["configs"]["xfinbench_calc"]["metadata"]["provenance"] for one in (found, plain))
    assert given["retrieval"]["condition"] == knowledge and "retrieval" not in none
    assert given["hash"] != none["hash"]


def test_a_random_draw_asks_the_same_rows_in_every_mode() -> None:
    found = run("xfinbench_calc", "xfinbench_calc_da", n=4, seed=7)
    rows = [
        [sample["doc"]["id"] for sample in samples(found, task)] for task in ("xfinbench_calc", "xfinbench_calc_da")
    ]
    assert rows[0] == rows[1] and len(set(rows[0])) == 4
    provenance = found["configs"]["xfinbench_calc"]["metadata"]["provenance"]
    assert (provenance["n"], provenance["seed"]) == (4, 7)


def test_sampling_of_the_paper() -> None:
    found = run("xfinbench_bool", limit=1, sampling="paper")
    assert found["configs"]["xfinbench_bool"]["generation_kwargs"]["temperature"] == 0.6
    with pytest.raises(ConfigError, match="expected greedy, got 'paper'"):
        run("mme_finance_en", limit=1, sees=True, sampling="paper")


def test_a_text_model_learns_which_task_to_take() -> None:
    with pytest.raises(ConfigError, match="xfinbench_text"):
        run("xfinbench", limit=1)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"style": "x"}, "expected one of cot_role, da_role, cot, da, got 'x'"),
        ({"knowlege": "bm25"}, "knowledge"),
        ({"knowledge": "google"}, "got 'google'"),
        ({"sampling": "hot"}, "expected greedy or paper, got 'hot'"),
        ({"data_dir": "/nowhere", "source": "data_dir"}, "/nowhere"),
    ],
)
def test_a_wrong_option_is_one_sentence(metadata: dict[str, Any], message: str) -> None:
    with pytest.raises(Exception, match=message) as caught:
        run("xfinbench_bool", limit=1, **metadata)
    assert type(caught.value).__module__ == "fin_tasks.errors"


def test_figures_and_text_through_a_chat_server(tmp_path: Any) -> None:
    with serve(lambda _: completion(REPLY)) as server:
        lm_eval(server, tmp_path, "xfinbench", json.dumps({"source": "sample", "knowledge": "bm25"}), "--limit", "2")
    asked = [asked["messages"][-1]["content"] for asked in server.bodies]
    texts = [content if isinstance(content, str) else content[-1]["text"] for content in asked]
    assert len(texts) == 8 and all(text.startswith("Finance terms") for text in texts)
    assert [content[0]["type"] for content in asked if isinstance(content, list)] == ["image_url"] * 2


def test_calculations_are_scored_by_mathematical_type(tmp_path: Path) -> None:
    file = tmp_path / "types.csv"
    file.write_text("id,math_types\nsample_2,arithmetic;logical\n")
    found = run("xfinbench_calc", "xfinbench_bool", answer=gold, math_types=str(file))["results"]
    calc = found["xfinbench_calc"]
    assert calc["acc_em_arithmetic,paper"] == calc["acc_err_logical,robust"] == 1
    assert calc["acc_em_statistical,paper"] == "N/A"
    assert "acc_em_arithmetic,paper" not in found["xfinbench_bool"]
