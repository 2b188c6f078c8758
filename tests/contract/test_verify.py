"""`fin-tasks verify`: honest runs pass, and each way to cheat ends at its item."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import completion, serve
from cheats import BOOL, CHEATS, GROUP, JUDGED, POT, Cheat, edit_lines, edit_results
from honest_runs import right_or_wrong, save_judged_run, save_run
from in_process import parts_of, run, saved
from submissions import SAMPLE, admit, points, verify
from typer.testing import CliRunner

from fin_tasks.cli import app

pytestmark = pytest.mark.slow

DYNO = "dynostock_recency_w4_text"


@pytest.fixture(scope="module")
def judge_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A judge on this machine, without its proxies."""
    with pytest.MonkeyPatch.context() as environ, serve(points) as served:
        environ.setenv("FIN_TASKS_CACHE", str(tmp_path_factory.mktemp("cache")))
        environ.setenv("FIN_TASKS_OFFLINE", "1")
        environ.setenv("OPENAI_API_KEY", "sk-made-up")
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            environ.delenv(name, raising=False)
            environ.delenv(name.upper(), raising=False)
        yield served.base_url


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, judge_url: str) -> Path:
    """A folder with an honest run of each task."""
    folder = tmp_path_factory.mktemp("runs")
    for task in (BOOL, POT, DYNO, GROUP):
        save_run(task, folder)
    save_judged_run(folder / JUDGED, judge_url)
    return folder


@pytest.mark.parametrize("task", [BOOL, POT, DYNO, GROUP])
def test_an_honest_run_is_verified(runs: Path, task: str, tmp_path: Path) -> None:
    status, worst, output = verify(runs / task, *SAMPLE)
    assert (status, set(worst.values())) == (0, {"verified"}), output
    assert "sample" in output
    assert admit(runs / task, tmp_path / "board")[0] == 0


@pytest.mark.parametrize("cheat", CHEATS, ids=lambda cheat: cheat.name)
def test_a_cheat_ends_at_its_item(
    cheat: Cheat, runs: Path, judge_url: str, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(runs / cheat.run, tmp_path / "run"))
    cheat.change(folder)
    judge = ("--judge-model", "judge", "--judge-base-url", judge_url)
    status, worst, output = verify(
        folder, *SAMPLE, *(judge if cheat.run == JUDGED else ())
    )
    assert worst[cheat.item] == cheat.status, output
    assert status == (1 if "failed" in worst.values() else 3)


def test_without_own_gold_data_nothing_is_verified(runs: Path, judge_url: str) -> None:
    status, worst, _ = verify(runs / BOOL)
    assert status == 3
    assert worst["scores"] == "not verified"


def test_a_judge_is_asked_anew(runs: Path, judge_url: str) -> None:
    assert verify(runs / JUDGED, *SAMPLE)[:2][0] == 3
    judge = (
        "--judge-model",
        "judge",
        "--judge-base-url",
        judge_url,
        "--judge-rows",
        "9",
    )
    status, worst, output = verify(runs / JUDGED, *SAMPLE, *judge)
    assert (status, worst["judged"]) == (0, "verified"), output
    assert "scored 9 of 9" in output
    assert verify(runs / JUDGED, *SAMPLE, *judge)[2] != output, "other rows are drawn"


def test_another_judge_that_gives_less_proves_nothing(
    runs: Path, judge_url: str
) -> None:
    with serve(lambda body: completion("0")) as strict:
        judge = ("--judge-model", "other", "--judge-base-url", strict.base_url)
        status, worst, output = verify(runs / JUDGED, *SAMPLE, *judge)
    assert (status, worst["judged"]) == (3, "not verified"), output


def test_a_judge_that_varies_is_no_forger(runs: Path, judge_url: str) -> None:
    replies = iter(range(10_000))

    def vary(body: Any) -> Any:
        return completion(str(next(replies) % 3))

    with serve(vary) as judge:
        options = ("--judge-model", "judge", "--judge-base-url", judge.base_url)
        status, worst, output = verify(runs / JUDGED, *SAMPLE, *options)
    assert (status, worst["judged"]) == (0, "verified"), output


def test_a_shorter_run_counts_if_the_verifier_names_it(tmp_path: Path) -> None:
    folder = saved(run(BOOL, answer=right_or_wrong, limit=5), tmp_path / "first")
    assert verify(folder, *SAMPLE)[1]["rows"] == "failed"
    assert verify(folder, *SAMPLE, "--rows", "5")[0] == 0
    drawn = run(BOOL, answer=right_or_wrong, sample_n=6, sample_seed=3)
    folder = saved(drawn, tmp_path / "drawn")
    assert verify(folder, *SAMPLE)[1]["task"] == "not verified"
    assert verify(folder, *SAMPLE, "--rows", "6", "--sample-seed", "3")[0] == 0


def test_pictures_over_an_api_are_no_text(tmp_path: Path, judge_url: str) -> None:
    with serve(lambda body: completion("Therefore, my answer is B.")) as served:
        found = run("xfinbench_mcq_visual", served=served, limit=3)
    status, worst, output = verify(saved(found, tmp_path), *SAMPLE, "--rows", "3")
    assert (status, worst["prompts"]) == (0, "verified"), output


