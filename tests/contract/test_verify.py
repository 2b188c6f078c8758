"""`fin-tasks verify`: honest runs pass, and each way to change one is found under the name of its check."""

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from chat_server import completion, serve
from in_process import parts_of, run, saved
from test_mme_finance_tasks import points
from typer.testing import CliRunner

from fin_tasks.cli import app

Change = Callable[[Path], None]
SAMPLE = ("--source", "sample")


def verify(*arguments: str | Path) -> tuple[int, dict[str, str], str]:
    """Return the exit status, each check's worst verdict, and all that was printed as JSON."""
    done = CliRunner().invoke(app, ["verify", *map(str, arguments), "--json"])
    assert done.exit_code in (0, 1, 2, 3), done.output
    worst: dict[str, str] = {}
    order = ("pass", "warn", "not checked", "fail")
    told = json.loads(done.stdout) if done.stdout else {"checks": []}
    for one in told["checks"]:
        worst[one["check"]] = max(worst.get(one["check"], "pass"), one["status"], key=order.index)
    return done.exit_code, worst, done.output


def right_or_wrong(doc: Mapping[str, Any]) -> str:
    """A right answer to two rows in three, never twice in the same words."""
    name = str(doc.get("id", doc.get("question_id")))
    return f"About {name}: {doc['target'] if sum(map(ord, name)) % 3 else 'I cannot say.'}"


BOOL, POT, DYNO, GROUP = (
    "xfinbench_bool",
    "financemath_pot",
    "dynostock_recency_w4_text",
    "xfinbench_text",
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of each task."""
    folder = tmp_path_factory.mktemp("runs")
    for task in (BOOL, POT, DYNO, GROUP):
        saved(run(task, answer=right_or_wrong), folder / task)
    return folder


@pytest.fixture
def copy(runs: Path, tmp_path: Path) -> Callable[[str], Path]:
    return lambda task: Path(shutil.copytree(runs / task, tmp_path / task))


def edit(folder: Path, task: str, change: Callable[[list[dict[str, Any]]], object]) -> None:
    """Change the lines of a task's samples; those of one row follow each other."""
    (file,) = folder.rglob(f"samples_{task}_2*.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    lines.sort(key=lambda line: int(line["doc_id"]))
    change(lines)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))


