"""The real VLMEvalKit with our data sets, against a server on loopback that is both model and judge.

It runs in a virtual environment of its own: `make vlmevalkit` makes one.
"""

import csv
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml
from chat_server import Answer, Served, completion, serve

from fin_tasks.benchmarks.mme_finance.old_data import load as load_mme
from fin_tasks.benchmarks.xfinbench.data import load as load_xfinbench

ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests" / "benchmarks" / "mme_finance"))
import made_mme  # noqa: E402 - a module of another test folder

ROWS = len(made_mme.rows("en"))
CATEGORIES = [row["task_category"] for row in made_mme.rows("en")]


def python_of_the_kit() -> Path:
    """Where `make vlmevalkit` puts it, or the interpreter that FIN_TASKS_VLMEVAL_PYTHON names."""
    key = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    made = cache / "fin-tasks-ci" / f"vlmeval-{key}" / "bin" / "python"
    return Path(os.environ.get("FIN_TASKS_VLMEVAL_PYTHON") or made)


PYTHON = python_of_the_kit()
pytestmark = [
    pytest.mark.skipif(not PYTHON.exists(), reason=f"no VLMEvalKit in {PYTHON}; `make vlmevalkit` installs it"),
    pytest.mark.slow,
]


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Nothing of the machine's own settings or proxies."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LMUData": str(folder),
        "PYTHONPATH": str(ROOT / "src"),
        "FIN_TASKS_CACHE": str(folder / "cache"),
        "FIN_TASKS_DATA": str(folder / "data"),
        "OPENAI_API_KEY": "sk-made-up",
        **more,
    }


class Kit:
    """VLMEvalKit, imported once; every run is a fork of it."""

    def __init__(self, folder: Path) -> None:
        runner = Path(__file__).with_name("vlmevalkit_runner.py")
        command = [PYTHON, "-W", "ignore::DeprecationWarning", runner]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(folder)
        )
        self.read("ready")

    def read(self, name: str) -> Any:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)[name]
        raise AssertionError("the runner ended")

    def run(self, job: Mapping[str, Any], *, started: Callable[[int], None] | None = None) -> int:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        process = self.read("process")
        if started is not None:
            started(process)
        return int(self.read("status"))


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kit]:
    made = Kit(tmp_path_factory.mktemp("kit"))
    yield made
    assert made.process.stdin is not None
    made.process.stdin.close()
    made.process.kill()  # its own end takes seconds, as it has half of PyPI to take down
    made.process.wait()
    assert made.process.stdout is not None
    made.process.stdout.close()


