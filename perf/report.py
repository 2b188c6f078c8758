"""A hundred runs over the test set of XFinBench, made a report: anew, all unchanged, and one of them changed.

    python perf/report.py [--runs N] [--rows N] [--keep FOLDER]

Runs are made first, outside the clock: the four tasks of XFinBench with documents, prompts and responses as long as
real ones (some 6 kB a line), every document under two filters, and the results file that goes with them. Then what
`fin-tasks report` does is measured, each side in a process of its own, as is everything that it starts: seconds, those
of processors, and memory; with the pages of samples, as is the default, and without (`--no-samples`).

- cold: nothing was read before, there is no earlier report; every file is read from the disk's cache.
- warm: the same again into the same folder; no file of a run is opened.
- one changed: the same after the files of one run were written anew.

Goal: 60 s and 2 GB on two cores.
"""

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

from tqdm import tqdm

from fin_tasks.report.collect import collect
from fin_tasks.report.leaderboard import document
from fin_tasks.report.report_files import check_folder, write_report
from fin_tasks.settings import Settings

DATE = "2026-03-01T10-00-00.123456"
SHARES = {"bool": 1360, "mcq": 468, "mcq_visual": 124, "calc": 1283}  # of the test set's rows
CODES = ("TU", "TR", "FF", "SP", "NM")
WORDS = ("bond", "yield", "of", "the", "portfolio", "rises", "by", "duration", "times", "spread", "and", "option")


def main() -> None:
    """Make the runs, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--rows", type=int, default=4235, help="documents of a run")
    parser.add_argument("--keep", type=Path, help="make the runs here and leave them; they are used again")
    parser.add_argument("--side", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        measure(*map(Path, arguments.side[:3]), samples=arguments.side[3] == "samples")
        return
    with tempfile.TemporaryDirectory(dir=arguments.keep and arguments.keep.parent) as temporary:
        made = arguments.keep or Path(temporary) / "made"
        if not made.exists():
            make(made, runs=arguments.runs, rows=arguments.rows)
        size = sum(file.stat().st_size for file in made.rglob("*.json*"))
        print(f"{arguments.runs} runs x {arguments.rows:,} rows x 2 filters, {size / 1e9:.1f} GB")
        runs = Path(temporary) / "runs"
        shutil.copytree(made, runs, copy_function=os.link)  # a run of them will change
        for kind in ("samples", "numbers alone"):
            print(f"with {kind}:")
            given = [str(runs), *(str(Path(temporary) / f"{name} {kind}") for name in ("cache", "out")), kind]
            cold = tell("cold", given)
            tell("warm", given, beside=cold)
            change(runs)
            tell("one changed", given, beside=cold)


def change(runs: Path) -> None:
    """Write the files of the first run anew."""
    for file in min(runs.iterdir()).iterdir():
        content = file.read_bytes()
        file.unlink()  # a link to the one that is kept
        file.write_bytes(content)


def tell(side: str, arguments: list[str], *, beside: float | None = None) -> float:
    """Measure one side, print what it took, and how much faster that is; return the seconds."""
    command = [sys.executable, __file__, "--side", *arguments]
    begun = time.perf_counter()
    told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    seconds = time.perf_counter() - begun
    ratio = f", {beside / seconds:.1f} times as fast as cold" if beside else ""
    parts = f"({told['collected']:.1f} collecting, {told['rendered']:.1f} rendering)"
    print(
        f"  {side}: {seconds:.1f} s {parts}, {told['cpu']:.0f} s of processors, "
        f"{told['peak_mb']:,.0f} MB at most{ratio}"
    )
    return seconds


def measure(folder: Path, cache: Path, out: Path, *, samples: bool) -> None:
    """Make the report; print seconds and memory as JSON."""
    memory = Memory()
    begun = time.perf_counter()
    settings = replace(Settings.from_environ(), cache_dir=cache)
    with memory:
        check_folder(out)
        found = collect([folder], settings=settings)
        collected = time.perf_counter() - begun
        write_report(document(found), found, out, samples=samples)
    rendered = time.perf_counter() - begun - collected
    assert not found.problems, found.problems
    told = {"collected": collected, "rendered": rendered, "peak_mb": memory.peak / 1e6, "cpu": memory.seconds()}
    print(json.dumps(told))


class Memory:
    """What this process and those it started took: memory at most, and time; seen twice a second."""

    def __init__(self) -> None:
        self.peak = 0
        self._spent: dict[int, float] = {}
        self._stop = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Memory":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(0.5):
            processes = family(os.getpid())
            self.peak = max(self.peak, sum(held(process) for process in processes))
            self._spent |= {process: spent for process in processes if (spent := spent_by(process))}

    def seconds(self) -> float:
        """Return the seconds of processors they took, as far as was seen."""
        return sum(self._spent.values())


def family(process: int) -> list[int]:
    """Give a process and all that it started, as Linux tells them."""
    try:
        threads = list(Path(f"/proc/{process}/task").iterdir())
        children = [int(child) for thread in threads for child in (thread / "children").read_text().split()]
    except OSError:  # it ended meanwhile
        return []
    return [process, *(one for child in children for one in family(child))]


def held(process: int) -> int:
    """Give the bytes of memory a process holds, pages that several share divided among them."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text()
    except OSError:
        return 0
    return 1024 * next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))


