"""Make the report of a hundred runs over XFinBench's test set, beside a plain pandas loop that only reads them.

    python perf/report.py [--runs N] [--keep FOLDER] [--sides leaderboard]

Runs are made first: lines of some 6 kB, two scorings. Each side has a process of its own. Goal: the whole report of a
hundred runs takes no longer than the loop, and 1.5 GB.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import joblib
from measured import Figure, finish, options

STAMP = "2026-03-01T10-00-00.123456"
SHARES = {
    "bool": 1360,
    "mcq": 468,
    "mcq_visual": 124,
    "calc": 1283,
}  # of the test set's rows
CODES = ("TU", "TR", "FF", "SP", "NM")
WORDS = (
    "bond",
    "yield",
    "of",
    "the",
    "portfolio",
    "rises",
    "by",
    "duration",
    "times",
    "spread",
    "and",
    "option",
)
GOAL_RATIO, GOAL_GB = 1.0, 1.5
SIDES = ("report.read", "leaderboard", "whole report", "pandas loop")


def main() -> int:
    """Make the runs, measure both sides, print."""
    parser = options(__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument(
        "--keep", type=Path, help="make the runs here, or use those that are here"
    )
    parser.add_argument("--sides", nargs="+", choices=SIDES, default=SIDES)
    parser.add_argument("--side", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.side:
        measure(arguments.side[0], Path(arguments.side[1]))
        return 0
    n_runs, n_rows = (2, 40) if arguments.tiny else (arguments.runs, 4235)
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        if not folder.exists() or not any(folder.iterdir()):
            for number in range(n_runs):
                write_run(folder / f"org__model-{number:03}", number, n_rows)
        rows = 0
        for path in folder.rglob("samples_*.jsonl"):
            with path.open("rb") as file:
                rows += sum(1 for _ in file)
        print(f"{rows:,} rows", flush=True)
        measured: dict[str, dict[str, float]] = {}
        sides = SIDES[-2:] if arguments.tiny else arguments.sides
        for side in sides:
            command = [sys.executable, __file__, "--side", side, str(folder)]
            told = json.loads(
                subprocess.run(
                    command, check=True, stdout=subprocess.PIPE, text=True
                ).stdout
            )
            line = "{}: {seconds:.1f} s, {cpu:.1f} s of processors, {mb:,.0f} MB"
            print(line.format(side, **told), flush=True)
            measured[side] = told
    if not {"whole report", "pandas loop"} <= set(measured):
        return 0
    ours, plain = measured["whole report"], measured["pandas loop"]
    what = f"the whole report of {n_runs} runs, {rows:,} rows"
    beside = f"a pandas loop that only reads the files, {plain['seconds']:.0f} s"
    figures = [
        Figure(what=what, value=ours["seconds"], unit="s", beside=beside),
        Figure(
            what="the pandas loop takes as long",
            value=plain["seconds"] / ours["seconds"],
            unit="times",
            least=GOAL_RATIO,
        ),
        Figure(what="memory", value=ours["mb"] / 1000, unit="GB", most=GOAL_GB),
    ]
    return finish(figures, arguments, __file__)


def measure(side: str, folder: Path) -> None:
    """Run one side; print seconds and memory as JSON."""
    begun = time.perf_counter()
    if side == "pandas loop":
        import pandas as pd

        for file in sorted(folder.rglob("samples_*.jsonl")):
            table = pd.read_json(file, lines=True)
            table.groupby("filter")[
                [name for name in table["metrics"][0] if name in table]
            ].mean()
    elif side == "whole report":
        from fin_tasks import write_report

        with tempfile.TemporaryDirectory() as out:
            written = write_report([folder], out)
            assert not written.problems, written.problems
    else:
        from fin_tasks import report
        from fin_tasks.report.leaderboard import board

        found = report.read([folder])
        assert not found.problems, found.problems
        if side == "leaderboard":
            print(f"read after {time.perf_counter() - begun:.1f} s", file=sys.stderr)
            board(found)
    seconds = time.perf_counter() - begun
    joblib.externals.loky.get_reusable_executor().shutdown()  # its memory is known when it has ended
    own = resource.getrusage(resource.RUSAGE_SELF)
    workers = resource.getrusage(resource.RUSAGE_CHILDREN)
    n_workers = min(4, joblib.cpu_count())
    told = {
        "seconds": seconds,
        "cpu": own.ru_utime + own.ru_stime + workers.ru_utime + workers.ru_stime,
        "mb": (own.ru_maxrss + n_workers * workers.ru_maxrss) / 1000,
    }
    print(json.dumps(told))


def write_run(folder: Path, number: int, rows: int) -> None:
    """Write one run; documents are the same in all, responses and scores are not."""
    folder.mkdir(parents=True)
    chance, total = random.Random(number), sum(SHARES.values())  # noqa: S311
    results: dict[str, Any] = {
        "results": {},
        "configs": {},
        "n-samples": {},
        "model_name": folder.name,
    }
    for subset, share in SHARES.items():
        task, n = f"xfinbench_{subset}", round(rows * share / total)
        sums: dict[str, float] = {}
        with (folder / f"samples_{task}_{STAMP}.jsonl").open("w") as file:
            for place in range(n):
                document = random.Random(f"{subset}{place}")  # noqa: S311
                codes, words = (
                    document.sample(CODES, 1 + place % 2),
                    " ".join(document.choices(WORDS, k=220)),
                )
                doc = {
                    "id": f"{subset}_{place}",
                    "capabilities": codes,
                    "prompt": f"Question: {words}",
                    "figure": "",
                }
                for scoring in ("paper", "robust"):
                    acc = float(chance.random() < 0.3 + 0.005 * number)
                    row = {"acc": acc, "no_answer": 0.0, "unscored": 0.0}
                    row |= {
                        f"acc_{code}": acc if code in codes else None for code in CODES
                    }
                    row |= {f"{name}_stderr": value for name, value in row.items()}
                    sums[f"acc,{scoring}"] = sums.get(f"acc,{scoring}", 0.0) + acc
                    line = {
                        "doc_id": place,
                        "doc": doc,
                        "filter": scoring,
                        "metrics": list(row),
                        **row,
                    }
                    line |= {
                        "arguments": {"gen_args_0": {"arg_0": words}},
                        "resps": [[" ".join(WORDS * 30)]],
                    }
                    line |= {
                        "filtered_resps": [[json.dumps({"answer": acc, "reason": ""})]],
                        "target": words[:40],
                    }
                    file.write(json.dumps(line) + "\n")
        results["results"][task] = {name: value / n for name, value in sums.items()}
        results["n-samples"][task] = {"original": n, "effective": n}
        results["configs"][task] = {
            "metadata": {
                "provenance": {"split": "test", "data": {"revision": "d" * 16}}
            }
        }
    (folder / f"results_{STAMP}.json").write_text(json.dumps(results))


if __name__ == "__main__":
    sys.exit(main())
