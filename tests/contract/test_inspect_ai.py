"""Our tasks in the real inspect_ai, with models in this process, beside the same responses in lm-eval."""

import gc
import hashlib
import math
import shutil
import warnings
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import pandas as pd
import pytest
from chat_server import completion, serve
from in_process import run, saved

from fin_tasks import report
from fin_tasks.errors import ConfigError

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed")
from click.testing import CliRunner
from inspect_ai import eval as inspect_eval
from inspect_ai._cli.score import score_command
from inspect_ai.log import EvalLog, write_eval_log
from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    Model,
    ModelOutput,
    ModelUsage,
    get_model,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from fin_tasks.adapters.inspect_ai import _task

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # inspect_ai warns of itself
    pytest.mark.slow,
]

SAID = (
    "The answer is **12.5**",
    "I cannot tell.",
    "Final prediction: 0.3",
    "The answer is True.",
    "So it is B.\n\nAnswer: B",
    "```python\ndef solution():\n    return 7.5\n```",
    "```python\ndef solution():\n    return 1 / 0\n```",
    "是",
)


@pytest.fixture(autouse=True)
def _no_open_streams() -> Iterator[None]:
    """inspect_ai leaves streams of its own open where a limit ends a sample, and Python would warn of them."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_proxy: None) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")
    monkeypatch.setenv("INSPECT_LOG_DIR", str(tmp_path / "logs"))


def said_to(prompt: str) -> str:
    """Answer a question, always the same way."""
    return SAID[
        hashlib.sha256(prompt.replace("<image>\n", "").encode()).digest()[0] % len(SAID)
    ]


def mock(answer: Callable[[str], str]) -> Model:
    """A model that answers the text of the last message."""

    def output(messages: Any, *_: Any) -> ModelOutput:
        made = ModelOutput.from_content("mockllm/tested", answer(messages[-1].text))
        made.usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
        return made

    return get_model("mockllm/tested", custom_outputs=output)


def ask(
    *tasks: str, answer: Callable[[str], str] = said_to, roles: Any = None, **more: Any
) -> list[EvalLog]:
    arguments = {"source": "sample", **more.pop("arguments", {})}
    models = {role: mock(reply) for role, reply in (roles or {}).items()}
    names = [f"fin_tasks/{task}" for task in tasks]
    return inspect_eval(
        names,
        model=mock(answer),
        task_args=arguments,
        display="none",
        model_roles=models or None,
        **more,
    )


def shown(log: EvalLog) -> dict[str, dict[str, float]]:
    """Return what inspect_ai prints after a run: by scorer, the names and values of metrics."""
    by_scorer = {}
    for score in log.results.scores:
        by_scorer[score.name] = {name: one.value for name, one in score.metrics.items()}
    return by_scorer


def compare_both(
    tasks: tuple[str, ...],
    logs: list[EvalLog],
    found: Mapping[str, Any],
    tmp_path: Path,
) -> None:
    assert {log.status: log.error and log.error.message for log in logs} == {
        "success": None
    }
    runs, rows, problems = report.read(
        [saved(dict(found), tmp_path / "lm"), tmp_path / "logs"]
    )
    assert not problems
    (ours,) = (one for one in runs if one.harness == "inspect_ai")
    (theirs,) = (one for one in runs if one.harness == "lm-eval")
    for task in tasks:
        mine, other = (
            next(t for t in one.tasks if t.task == task) for one in (ours, theirs)
        )
        assert mine.settings == other.settings
        assert (mine.n, mine.n_all) == (other.n, other.n_all)
        for scoring in ("paper", "robust"):
            # What is no mean over rows must be there without the metadata of lm-eval.
            assert (
                mine.breakdowns.get(scoring, {}).keys()
                <= other.breakdowns[scoring].keys()
            )
            for name, figure in mine.breakdowns.get(scoring, {}).items():
                assert figure == pytest.approx(other.breakdowns[scoring][name])
            assert mine.totals[scoring] == pytest.approx(
                {
                    name: other.totals[scoring].get(name)
                    for name in mine.totals[scoring]
                },
                nan_ok=True,
            )
            pair = [
                rows[
                    (rows.run == one.id)
                    & (rows.task == task)
                    & (rows.scoring == scoring)
                ]
                .drop(columns="run")
                .astype({"doc_id": str})
                .sort_values("doc_id", ignore_index=True)
                for one in (ours, theirs)
            ]
            pd.testing.assert_frame_equal(*pair)


def test_scores_equal_those_of_lm_eval(tmp_path: Path) -> None:
    tasks = (
        "xfinbench_calc",
        "xfinbench_calc_pot",
        "bizbench_codefinqa",
        "dynostock_recency_w20_text",
    )
    tasks += ("financemath_pot", "mme_finance_binary_zh", "xfinbench_mcq_visual")
    found = run(*tasks, answer=lambda doc: said_to(doc["prompt"]), sees=True, limit=4)
    compare_both(tasks, ask(*tasks, limit=4), found, tmp_path)


def test_responses_that_were_cut_off(tmp_path: Path) -> None:
    thought = ContentReasoning(reasoning="First")
    replies: list[Any] = [
        ("The statement is", "max_tokens"),
        ([thought, ContentText(text="")], "stop"),
        ("<think>First", "stop"),
        ([thought, ContentText(text="Therefore, my answer is [True].")], "stop"),
    ]
    expected = [1.0, 1.0, 1.0, 0.0]

    def output(*_: Any) -> ModelOutput:
        content, reason = replies[next(turns)]
        message = ChatMessageAssistant(content=content)
        choice = ChatCompletionChoice(message=message, stop_reason=reason)
        usage = ModelUsage(input_tokens=7, output_tokens=3, total_tokens=10)
        return ModelOutput(model="mockllm/tested", choices=[choice], usage=usage)

    turns = iter(range(4))
    model = get_model("mockllm/tested", custom_outputs=output)
    arguments = {"source": "sample"}
    (log,) = inspect_eval(
        "fin_tasks/xfinbench_bool",
        model=model,
        task_args=arguments,
        limit=4,
        display="none",
    )
    assert log.status == "success", log.error
    assert shown(log)["robust"]["cut_off"] == 0.75
    _, rows, problems = report.read([tmp_path / "logs"])
    assert not problems
    assert sorted(rows[rows.scoring == "paper"].cut_off) == sorted(expected)


@solver
def silent(seconds: float = 0) -> Solver:
    """Return a solver that asks no model."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        await anyio.sleep(seconds)
        return state

    return solve


