"""`fin-tasks verify`: what the real lm-eval wrote passes, and each way to tamper with it fails where it should."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from chat_server import Served, completion, serve
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.report.verify.findings import Report
from fin_tasks.report.verify.own_data import encoder_lacking, provenance_hash
from fin_tasks.report.verify.submission import Against, verify
from fin_tasks.settings import Settings

STUB = '''
import sys

from fin_tasks.adapters.lm_eval_cli import run
from lm_eval.api.model import LM
from lm_eval.api.registry import register_model


@register_model("stub")
class Stub(LM):
    """Right two times in three, never twice in the same words."""

    MULTIMODAL = True

    def __init__(self, **_):
        super().__init__()

    def generate_until(self, requests, disable_tqdm=False):
        said = [f"I have thought about number {at}. " for at in range(len(requests))]
        for at, one in enumerate(requests):
            if one.task_name == "financemath":  # what only a judge can read
                said[at] = f"either {at + 1}.5 or {at + 7} or so, hard to say ("
        return [f"{text}{one.doc['target']}" if at % 3 else text for at, (text, one) in enumerate(zip(said, requests))]

    def loglikelihood(self, requests, disable_tqdm=False):
        raise NotImplementedError

    loglikelihood_rolling = loglikelihood


run(sys.argv[1:])
'''
TASKS = (
    *("xfinbench_text", "financemath", "financemath_pot", "bizbench_formulaeval"),
    *("dynostock_recency_text", "mme_finance_en"),
)
BOOL = "xfinbench_bool"
Lines = list[dict[str, Any]]


def scores(body: dict[str, Any]) -> Any:
    """Scores pictures' answers, and copies the number that a response of FinanceMath's ends with."""
    said = json.dumps(body["messages"])
    if "You copy final answers" in said:
        found = re.search(r"either ([\d.]+) or", said)
        return completion(found[1] if found else "none")
    return completion(str(len(said) % 6))


@pytest.fixture(scope="module")
def judge() -> Iterator[Served]:
    with serve(scores) as served:
        yield served


@pytest.fixture(scope="module")
def run_of_all(tmp_path_factory: pytest.TempPathFactory, judge: Served) -> Path:
    """One run of lm-eval over a task of each kind."""
    cwd = tmp_path_factory.mktemp("submission")
    (cwd / "stub.py").write_text(STUB)
    clean = {k: v for k, v in os.environ.items() if not k.startswith("FIN_TASKS") and "proxy" not in k.lower()}
    env = {**clean, "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none", "FIN_TASKS_CACHE": str(cwd / "cache")}
    metadata = {"source": "sample", "judge_model": "j", "judge_base_url": judge.base_url}
    done = subprocess.run(
        [
            *(sys.executable, "stub.py", "--model", "stub", "--tasks", ",".join(TASKS), "--metadata"),
            *(json.dumps(metadata), "--output_path", "out", "--log_samples", "--confirm_run_unsafe_code"),
        ],
        cwd=cwd,
        env=env,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return cwd / "out"


def settings_of(folder: Path) -> Settings:
    return Settings.from_environ({"FIN_TASKS_CACHE": str(folder / "cache"), "NO_PROXY": "127.0.0.1"})


def checked(folder: Path, **against: Any) -> Report:
    return verify(folder, settings=settings_of(folder.parent), against=Against(**against))


def failed(report: Report) -> set[str]:
    return {one.check for one in report.findings if one.status.value == "fail"}


def warned(report: Report) -> set[str]:
    return {one.check for one in report.findings if one.status.value == "warn"}


@pytest.fixture
def one_task(run_of_all: Path, tmp_path: Path) -> Callable[[str], Path]:
    """Makes a submission of one task of the run."""

    def make(task: str) -> Path:
        folder = tmp_path / "submitted"
        folder.mkdir()
        (results,) = run_of_all.rglob("results_*.json")
        (samples,) = run_of_all.rglob(f"samples_{task}_2*.jsonl")
        shutil.copy(samples, folder)
        content = json.loads(results.read_text())
        content["results"] = {task: content["results"][task]}
        content["groups"] = {}  # their other tasks are not in the submission
        (folder / results.name).write_text(json.dumps(content))
        return folder

    return make


def change(folder: Path, how: Callable[[Lines], Lines | None]) -> None:
    """Change the lines of the samples file, and make its hashes good as a careful cheat would."""
    (path,) = folder.glob("samples_*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines = how(lines) or lines
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def claim(folder: Path, how: Callable[[dict[str, Any]], None]) -> None:
    (path,) = folder.glob("results_*.json")
    content = json.loads(path.read_text())
    how(content)
    path.write_text(json.dumps(content))


def rehash(line: dict[str, Any]) -> None:
    doc = json.dumps(line["doc"], indent=2, ensure_ascii=False)
    prompt = line["arguments"]["gen_args_0"]["arg_0"]
    for name, text in (("doc_hash", doc), ("prompt_hash", prompt), ("target_hash", str(line["target"]))):
        line[name] = hashlib.sha256(text.encode()).hexdigest()


def rehash_all(folder: Path) -> None:
    (path,) = folder.glob("samples_*.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        rehash(line)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    joined = "".join(line["doc_hash"] + line["prompt_hash"] + line["target_hash"] for line in lines)
    claim(folder, lambda content: content["task_hashes"].update({BOOL: hashlib.sha256(joined.encode()).hexdigest()}))


def test_what_lm_eval_wrote_passes_in_every_benchmark(run_of_all: Path) -> None:
    report = checked(run_of_all)
    assert failed(report) == set(), [one for one in report.findings if one.status.value == "fail"]
    assert report.exit_code == 3, "a judge scored, and was not asked again"
    assert report.verdict.value == "not checked"
    by_task = {(one.task, one.check): one.status.value for one in report.findings}
    tasks = (BOOL, "financemath_pot", "financemath", "bizbench_formulaeval", "mme_finance_en")
    for task in (*tasks, "dynostock_recency_w4_text"):
        for check in ("rows", "documents", "prompts", "hashes", "scores", "aggregates", "data", "versions"):
            assert by_task[task, check] == "pass", (task, check)
    assert by_task["xfinbench_text", "groups"] == by_task["dynostock_recency_text", "groups"] == "pass"
    assert by_task["mme_finance_en", "judge"] == "not checked"
    assert by_task["financemath", "judge"] == "not checked"
    assert by_task["financemath_pot", "sandbox"] == "pass"
    assert report.rows > 300


def test_a_score_that_the_response_does_not_have(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)

    def better(lines: Lines) -> None:
        next(line for line in lines if line["acc"] == 0.0)["acc"] = 1.0

    change(folder, better)
    assert failed(checked(folder)) == {"scores"}


def test_scores_that_agree_with_a_response_that_was_changed_for_one_filter(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)

    def other(lines: Lines) -> None:
        lines[0]["resps"] = [["I change my mind. Therefore, my answer is true."]]

    change(folder, other)
    assert "variants" in failed(checked(folder))


def test_a_total_that_the_rows_do_not_have(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    claim(folder, lambda content: content["results"][BOOL].update({"acc,paper": 0.99}))
    report = checked(folder)
    assert failed(report) == {"aggregates"}
    (found,) = (one for one in report.findings if one.status.value == "fail")
    assert found.details[0].startswith("acc,paper: is 0.65625, claimed 0.99")


def test_a_total_of_a_group(run_of_all: Path, tmp_path: Path) -> None:
    folder = tmp_path / "all"
    shutil.copytree(next(run_of_all.rglob("results_*.json")).parent, folder)
    for path in folder.glob("samples_*.jsonl"):
        if "xfinbench" not in path.name:
            path.unlink()

    def better(content: dict[str, Any]) -> None:
        content["results"] = {name: value for name, value in content["results"].items() if "xfin" in name}
        content["results"]["xfinbench_text"]["acc,robust"] = 0.9

    claim(folder, better)
    assert failed(checked(folder)) == {"groups"}


def without_the_wrong(lines: Lines) -> Lines:
    wrong = {line["doc"]["id"] for line in lines if line["acc"] == 0.0}
    return [line for line in lines if line["doc"]["id"] not in wrong]


def twice(lines: Lines) -> Lines:
    return [*lines, lines[1]]


def unknown(lines: Lines) -> None:
    lines[0]["doc"]["id"] = "made_up"


@pytest.mark.parametrize("how", [without_the_wrong, twice, unknown])
def test_rows_that_are_missing_or_more_than_there_are(
    one_task: Callable[[str], Path], how: Callable[[Lines], Lines | None]
) -> None:
    folder = one_task(BOOL)
    change(folder, how)
    rehash_all(folder)
    assert "rows" in failed(checked(folder))


def test_rows_cannot_be_left_out_by_naming_them(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    change(folder, lambda lines: [line for line in lines if line["doc_id"] < 4])
    rehash_all(folder)
    claim(folder, lambda content: content["config"].update(limit=4.0))
    claim(folder, lambda content: content["n-samples"][BOOL].update(effective=4))
    report = checked(folder)
    assert "rows" not in failed(report)  # as the run says of itself
    assert "limit" in warned(report)
    assert "aggregates" in failed(report)


def gold_of_the_file(lines: Lines) -> None:
    """Turn the file's truths to what the model says, and the scores with them."""
    for line in lines:
        if line["acc"] == 0.0:
            line["doc"]["ground_truth"] = "1.0" if line["doc"]["ground_truth"] == "0.0" else "0.0"
            line["acc"] = line["acc_stderr"] = 1.0


