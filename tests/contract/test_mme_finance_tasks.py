"""MME-Finance in the real lm-eval, with a model and a judge on loopback, run as a user runs it."""

import base64
import hashlib
import json
import math
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from chat_server import Answer, Served, completion, serve
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from fin_tasks.benchmarks.mme_finance.metrics import image_style_of, image_type_of, metrics_of
from fin_tasks.benchmarks.mme_finance.old_data import IMAGE_MARK, load
from fin_tasks.benchmarks.mme_finance.row import CATEGORIES
from fin_tasks.errors import ConfigError
from fin_tasks.resources import judges_dir, task_yaml_dir

SOURCE = {"source": "sample"}
KEY = "sk-very-secret"
DOWN = "http://127.0.0.1:9/v1"  # the port of a service that nobody runs
LANGUAGES = ("en", "zh")
TASKS = tuple(f"mme_finance_{language}" for language in LANGUAGES)


def second_prompts() -> set[str]:
    """The second question of each language: the model says nothing to it."""
    return {load(language=language, **SOURCE)["test"][1]["prompt"].removeprefix(IMAGE_MARK) for language in LANGUAGES}


def model_answers(body: Mapping[str, Any], silent: set[str]) -> Answer:
    """A response that tells one question from the others, or none."""
    text = next(part["text"] for part in body["messages"][-1]["content"] if part["type"] == "text")
    digest = hashlib.sha256(words(body).encode()).hexdigest()[:8]
    return completion("" if text in silent else f"My answer is {digest}.")


def points(response: str) -> int:
    found = re.search(r"My answer is ([0-9a-f]{8})", response)
    assert found
    return int(found[1], 16) % 6


def judge_scores(body: Mapping[str, Any]) -> Answer:
    return completion(str(points(words(body))))


def words(body: Mapping[str, Any]) -> str:
    return json.dumps(body["messages"])


@dataclass(frozen=True)
class Servers:
    model: Served
    judge: Served


@pytest.fixture(scope="module")
def servers() -> Iterator[Servers]:
    silent = second_prompts()
    with serve(lambda body: model_answers(body, silent)) as model, serve(judge_scores) as judge:
        yield Servers(model, judge)