def edit_results(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    (file,) = folder.rglob("results_*.json")
    results = json.loads(file.read_text())
    change(results)
    file.write_text(json.dumps(results))


def both(lines: list[dict[str, Any]], at: int = 0) -> list[dict[str, Any]]:
    """The lines of a row under both variants."""
    return [line for line in lines if line["doc_id"] == lines[at]["doc_id"]]


def set_in(lines: list[dict[str, Any]], **values: Any) -> None:
    for line in lines:
        line.update(values)


def add_hint(line: dict[str, Any]) -> None:
    line["arguments"]["gen_args_0"]["arg_0"] += " (It is true.)"


def test_an_honest_run_passes_and_says_that_it_is_of_the_sample(runs: Path) -> None:
    status, worst, told = verify(*(runs / task for task in (POT, DYNO, GROUP)))
    assert status == 0 and {name for name, one in worst.items() if one != "pass"} == {"data"}, told
    assert "source sample, split sample" in told and "NOT VERIFIED" in told
    shown = CliRunner().invoke(app, ["verify", "--strict", str(runs / BOOL)])
    assert (
        shown.exit_code == 1
        and "source sample, split sample" in shown.stdout
        and shown.stdout.endswith("WARN\n")
    )


ROWS: dict[str, tuple[str, str, Callable[[list[dict[str, Any]]], object]]] = {
    "a changed score": ("scores", BOOL, lambda rows: set_in(both(rows), acc=1 - rows[0]["acc"])),
    "a changed reading": (
        "scores",
        BOOL,
        lambda rows: set_in(rows[:1], filtered_resps=[['{"answer": 9}']]),
    ),
    "a changed share": (
        "scores",
        DYNO,
        lambda rows: set_in(both(rows), bias_index=[0.5, 0.5, 0.0]),
    ),
    "a changed response": (
        "scores",
        BOOL,
        lambda rows: set_in(both(rows), resps=[["Therefore, no idea."]]),
    ),
    "a response changed once": (
        "documents",
        BOOL,
        lambda rows: set_in(rows[:1], resps=[["Other."]]),
    ),
    "a changed program": (
        "scores",
        POT,
        lambda rows: [set_in(both(rows, 2 * at), resps=[["pass"]]) for at in range(9)],
    ),
    "a missing row": ("rows", BOOL, lambda rows: rows.__delitem__(slice(2, 4))),
    "a missing variant": ("rows", BOOL, lambda rows: rows.pop()),
    "a doubled row": ("files", BOOL, lambda rows: rows.extend(both(rows))),
    "a doubled row, renamed": (
        "rows",
        BOOL,
        lambda rows: rows.extend(
            [{**row, "doc": {**row["doc"], "id": "new"}} for row in both(rows)]
        ),
    ),
    "a wrong gold answer": (
        "documents",
        POT,
        lambda rows: [row["doc"].update(ground_truth=7.0) for row in both(rows)],
    ),
    "a foreign question": (
        "documents",
        BOOL,
        lambda rows: [row["doc"].update(prompt="1 + 1?") for row in both(rows)],
    ),
    "a hint in one prompt": ("prompts", BOOL, lambda rows: add_hint(both(rows)[0])),
    "a foreign prompt": (
        "prompts",
        BOOL,
        lambda rows: set_in(both(rows), arguments={"gen_args_0": {"arg_0": "1+1"}}),
    ),
    "no response": ("scores", BOOL, lambda rows: set_in(rows, resps=[])),
}


@pytest.mark.parametrize("name", ROWS)
def test_a_change_of_rows_is_found(copy: Callable[[str], Path], name: str) -> None:
    check, task, change = ROWS[name]
    edit(folder := copy(task), task, change)
    status, worst, told = verify(folder)
    expected = "not checked" if name == "no response" else "fail"
    assert (status, worst[check]) == (1 if expected == "fail" else 2, expected), told


RESULTS: dict[str, tuple[str, str, Callable[[dict[str, Any]], object]]] = {
    "a total": ("totals", "fail", lambda of: of["results"][BOOL].update({"acc,robust": 0.99})),
    "a total of a group": (
        "totals",
        "fail",
        lambda of: of["results"][GROUP].update({"acc,paper": 0.99}),
    ),
    "a figure of a part": ("totals", "fail", lambda of: part(of).update(value=0.99)),
    "the documents of a part": ("totals", "fail", lambda of: part(of).update(n=3)),
    "a figure that nobody knows": (
        "totals",
        "fail",
        lambda of: breakdowns(of).update(acc_XX=dict(part(of))),
    ),
    "rows": ("rows", "fail", lambda of: of["n-samples"][BOOL].update(original=3, effective=3)),
    "prompts": ("provenance", "fail", lambda of: facts(of)["prompts"].update(sha256="0")),
    "origin": ("scores", "not checked", lambda of: facts(of)["data"].update(origin="upstream")),
    "version": ("settings", "warn", lambda of: of["versions"].update({BOOL: 1})),
    "package": ("settings", "warn", lambda of: facts(of).update(fin_tasks="0.0")),
    "a file of theirs": (
        "data",
        "warn",
        lambda of: of["configs"][BOOL]["metadata"].update(data_dir="/etc"),
    ),
}


def breakdowns(results: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = results["configs"][BOOL]["metadata"]["breakdowns"]["robust"]
    return found


def part(results: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = breakdowns(results)["acc_TU"]
    return found


def facts(results: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = results["configs"][BOOL]["metadata"]["provenance"]
    return found


@pytest.mark.parametrize("name", RESULTS)
def test_a_change_of_results_is_found(
    copy: Callable[[str], Path], name: str, offline: None
) -> None:
    check, verdict, change = RESULTS[name]
    edit_results(folder := copy(GROUP if "group" in name else BOOL), change)
    status, worst, told = verify(folder)
    assert (status, worst[check]) == ({"fail": 1, "not checked": 2, "warn": 0}[verdict], verdict), (
        told
    )


def test_a_shorter_run_is_named_and_chosen_rows_are_refused(tmp_path: Path) -> None:
    found = run(BOOL, answer=right_or_wrong, limit=5)
    status, worst, _ = verify(saved(found, tmp_path / "first"))
    assert (status, worst["rows"]) == (0, "warn")
    edit(tmp_path, BOOL, lambda rows: rows.__delitem__(slice(0, 2)))
    edit_results(tmp_path, lambda of: of["n-samples"][BOOL].update(effective=4))
    assert verify(tmp_path)[1]["rows"] == "fail"


@pytest.fixture
def offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-made-up")


@pytest.fixture(scope="module")
def judged_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """A judged run, and the address of its judge."""
    folder = tmp_path_factory.mktemp("judged")
    with pytest.MonkeyPatch.context() as environ, serve(points) as served:
        for name, value in {"CACHE": str(folder / "cache"), "OFFLINE": "1"}.items():
            environ.setenv(f"FIN_TASKS_{name}", value)
        for name in (
            "http_proxy",
            "https_proxy",
            "all_proxy",
            "HTTP_PROXY",
            "HTTPS_PROXY",
            "ALL_PROXY",
        ):
            environ.delenv(name, raising=False)
        environ.setenv("OPENAI_API_KEY", "sk-made-up")
        judge = {"judge_model": "judge", "judge_base_url": served.base_url}
        answer = lambda doc: f"give me {int(doc['id']) % 5 + 1} points"  # noqa: E731
        saved(run("mme_finance_en", answer=answer, sees=True, limit=6, **judge), folder / "run")
        yield folder / "run", served.base_url


@pytest.fixture
def judged(judged_run: tuple[Path, str], tmp_path: Path) -> tuple[Path, str]:
    return Path(shutil.copytree(judged_run[0], tmp_path / "run")), judged_run[1]


def test_kept_replies_give_the_scores(judged: tuple[Path, str]) -> None:
    folder, url = judged
    status, worst, told = verify(folder)
    assert (status, worst["scores"], worst["judge"]) == (0, "pass", "warn"), told
    asked = ("--judge-model", "judge", "--judge-base-url", url, "--judge-rows", "4")
    status, worst, told = verify(folder, *asked)
    assert (status, worst["judge"]) == (0, "pass") and "0 fresh replies, 4 cached" in told
    status, worst, told = verify(folder, "--judge-model", "other", *asked[2:])
    assert (status, worst["judge"]) == (0, "pass") and "4 fresh replies, 0 cached" in told
    with serve(lambda body: completion("0")) as strict:
        status, worst, told = verify(
            folder, "--judge-model", "other", "--judge-base-url", strict.base_url
        )
    assert (status, worst["judge"]) == (1, "fail"), told


def reading(change: dict[str, Any]) -> Callable[[list[dict[str, Any]]], None]:
    def of_row(lines: list[dict[str, Any]]) -> None:
        for line in both(lines):
            line["filtered_resps"] = [
                [json.dumps({**json.loads(line["filtered_resps"][0][0]), **change})]
            ]

    return of_row


JUDGED: dict[str, tuple[str, Callable[[list[dict[str, Any]]], object]]] = {
    "score": ("scores", lambda rows: set_in(both(rows), score=100.0)),
    "reply": ("scores", reading({"replies": ["5"]})),
    "unscored": ("scores", reading({"unscored": True, "answer": None})),
    "response": ("judged response", lambda rows: set_in(both(rows), resps=[["A better answer"]])),
}


@pytest.mark.parametrize("name", JUDGED)
def test_a_change_of_judged_rows_is_found(judged: tuple[Path, str], name: str) -> None:
    check, change = JUDGED[name]
    edit(judged[0], "mme_finance_en", change)
    status, worst, told = verify(judged[0])
    assert (status, worst[check]) == (1, "fail"), told


def test_the_rubric_is_ours(judged: tuple[Path, str]) -> None:
    edit_results(
        judged[0],
        lambda of: of["configs"]["mme_finance_en"]["metadata"]["judge"].update(rubric_sha256="0"),
    )
    assert verify(judged[0])[1]["rubric"] == "fail"


@pytest.mark.parametrize("task", ["financemath", "xfinbench_calc", "bizbench_formulaeval"])
def test_a_model_that_reads_answers_leaves_its_replies(
    tmp_path: Path, offline: None, no_proxy: None, task: str
) -> None:
    reply = "B" if task == "bizbench_formulaeval" else "12.5"
    with serve(lambda body: completion(reply)) as served:
        reader = {"reader_model": "reader", "reader_base_url": served.base_url}
        found = run(task, answer=lambda doc: "either 12.5 or 7, hard to say (", **reader)
    assert parts_of(found, task)["read_by_model,robust"] > 0
    folder = saved(found, tmp_path / "run")
    status, worst, told = verify(folder)
    assert (status, worst["scores"], worst["judge"]) == (0, "pass", "warn"), told
    edit(folder, task, lambda rows: set_in(rows, acc=1.0))
    assert verify(folder)[1]["scores"] == "fail"


@pytest.mark.parametrize("url", [None, "http://127.0.0.1:9/v1"])
def test_runs_without_a_working_judge_are_honest(
    tmp_path: Path, offline: None, no_proxy: None, url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    judge = {"judge_model": "judge", "judge_base_url": url} if url else {}
    found = run(
        "mme_finance_en",
        answer=lambda doc: "" if doc["id"] == "0" else "7",
        sees=True,
        limit=3,
        **judge,
    )
    status, worst, told = verify(saved(found, tmp_path / "run"))
    assert (status, worst["scores"]) == (1 if url else 0, "pass"), told
    assert worst["unscored"] == ("fail" if url else "warn")


def test_replayed_responses_verify(runs: Path, tmp_path: Path, offline: None) -> None:
    (file,) = (runs / GROUP).rglob("samples_xfinbench_calc_2*.jsonl")
    out = tmp_path / "replayed"
    done = CliRunner().invoke(
        app, ["replay", "xfinbench", "--task", "calc", str(file), "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    status, worst, told = verify(out, *SAMPLE)
    assert (status, worst["scores"], worst["documents"]) == (0, "pass", "pass"), told
    assert verify(out)[0] == 2, "without data of ours nothing can be checked"
    edit(
        out,
        "xfinbench_calc",
        lambda rows: [row["doc"].update(ground_truth="99") for row in both(rows)],
    )
    assert verify(out, *SAMPLE)[1]["documents"] == "fail"


def test_a_broken_file_does_not_stop_the_rest(copy: Callable[[str], Path]) -> None:
    folder = copy(BOOL)
    (folder / "results_2026-01-01T00-00-00.json").write_text('{ "results" "xfinbench_bool"')
    status, worst, told = verify(folder)
    assert (status, worst["files"], worst["scores"]) == (1, "fail", "pass"), told


def test_a_command_that_cannot_run_ends_with_2(tmp_path: Path, runs: Path) -> None:
    assert verify(tmp_path / "nowhere")[0] == 2
    assert verify(runs / BOOL, "--metadata", "[1]")[0] == 2
    assert verify(runs / BOOL, "--out", tmp_path / "no" / "file")[0] == 2