@dataclass
class Run:
    """A folder in which a model is evaluated again and again."""

    kit: Kit
    folder: Path
    served: Served
    answers: dict[str, Callable[[dict[str, Any]], Answer]]
    settings: dict[str, str] = field(default_factory=dict)
    log: str = ""

    def evaluate(
        self,
        dataset: str = "MMEFinance",
        *arguments: str,
        judge: str | None = "judge",
        started: Callable[[int], None] | None = None,
        **judge_args: Any,
    ) -> int:
        """Run the kit; its log is kept, its status returned."""
        model = {
            "class": "GPT4V",
            "model": "tested",
            "api_base": f"{self.served.base_url}/chat/completions",
            "key": "sk-made-up",
            "retry": 1,
            "wait": 0,
        }
        own = {"XFinBench_MCQ_V": "XFinBench", "DynoStock_Recency_W4": "DynoStock"}.get(dataset, "MMEFinance")
        config = {"model": {"tested": model}, "data": {dataset: {"class": own, "dataset": dataset}}}
        (self.folder / "config.json").write_text(json.dumps(config))
        argv = ["--config", "config.json", "--api-nproc", "4", *arguments]
        argv += ["--judge", judge] if judge else []
        argv += ["--judge-args", json.dumps({"base_url": self.served.base_url, **judge_args})]
        job = {
            "argv": argv,
            "environ": {**environment(self.folder), **self.settings},
            "folder": str(self.folder),
            "log": str(self.folder / "log"),
        }
        status = self.kit.run(job, started=started)
        self.log = (self.folder / "log").read_text(encoding="utf-8", errors="replace")
        return status

    def asked(self, whom: str) -> list[dict[str, Any]]:
        return [body for body in self.served.bodies if body["model"] == whom]

    def file(self, name: str) -> Path:
        """A file of the run's folder, whose name has the day in it."""
        results = self.folder / "outputs" / "tested"
        (folder,) = (path for path in results.iterdir() if path.is_dir() and not path.is_symlink())
        return folder / name

    def score(self, dataset: str = "MMEFinance", judge: str = "judge") -> dict[str, Any]:
        name = f"tested_{dataset}_{judge}_score.json" if judge else f"tested_{dataset}_score.json"
        return dict(json.loads(self.file(name).read_text(encoding="utf-8")))

    def items(self, dataset: str = "MMEFinance", judge: str = "judge") -> list[dict[str, Any]]:
        name = f"tested_{dataset}_{judge}_items.jsonl" if judge else f"tested_{dataset}_items.jsonl"
        return [json.loads(line) for line in self.file(name).read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def run(kit: Kit, tmp_path: Path) -> Iterator[Run]:
    made_mme.write(tmp_path / "data")
    answers = {"tested": lambda _: completion("The answer is 1."), "judge": lambda _: completion("4")}
    with serve(lambda body: answers.get(body["model"], answers["judge"])(body)) as served:
        yield Run(kit=kit, folder=tmp_path, served=served, answers=answers)


def text_of(body: Mapping[str, Any]) -> str:
    """All words of a request."""
    parts = [message["content"] for message in body["messages"]]
    pieces = [piece for part in parts for piece in ([{"text": part}] if isinstance(part, str) else part)]
    return "\n".join(piece["text"] for piece in pieces if "text" in piece)


def question_of(body: Mapping[str, Any]) -> int:
    (number,) = set(re.findall(r"What is (\d+)\?", text_of(body)))
    return int(number)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_predictions_are_judged_and_nothing_is_asked_twice(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = {"OCR": "5", "Risk Warning": "0"}
    run.answers["judge"] = lambda body: completion(scores.get(CATEGORIES[question_of(body)], "4"))
    assert run.evaluate() == 0
    overall = 20 * (5 + 0 + 4 * (ROWS - 2)) / ROWS
    score = run.score()
    assert score["overall"] == score["overall_paper"] == pytest.approx(overall)
    assert (score["n"], score["unscored"], score["requests"], score["cached"]) == (ROWS, 0, ROWS, 0)
    assert score["by_category"]["OCR"] == 100.0
    assert score["judge"] == "judge"
    assert score["rubric"].startswith("mme_finance_en@")
    assert score["provenance"]["data"]["origin"] == "data_dir"
    assert f'"overall": {score["overall"]}' in run.log

    (row,) = rows_of(run.file("tested_MMEFinance_judge_overall.csv"))
    assert (row["n"], row["unscored"], float(row["score"])) == (str(ROWS), "0", pytest.approx(overall))
    by_category = rows_of(run.file("tested_MMEFinance_judge_category.csv"))
    assert [row["category"] for row in by_category] == CATEGORIES
    assert {row["type"] for row in rows_of(run.file("tested_MMEFinance_judge_type.csv"))} >= {"table", "document"}
    assert sum(int(row["n"]) for row in rows_of(run.file("tested_MMEFinance_judge_style.csv"))) == ROWS
    assert [item["score"] for item in run.items()][CATEGORIES.index("OCR")] == 5

    # the prompts are those of the lm-eval task, each with its picture
    monkeypatch.setenv("FIN_TASKS_DATA", str(run.folder / "data"))
    docs = load_mme(language="en")["test"].to_list()
    expected = {f"{doc['system']}\n\n{doc['prompt'].removeprefix('<image>' + chr(10))}" for doc in docs}
    assert {text_of(body) for body in run.asked("tested")} == expected
    for body in (*run.asked("tested"), *run.asked("judge")):
        kinds = [
            piece["type"] for message in body["messages"] for piece in message["content"] if isinstance(piece, dict)
        ]
        assert kinds.count("image_url") == 1

    before = len(run.served.bodies)
    assert run.evaluate() == 0
    assert len(run.served.bodies) == before
    assert run.score()["overall"] == score["overall"]


def test_odd_predictions_reach_the_judge_as_they_are(run: Run) -> None:
    long = "9" * 40_000 + " end"
    odd = ["007.50", "N/A", "=1+1", long, "{=1+1}", "true", "http://a.b/c", "a\tb\r\nc", '"quoted"', "1e5", "-"]
    run.answers["tested"] = lambda body: completion(odd[question_of(body)])
    run.evaluate()
    seen = {question_of(body): text_of(body) for body in run.asked("judge")}
    for number, text in enumerate(odd):
        shown = text if len(text) < 1000 else text[:1000]
        assert shown.replace("\r\n", "\n") in seen[number].replace("\r\n", "\n"), text[:20]
    assert "9 end" in seen[3]
    assert run.score()["responses_cut"] == 0

    # VLMEvalKit reads its spreadsheet and writes it again, each time with what pandas makes of the cells
    for _ in range(2):
        run.evaluate()
        assert len(run.asked("judge")) == ROWS
        assert run.score()["cached"] == ROWS
    run.file("tested_MMEFinance_responses.jsonl").unlink()
    run.evaluate()
    assert run.score()["responses_cut"] == 1, "without the whole responses, a cut one is told"


def test_numbers_alone_stay_text(run: Run) -> None:
    run.answers["tested"] = lambda body: completion(f"{question_of(body)}.50")
    run.evaluate()
    run.evaluate()
    assert len(run.asked("judge")) == ROWS
    assert [item["score"] for item in run.items()] == [4] * ROWS


def test_a_models_failures_are_unscored_and_asked_again(run: Run) -> None:
    def fail_twice(body: dict[str, Any]) -> Answer:
        return (500, {}, {"error": {"message": "no"}}) if question_of(body) in (2, 5) else completion("1")

    run.answers["tested"] = fail_twice
    run.evaluate()
    score = run.score()
    assert (score["n"], score["unscored"], score["failed"]["response"]) == (ROWS, 2, 2)
    assert (score["overall"], score["overall_paper"]) == (80.0, pytest.approx(80 * (ROWS - 2) / ROWS))
    assert {question_of(body) for body in run.asked("judge")} == set(range(ROWS)) - {2, 5}

    run.answers["tested"] = lambda _: completion("1")
    run.evaluate()
    assert run.score()["unscored"] == 0
    assert len(run.asked("tested")) == ROWS + 2
    assert len(run.asked("judge")) == ROWS


def test_a_judge_that_is_down_scores_nothing(run: Run) -> None:
    run.evaluate()
    run.answers["judge"] = lambda _: (401, {}, {"error": {"message": "who are you?"}})
    status = run.evaluate(rubric="mme_finance_en", max_tokens=9)
    assert status == 0, "VLMEvalKit ends with 0 whatever happens"
    assert "JudgingFailedError" in run.log
    assert "401" in run.log
    assert not list(run.file("x").parent.glob("*_score.json")), "results of the run before would be taken for its own"
    assert run.file("tested_MMEFinance.xlsx").exists()
    assert "sk-made-up" not in run.log.replace("'key': 'sk-made-up'", "")

    run.answers["judge"] = lambda _: completion("3")
    run.evaluate(image=False)
    assert run.score(judge="judge_no_image")["overall"] == 60.0
    assert run.score(judge="judge_no_image")["image"] is False
    assert len(run.asked("tested")) == ROWS


def test_another_judge_or_rubric_is_asked_anew(run: Run) -> None:
    run.evaluate()
    run.answers["judge"] = lambda _: completion("2")
    run.evaluate(judge="org/Other-7B")
    assert len(run.asked("org/Other-7B")) == ROWS
    assert run.score(judge="org_Other-7B")["overall"] == 40.0
    assert run.score()["overall"] == 80.0

    pack = yaml.safe_load((ROOT / "judges" / "mme_finance_en.yaml").read_text(encoding="utf-8"))
    pack["version"] = "9"
    for category in pack["categories"].values():
        category["points"] += " Be strict."
    own = run.folder / "own.yaml"
    own.write_text(yaml.safe_dump(pack, allow_unicode=True), encoding="utf-8")
    run.evaluate(rubric=str(own))
    assert len(run.asked("judge")) == 2 * ROWS
    assert run.score(judge="judge_own")["rubric"].endswith("@9")
    assert not run.score()["rubric"].endswith("@9"), "each has files of its own"
    run.evaluate()
    assert len(run.asked("judge")) == 2 * ROWS, "what the first rubric's judge said is still known"


def kill_when(met: Callable[[], bool]) -> Callable[[int], None]:
    def kill(process: int) -> None:
        for _ in range(6000):
            if met():
                break
            time.sleep(0.02)
        os.kill(process, signal.SIGKILL)

    return kill


def test_a_run_killed_while_the_model_answers_goes_on(run: Run) -> None:
    gate = threading.Event()

    def slowly(body: dict[str, Any]) -> Answer:
        if len(run.asked("tested")) > 6 and not gate.is_set():
            gate.wait(120)
        return completion("1")

    run.answers["tested"] = slowly
    # the kit saves every 0.1 s, and waits for all of those that it has sent
    status = run.evaluate(started=kill_when(lambda: len(run.asked("tested")) > 8 or waited(run)))
    gate.set()
    assert status == -signal.SIGKILL
    assert not run.asked("judge")
    run.evaluate()
    assert run.score()["n"] == ROWS
    again = len(run.asked("tested")) - ROWS
    assert 0 < again <= 5, "what was under way is asked again, what was saved is not"


def waited(run: Run) -> bool:
    """Whether seven were asked for and the kit had the time to save the first ones."""
    if len(run.asked("tested")) < 7:
        return False
    time.sleep(1.5)
    return True


def test_a_run_killed_while_the_judge_answers_goes_on(run: Run) -> None:
    gate = threading.Event()

    def slowly(_: dict[str, Any]) -> Answer:
        if len(run.asked("judge")) > 5 and not gate.is_set():
            gate.wait(120)
        return completion("4")

    run.answers["judge"] = slowly
    status = run.evaluate(concurrency=1, started=kill_when(lambda: len(run.asked("judge")) > 5))
    gate.set()
    assert status == -signal.SIGKILL
    run.evaluate()
    assert (run.score()["n"], run.score()["overall"]) == (ROWS, 80.0)
    assert len(run.asked("judge")) == ROWS + 1, "only the request under way was sent twice"
    assert len(run.asked("tested")) == ROWS


def test_a_rubrics_default_judge_and_an_option_nobody_knows(run: Run) -> None:
    run.evaluate(judge=None)
    assert len(run.asked("gpt-4o")) == ROWS
    run.evaluate(temperature=0, system_prompt="x")
    assert "--judge-args system_prompt, temperature: without meaning" in run.log
    assert run.score()["n"] == ROWS
    run.evaluate(concurency=1)
    assert "--judge-args concurency: expected one of" in run.log
    assert not run.file("tested_MMEFinance_judge_score.json").exists(), "a run that fails leaves no older score"


def test_answers_to_other_questions_are_not_taken_up(run: Run) -> None:
    run.settings = {"FIN_TASKS_METADATA": json.dumps({"source": "sample"})}
    run.answers["tested"] = lambda _: completion("about the sample")
    run.evaluate("MMEFinance", "--first-n", "4")
    score = run.score()
    assert (score["n"], score["missing"], score["rows_expected"]) == (4, score["rows_expected"] - 4, 44)
    (row,) = rows_of(run.file("tested_MMEFinance_judge_overall.csv"))
    assert (row["n"], row["rows_expected"], row["missing"]) == ("4", "44", "40")

    run.settings = {}
    run.answers["tested"] = lambda _: completion("about these")
    run.served.bodies.clear()
    run.evaluate()
    assert len(run.asked("tested")) == ROWS, "the indices are the same, the questions are not"
    assert "the model is asked anew" in run.log
    assert run.score()["n"] == ROWS
    assert all("about these" in text_of(body) for body in run.asked("judge"))
    old = run.file("of_other_data") / "1"
    assert {"tested_MMEFinance.xlsx", "tested_MMEFinance_judge_score.json"} <= {path.name for path in old.iterdir()}

    # the file alone, in a place where nothing says what was asked
    shutil.copy(old / "tested_MMEFinance.xlsx", run.file("tested_MMEFinance.xlsx"))
    run.file("tested_MMEFinance_asked.json").unlink()
    run.served.bodies.clear()
    run.evaluate()
    assert len(run.asked("tested")) == ROWS


def test_a_run_that_is_killed_does_not_go_on_with_other_questions(run: Run) -> None:
    gate = threading.Event()

    def slowly(_: dict[str, Any]) -> Answer:
        if len(run.asked("tested")) > 6 and not gate.is_set():
            gate.wait(120)
        return completion("about the sample")

    run.answers["tested"] = slowly
    run.settings = {"FIN_TASKS_METADATA": json.dumps({"source": "sample"})}
    run.evaluate(started=kill_when(lambda: waited(run)))
    gate.set()
    assert list(run.file("x").parent.glob("*.pkl")), "the kit saved some answers"
    run.settings = {}
    run.answers["tested"] = lambda _: completion("about these")
    run.served.bodies.clear()
    run.evaluate()
    assert len(run.asked("tested")) == ROWS
    assert all("about these" in text_of(body) for body in run.asked("judge"))


def test_figure_questions_of_xfinbench_need_no_judge(run: Run) -> None:
    def reply(body: dict[str, Any]) -> Answer:
        return (500, {}, {}) if len(run.asked("tested")) == 1 else completion("Therefore, my answer is B.")

    run.answers["tested"] = reply
    run.settings = {"FIN_TASKS_METADATA": json.dumps({"source": "sample"})}
    run.evaluate("XFinBench_MCQ_V", "--api-nproc", "1", "--first-n", "5")
    docs = load_xfinbench(subset="mcq_visual", source="sample")["test"].to_list()[1:5]
    right = sum(doc["ground_truth"] == "B" for doc in docs)
    score = run.score("XFinBench_MCQ_V", judge="")
    assert score["acc_robust"] == score["acc_paper"] == pytest.approx(right / 4)
    assert (score["n"], score["unscored_robust"]) == (5, pytest.approx(1 / 5))
    rows = {row["metric"]: row for row in rows_of(run.file("tested_XFinBench_MCQ_V_overall.csv"))}
    assert float(rows["acc"]["robust"]) == score["acc_robust"]
    assert len(run.items("XFinBench_MCQ_V", judge="")) == 5
    assert not run.asked("judge")


def test_dynostock_reports_the_bias_index(run: Run) -> None:
    run.answers["tested"] = lambda _: completion("Final prediction: 0.9")
    run.settings = {"FIN_TASKS_METADATA": json.dumps({"source": "sample", "dpi": 40})}
    run.evaluate("DynoStock_Recency_W4")
    score = run.score("DynoStock_Recency_W4", judge="")
    items = run.items("DynoStock_Recency_W4", judge="")
    assert score["n"] == len(items)
    led = sum(item["robust"]["led"] for item in items)
    wrong = sum(not item["robust"]["correct"] for item in items)
    assert 0 < led < wrong
    assert score["bias_index_robust"] == pytest.approx(led / wrong)
    assert score["mean_probability_robust"] == pytest.approx(0.9)
    assert score["brier_robust"] is not None


def test_the_three_ways_to_start_it(kit: Kit, tmp_path: Path) -> None:
    """`run.py` in an interpreter of its own; the two modules where the kit has been imported, which takes long."""
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    made_mme.write(tmp_path / "data")
    where = "import importlib.util as u; print(u.find_spec('vlmeval').submodule_search_locations[0])"
    package = subprocess.run([PYTHON, "-c", where], capture_output=True, text=True, check=True).stdout.strip()
    shutil.copy(Path(package) / "run.py", checkout / "run.py")  # where a checkout has it
    ways = {"MMEFinance_CN": None, "MMEFinance": "vlmeval.run", "MMEFinance_NA": "fin_tasks.adapters.vlmevalkit"}
    logs = {}
    with serve(lambda _: completion("4")) as served:
        environ = environment(tmp_path, OPENAI_API_BASE=f"{served.base_url}/chat/completions")
        for dataset, module in ways.items():
            argv = ["--data", dataset, "--model", "GPT4o", "--judge", "judge", "--first-n", "3"]
            log = tmp_path / f"{dataset}.log"
            if module is None:
                with log.open("w") as file:
                    command = [PYTHON, "run.py", *argv]
                    subprocess.run(command, cwd=checkout, env=environ, stdout=file, stderr=file, timeout=300)
            else:
                kit.run({"module": module, "argv": argv, "environ": environ, "folder": str(checkout), "log": str(log)})
            logs[dataset] = log.read_text(encoding="utf-8", errors="replace")
    for dataset in ways:
        found = list(checkout.glob(f"outputs/GPT4o/T*/GPT4o_{dataset}_judge_score.json"))
        assert len(found) == 1, logs[dataset][-3000:]
        score = json.loads(found[0].read_text(encoding="utf-8"))
        assert (score["n"], score["overall"]) == (3, 80.0)
        assert found[0].with_name(f"GPT4o_{dataset}_asked.json").exists(), "the hook waits for the kit's inference"
    chinese = [body for body in served.bodies if body["model"] != "judge" and "图片" in text_of(body)]
    assert len(chinese) == 3
