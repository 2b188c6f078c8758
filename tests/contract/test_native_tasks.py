"""Our task files are plain tasks of lm-eval: what its users do with a task, they do with ours."""

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, completion, serve
from in_process import Scripted, manager, run, samples, saved
from lm_eval import simple_evaluate
from lm_eval.api.task import ConfigurableTask, TaskConfig
from lm_eval.evaluator import evaluate  # before our adapter is imported
from lm_eval.tasks._yaml_loader import load_yaml

from fin_tasks.benchmarks.task_file import task_names
from fin_tasks.errors import ConfigError
from fin_tasks.report import read
from fin_tasks.resources import task_yaml_dir

ANSWER = "Therefore, my answer is [5].\n\n```python\ndef solution():\n    return 5\n```"


@pytest.fixture(autouse=True)
def _alone(no_proxy: None, own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")


class Plain(ConfigurableTask):  # type: ignore[misc]
    """What lm-eval makes of a task file that names no class."""

    def __init__(self, config: dict[str, Any]) -> None:
        super().__init__(config={k: v for k, v in config.items() if k != "class"})


def ask(
    tasks: list[str], *, folder: Path | None = None, lm: Any = None, **more: Any
) -> dict[str, Any]:
    found = simple_evaluate(
        model=lm or Scripted(lambda doc: ANSWER, sees=True),
        tasks=tasks,
        task_manager=manager(*([folder] if folder else [])),
        limit=more.pop("limit", 3),
        confirm_run_unsafe_code=True,
        **more,
    )
    return dict(found or {})


def figures(found: Mapping[str, Any], task: str) -> dict[str, Any]:
    """Return the totals of a task, without its names and numbers of samples."""
    own = {"alias", "name", "sample_len", "sample_count"}
    return {key: v for key, v in found["results"][task].items() if key not in own}


def test_the_scores_do_not_depend_on_the_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = [
        "xfinbench_calc_pot",
        "bizbench_formulaeval",
        "dynostock_recency_w20_text",
        "financemath",
        "mme_finance_en",
    ]
    for task in tasks:
        lines = [
            f"include: {manager().task_index[task].yaml_path}",
            f"task: plain_{task}",
            "class: !function test_native_tasks.Plain",
        ]
        (tmp_path / f"plain_{task}.yaml").write_text("\n".join(lines))
    with serve(lambda body: completion("3")) as served:
        monkeypatch.setenv("FIN_TASKS_JUDGE_MODEL", "judge")
        monkeypatch.setenv("FIN_TASKS_JUDGE_BASE_URL", served.base_url)
        ours = ask(tasks)
        plain = ask([f"plain_{task}" for task in tasks], folder=tmp_path)
    for task in tasks:
        totals = figures(ours, task)
        assert totals == figures(plain, f"plain_{task}")
        assert {"cut_off,paper", "unscored,robust"} <= totals.keys()
        for scoring in ("paper", "robust"):
            our_rows = samples(ours, task, scoring)
            their_rows = samples(plain, f"plain_{task}", scoring)
            readings = [row["filtered_resps"] for row in our_rows]
            assert readings == [row["filtered_resps"] for row in their_rows]


MINE = """
include: {folder}/xfinbench/xfinbench_calc.yaml
task: my_calc
description: You count money.
doc_to_text: "Question: {{{{question}}}}\\nGive one number."
num_fewshot: 2
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
"""


def test_a_task_of_ones_own_overrides_prompt_examples_and_metrics(
    tmp_path: Path,
) -> None:
    (tmp_path / "my_calc.yaml").write_text(MINE.format(folder=task_yaml_dir()))
    prompts: list[str] = []

    class Noting(Scripted):
        def generate_until(self, requests: Any, disable_tqdm: bool = False) -> Any:
            prompts.extend(request.args[0] for request in requests)
            return super().generate_until(requests)

    found = ask(["my_calc"], folder=tmp_path, lm=Noting(lambda doc: ANSWER, sees=False))
    names = {name.partition(",")[0] for name in figures(found, "my_calc")}
    assert names == {"acc", "acc_stderr"}
    assert all(prompt.count("Give one number.") == 3 for prompt in prompts)
    assert all(prompt.count("my answer is [") == 2 for prompt in prompts)
    assert all(prompt.startswith("You count money.") for prompt in prompts)
    prompts_of_run = found["configs"]["my_calc"]["metadata"]["provenance"]["prompts"]
    assert prompts_of_run["set"] == "own"
    (result,) = read([saved(found, tmp_path / "results")]).runs[0].tasks
    assert (result.benchmark, result.task) == ("xfinbench", "my_calc")


def test_the_number_of_examples_is_an_option_of_the_command() -> None:
    found = ask(["xfinbench_calc"], num_fewshot=2)
    (row, *_) = samples(found, "xfinbench_calc")
    assert row["arguments"][0][0].count("Therefore, my answer is [<number>]") == 3
    assert row["doc"]["question"] in row["arguments"][0][0]


def test_a_group_of_ones_own_mixes_ours_with_others(tmp_path: Path) -> None:
    rows = [{"q": f"{n} + 1?", "a": str(n + 1)} for n in range(4)]
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "theirs.yaml").write_text(
        "task: theirs\ndataset_path: json\ndataset_kwargs:\n  data_files: "
        f"{{test: {tmp_path}/rows.jsonl}}\ntest_split: test\noutput_type: generate_until\n"
        'doc_to_text: "{{q}}"\ndoc_to_target: "{{a}}"\nmetric_list:\n'
        "  - {metric: exact_match, aggregation: mean, higher_is_better: true}\n"
    )
    (tmp_path / "mixed.yaml").write_text(
        "group: mixed\ntask: [theirs, xfinbench_calc, xfinbench_bool]\n"
    )
    found = ask(["mixed"], folder=tmp_path)
    assert found["results"].keys() >= {"theirs", "xfinbench_calc", "xfinbench_bool"}
    assert "exact_match,none" in found["results"]["theirs"]


