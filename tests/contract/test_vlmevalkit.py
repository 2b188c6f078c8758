"""NVIDIA's and ModelScope's VLMEvalKit with our data sets, against a server on loopback: model and judge.

They run in a virtual environment of their own, which `make vlmevalkit` makes.
"""

import hashlib
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, Served, completion, serve
from in_process import run as run_lm_eval
from submissions import admit, verify

from fin_tasks.judging.rubric import load_rubric

ROOT = Path(__file__).parents[2]
SAMPLE = {"source": "sample"}
ODD = [
    "N/A",
    "nan",
    "007.50",
    "=1+1",
    "x" * 42_000,
    "http://a.b/c",
    "line\r\nline",
    "NULL",
    "True",
    "['a', 'b']",
]
ODD += [f"Therefore, my answer is {letter}." for letter in "ABCD"]


def python_of_the_kit() -> Path:
    """Where `make vlmevalkit` puts it, or the interpreter that FIN_TASKS_VLMEVAL_PYTHON names."""
    key = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()[:16]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    made = cache / "fin-tasks-ci" / f"vlmeval-{key}" / "bin" / "python"
    return Path(os.environ.get("FIN_TASKS_VLMEVAL_PYTHON") or made)


PYTHON = python_of_the_kit()
UPSTREAM = PYTHON.parents[1] / "upstream"
"""ms-vlmeval, which is nearer to upstream's code; found first, it hides NVIDIA's package."""
pytestmark = [
    pytest.mark.skipif(
        not PYTHON.exists(),
        reason=f"no VLMEvalKit in {PYTHON}; `make vlmevalkit` installs it",
    ),
    pytest.mark.slow,
]


class Kit:
    """A VLMEvalKit, imported once; every run is a fork of it."""

    def __init__(self, folder: Path, *, upstream: bool) -> None:
        self.upstream = upstream
        self.folder = folder
        paths = [ROOT / "src"]
        if upstream:
            paths.append(UPSTREAM)
        python_path = os.pathsep.join(map(str, paths))
        runner = Path(__file__).with_name("vlmevalkit_runner.py")
        command = [PYTHON, "-W", "ignore", runner]
        environ = {**environment(folder), "PYTHONPATH": python_path}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environ,
            cwd=folder,
        )
        self.missing_names = self.read("missing_names")

    def read(self, name: str) -> Any:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                return json.loads(line)[name]
        raise AssertionError("the runner ended")

    def run(
        self, job: Mapping[str, Any], started: Callable[[int], None] | None
    ) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        process = self.read("process")
        if started is not None:
            started(process)
        self.read("status")


def environment(folder: Path) -> dict[str, str]:
    """Nothing of the machine's own settings or proxies."""
    named = {
        "HOME": folder,
        "LMUData": folder,
        "FIN_TASKS_CACHE": folder / "cache",
        "PYTHONPATH": ROOT / "src",
    }
    return {
        "PATH": os.environ["PATH"],
        **{name: str(path) for name, path in named.items()},
    }


@pytest.fixture(
    scope="module",
    params=[
        "nvidia-vlmeval",
        pytest.param("ms-vlmeval", marks=pytest.mark.thorough),
    ],
)
def kit(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kit]:
    upstream = request.param == "ms-vlmeval"
    if upstream and not UPSTREAM.is_dir():
        pytest.skip(f"no {UPSTREAM}")
    made = Kit(tmp_path_factory.mktemp("kit"), upstream=upstream)
    yield made
    made.process.kill()
    made.process.communicate()