def spent_by(process: int) -> float:
    """Give the seconds of processors that a process took."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def make(folder: Path, *, runs: int, rows: int) -> None:
    """Write runs; their documents are the same, their scores are not."""
    chance = random.Random(42)  # noqa: S311
    total = sum(SHARES.values())
    tasks = {task: max(2, round(rows * share / total)) for task, share in SHARES.items()}
    tasks["calc"] += rows - sum(tasks.values())
    docs = {task: [made_document(task, place, chance) for place in range(n)] for task, n in tasks.items()}
    texts = [words(chance, 330) for _ in range(200)]
    for number in tqdm(range(runs), desc="Making runs", unit="run"):
        write_run(folder / f"org__model-{number:03}", number, docs, texts, random.Random(number))  # noqa: S311


def words(chance: random.Random, n: int) -> str:
    """Give a text of `n` words."""
    return " ".join(chance.choices(WORDS, k=n))


def made_document(task: str, place: int, chance: random.Random) -> dict[str, Any]:
    """Give a document as long as a real one."""
    figure = f"test_figure_{place // 3}" if task == "mcq_visual" else ""
    return {
        **{"id": f"test_{task}_{place}", "task": task, "subset": task, "mode": "cot", "choices": []},
        **{"ground_truth": "1.0", "target": "Therefore, my answer is true.", "has_table": False, "figure": figure},
        **{"capabilities": chance.sample(CODES, k=1 + place % 2), "gold_terms": ["term_12"], "terms": []},
        **{"system": words(chance, 12), "prompt": words(chance, 220), "cue": "Solution:"},
    }


def write_run(
    folder: Path, number: int, docs: dict[str, list[dict[str, Any]]], texts: list[str], chance: random.Random
) -> None:
    """Write the files of one run."""
    folder.mkdir(parents=True)
    skill = 0.3 + 0.005 * number
    results: dict[str, Any] = {"results": {}, "configs": {}, "versions": {}, "n-samples": {}, "n-shot": {}}
    for task, of_task in docs.items():
        name = f"xfinbench_{task}"
        values: dict[str, list[float | None]] = {}
        with (folder / f"samples_{name}_{DATE}.jsonl").open("w", encoding="utf-8") as file:
            scored = [float(chance.random() < skill) for _ in of_task]
            for variant in ("paper", "robust"):
                for place, (doc, acc) in enumerate(zip(of_task, scored, strict=True)):
                    row = {"acc": acc, "no_answer": 0.0, "unscored": 0.0}
                    row |= {f"acc_{code}": acc if code in doc["capabilities"] else None for code in CODES}
                    for metric, value in row.items():
                        values.setdefault(f"{metric},{variant}", []).append(value)
                    file.write(json.dumps(line(doc, place, variant, row, chance.choice(texts))) + "\n")
        results["results"][name] = {key: mean(column) for key, column in values.items()}
        results["versions"][name] = 1.0
        results["n-shot"][name] = 0
        results["n-samples"][name] = {"original": len(of_task), "effective": len(of_task)}
        results["configs"][name] = {"metadata": {"provenance": provenance()}}
    results |= {"model_name": f"org/model-{number:03}", "lm_eval_version": "0.4.13"}
    results["config"] = {"model": "hf", "model_args": {"pretrained": f"org/model-{number:03}"}, "limit": None}
    (folder / f"results_{DATE}.json").write_text(json.dumps(results), encoding="utf-8")


def line(doc: dict[str, Any], place: int, variant: str, row: dict[str, Any], text: str) -> dict[str, Any]:
    """Give a line of a samples file."""
    twice = {f"{metric}_stderr": value for metric, value in row.items()}
    prompt = f"{doc['system']}\n\n{doc['prompt']}\n\n{doc['cue']}"
    return {
        **{"doc_id": place, "doc": doc, "target": doc["target"], "arguments": {"gen_args_0": {"arg_0": prompt}}},
        **{"resps": [[text]], "filtered_resps": [[json.dumps({"answer": 1, "correct": row["acc"]})]]},
        **{"filter": variant, "metrics": [*row, *twice], "doc_hash": "a" * 64, "prompt_hash": "b" * 64},
        **row,
        **twice,
    }


def mean(column: list[float | None]) -> float | str:
    """Average what is there, as lm-eval writes it."""
    there = [value for value in column if value is not None]
    return sum(there) / len(there) if there else "N/A"


def provenance() -> dict[str, Any]:
    """Give what a task records."""
    return {
        **{"fin_tasks": "0.1.0", "scorer": 1, "split": "test", "style": {"mode": "cot", "role": True}},
        **{"prompts": {"set": "house", "sha256": "c" * 64}, "data": {"origin": "upstream", "revision": "d" * 16}},
    }


if __name__ == "__main__":
    main()