@solver
def writing() -> Solver:
    """Return a solver that writes a response itself, without choices."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        del generate
        state.output = ModelOutput(completion="Therefore, my answer is [True].")
        return state

    return solve


@pytest.mark.parametrize(
    ("options", "reason", "is_cut_off"),
    [
        ({"token_limit": 5}, None, True),
        ({"time_limit": 1, "solver": silent(60)}, "Time limit exceeded", False),
        ({"solver": silent()}, "the solver gave no response", False),
    ],
)
def test_samples_without_output(
    options: Any, reason: str | None, is_cut_off: bool, tmp_path: Path
) -> None:
    (log,) = ask("xfinbench_bool", limit=2, **options)
    assert log.status == "success", log.error
    _, rows, problems = report.read([tmp_path / "logs"])
    assert not problems
    assert set(rows.cut_off) == {float(is_cut_off)}
    paper = rows[rows.scoring == "paper"]
    robust = rows[rows.scoring == "robust"]
    assert set(paper.unscored) == {0.0} and set(paper.acc) == {0.0}
    assert set(robust.unscored) == {float(reason is not None)}
    assert reason is None or all(reason in text for text in robust.reason)


@pytest.mark.parametrize("task", ["financemath_pot", "mme_finance_en"])
def test_programs_and_judges_without_output(task: str, tmp_path: Path) -> None:
    roles = {"grader": lambda _: "5"}
    (log,) = ask(task, limit=1, solver=silent(), roles=roles)
    assert log.status == "success", log.error
    _, rows, _ = report.read([tmp_path / "logs"])
    unscored = rows.set_index("scoring").unscored.to_dict()
    assert unscored == {"paper": 0.0, "robust": 1.0}


def test_a_solver_may_write_the_response_itself(tmp_path: Path) -> None:
    ask("xfinbench_bool", limit=2, solver=writing())
    _, rows, _ = report.read([tmp_path / "logs"])
    assert set(rows.unscored) == {0.0} and set(rows.no_answer) == {0.0}


def test_the_judge_is_asked_once_for_both_scorings() -> None:
    asked = []

    def grade(text: str) -> str:
        asked.append(text)
        return "5"

    (log,) = ask("mme_finance_en", limit=2, epochs=2, roles={"grader": grade})
    assert log.status == "success" and len(asked) == 4


def test_inspect_score_scores_a_log_again(tmp_path: Path) -> None:
    (log,) = ask("xfinbench_bool", limit=3)
    runs, rows, _ = report.read([tmp_path / "logs"])
    for scorer, action in (("paper", "overwrite"), ("robust", "append")):
        command = [log.location, "--scorer", f"fin_tasks/{scorer}"]
        command += ["-S", "task=xfinbench_bool", "-S", "source=sample"]
        command += ["--action", action, "--overwrite"]
        done = CliRunner().invoke(score_command, command)
        assert done.exit_code == 0, done.output
    runs_again, rows_again, problems = report.read([tmp_path / "logs"])
    assert not problems and runs_again[0].tasks == runs[0].tasks
    pd.testing.assert_frame_equal(rows_again, rows)


def test_the_grader_is_the_judge(tmp_path: Path) -> None:
    points = lambda text: str(len(text) % 3 + 4)  # noqa: E731 - 6 is none
    answer = lambda prompt: "" if len(prompt) % 5 == 0 else "a" * (len(prompt) % 7)  # noqa: E731

    def parts(body: Any) -> str:
        content = body["messages"][-1]["content"]
        return "".join(part["text"] for part in content if part["type"] == "text")

    with serve(lambda body: completion(points(parts(body)))) as served:
        said = {
            "judge_model": "tested",
            "judge_base_url": served.base_url,
            "judge_max_failed": 1.0,
        }
        plain = lambda doc: answer(doc["prompt"].replace("<image>\n", ""))  # noqa: E731
        found = run("mme_finance_en", answer=plain, sees=True, limit=6, **said)
    logs = ask("mme_finance_en", answer=answer, roles={"grader": points}, limit=6)
    compare_both(("mme_finance_en",), logs, found, tmp_path)


def test_a_model_reads_answers(tmp_path: Path) -> None:
    tasks = ("xfinbench_calc", "financemath", "bizbench_formulaeval")
    silent = lambda _: "Between 12.5 and 3.14159, or A and B, hard to say ("  # noqa: E731
    copy = lambda text: "B" if "the letter" in text else "12.5"  # noqa: E731
    with serve(
        lambda body: completion(copy(body["messages"][-1]["content"]))
    ) as served:
        reader = {"reader_model": "tested", "reader_base_url": served.base_url}
        found = run(*tasks, answer=lambda doc: silent(doc["prompt"]), limit=3, **reader)
    logs = ask(*tasks, answer=silent, roles={"reader": copy}, limit=3)
    compare_both(tasks, logs, found, tmp_path)
    _, rows, _ = report.read([tmp_path / "logs"])
    assert set(rows[rows.task == "xfinbench_calc"].read_by_model) == {0.0, 1.0}


def test_without_a_grader_responses_are_unscored(tmp_path: Path) -> None:
    (log,) = ask("mme_finance_en", limit=3)
    runs, rows, _ = report.read([tmp_path / "logs"])
    assert rows.score.isna().all() and set(rows.unscored) == {1.0}
    assert rows.reason[0] == "the judge was not asked" and not runs[0].tasks[0].judge
    assert shown(log)["robust"] == {"cut_off": 0.0, "unscored": 1.0}


def test_few_metrics_are_shown_and_each_has_a_value() -> None:
    (log,) = ask("dynostock_recency_w20_text", limit=4)
    names = {"acc", "acc_stderr", "bias_index", "no_answer", "cut_off", "unscored"}
    metrics = shown(log)
    assert list(metrics) == ["paper", "robust"]
    for values in metrics.values():
        assert next(iter(values)) == "acc"
        assert values.keys() - {"brier"} == names
        assert not any(math.isnan(value) for value in values.values())
    assert log.results.headline.metric == "acc"


def test_a_question_is_asked_with_its_picture() -> None:
    (log,) = ask("xfinbench_mcq_visual", limit=1)
    (sample,) = log.samples
    *_, question = sample.input
    assert [part.type for part in question.content] == ["image", "text"]
    assert (
        "<image>" not in question.text
        and Path(sample.metadata["figure_path"]).is_file()
    )
    assert sample.scores["robust"].explanation and sample.input[0].role == "system"


def test_a_picture_may_stand_behind_the_text() -> None:
    arguments = {"pixels": 256, "picture": "last", "sample_n": 1}
    (log,) = ask("dynostock_recency_w4", arguments=arguments)
    (*_, question) = log.samples[0].input
    assert [part.type for part in question.content] == ["text", "image"]
    assert "<image>" not in question.text


def test_epochs_are_responses_to_one_question(tmp_path: Path) -> None:
    """A response that is right once in two leaves half a point, in both harnesses' metrics."""
    count = iter(range(100))
    forecast = lambda _: f"Final prediction: 0.{'19'[next(count) >= 4]}"  # noqa: E731
    ask(
        "dynostock_recency_w20_text", answer=forecast, limit=4, epochs=2, max_samples=1
    )  # one epoch after the other
    runs, rows, problems = report.read([tmp_path / "logs"])
    (task,) = runs[0].tasks
    assert (
        not problems
        and len(rows) == 8
        and task.settings["repeats"] == 2
        and task.n == 4
    )
    assert rows.acc.mean() == task.totals["robust"]["acc"] == 0.5
    assert set(rows.mean_probability) == {0.5} and set(rows["pass@2"]) == {1.0}
    assert task.totals["robust"]["bias_index"] == pytest.approx(
        rows.bias_index.mul(rows.bias_weight).sum() / rows.bias_weight.sum()
    )