def command(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("fin-tasks"))
    clean = {k: v for k, v in os.environ.items() if not k.startswith("FIN_TASKS") and "proxy" not in k.lower()}
    env = {**clean, "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": KEY, "FIN_TASKS_CACHE": str(cwd / "cache"), **environ}
    return subprocess.run(
        [program, *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=300
    )


def lm_eval(
    servers: Servers, cwd: Path, tasks: str, metadata: Mapping[str, Any], *more: str, out: str = "out", **environ: str
) -> subprocess.CompletedProcess[str]:
    address = f"{servers.model.base_url}/chat/completions"
    return command(
        *("lm-eval", "--model", "local-chat-completions"),
        *("--model_args", f"model=m,base_url={address},num_concurrent=4,max_retries=3"),
        *("--tasks", tasks, "--metadata", json.dumps({**SOURCE, **metadata}), "--apply_chat_template"),
        *("--output_path", out, *more),
        cwd=cwd,
        **environ,
    )


def evaluate(servers: Servers, task: str, metadata: Mapping[str, Any], *, limit: int | None = None) -> dict[str, Any]:
    """The same in this process, which has lm-eval imported."""
    tasks = TaskManager(metadata={**SOURCE, **metadata}, include_path=task_yaml_dir(), include_defaults=False)
    address = f"{servers.model.base_url}/chat/completions"
    found = simple_evaluate(
        model="local-chat-completions",
        model_args={"model": "m", "base_url": address, "num_concurrent": 4, "max_retries": 3},
        tasks=[task],
        task_manager=tasks,
        apply_chat_template=True,
        limit=limit,
        bootstrap_iters=0,
    )
    return dict(found)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch, no_proxy: None) -> pytest.MonkeyPatch:
    """No pauses before another attempt."""
    for name in ("FIN_TASKS_DATA", "FIN_TASKS_JUDGE_MODEL", "FIN_TASKS_JUDGE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("fin_tasks.endpoints.asker.backoff", lambda _: 0.0)
    return monkeypatch


def judge_named(servers: Servers, **more: Any) -> dict[str, Any]:
    return {"judge_model": "judge", "judge_base_url": servers.judge.base_url, **more}


def results_of(folder: Path) -> dict[str, Any]:
    (path,) = folder.rglob("results_*.json")
    return dict(json.loads(path.read_text()))


def samples_file(folder: Path, task: str) -> Path:
    (path,) = folder.rglob(f"samples_{task}_2*.jsonl")
    return path


def samples_of(folder: Path, task: str, variant: str) -> list[dict[str, Any]]:
    lines = samples_file(folder, task).read_text(encoding="utf-8").splitlines()
    return [sample for sample in map(json.loads, lines) if sample["filter"] == variant]


@pytest.fixture(scope="module")
def run(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    done = lm_eval(servers, folder, "mme_finance", judge_named(servers), "--log_samples")
    assert done.returncode == 0, done.stderr
    return folder


def expected(sample: Mapping[str, Any], variant: str) -> float | None:
    response = sample["resps"][0][0]
    if not response:
        return 0.0 if variant == "paper" else None
    return points(response) * 20.0


def mean(values: list[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present) if present else None


@pytest.mark.parametrize("variant", ["paper", "robust"])
def test_every_sum_is_right(run: Path, variant: str) -> None:
    results = results_of(run / "out")["results"]
    sizes, headline = [], []
    for task in TASKS:
        samples, found = samples_of(run / "out", task, variant), results[task]
        scores = [expected(sample, variant) for sample in samples]
        groups: dict[str, list[float | None]] = {"score": scores}
        for sample, score in zip(samples, scores, strict=True):
            doc = sample["doc"]
            for name in (
                f"score_{CATEGORIES[doc['category']].short}",
                f"score_type_{image_type_of(doc['image_type'])}".replace(" ", "_"),
                f"score_style_{image_style_of(doc['image_style'])}".replace(" ", "_"),
            ):
                groups.setdefault(name, []).append(score)
        for name, values in groups.items():
            present = [value for value in values if value is not None]
            assert found[f"{name},{variant}"] == (pytest.approx(mean(values), abs=1e-9) if present else "N/A"), name
            if len(present) > 1:
                stderr = statistics.stdev(present) / math.sqrt(len(present))
                assert found[f"{name}_stderr,{variant}"] == pytest.approx(stderr, abs=1e-9), name
        silent = sum(not sample["resps"][0][0] for sample in samples)
        assert silent  # or the test would not see what becomes of them
        assert found[f"no_response,{variant}"] == silent / len(samples)
        assert found[f"unscored,{variant}"] == (0.0 if variant == "paper" else silent / len(samples))
        assert found[f"judge_error,{variant}"] == 0.0
        assert found[f"n_scored,{variant}"] == len(samples) - (0 if variant == "paper" else silent)
        assert {f"{name},{variant}" for name in metrics_of()} <= found.keys()
        sizes.append(len(samples))
        headline.append(found[f"score,{variant}"])
    weighted = sum(size * score for size, score in zip(sizes, headline, strict=True)) / sum(sizes)
    assert results["mme_finance"][f"score,{variant}"] == pytest.approx(weighted, abs=1e-9)


def test_model_and_judge_see_the_picture_and_the_judge_is_asked_once_a_response(run: Path, servers: Servers) -> None:
    samples = [sample for task in TASKS for sample in samples_of(run / "out", task, "robust")]
    spoken = [sample for sample in samples if sample["resps"][0][0]]
    assert len(servers.model.bodies) == len(samples)
    assert len(servers.judge.bodies) == len(spoken)
    for sample in spoken:
        response, picture = sample["resps"][0][0], Path(sample["doc"]["image_path"]).read_bytes()
        (body,) = [body for body in servers.judge.bodies if response in words(body)]
        assert base64.b64encode(picture).decode() in words(body)
        # the model sees the file itself, and nothing that was made of it
        assert [base64.b64encode(picture).decode() in words(seen) for seen in servers.model.bodies].count(True) >= 1
        assert body["max_tokens"] == 3 and body["temperature"] == 0
    assert not [body for body in servers.model.bodies if "<image>" in words(body)]
    for body in servers.model.bodies:
        assert [part["type"] for part in body["messages"][-1]["content"]].count("image_url") == 1


def test_samples_name_pictures_by_their_hash(run: Path) -> None:
    for task in TASKS:
        assert ";base64," not in samples_file(run / "out", task).read_text(encoding="utf-8")
        for variant in ("paper", "robust"):
            for sample in samples_of(run / "out", task, variant):
                digest = hashlib.sha256(Path(sample["doc"]["image_path"]).read_bytes()).hexdigest()
                (asked,) = sample["arguments"]["gen_args_0"]["arg_0"]
                (picture,) = [
                    part["image_url"]["url"] for part in json.loads(asked)[-1]["content"] if part["type"] == "image_url"
                ]
                assert re.fullmatch(rf"data:image/(png|jpeg);sha256,{digest}", picture)


def test_what_was_asked_and_who_judged_is_written_down_without_key_or_address(run: Path, servers: Servers) -> None:
    configs = results_of(run / "out")["configs"]
    for language, task in zip(LANGUAGES, TASKS, strict=True):
        facts = configs[task]["metadata"]["provenance"]
        assert (facts["language"], facts["na"], facts["data"]["origin"]) == (language, False, "sample")
        judge = configs[task]["metadata"]["judge"]
        assert judge["rubric"].startswith(f"mme_finance_{language}@")
        assert (judge["model"], judge["image"], judge["temperatures"]) == ("judge", True, [0, 0.5, 1, 1.5, 2])
        assert servers.judge.base_url not in json.dumps(configs[task]["filter_list"])
        (record,) = [
            json.loads(sample["filtered_resps"][0][0]) for sample in samples_of(run / "out", task, "robust")[:1]
        ]
        assert (record["judge"], record["rubric"]) == ("judge", judge["rubric"])
    assert not [path for path in run.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
    assert {headers["authorization"] for headers in servers.judge.headers} == {f"Bearer {KEY}"}


def test_a_second_run_asks_nobody_twice_and_another_judge_or_rubric_anew(
    run: Path, servers: Servers, at_once: pytest.MonkeyPatch
) -> None:
    at_once.setenv("FIN_TASKS_CACHE", str(run / "cache"))
    before = len(servers.judge.bodies)
    first = results_of(run / "out")["results"]["mme_finance_en"]
    again = evaluate(servers, "mme_finance_en", judge_named(servers))["results"]["mme_finance_en"]
    assert len(servers.judge.bodies) == before
    scores = {name: value for name, value in again.items() if name.startswith(("score", "unscored", "judge_error"))}
    assert scores == {name: first[name] for name in scores}
    rubric = run / "mine.yaml"
    text = (judges_dir() / "old" / "mme_finance_en.yaml").read_text(encoding="utf-8")
    rubric.write_text(text.replace("250 words", "240 words"), encoding="utf-8")
    for named in ({"judge_model": "other"}, {"judge_rubric": str(rubric)}, {"judge_image": False}):
        before = len(servers.judge.bodies)
        for _ in range(2):
            evaluate(servers, "mme_finance_en", judge_named(servers, **named), limit=1)
            assert len(servers.judge.bodies) - before == 1


def test_responses_alone_are_judged_later_with_the_same_scores(run: Path, servers: Servers, tmp_path: Path) -> None:
    before = len(servers.judge.bodies)
    done = lm_eval(servers, tmp_path, "mme_finance_en", judge_named(servers), "--predict_only")
    assert done.returncode == 0, done.stderr
    assert len(servers.judge.bodies) == before
    assert "fin-tasks judge SAMPLES.jsonl --rubric mme_finance_en" in done.stderr
    results = results_of(run / "out")["results"]["mme_finance_en"]
    for saved in (samples_file(tmp_path / "out", "mme_finance_en"), samples_file(run / "out", "mme_finance_en")):
        done = command(
            *("judge", str(saved), "--rubric", "mme_finance_en", "--model", "judge", "--json"),
            *("--base-url", servers.judge.base_url),
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert summary["overall"] == pytest.approx(results["score,robust"], abs=1e-9)
        assert summary["overall_paper"] == pytest.approx(results["score,paper"], abs=1e-9)
        for name, score in summary["by_category"].items():
            found = results[f"score_{CATEGORIES[name].short},robust"]
            assert score == (None if found == "N/A" else pytest.approx(found, abs=1e-9))


@pytest.mark.usefixtures("at_once")
def test_without_a_judge_responses_are_kept_and_it_is_told_how_to_judge_them(
    servers: Servers, caplog: pytest.LogCaptureFixture
) -> None:
    results = evaluate(servers, "mme_finance_zh_na", {}, limit=3)
    for variant in ("paper", "robust"):
        found = results["results"]["mme_finance_zh_na"]
        assert math.isnan(found[f"score,{variant}"])
        assert (found[f"unscored,{variant}"], found[f"judge_error,{variant}"]) == (1.0, "N/A")
        assert found[f"no_response,{variant}"] == 0.0
    assert results["configs"]["mme_finance_zh_na"]["metadata"]["judge"] is None
    samples = [sample for sample in results["samples"]["mme_finance_zh_na"] if sample["filter"] == "robust"]
    assert all(sample["resps"][0][0].startswith("My answer") for sample in samples)
    assert len(samples) == 3
    assert "no judge is configured, so 3 responses stay unscored" in caplog.text
    assert "fin-tasks judge SAMPLES.jsonl --rubric mme_finance_zh" in caplog.text


@pytest.mark.parametrize("how", ["down", "garbage"])
def test_a_judge_that_does_not_work_loses_nothing(
    how: str, servers: Servers, tmp_path: Path, at_once: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    at_once.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    with serve(lambda _: completion("I think it is fine")) as garbage:
        address = DOWN if how == "down" else garbage.base_url
        named = {"judge_model": "judge", "judge_base_url": address}
        done = evaluate(servers, "mme_finance_zh", named, limit=3)
        assert len(garbage.bodies) == (0 if how == "down" else 2 * 5)
    for variant in ("paper", "robust"):
        found = done["results"]["mme_finance_zh"]
        assert math.isnan(found[f"score,{variant}"])
        assert (found[f"unscored,{variant}"], found[f"judge_error,{variant}"]) == (1.0, 1.0)
    assert len(done["samples"]["mme_finance_zh"]) == 2 * 3
    assert "the judge failed" in caplog.text
    assert "fin-tasks judge SAMPLES.jsonl --rubric mme_finance_zh" in caplog.text


@pytest.mark.parametrize(
    ("metadata", "told"),
    [
        ({"judge_base_url": DOWN}, "expected judge_model beside it"),
        ({"judge_model": "m", "judge_modle": "x"}, r"Is it judge_model\?"),
        ({"judge_model": "m", "judge_rubric": "xfinbench"}, "xfinbench"),
        ({"judge_model": "m", "language": "zh"}, "metadata sets language, which this task fixes"),
    ],
)
def test_a_wrong_option_ends_the_run_before_the_model_is_asked(
    metadata: dict[str, Any], told: str, servers: Servers, at_once: pytest.MonkeyPatch
) -> None:
    before = len(servers.model.bodies)
    with pytest.raises(ConfigError, match=told):
        evaluate(servers, "mme_finance_en", metadata, limit=1)
    assert len(servers.model.bodies) == before