class Run:
    """A folder in which a model is evaluated again and again."""

    def __init__(self, kit: Kit, folder: Path, served: Served) -> None:
        self.kit, self.folder, self.served = kit, folder, served
        self.model: Callable[[dict[str, Any]], Answer] = lambda _: completion("B")
        self.judge: Callable[[dict[str, Any]], Answer] = lambda _: completion("4")
        self.metadata: dict[str, Any] = SAMPLE
        self.environ: dict[str, str] = {}

    def __call__(
        self,
        dataset: str,
        *arguments: str,
        judge: str = "",
        judge_key: str = "JUDGE_KEY",
        config: Mapping[str, str] | None = None,
        started: Callable[[int], None] | None = None,
    ) -> dict[str, Any]:
        """Run the kit, return the newest summary; empty without one. `config` is what a file for --config says."""
        url = self.served.base_url
        self.in_api_mode = "--api-mode" in arguments
        if self.kit.upstream and config is None:
            argv = f"--model tested --base-url {url} --key sk-made-up --retry 1".split()
            argv += ["--data", dataset]
            if judge:
                argv += f"--judge {judge} --judge-base-url {url}".split()
                argv += ["--judge-key", judge_key]
        else:
            address = {"api_base": f"{url}/chat/completions", "key": "sk-made-up"}
            model = {"class": "GPT4V", "model": "tested", "retry": 1, "wait": 0}
            own = "FinTasksConversations" if dataset.endswith("_MT") else "FinTasks"
            data = config or {"class": own, "dataset": dataset}
            asked = {"model": {"tested": model | address}, "data": {dataset: data}}
            (self.folder / "config.json").write_text(json.dumps(asked))
            argv = ["--config", "config.json"]
            given = json.dumps({"base_url": url, "key": judge_key})
            argv += ["--judge", judge, "--judge-args", given] if judge else []
        environ = {
            **environment(self.folder),
            "FIN_TASKS_METADATA": json.dumps(self.metadata),
            "JUDGE_KEY": "sk-secret",
            **self.environ,
        }
        log = self.folder / "log"
        job = {"argv": [*argv, *arguments], "environ": environ}
        job |= {"folder": str(self.folder), "log": str(log)}
        self.served.bodies.clear()
        self.served.headers.clear()
        self.kit.run(job, started)
        self.log = log.read_text(encoding="utf-8", errors="replace")
        found = [path for path in self.newest().glob(f"tested_{dataset}*_summary.json")]
        return json.loads(found[0].read_text()) if found else {}

    def newest(self) -> Path:
        outputs = self.folder / "outputs" / "tested"
        if self.kit.upstream and not self.in_api_mode:
            return outputs
        return max(outputs.glob("T*"), key=os.path.getmtime)

    def asked(self, whom: str = "tested") -> int:
        return sum(body["model"] == whom for body in self.served.bodies)

    def run_folder(self, dataset: str) -> Path:
        (folder,) = self.newest().glob(f"tested_{dataset}*_run")
        return folder

    def samples(self, dataset: str) -> dict[str, dict[str, Any]]:
        """Return the lines of the newest run folder that `paper` read, by the document's id."""
        (path,) = self.run_folder(dataset).glob("tested/samples_*.jsonl")
        lines = [
            json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()
        ]
        return {line["doc"]["id"]: line for line in lines if line["filter"] == "paper"}


@pytest.fixture
def run(kit: Kit, tmp_path: Path) -> Iterator[Run]:
    def answer(body: dict[str, Any]) -> Answer:
        return made.judge(body) if body["model"] == "judge" else made.model(body)

    with serve(answer) as served:
        made = Run(kit, tmp_path, served)
        yield made


class Odd(dict[str, str]):
    """Odd replies and answers by question, each once for 14 questions; `more` follows them."""

    def __init__(self, more: str = "") -> None:
        self.more = more

    def __call__(self, body: Mapping[str, Any]) -> Answer:
        return completion(
            self.setdefault(text_of(body), ODD[len(self) % len(ODD)] + self.more)
        )


def text_of(body: Mapping[str, Any]) -> str:
    """The last text of a request."""
    content = body["messages"][-1]["content"]
    return (
        content
        if isinstance(content, str)
        else [part["text"] for part in content if part["type"] == "text"][-1]
    )


def test_the_kit_has_the_names_that_are_no_public_interface(kit: Kit) -> None:
    assert kit.missing_names == [], "see vlmeval_private.py"