def test_options_that_a_task_fixes_are_refused() -> None:
    with pytest.raises(ConfigError, match="subset"):
        _task("xfinbench_calc", {"source": "sample", "subset": "x"})


@pytest.mark.parametrize("option", ["judge_model", "judge_base_url", "reader_model"])
def test_options_of_models_are_refused(option: str) -> None:
    """The role of a model names it; an option would be ignored."""
    expected = f"-T {option}: expected no model here. Name it with --model-role"
    for task in ("mme_finance_en", "xfinbench_calc"):
        with pytest.raises(ConfigError, match=expected):
            _task(task, {"source": "sample", option: "x"})


def test_a_damaged_log_is_named(tmp_path: Path) -> None:
    ask("xfinbench_calc", limit=1)
    (tmp_path / "logs" / "cut.eval").write_bytes(
        next((tmp_path / "logs").glob("*.eval")).read_bytes()[:500]
    )
    runs, _, problems = report.read([tmp_path / "logs"])
    assert len(runs) == 1 and [Path(one.path).name for one in problems] == ["cut.eval"]


def test_models_are_named_without_provider_and_service(tmp_path: Path) -> None:
    (log,) = ask("xfinbench_bool", limit=1)
    names = {
        "hf/Qwen/Qwen3-8B": "Qwen/Qwen3-8B",
        "openai-api/together/meta/Llama": "meta/Llama",
        "openai/azure/gpt-4o": "gpt-4o",
        "mockllm": "mockllm",
    }
    for full_name, name in names.items():
        log.eval.model = full_name
        write_eval_log(log, log.location)
        (one,) = report.read([tmp_path / "logs"]).runs
        assert one.model == name


def test_a_bundle_holds_the_same_runs(tmp_path: Path) -> None:
    """`inspect view bundle` copies logs."""
    ask("xfinbench_bool", limit=2)
    shutil.copytree(tmp_path / "logs", tmp_path / "bundle" / "logs")
    runs, rows, problems = report.read([tmp_path / "logs", tmp_path / "bundle"])
    assert not problems and len(runs) == 1 and len(runs[0].tasks) == 1
    assert len(rows) == 4  # two samples under two scorings


def test_a_log_with_a_huge_sample_is_refused_alone(tmp_path: Path) -> None:
    (log,) = ask("xfinbench_bool", limit=1)
    copy = tmp_path / "logs" / "huge.eval"
    shutil.copy(log.location, copy)
    with zipfile.ZipFile(copy, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/9_epoch_1.json", b" " * 20_000_000)
    runs, _, problems = report.read([tmp_path / "logs"])
    (problem,) = problems
    assert len(runs) == 1 and "got more in samples/9_epoch_1.json" in problem.message