def test_results_hold_no_figure_that_nobody_asked_for() -> None:
    found = ask(["xfinbench_calc", "dynostock_recency_w20_text"])
    names = {name for totals in found["results"].values() for name in totals}
    assert not [name for name in names if "stderr_stderr" in name or "bypass" in name]
    assert isinstance(found["results"]["xfinbench_calc"]["acc_stderr,robust"], float)
    predicted = ask(["xfinbench_calc"], predict_only=True)
    assert "bypass" not in str(predicted["results"])


def test_an_evaluation_by_hand(tmp_path: Path) -> None:
    loaded = manager().load(["mme_finance_mt_zh", "xfinbench_calc"])
    lm = Scripted(lambda doc: f"answer to turn {doc.get('turn')}", sees=True)
    found = evaluate(lm, loaded, limit=3, bootstrap_iters=0)
    assert found is not None
    metadata = found["configs"]["mme_finance_mt_zh"]["metadata"]
    assert metadata["cut_off"]["told_by"] == "text"
    rows = samples(dict(found), "mme_finance_mt_zh")
    assert rows[1]["doc"]["turn"] == 2
    assert "answer to turn 1" in rows[1]["arguments"][0][0]


def test_a_later_turn_alone_is_asked_after_the_turns_before() -> None:
    lm = Scripted(lambda doc: f"answer to turn {doc['turn']}", sees=True)
    found = ask(
        ["mme_finance_mt_zh"], lm=lm, limit=None, samples={"mme_finance_mt_zh": [1]}
    )
    (row,) = samples(found, "mme_finance_mt_zh")
    n_before = row["doc"]["turn"] - 1
    assert n_before
    assert row["arguments"][0][0].count("answer to turn") == n_before
    assert row["resps"] == [[f"answer to turn {n_before + 1}"]]