def test_gold_answers_of_the_file_are_not_believed(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    change(folder, gold_of_the_file)
    rehash_all(folder)
    found = failed(checked(folder))
    assert {"documents", "scores"} <= found
    assert "hashes" not in found


def test_hashes_of_something_else(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    change(folder, lambda lines: lines[0].update(target="Therefore, my answer is false!"))
    assert failed(checked(folder)) == {"hashes"}


def test_prompts_that_tell_the_answer(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    change(folder, hint)
    rehash_all(folder)
    assert failed(checked(folder)) == {"prompts"}


def test_prompts_that_ask_something_else(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)

    def easier(lines: Lines) -> None:
        lines[3]["arguments"]["gen_args_0"]["arg_0"] = "Is one and one two?"

    change(folder, easier)
    rehash_all(folder)
    assert failed(checked(folder)) == {"prompts"}


def test_data_of_another_revision(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    claim(folder, lambda c: c["configs"][BOOL]["metadata"]["provenance"]["data"].update(revision="0" * 16))
    assert failed(checked(folder)) == {"data"}


def test_another_version_of_the_task(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    claim(folder, lambda content: content["versions"].update({BOOL: 9.0}))
    assert failed(checked(folder)) == {"versions"}


def test_a_program_that_is_said_to_have_been_right(one_task: Callable[[str], Path]) -> None:
    folder = one_task("financemath_pot")
    report = checked(folder)
    assert report.facts["sandbox"]
    wrong = "```python\ndef solution():\n    return -123456.0\n```"

    def pretend(lines: Lines) -> None:
        places = [line["doc_id"] for line in lines if line["acc"] == 1.0]
        for line in lines:
            if line["doc_id"] == places[0]:
                line["resps"] = [[wrong]]

    change(folder, pretend)
    assert "scores" in failed(checked(folder))


def test_programs_that_give_something_else_each_time_prove_nothing(one_task: Callable[[str], Path]) -> None:
    folder = one_task("financemath_pot")
    dice = "```python\nimport random\ndef solution():\n    return random.SystemRandom().random()\n```"

    def roll(lines: Lines) -> None:
        chosen = next(line["doc_id"] for line in lines if line["acc"] == 1.0)
        for line in lines:
            if line["doc_id"] == chosen:
                line["resps"] = [[dice]]

    change(folder, roll)
    report = checked(folder)
    assert failed(report) == set() and "programs" in warned(report)


def test_right_answers_of_programs_that_never_end_are_not_believed(one_task: Callable[[str], Path]) -> None:
    folder = one_task("financemath_pot")

    def slow(lines: Lines) -> None:
        for line in lines:
            if line["acc"] == 0.0:
                scored = {**json.loads(line["filtered_resps"][0][0]), "status": "timeout"}
                line.update(acc=1.0, filtered_resps=[[json.dumps(scored)]])

    change(folder, slow)
    assert "scores" in failed(checked(folder))


def test_values_nested_deeper_than_python_goes(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    (path,) = folder.glob("samples_*")
    first, *rest = path.read_text().splitlines()
    line = json.loads(first)
    line["doc"]["choices"] = "DEEP"
    deep = json.dumps(line).replace('"DEEP"', "[" * 900 + "]" * 900)
    path.write_text("\n".join([deep, *rest]) + "\n")
    assert failed(checked(folder)) & {"samples", "documents"}


def with_verdicts(how: Callable[[int, dict[str, Any]], None]) -> Callable[[Lines], None]:
    def change_all(lines: Lines) -> None:
        for line in lines:
            verdict = json.loads(line["filtered_resps"][0][0])
            how(line["doc_id"], verdict)
            line["filtered_resps"] = [[json.dumps(verdict)]]

    return change_all


def again(lines: Lines, *places: int) -> None:
    for line in lines:
        if line["doc_id"] in places:
            line["resps"] = [line["resps"][0] * 2]
            line["filtered_resps"] = [line["filtered_resps"][0] * 2]


def test_rows_that_were_asked_more_often_than_others(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    change(folder, lambda lines: again(lines, 3))  # as of several processes, whose last row is asked once more
    report = checked(folder)
    assert failed(report) == set() and "repeats" in warned(report)
    change(folder, lambda lines: again(lines, *(place for place in range(32) if place not in (3, 5))))
    assert failed(checked(folder)) == {"repeats"}


def test_rows_in_the_order_of_several_processes(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    change(folder, lambda lines: sorted(lines, key=lambda line: (line["doc_id"] % 2, line["filter"], line["doc_id"])))
    rehash_all(folder)
    assert failed(checked(folder)) == set()


def test_several_responses_to_every_question(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    change(folder, lambda lines: again(lines, *range(32)))
    report = checked(folder)
    assert failed(report) == set() and "repeats" in warned(report)


def hint(lines: Lines) -> None:
    for line in lines:
        line["arguments"]["gen_args_0"]["arg_0"] += f" Hint: {line['doc']['target']}"


@pytest.mark.parametrize("said", [2, "0", 0.5, True, None])
def test_examples_before_the_questions_are_none_of_the_tasks(one_task: Callable[[str], Path], said: Any) -> None:
    folder = one_task(BOOL)
    claim(folder, lambda content: content["n-shot"].update({BOOL: said}))
    assert failed(checked(folder)) == {"shots"}
    change(folder, hint)
    rehash_all(folder)
    assert failed(checked(folder)) == {"shots", "prompts"}, "examples are no excuse for prompts that differ"


def test_what_every_prompt_says_is_shown_and_too_much_of_it_warned_of(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)

    def say(text: str) -> Callable[[Lines], None]:
        def saying(lines: Lines) -> None:
            for line in lines:
                line["arguments"]["gen_args_0"]["arg_0"] = text + line["arguments"]["gen_args_0"]["arg_0"]

        return saying

    marks = "<|im_start|>system You are a helpful AI assistant.<|im_end|> <|im_start|>user "
    change(folder, say(marks))
    rehash_all(folder)
    report = checked(folder)
    assert (failed(report), warned(report)) == (set(), set())
    assert "You are a helpful AI assistant." in next(one.message for one in report.findings if one.check == "prompts")
    change(folder, say("Answers: 1 true 2 false 3 true " * 5))
    rehash_all(folder)
    assert warned(checked(folder)) == {"system"}


def test_a_system_instruction_is_told(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    claim(folder, lambda content: content.update(system_instruction="Say true."))
    assert warned(checked(folder)) == {"system"}


@pytest.mark.parametrize("where", ["nowhere", "message", "part", "picture"])
def test_messages_hold_nothing_but_text_and_pictures(one_task: Callable[[str], Path], where: str) -> None:
    folder = one_task(BOOL)

    def as_chat(lines: Lines) -> None:
        for line in lines:
            arguments, told = line["arguments"]["gen_args_0"], f"answer_{line['target']}"
            part: dict[str, Any] = {"type": "text", "text": arguments["arg_0"]}
            url = f"data:image/png;sha256,{hashlib.sha256(told.encode()).hexdigest()}"
            picture: dict[str, Any] = {"type": "image_url", "image_url": {"url": url, "detail": "auto"}}
            message: dict[str, Any] = {"role": "user", "content": [picture, part]}
            if where == "message":
                message["name"] = told
            elif where == "part":
                part["note"] = told
            elif where == "picture":
                picture["image_url"]["url"] = told
            arguments["arg_0"] = json.dumps([message])

    change(folder, as_chat)
    rehash_all(folder)
    assert failed(checked(folder)) == (set() if where == "nowhere" else {"prompts"})


def test_chosen_rows_fail_as_what_they_are(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    change(folder, lambda lines: [line for line in lines if line["doc_id"] in (3, 5, 8)])
    rehash_all(folder)
    claim(folder, lambda content: content["n-samples"][BOOL].update(effective=3))
    report = checked(folder)
    assert {"limit", "aggregates"} <= failed(report) and "rows" not in failed(report)
    (found,) = (one for one in report.findings if one.check == "limit")
    assert found.details == ("3 rows chosen by number: 3 of the 32 rows of the data set",)


@pytest.mark.parametrize(
    ("path", "value", "check"),
    [
        (("n-samples",), None, "rows"),
        (("results", BOOL, "acc"), 1.0, "aggregates"),
        (("results", BOOL, "acc_stderr,best"), 0.0, "aggregates"),
        (("results", BOOL, "acc_stderr_stderr,paper"), 0.1, "aggregates"),
        (("results", BOOL, "sample_len"), 5000, "aggregates"),
        (("higher_is_better", BOOL, "acc"), False, "aggregates"),
        (("higher_is_better", BOOL, "no_answer"), True, "aggregates"),
    ],
)
def test_claims_that_no_run_makes(
    one_task: Callable[[str], Path], path: tuple[str, ...], value: Any, check: str
) -> None:
    folder = one_task(BOOL)

    def state(content: dict[str, Any]) -> None:
        at = content
        for name in path[:-1]:
            at = at[name]
        at[path[-1]] = value

    claim(folder, state)
    assert failed(checked(folder)) == {check}


def test_more_in_the_provenance_than_a_run_writes(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)

    def boast(content: dict[str, Any]) -> None:
        provenance = content["configs"][BOOL]["metadata"]["provenance"]
        provenance["note"] = "read by people"
        provenance["hash"] = provenance_hash(provenance)

    claim(folder, boast)
    assert failed(checked(folder)) == {"data"}


def test_totals_of_groups_without_their_tasks_are_not_verified(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    claim(folder, lambda content: content.update(groups={"xfinbench_text": {"acc,paper": 1.0}}))
    report = checked(folder)
    assert (failed(report), report.exit_code) == (set(), 2)


def test_compressed_samples_are_told_as_such(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    (path,) = folder.glob("samples_*")
    path.rename(f"{path}.gz")
    (found,) = (one for one in checked(folder).findings if one.check == "files")
    assert found.status.value == "fail" and "Unpack it" in found.details[0]


def test_responses_alone_are_not_verified(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)

    def bypass(lines: Lines) -> Lines:
        first = [line for line in lines if line["filter"] == lines[0]["filter"]]
        return [{**line, "filter": "none", "metrics": ["bypass"], "bypass": None} for line in first]

    change(folder, bypass)
    claim(folder, lambda content: content["results"].update({BOOL: {"bypass,none": 999, "bypass_stderr,none": "N/A"}}))
    report = checked(folder)
    assert (failed(report), report.exit_code) == (set(), 2)
    (found,) = (one for one in report.findings if one.check == "scores")
    assert "--predict_only" in found.message


def test_encoders_are_named_by_who_verifies() -> None:
    def of(name: str) -> dict[str, Any]:
        return {"provenance": {"retrieval": {"retriever": {"encoder": {"name": name}}}}}

    assert "name it yourself" in encoder_lacking(of("endpoint:e"), {})
    assert encoder_lacking(of("endpoint:e"), {"encoder": "endpoint:e"}) == ""
    assert encoder_lacking(of("minilm"), {}) == encoder_lacking({"provenance": {}}, {}) == ""
    assert encoder_lacking(of("sentence-transformers:m"), {"encoder": "sentence-transformers:/here/m"}) == ""


def test_patterns_are_warned_of(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)

    def same(lines: Lines) -> None:
        for line in lines:
            empty, echoed = line["doc_id"] % 4 == 0, line["doc_id"] % 4 == 1
            told = (
                "" if empty else line["target"] if echoed else "I have thought about all of this for a very long time."
            )
            line["resps"] = [[told]]

    change(folder, same)
    claim(folder, lambda content: content.update(total_evaluation_time_seconds="0.000001"))
    assert {"identical", "empty", "echoed", "timing"} <= warned(checked(folder))


def test_what_cannot_be_checked_is_said_and_ends_with_two(one_task: Callable[[str], Path], tmp_path: Path) -> None:
    folder = one_task(BOOL)
    report = checked(folder, data_dir=tmp_path / "nothing", source="data_dir")
    assert report.exit_code == 2
    assert {one.check for one in report.findings if one.status.value == "not checked"} >= {"scores", "rows", "data"}


def test_claims_without_samples_are_not_checked(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    next(folder.glob("samples_*")).unlink()
    assert checked(folder).exit_code == 2


def test_samples_without_results_are_scored(one_task: Callable[[str], Path]) -> None:
    folder = one_task(BOOL)
    next(folder.glob("results_*")).unlink()
    report = checked(folder, source="sample")
    by_check = {one.check: one.status.value for one in report.findings}
    assert (by_check["scores"], by_check["aggregates"]) == ("pass", "not checked")


@pytest.mark.parametrize("text", ["{", '{"filter": "paper"}\n', '{"doc": {"id": 1}, "filter": 3}\n', ""])
def test_broken_files_fail_and_the_rest_is_checked(one_task: Callable[[str], Path], text: str) -> None:
    folder = one_task(BOOL)
    (path,) = folder.glob("samples_*")
    (folder / path.name.replace("bool", "mcq")).write_text(text)
    report = checked(folder)
    assert failed(report) == {"samples"}
    assert ("scores", "pass") in {(one.check, one.status.value) for one in report.findings}


def test_files_of_a_submission_name_no_files_of_ours(one_task: Callable[[str], Path], tmp_path: Path) -> None:
    folder = one_task(BOOL)
    elsewhere = {"data_dir": str(tmp_path / "planted"), "encoder": "http://127.0.0.1:9", "prompts": "../../x"}
    claim(folder, lambda content: content["configs"][BOOL]["metadata"].update(elsewhere))
    assert failed(checked(folder)) == set()


def test_nothing_to_check(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="found none"):
        checked(tmp_path)
    with pytest.raises(ConfigError, match="colour"):
        (tmp_path / "samples_xfinbench_bool_2026-03-01T10-00-00.123456.jsonl").write_text("{}")
        checked(tmp_path, options={"colour": "red"})


def test_the_command_says_what_it_found(one_task: Callable[[str], Path], tmp_path: Path) -> None:
    folder, out = one_task(BOOL), tmp_path / "verdict.json"
    done = CliRunner().invoke(app, ["verify", str(folder), "--out", str(out), "--all"])
    assert done.exit_code == 0, done.output
    assert "PASS        scores: 64 row scores" in done.output
    assert json.loads(out.read_text())["verdict"] == "pass"
    claim(folder, lambda content: content["results"][BOOL].update({"acc,paper": 0.99}))
    done = CliRunner().invoke(app, ["verify", str(folder), "--json"])
    assert (done.exit_code, json.loads(done.output)["verdict"]) == (1, "fail")
    assert CliRunner().invoke(app, ["verify", str(tmp_path / "none")]).exit_code == 2
