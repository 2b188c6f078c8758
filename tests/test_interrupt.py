"""Ctrl-C: one sentence about what is kept, status 130, no traceback."""

import json
import os
import signal
import socketserver
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import joblib
import pytest
import typer
from chat_server import completion, serve

import fin_tasks
from fin_tasks.cli import app
from fin_tasks.interrupt import on_interrupt, what_is_kept
from fin_tasks.resources import task_yaml_dir
from fin_tasks.workers import workers

FIN_TASKS = ("-m", "fin_tasks")
ROW = {"question": "?", "answer": "1", "task_category": "OCR"}
ROWS = [{**ROW, "index": number, "prediction": f"{number}"} for number in range(100)]
EVALUATE = """
import sys
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager
folder, metadata = sys.argv[1:]
manager = TaskManager(include_path=folder, include_defaults=False, metadata=eval(metadata))
simple_evaluate("dummy", tasks=["financemath"], task_manager=manager)
"""
CONCURRENCY = 16
JUDGE = (
    *("judge", "rows.json", "--rubric", "mme_finance_en", "--model", "m"),
    *("--no-image", "--concurrency", f"{CONCURRENCY}"),
)


class Command:
    """A command in a terminal, which sends Ctrl-C to all its processes."""

    def __init__(self, folder: Path, *arguments: str, **environ: str) -> None:
        env = {
            name: text
            for name, text in os.environ.items()
            if not name.startswith("FIN_TASKS")
        }
        env["FIN_TASKS_CACHE"] = str(folder / "cache")
        env |= {"HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "sk-test", **environ}
        self._stderr = folder / "stderr.txt"
        with self._stderr.open("w") as stderr:
            self._process = subprocess.Popen(
                [sys.executable, *arguments],
                cwd=folder,
                env=env,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                start_new_session=True,
            )

    def press_ctrl_c(self, when: Callable[[], object]) -> None:
        deadline = time.monotonic() + 60
        while not when():
            assert time.monotonic() < deadline and self._process.poll() is None, (
                self.stderr
            )
            time.sleep(0.01)
        os.killpg(self._process.pid, signal.SIGINT)

    @property
    def stderr(self) -> str:
        return self._stderr.read_text()

    def wait(self) -> int:
        return self._process.wait(60)


@contextmanager
def silent_server() -> Iterator[tuple[str, list[bytes]]]:
    """Take requests and never answer."""
    requests: list[bytes] = []
    ended = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            requests.append(self.request.recv(1000))
            ended.wait(60)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", requests
        finally:
            ended.set()
            server.shutdown()
            thread.join()


def names_of(command: object, *above: str) -> list[str]:
    below = getattr(command, "commands", {})
    if not below:
        return [" ".join(above)]
    return [name for word, one in below.items() for name in names_of(one, *above, word)]


def test_every_command_says_what_is_kept() -> None:
    names = names_of(typer.main.get_command(app))
    for name in names:
        sentence = what_is_kept([*name.split(), "--out", "results"])
        changes_nothing = name in ("compare", "doctor", "path", "label agree")
        assert (sentence == what_is_kept([])) == changes_nothing, name
    file = Path(fin_tasks.__file__).with_name("interrupt.toml")
    for words in tomllib.loads(file.read_text("utf-8")):
        assert any(f"{name} ".startswith(f"{words} ") for name in names), words


@pytest.mark.slow
def test_a_judge_is_interrupted_and_asked_for_the_rest(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(json.dumps(ROWS))
    with serve(lambda _: completion("4"), pause=0.1) as served:
        command = [*FIN_TASKS, *JUDGE, "--base-url", f"{served.base_url}"]
        first = Command(tmp_path, *command)
        n_kept = 8
        first.press_ctrl_c(when=lambda: len(served.bodies) >= CONCURRENCY + n_kept)
        assert first.wait() == 130
        assert first.stderr.strip() == (
            "fin-tasks: interrupted: replies so far are kept in the cache, "
            "and the same command asks for the others only."
        )
        n_asked = len(served.bodies)
        assert Command(tmp_path, *command).wait() == 0
        n_asked_again = len(served.bodies) - n_asked
        assert len(ROWS) - n_asked <= n_asked_again <= len(ROWS) - n_kept


def test_a_second_ctrl_c_does_not_wait_for_replies(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(json.dumps(ROWS))
    with silent_server() as (url, requests):
        command = Command(tmp_path, *FIN_TASKS, *JUDGE, "--base-url", f"{url}/v1")
        command.press_ctrl_c(when=lambda: requests)
        command.press_ctrl_c(when=lambda: "interrupted" in command.stderr)
        assert command.wait() == -signal.SIGINT
        assert command.stderr.count("\n") == 2, command.stderr


@pytest.mark.slow
def test_lm_eval_is_interrupted_while_a_judge_is_asked(tmp_path: Path) -> None:
    with serve(lambda _: completion("4"), pause=0.2) as served:
        judge = {"reader_model": "m", "reader_base_url": served.base_url}
        metadata = repr({"source": "sample", **judge})
        command = Command(tmp_path, "-c", EVALUATE, str(task_yaml_dir()), metadata)
        command.press_ctrl_c(when=lambda: served.bodies)
        assert command.wait() == 130, command.stderr
    assert "Traceback" not in command.stderr
    assert command.stderr.strip().endswith(
        "fin-tasks: interrupted: replies so far are in the cache; "
        "responses are kept only by --use_cache."
    )


def test_a_download_is_interrupted(tmp_path: Path) -> None:
    with silent_server() as (url, requests):
        addresses = {"FIN_TASKS_GITHUB_RAW": url, "HF_ENDPOINT": url}
        options = (*FIN_TASKS, "fetch", "financemath")
        command = Command(tmp_path, *options, **addresses, HF_HUB_OFFLINE="0")
        command.press_ctrl_c(when=lambda: requests)
        assert command.wait() == 130, command.stderr
    assert command.stderr.strip().endswith("and the same command gets the others only.")
    assert "Traceback" not in command.stderr


@pytest.mark.slow
def test_programs_are_interrupted(tmp_path: Path) -> None:
    response = "```python\ndef solution():\n    while True: pass\n```"
    row = {"id": "a", "ground_truth": "6", "model_response": response}
    (tmp_path / "r.jsonl").write_text(json.dumps(row) + "\n")
    options = ("replay", "xfinbench", "--task", "calc", "--mode", "pot", "r.jsonl")
    command = Command(tmp_path, *FIN_TASKS, *options)
    begun = time.monotonic()
    command.press_ctrl_c(when=lambda: time.monotonic() > begun + 2)
    assert command.wait() == 130, command.stderr
    # A line may say before whose truths count.
    last = command.stderr.strip().splitlines()[-1]
    assert last.startswith("fin-tasks: interrupted: ")
    assert "Traceback" not in command.stderr


def test_an_import_is_interrupted(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text(
        "from pathlib import Path\nimport time\nPath('started').touch()\ntime.sleep(60)\n"
    )
    path = f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    command = Command(tmp_path, *FIN_TASKS, "doctor", PYTHONPATH=path)
    command.press_ctrl_c(when=(tmp_path / "started").exists)
    assert command.wait() == 130
    assert command.stderr == "\nfin-tasks: interrupted: nothing was changed.\n"


def blocked_signals() -> set[int]:
    return signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_other_processes_do_not_get_ctrl_c() -> None:
    """They would print a traceback of their own, because a terminal sends it to all of them."""
    with workers(2) as parallel:
        masks = parallel(joblib.delayed(blocked_signals)() for _ in range(4))
    assert all(signal.SIGINT in mask for mask in masks)
    assert signal.SIGINT not in blocked_signals()


def test_the_outermost_sentence_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGINT)
    try:
        with (
            pytest.raises(SystemExit) as ended,
            on_interrupt("outer"),
            on_interrupt("inner"),
        ):
            try:
                signal.raise_signal(signal.SIGINT)
            finally:
                raise ValueError  # as joblib does when it is interrupted
        assert ended.value.code == 130
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGINT, before)
    assert capfd.readouterr().err == "\nfin-tasks: interrupted: outer.\n"


@pytest.mark.parametrize("handler", [signal.SIG_IGN, signal.default_int_handler])
def test_nothing_stays_behind(handler: signal.Handlers) -> None:
    before = signal.signal(signal.SIGINT, handler)
    try:
        with pytest.raises(ValueError, match="another"), on_interrupt("kept"):
            changed = signal.getsignal(signal.SIGINT) is not handler
            raise ValueError("another")
        assert changed == (handler is not signal.SIG_IGN)
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, before)