def test_conversations_repeat_the_models_own_answers(
    tmp_path: Path, judge_url: str
) -> None:
    task = "mme_finance_mt_zh"
    answer = lambda doc: f"answer {doc['id']}: give me 7 points"  # noqa: E731
    with serve(lambda body: completion(seven_points())) as judge:
        options = {"judge_model": "judge", "judge_base_url": judge.base_url}
        folder = saved(run(task, answer=answer, sees=True, **options), tmp_path / "run")
        judge_options = ("--judge-model", "judge", "--judge-base-url", judge.base_url)
        status, worst, output = verify(folder, *SAMPLE, *judge_options)
    assert (status, worst["prompts"]) == (0, "verified"), output

    def other_answers(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            sent = line["arguments"]["gen_args_0"]
            sent["arg_0"] = sent["arg_0"].replace("answer 0-1", "better answer")

    edit_lines(folder, other_answers)
    assert verify(folder, *SAMPLE)[1]["prompts"] == "failed"


def seven_points() -> str:
    from fin_tasks.judging.rubric import load_rubric

    titles = load_rubric("mme_finance_mt_zh").dimensions.values()
    return json.dumps(dict.fromkeys(titles, 7))


def test_a_chat_template_may_stand_around_our_texts(runs: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(runs / BOOL, tmp_path / "run"))

    def chat(lines: list[dict[str, Any]]) -> None:
        for line in lines:
            doc = line["doc"]
            line["arguments"]["gen_args_0"]["arg_0"] = (
                f"<|im_start|>system\n{doc['system']}<|im_end|>\n<|im_start|>user\n{doc['prompt']}"
                "<|im_end|>\n<|im_start|>assistant\n"
            )

    edit_lines(folder, chat)
    status, worst, output = verify(folder, *SAMPLE)
    assert (status, worst["prompts"]) == (0, "verified"), output
    assert "im_start" in output


@pytest.mark.parametrize("task", ["xfinbench_calc", "bizbench_formulaeval"])
def test_a_model_that_reads_answers_leaves_its_replies(
    tmp_path: Path, judge_url: str, task: str
) -> None:
    reply = "B" if task == "bizbench_formulaeval" else "12.5"
    with serve(lambda body: completion(reply)) as served:
        reader = {"reader_model": "reader", "reader_base_url": served.base_url}
        found = run(
            task, answer=lambda doc: "either 12.5 or 7, hard to say (", **reader
        )
        assert parts_of(found, task)["read_by_model,robust"] > 0
        folder = saved(found, tmp_path / "run")
        status, worst, output = verify(folder, *SAMPLE)
        assert (status, worst["scores"], worst["judged"]) == (
            3,
            "verified",
            "not verified",
        ), output
        judge = ("--judge-model", "reader", "--judge-base-url", served.base_url)
        assert verify(folder, *SAMPLE, *judge)[0] == 0
    edit_lines(folder, lambda lines: [line.update(acc=1.0) for line in lines])
    assert verify(folder, *SAMPLE)[1]["scores"] == "failed"


def test_replayed_responses_lack_only_what_was_sent(runs: Path, tmp_path: Path) -> None:
    (file,) = (runs / GROUP).rglob("samples_xfinbench_calc_2*.jsonl")
    out = tmp_path / "replayed"
    for task in ("xfinbench", "xfinbench_calc"):
        part = ("--task", "calc") if task == "xfinbench" else ()
        command = ["replay", task, *part, str(file), "--out", str(out / task)]
        if task != "xfinbench":
            command = ["replay", "task", task, str(file), "--out", str(out / task)]
            command += ["--metadata", '{"source": "sample"}']
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
        status, worst, output = verify(out / task, *SAMPLE)
        open_items = {name for name, status in worst.items() if status != "verified"}
        assert (status, open_items) == (3, {"prompts"}), output
        assert admit(out / task, tmp_path / f"board of {task}")[0] == 3

    def change(lines: list[dict[str, Any]]) -> None:
        for line in lines[:2]:
            line["doc"]["ground_truth"] = "99"

    edit_lines(out / "xfinbench", change)
    assert verify(out / "xfinbench", *SAMPLE)[1]["rows"] == "failed"


def test_equal_responses_of_two_runs_are_odd(runs: Path, tmp_path: Path) -> None:
    shutil.copytree(runs / BOOL, tmp_path / "a")
    edit_results(
        Path(shutil.copytree(runs / BOOL, tmp_path / "b")),
        lambda of: of.update(date=1.0),
    )
    status, worst, output = verify(tmp_path, *SAMPLE)
    assert (status, worst["oddities"]) == (0, "warning"), output


def test_a_broken_file_does_not_stop_the_rest(runs: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(runs / BOOL, tmp_path / "run"))
    (folder / "results_2026-01-01T00-00-00.json").write_text(
        '{ "results" "xfinbench_bool"'
    )
    status, worst, output = verify(folder, *SAMPLE)
    assert (status, worst["scores"]) == (1, "verified"), output


def test_a_command_that_cannot_run_ends_with_2(tmp_path: Path, runs: Path) -> None:
    assert verify(tmp_path / "nowhere")[0] == 2
    assert verify(runs / BOOL, "--metadata", "[1]")[0] == 2