@pytest.mark.parametrize("way", ["xlsx", "tsv", "json", "--api-mode"])
def test_responses_stay_whole_and_are_paid_once(run: Run, way: str) -> None:
    if not run.kit.upstream and way != "xlsx":
        pytest.skip("nvidia-vlmeval has one format and one mode")
    arguments = [way] if way == "--api-mode" else []
    run.environ = {} if arguments else {"PRED_FORMAT": way}
    run.model = Odd()
    first = run("XFinBench_MCQ_V", *arguments)
    before = run.samples("XFinBench_MCQ_V")
    assert len(before) == run.asked() == 14, run.log[-3000:]
    assert sorted(line["resps"][0][0] for line in before.values()) == sorted(ODD)
    again = run("XFinBench_MCQ_V", "--reuse", *arguments)
    assert run.asked() == 0, run.log[-3000:]
    after = run.samples("XFinBench_MCQ_V")
    assert {i: line["resps"] for i, line in after.items()} == {
        i: line["resps"] for i, line in before.items()
    }
    assert again == first
    kept = (
        (run.newest() / "tested_XFinBench_MCQ_V_responses.jsonl")
        .read_text()
        .splitlines()
    )
    assert json.loads(kept[0])["provenance"]["data"]["origin"] == "sample", (
        "what was asked stands there in every mode"
    )


def test_a_killed_run_goes_on(run: Run) -> None:
    enough, odd = threading.Event(), Odd()

    def model(body: dict[str, Any]) -> Answer:
        if run.asked() > 8:
            enough.set()
            threading.Event().wait(2)
        return odd(body)

    def kill(process: int) -> None:
        enough.wait(60)
        threading.Event().wait(1)  # for the kit to save what it has
        os.kill(process, signal.SIGKILL)

    run.model = model
    run("XFinBench_MCQ_V", started=kill)
    run.model = odd
    assert run("XFinBench_MCQ_V", "--reuse")["n"] == 14, run.log[-3000:]
    assert run.asked() <= 10, (
        "four requests were under way, and a response may not be on the disk yet"
    )


def test_only_failed_requests_are_repeated(run: Run) -> None:
    odd = Odd()
    failing: set[str] = set()

    def model(body: dict[str, Any]) -> Answer:
        if len(failing) < 2:
            failing.add(text_of(body))
        return (500, {}, {}) if text_of(body) in failing else odd(body)

    run.model = model
    first = run("XFinBench_MCQ_V")
    assert first["unscored_robust"] == pytest.approx(100 * 2 / 14), run.log[-3000:]
    assert first["unscored_paper"] == 0, "the authors count a failure as wrong"
    status, worst, output = verify(
        run.run_folder("XFinBench_MCQ_V"), "--metadata", json.dumps(run.metadata)
    )
    assert (status, worst["scores"]) == (3, "not verified"), output
    run.model = odd
    again = run("XFinBench_MCQ_V", "--reuse")
    assert run.asked() == 2
    assert (again["unscored_robust"], again["unscored_paper"]) == (0, 0)


def test_a_model_that_is_down_is_an_error(run: Run) -> None:
    run.model = lambda _: (500, {}, {})
    assert run("XFinBench_MCQ_V") == {}
    assert "got 14 failures of 14" in run.log, run.log[-3000:]
    assert not list(run.newest().glob("*_run"))
    run.model = Odd()
    assert run("XFinBench_MCQ_V", "--reuse")["n"] == run.asked() == 14


def test_a_config_names_a_data_set_as_it_likes(run: Run) -> None:
    data = {"class": "FinTasks", "dataset": "XFinBench_MCQ_V"}
    run.model = Odd()
    found = run("with_figures", config=data)
    assert (found["n"], run.asked()) == (14, 14), run.log[-3000:]
    (results,) = run.run_folder("with_figures").glob("tested/results_*.json")
    assert json.loads(results.read_text())["model_name"] == "tested"


def test_an_unknown_data_set_is_refused_before_the_model_is_asked(run: Run) -> None:
    assert run("mine", config={"class": "FinTasks"}) == {}
    assert "expected one of" in run.log, run.log[-3000:]
    assert run.asked() == 0


def test_other_questions_are_asked_anew(run: Run) -> None:
    run("XFinBench_MCQ_V")
    run.metadata = {**SAMPLE, "style": "da"}
    run.model = lambda _: completion("A")
    run("XFinBench_MCQ_V", "--reuse")
    assert run.asked() == 14
    assert {
        line["resps"][0][0] for line in run.samples("XFinBench_MCQ_V").values()
    } == {"A"}


