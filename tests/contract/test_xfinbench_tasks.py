"""XFinBench's tasks in the real lm-eval, with a model in this process and one on a server on loopback."""

import base64
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from chat_server import completion, serve
from in_process import Scripted, parts_of, run, samples
from PIL import Image

TASKS = ("xfinbench_bool", "xfinbench_mcq", "xfinbench_calc")
PROGRAM = "xfinbench_calc_pot"
DASH = "\N{EN DASH}"  # some truths write their minus so
REPLY = "<think>Perhaps A? Therefore, my answer is A.</think>Therefore, my answer is true, B, [42]."


def gold(doc: Mapping[str, Any]) -> str:
    if doc["mode"] == "pot":
        return f"```python\ndef solution():\n    return {doc['ground_truth'].replace(DASH, '-')}\n```"
    return str(doc["target"]).replace(DASH, "-")


def test_right_answers_score_one_in_both_scorings() -> None:
    found = run("xfinbench", "xfinbench_calc_da", PROGRAM, answer=gold, sees=True)
    for task in (*TASKS, "xfinbench_mcq_visual", "xfinbench_calc_da"):
        for scoring in ("paper", "robust"):
            assert found["results"][task][f"acc,{scoring}"] == pytest.approx(
                1.0, abs=0.05
            )  # the sample has bad truths
    assert found["results"]["xfinbench"]["acc,robust"] == pytest.approx(1.0, abs=0.05)
    assert found["results"][PROGRAM]["execution_rate,robust"] >= 0.9
    facts = found["configs"][PROGRAM]["metadata"]
    assert facts["sandbox"]["tier"] in ("bwrap", "landlock")
    assert facts["usage"].keys() == {
        "prompt_tokens",
        "response_tokens",
        "estimated",
        "seconds_of_all_tasks",
    }
    assert facts["usage"]["estimated"] and facts["usage"]["response_tokens"] > 0


def picture_of(asked: Mapping[str, Any]) -> bytes:
    """Return the pixels of the picture in a request; empty without one."""
    content = asked["messages"][-1]["content"]
    if isinstance(content, str):
        return b""
    picture, _ = content
    with Image.open(
        io.BytesIO(base64.b64decode(picture["image_url"]["url"].split(",", 1)[1]))
    ) as sent:
        return sent.convert("RGB").tobytes()


def test_a_group_on_a_chat_server() -> None:
    """Every figure is sent, and only with its question; the scores are those of the reply."""
    with serve(lambda _: completion(REPLY)) as served:
        found = run("xfinbench", served=served)
    rows = {
        task: [one["doc"] for one in samples(found, task)]
        for task in (*TASKS, "xfinbench_mcq_visual")
    }
    figures = {
        doc["prompt"].removeprefix("<image>\n"): doc["figure_path"]
        for doc in rows["xfinbench_mcq_visual"]
    }
    shown = [asked for asked in served.bodies if picture_of(asked)]
    assert len(shown) == len(figures) < len(served.bodies)
    for asked in shown:
        with Image.open(figures[asked["messages"][-1]["content"][-1]["text"]]) as drawn:
            assert picture_of(asked) == drawn.convert("RGB").tobytes()
    for asked in served.bodies:
        assert "<image>" not in json.dumps(asked)
        assert asked["messages"][0]["content"].startswith(
            "You are an expert in finance"
        )
        assert (
            asked.get("max_tokens", asked.get("max_completion_tokens")),
            asked["temperature"],
        ) == (1024, 0.0)
    said = {
        "xfinbench_bool": "1.0",
        "xfinbench_mcq": "B",
        "xfinbench_mcq_visual": "B",
        "xfinbench_calc": "",
    }
    every: list[bool] = []
    for task, docs in rows.items():
        hits = [doc["ground_truth"] == said[task] for doc in docs]
        assert found["results"][task]["acc,paper"] == pytest.approx(
            sum(hits) / len(hits)
        )
        every += hits
    assert found["results"]["xfinbench"]["acc,paper"] == pytest.approx(
        sum(every) / len(every)
    )
    for sample in samples(found, "xfinbench_mcq_visual"):
        assert json.loads(sample["filtered_resps"][0][0])["answer"] == "B"
        assert ";base64," not in json.dumps(sample["arguments"], default=str)


def test_models_that_insist_on_a_picture_get_a_blank_one() -> None:
    class Seeing(Scripted):
        def generate_until(
            self, requests: Sequence[Any], disable_tqdm: bool = False
        ) -> list[str]:
            for prompt, _, shown in (request.args for request in requests):
                (picture,) = shown["visual"]
                assert prompt.count("<image>") == 1 and set(picture.tobytes()) == {255}
            return super().generate_until(requests)

    run(
        "xfinbench_bool",
        model=Seeing(lambda _: REPLY, sees=True),
        limit=2,
        blank_image=True,
    )


@pytest.mark.parametrize("knowledge", ["dense", "oracle"])
def test_knowledge_goes_before_the_question_and_into_the_provenance(
    knowledge: str,
) -> None:
    found = run("xfinbench_calc", limit=3, knowledge=knowledge, top_k=2)
    plain = run("xfinbench_calc", limit=3)
    for sample, without in zip(
        samples(found, "xfinbench_calc"), samples(plain, "xfinbench_calc"), strict=True
    ):
        terms, prompt = sample["doc"]["terms"], sample["doc"]["prompt"]
        assert terms and all(f"{term['name']}: " in prompt for term in terms)
        assert prompt.endswith(without["doc"]["prompt"])
        if knowledge == "oracle":
            assert [term["id"] for term in terms] == sample["doc"]["gold_terms"]
    given, none = (
        one["configs"]["xfinbench_calc"]["metadata"]["provenance"]
        for one in (found, plain)
    )
    assert given["retrieval"]["condition"] == knowledge and "retrieval" not in none
    assert given["hash"] != none["hash"]


def test_responses_alone_run_no_program(capsys: pytest.CaptureFixture[str]) -> None:
    found = run(*TASKS, PROGRAM, limit=2, predict_only=True)
    assert "Running programs" not in capsys.readouterr().err
    for task in (*TASKS, PROGRAM):
        assert [sample["resps"] for sample in samples(found, task, "none")] == [
            [["lol"]]
        ] * 2


def test_sampling_of_the_paper() -> None:
    found = run("xfinbench_bool", limit=1, sampling="paper")
    assert found["configs"]["xfinbench_bool"]["generation_kwargs"]["temperature"] == 0.6


def test_calculations_are_scored_by_mathematical_type(tmp_path: Path) -> None:
    file = tmp_path / "types.csv"
    file.write_text("id,math_types\nsample_2,arithmetic;logical\n")
    found = run("xfinbench_calc", "xfinbench_bool", answer=gold, math_types=str(file))
    calc = parts_of(found, "xfinbench_calc")
    assert calc["acc_em_arithmetic,paper"] == calc["acc_err_logical,robust"] == 1
    assert "acc_em_statistical,paper" not in calc
    assert "acc_em_arithmetic,paper" not in parts_of(found, "xfinbench_bool")
