"""FinanceMath in the real lm-eval, and its replay command, run as a user runs them."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.financemath.metrics import metrics_of
from fin_tasks.errors import SandboxError
from fin_tasks.report.collect import collect
from fin_tasks.sandbox import open_runner
from fin_tasks.settings import Settings

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
KEY = "sk-very-secret"


def _run(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("fin-tasks"))
    env = {**{k: v for k, v in os.environ.items() if not k.startswith("FIN_TASKS")}, "HF_HUB_OFFLINE": "1", **environ}
    return subprocess.run(
        [program, *arguments], cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=300
    )


@pytest.fixture(scope="module", autouse=True)
def _sandbox() -> None:
    try:
        open_runner(workers=1).close()
    except SandboxError as error:
        pytest.skip(f"no sandbox can be used here: {error}")


def _dummy(folder: Path, metadata: dict[str, str], *more: str) -> dict[str, Any]:
    done = _run(
        *("lm-eval", "--model", "dummy", "--tasks", "financemath,financemath_pot", "--metadata", json.dumps(metadata)),
        *("--confirm_run_unsafe_code", "--output_path", "out", "--log_samples", *more),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    (path,) = (folder / "out").rglob("results_*.json")
    return dict(json.loads(path.read_text()))


@pytest.fixture(scope="module")
def sample_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    folder = tmp_path_factory.mktemp("sample")
    return folder, _dummy(folder, {"source": "sample"})


def test_both_variants_and_every_metric(sample_run: tuple[Path, dict[str, Any]]) -> None:
    for task, mode in (("financemath", "cot"), ("financemath_pot", "pot")):
        results = sample_run[1]["results"][task]
        for variant in ("paper", "robust"):
            for metric in metrics_of(mode=mode):
                assert f"{metric},{variant}" in results
                assert f"{metric}_stderr,{variant}" in results
            assert results[f"acc,{variant}"] == 0.0
            assert results[f"no_answer,{variant}"] == 1.0
            assert results[f"unscored,{variant}"] == 0.0


def test_what_was_asked_is_written_down(sample_run: tuple[Path, dict[str, Any]]) -> None:
    facts = sample_run[1]["configs"]["financemath"]["metadata"]["provenance"]
    assert facts["data"]["origin"] == "sample"
    assert facts["rows"] == 25
    assert facts["truths"]["rounded"] == []


def test_samples_are_replayed(sample_run: tuple[Path, dict[str, Any]]) -> None:
    for task, mode in (("financemath", "cot"), ("financemath_pot", "pot")):
        (path,) = (sample_run[0] / "out").rglob(f"samples_{task}_2*.jsonl")
        done = _run("replay", "financemath", "--mode", mode, str(path), "--json", cwd=sample_run[0])
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert (summary["n"], summary["acc"], summary["no_answer"]) == (25, 0.0, 25)
        assert (summary["model"], summary["split"]) == ("dummy", "sample")


def test_replayed_samples_stand_in_the_columns_of_their_run(sample_run: tuple[Path, dict[str, Any]]) -> None:
    folder = sample_run[0]
    for task, mode in (("financemath", "cot"), ("financemath_pot", "pot")):
        (path,) = (folder / "out").rglob(f"samples_{task}_2*.jsonl")
        done = _run("replay", "financemath", "--mode", mode, str(path), "--model", "again", "--json", cwd=folder)
        (folder / f"{mode}.json").write_text(done.stdout, encoding="utf-8")
    settings = replace(Settings.from_environ({}), cache_dir=folder / "cache")
    found = collect([folder / "out", folder / "cot.json", folder / "pot.json"], settings=settings, published=False)
    assert not found.problems
    values: dict[str, dict[tuple[str, ...], tuple[Any, ...]]] = {"dummy": {}, "again": {}}
    for one in found.entries:
        place = (one.task, one.split, one.variant, one.mode, one.style, one.judge, one.metric)
        values[one.model][place] = (one.value, one.low, one.high, one.n, one.unscored)
    # of programs only what the authors took out of responses is replayed
    replayed = {place: of for place, of in values["dummy"].items() if (place[3], place[2]) != ("pot", "robust")}
    assert values["again"] == replayed
    assert len(replayed) > 30


@pytest.mark.skipif(not (SHARED / "financemath").is_dir(), reason=f"the authors' files are not at {SHARED}")
def test_the_authors_questions(tmp_path: Path) -> None:
    results = _dummy(tmp_path, {"data_dir": str(SHARED)}, "--limit", "3")
    facts = results["configs"]["financemath_pot"]["metadata"]["provenance"]
    assert (facts["data"]["origin"], facts["rows"], facts["left_out"]) == ("data_dir", 200, {})


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--mode", "da"), "expected cot or pot, got 'da'"),
        (("--variant", "lax"), "expected paper or robust, got 'lax'"),
        (("--mode", "cot", "--judge", "some"), "expected missing or all, got 'some'"),
        (("--mode", "pot", "--judge-model", "m"), "expected --mode cot"),
        (("--mode", "cot", "--judge-model", "m", "--judge-base-url", "nowhere"), "expected an address"),
    ],
)
def test_what_is_refused(tmp_path: Path, arguments: tuple[str, ...], told: str) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"question_id": 0, "output": "I cannot say.", "ground_truth": 1}), encoding="utf-8")
    done = _run("replay", "financemath", str(file), *arguments, cwd=tmp_path, FIN_TASKS_CACHE=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert told in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def judge() -> Iterator[tuple[str, list[str]]]:
    """A judge that finds 7 in what it is shown, nothing in what the dummy model says, and breaks over an 8."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(body["messages"][1]["content"])
            response = asked[-1].split("\n")[1]
            text = '{"answer": null}' if response == "lol" else "what?" if "8" in response else '{"answer": "7"}'
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
            reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
            data = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1", asked
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_judge_reads_what_the_rules_cannot(tmp_path: Path, judge: tuple[str, list[str]]) -> None:
    base_url, asked = judge
    texts = ["Therefore, the answer is 7.", "either 7 or so, hard to say (", "either 8 or so, hard to say ("]
    rows = [{"question_id": at, "output": [text], "ground_truth": 7} for at, text in enumerate(texts)]
    (tmp_path / "rows.json").write_text(json.dumps(rows), encoding="utf-8")
    for _ in range(2):  # the second time only what could not be used is asked again
        done = _run(
            *("replay", "financemath", "--mode", "cot", "rows.json", "--json", "--items", "items.jsonl"),
            *("--judge-model", "reader", "--judge-base-url", base_url),
            cwd=tmp_path,
            FIN_TASKS_CACHE=str(tmp_path / "cache"),
            OPENAI_API_KEY=KEY,
        )
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert (summary["acc"], summary["read_by_judge"], summary["judge_failed"]) == (1.0, 1, 1)
        assert (summary["unscored"], summary["no_answer"]) == (1, 0)
        assert "1 response(s) could not be judged, 1 of them unscored" in done.stderr
        items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
        assert [item["read_by"] for item in items] == ["rules", "judge", None]
        assert "what?" in items[2]["judge_error"]
        assert KEY not in done.stdout + done.stderr
    assert len(asked) == 3
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]


def test_the_harness_asks_the_judge_too(tmp_path: Path, judge: tuple[str, list[str]]) -> None:
    base_url, asked = judge
    metadata = {"source": "sample", "judge_model": "reader", "judge_base_url": base_url}
    done = _run(
        *("lm-eval", "--model", "dummy", "--tasks", "financemath", "--metadata", json.dumps(metadata)),
        *("--output_path", "out", "--log_samples"),
        cwd=tmp_path,
        FIN_TASKS_CACHE=str(tmp_path / "cache"),
        OPENAI_API_KEY=KEY,
    )
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "out").rglob("results_*.json")
    results = json.loads(path.read_text())["results"]["financemath"]
    for variant in ("paper", "robust"):
        found = [results[f"{metric},{variant}"] for metric in ("acc", "no_answer", "judge_error", "unscored")]
        assert found == [0.0, 1.0, 0.0, 0.0]
    assert len(asked) == 1  # 25 equal responses, two variants
    (samples,) = (tmp_path / "out").rglob("samples_financemath_*.jsonl")
    assert json.loads(json.loads(samples.read_text().splitlines()[0])["filtered_resps"][0][0])["read_by"] == "judge"
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()]