def points(body: dict[str, Any]) -> Answer:
    """The judge's points, the same for the same response; one cannot be read."""
    text = text_of(body)
    return completion("x" if "=1+1" in text else "451203"[len(text) % 6])


@pytest.mark.parametrize(
    ("dataset", "task"),
    [
        ("XFinBench_MCQ_V", "xfinbench_mcq_visual"),
        ("DynoStock_Recency_W4", "dynostock_recency_w4"),
        ("DynoStock_Statement", "dynostock_statement"),
        ("DynoStock_Reading", "dynostock_reading"),
        ("MMEFinance", "mme_finance_en"),
        ("MMEFinance_CN_NA", "mme_finance_zh_na"),
        ("MMEFinance_Binary", "mme_finance_binary_zh"),
    ],
)
def test_scores_are_lm_evals(run: Run, dataset: str, task: str, tmp_path: Path) -> None:
    judged = task.startswith("mme_finance") and "binary" not in task
    run.model, run.judge = (
        Odd("\nFinal prediction: 0.7" if "dyno" in task else ""),
        points,
    )
    run.metadata = {**SAMPLE, "sample_n": 12}
    if "dyno" in task:
        run.metadata |= {"pixels": 256, "sample_n": 6, "after": "2011-06"}
    found = run(dataset, judge="judge" if judged else "")
    assert found, run.log[-3000:]
    said = {
        line["doc"]["id"]: line["resps"][0][0] for line in run.samples(dataset).values()
    }
    judge = (
        {"judge_model": "judge", "judge_base_url": run.served.base_url}
        if judged
        else {}
    )
    theirs = run_lm_eval(
        task, answer=lambda doc: said[doc["id"]], sees=True, **run.metadata, **judge
    )["results"][task]
    for name, value in theirs.items():
        if "," in name and value != "N/A" and "_stderr" not in name:
            is_points = name.startswith("score")
            percent = value if is_points else 100 * value
            assert found[name.replace(",", "_")] == pytest.approx(percent), name
    assert found["unit"] == "percent"
    main = "score" if judged else "acc"
    assert found["overall"] == pytest.approx(found[f"{main}_paper"])
    (results,) = run.run_folder(dataset).glob("tested/results_*.json")
    facts = json.loads(results.read_text(encoding="utf-8"))
    assert ("judge" in facts["configs"][task]["metadata"]) == judged
    assert facts["vlmeval_version"] == (
        "ms-vlmeval 0.0.20" if run.kit.upstream else "nvidia-vlmeval 26.3"
    )
    _, worst, told = verify(
        run.run_folder(dataset), "--metadata", json.dumps(run.metadata)
    )
    assert {worst[item] for item in ("task", "rows")} == {"verified"}, told
    # The row whose judge could not be read has no score, so nobody can vouch for it.
    outcome = "not verified" if judged else "verified"
    assert {worst[item] for item in ("scores", "totals")} == {outcome}, told
    if not judged:
        status, admitted, told = admit(
            run.run_folder(dataset),
            tmp_path / "board",
            "--metadata",
            json.dumps(run.metadata),
        )
        assert (status, admitted["claims"]) == (3, ["prompts"]), told


def test_the_chart_may_stand_behind_the_text(run: Run) -> None:
    """DynoStock's authors sent GPT-4o, Claude and Gemini the text first."""
    run.model = lambda _: completion("Final prediction: 0.7")
    run.metadata = {**SAMPLE, "pixels": 256, "sample_n": 2, "picture": "last"}
    assert run("DynoStock_Recency_W4")["n"] == 2, run.log[-3000:]
    for body in run.served.bodies:
        content = body["messages"][-1]["content"]
        kinds = [part["type"].removesuffix("_url") for part in content]
        assert kinds == ["text", "image"]
        assert "<image>" not in text_of(body)