FAILURES: dict[str, Answer] = {
    "an error": (200, {}, {"error": {"message": "no capacity"}}),
    "no choices": (200, {}, {"choices": None}),
    "an empty list": (200, {}, {"choices": []}),
    "a filter": completion(None, "content_filter"),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_failed_request_is_unscored_and_asked_again(
    name: str, tmp_path: Path
) -> None:
    replies = [FAILURES[name], completion("Therefore, my answer is true.")]
    asked: list[object] = []

    def reply(body: object) -> Answer:
        asked.append(body)
        return replies[min(len(asked), 2) - 1]

    cache = str(tmp_path / "cache")
    with serve(reply) as served:
        server = {"model": "m", "base_url": f"{served.base_url}/chat/completions"}
        again = {"model_args": server, "use_cache": cache, "apply_chat_template": True}
        found = ask(["xfinbench_bool"], lm="local-chat-completions", **again)
        (row, *_) = samples(found, "xfinbench_bool", "robust")
        assert (row["unscored"], row["cut_off"]) == (1.0, 0.0)
        assert "acc" not in row
        assert "server" in json.loads(row["filtered_resps"][0][0])["reason"]
        (paper, *_) = samples(found, "xfinbench_bool", "paper")
        assert paper["acc"] == 0.0
        assert len(asked) == 3
        repeated = ask(["xfinbench_bool"], lm="local-chat-completions", **again)
        assert len(asked) == 4
    assert repeated["results"]["xfinbench_bool"]["unscored,robust"] == 0.0


def test_content_in_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": "It is false."},
        {"type": "text", "text": "Therefore, my answer "},
        {"type": "text", "text": "is true."},
    ]
    with serve(lambda body: completion(parts)) as served:
        found = run("xfinbench_bool", served=served, limit=2)
    for row in samples(found, "xfinbench_bool", "robust"):
        assert json.loads(row["filtered_resps"][0][0])["answer"] == 1


def test_reasoning_without_an_answer_has_a_warning_of_its_own(
    caplog: pytest.LogCaptureFixture,
) -> None:
    status, headers, body = completion("", "stop")
    body["choices"][0]["message"]["reasoning_content"] = "First"
    with serve(lambda _: (status, headers, body)) as served:
        found = run("xfinbench_bool", served=served, limit=2)
    assert found["results"]["xfinbench_bool"]["cut_off,robust"] == 0.0
    (warning,) = [
        r.getMessage() for r in caplog.records if "reasoning" in r.getMessage()
    ]
    assert warning.startswith("2 responses have reasoning and no answer")


def test_an_error_while_scoring_keeps_the_responses(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr("fin_tasks.benchmarks.xfinbench.score.read", broken)
    with pytest.raises(Exception, match="The responses are kept in") as error:
        ask(["xfinbench_bool"], limit=2)
    (file,) = (own_cache / "unscored").iterdir()
    assert str(file) in str(error.value)
    lines = list(map(json.loads, file.read_text().splitlines()))
    assert [line["response"] for line in lines] == [[ANSWER], [ANSWER]]


def test_every_key_is_lm_evals() -> None:
    """Without its class, a file is a task of lm-eval, which refuses keys that it does not know."""
    known = {field.name for field in fields(TaskConfig)} | {"class"}
    index = manager().task_index
    for task in task_names():
        config = load_yaml(index[task].yaml_path, resolve_func=False)
        assert config.keys() <= known, task


@pytest.mark.parametrize(
    ("steps", "problem"),
    [
        (
            "{function: fin_tasks_robust, benchmark: xfinbench, answer_raeder: true}",
            "expected benchmark, judge",
        ),
        (
            "{function: fin_tasks_robust, benchmark: xfinbench, answer_reader: maybe}",
            "expected benchmark, judge",
        ),
        (
            "{function: fin_tasks_robust, benchmark: xfinbench}, {function: take_first}",
            "expected no filter behind fin_tasks_robust",
        ),
    ],
)
def test_a_wrong_filter_is_refused_before_the_model_answers(
    steps: str, problem: str, tmp_path: Path
) -> None:
    lines = [
        f"include: {task_yaml_dir()}/xfinbench/xfinbench_calc.yaml",
        "task: wrong",
        f"filter_list: [{{name: robust, filter: [{steps}]}}]",
    ]
    (tmp_path / "wrong.yaml").write_text("\n".join(lines))
    lm = Scripted(lambda doc: pytest.fail("it was asked"), sees=False)
    with pytest.raises(ConfigError, match=problem):
        ask(["wrong"], folder=tmp_path, lm=lm)


def test_a_metric_without_any_value_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = [
        f"include: {task_yaml_dir()}/xfinbench/xfinbench_calc.yaml",
        "task: mine",
        "metric_list: [{metric: acc_eror, aggregation: mean, higher_is_better: true}]",
    ]
    (tmp_path / "mine.yaml").write_text("\n".join(lines))
    ask(["mine"], folder=tmp_path)
    assert "mine: no document has a value of acc_eror." in caplog.text
    caplog.clear()
    ask(["xfinbench_calc"])
    assert "no document has a value" not in caplog.text