@pytest.mark.parametrize("arguments", [[], ["--api-mode"]])
def test_conversations_are_asked_turn_by_turn_and_judged(
    run: Run, arguments: list[str]
) -> None:
    if arguments and not run.kit.upstream:
        pytest.skip("nvidia-vlmeval has one mode")
    run.model = lambda body: completion(
        f"Answer {sum(one['role'] == 'user' for one in body['messages'])}, N/A"
    )
    scores = dict.fromkeys(load_rubric("mme_finance_mt_zh").dimensions.values(), 7)
    run.judge = lambda _: completion(json.dumps(scores, ensure_ascii=False))
    found = run("MMEFinance_MT", *arguments, judge="judge")
    assert found, run.log[-3000:]
    lines = run.samples("MMEFinance_MT")
    assert run.asked() == run.asked("judge") == len(lines) == found["n"]
    assert {line["resps"][0][0] for line in lines.values()} >= {
        "Answer 1, N/A",
        "Answer 2, N/A",
    }
    assert all(
        line["resps"][0][0] == f"Answer {line['doc']['turn']}, N/A"
        for line in lines.values()
    )
    assert found["score_paper"] == found["score_read_robust"] == pytest.approx(70)
    asked = [
        body["messages"] for body in run.served.bodies if body["model"] == "tested"
    ]
    pictures = {json.dumps(one).count('"image_url": {') for one in asked}
    assert 0 not in pictures and all(
        one[-2]["role"] == "assistant" for one in asked if len(one) > 2
    )
    _, worst, told = verify(
        run.run_folder("MMEFinance_MT"), "--metadata", json.dumps(run.metadata)
    )
    assert {worst[item] for item in ("task", "rows", "scores", "totals")} == {
        "verified"
    }, told
    assert run("MMEFinance_MT", "--reuse", *arguments, judge="judge") == found
    assert run.asked("judge") == 0
    assert run.asked() == (0 if run.kit.upstream else found["n"])


def test_a_judge_that_is_down_is_an_error_and_nothing_is_paid_twice(run: Run) -> None:
    run.model, run.judge = Odd(), lambda _: (401, {}, {"error": {"message": "no"}})
    run.metadata = {**SAMPLE, "sample_n": 6}
    down = run("MMEFinance", judge="judge")
    assert (down["overall"], down["score_robust"]) == (None, None)
    assert "JudgeError" in run.log
    assert run.asked() == 6
    run.judge = lambda body: completion(str(len(text_of(body)) % 6))
    first = run("MMEFinance", "--reuse", judge="judge")
    assert (run.asked(), first["n"]) == (0, 6)
    assert run("MMEFinance", "--reuse", judge="judge") == first
    assert run.asked() == run.asked("judge") == 0
    ours = [
        path for path in run.newest().rglob("*MMEFinance*") if path.is_file()
    ]  # the kit logs keys itself
    assert ours and not any(b"sk-secret" in path.read_bytes() for path in ours)


def test_the_judge_of_the_environment_is_asked(run: Run) -> None:
    """Also at its address; --judge comes before it."""
    run.environ = {
        "FIN_TASKS_JUDGE_MODEL": "judge",
        "FIN_TASKS_JUDGE_BASE_URL": run.served.base_url,
    }
    run.metadata = {**SAMPLE, "sample_n": 3}
    assert run("MMEFinance")["score_paper"] == 80, run.log[-3000:]
    assert run.asked("judge") == 3
    run.judge = run.model = lambda _: completion("5")
    run("MMEFinance", "--reuse", judge="other")
    assert (run.asked("judge"), run.asked("other")) == (0, 3)


def test_the_kit_passes_the_key_of_a_judge_itself(run: Run) -> None:
    run.metadata = {**SAMPLE, "sample_n": 3}
    assert run("MMEFinance", judge="judge", judge_key="sk-of-the-judge"), run.log[
        -3000:
    ]
    keys = {
        headers["authorization"]
        for headers, body in zip(run.served.headers, run.served.bodies, strict=True)
        if body["model"] == "judge"
    }
    assert keys == {"Bearer sk-of-the-judge"}
    results = [path for path in run.newest().glob("*_run/**/*") if path.is_file()]
    assert results
    assert not any(b"sk-of-the-judge" in path.read_bytes() for path in results)


def test_options_about_the_judge_are_read_before_the_model_is_asked(run: Run) -> None:
    run.metadata = {**SAMPLE, "rubric": "none_such"}
    assert run("MMEFinance", judge="judge") == {}
    assert "none_such" in run.log, run.log[-3000:]
    assert run.asked() == 0
