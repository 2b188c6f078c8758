"""Measure the questions of many runs, as the page of a report and `fin-tasks questions` do once the runs are read.

    python perf/questions.py [--runs N] [--questions N]

Goal: less than 20 s for a hundred runs of 4,235 questions.
"""

import random
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from measured import Figure, finish, options
from pandas import Categorical, DataFrame, concat

from fin_tasks.report.model import COLUMNS, texts_column
from fin_tasks.report.questions.table import question_table
from fin_tasks.report.site.questions import write_questions

GOAL_S = 20
TASK = "xfinbench_calc"


def main() -> int:
    """Make rows, measure, print seconds."""
    parser = options(__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--questions", type=int, default=4235)
    arguments = parser.parse_args()
    n_runs, n_questions = arguments.runs, arguments.questions
    report = report_of(*(3, 20) if arguments.tiny else (n_runs, n_questions))
    begun = time.perf_counter()
    table = question_table(report)
    of_table = time.perf_counter() - begun
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        write_questions(report, Path(folder))
        seconds = time.perf_counter() - begun
        size = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6
        first = (Path(folder) / "questions.js").stat().st_size / 1e6
    made_of = f"{n_runs} runs of {len(table):,} questions"
    figures = [
        Figure(what=f"the table of {made_of}", value=of_table, unit="s", most=GOAL_S),
        Figure(what="their view of the page", value=seconds, unit="s", most=GOAL_S),
        Figure(what="its files", value=size, unit="MB"),
        Figure(what="of which the page loads at once", value=first, unit="MB"),
    ]
    return finish(figures, arguments, __file__)


def report_of(n_runs: int, n_questions: int) -> Any:
    """Return a report of runs with numbers as answers: half of the wrong ones are shared by other runs."""
    tables = []
    runs = []
    results = []
    for number in range(n_runs):
        chance = random.Random(number)  # noqa: S311 - the same rows each time
        skill = 0.2 + 0.6 * number / n_runs
        truths = [f"{1.5 + place}" for place in range(n_questions)]
        answers = []
        for truth in truths:
            other = float(truth) * (100 if chance.random() < 0.5 else chance.random())
            answers.append(truth if chance.random() < skill else f"{other:.10g}")
        right = [
            float(answer == truth)
            for answer, truth in zip(answers, truths, strict=True)
        ]
        table = DataFrame(
            {
                "run": str(number),
                "benchmark": "xfinbench",
                "task": TASK,
                "doc_id": [f"calcu_{place}" for place in range(n_questions)],
                "truth": truths,
                "answer": answers,
                "acc": right,
            }
        )
        tables += [table.assign(scoring=scoring) for scoring in ("paper", "robust")]
        run = SimpleNamespace(id=str(number), model=f"model-{number}")
        runs.append(run)
        result = SimpleNamespace(id=f"result-{number}", task=TASK, samples=Path("x"))
        results.append((run, result))
    rows = concat(tables, ignore_index=True)
    for name in COLUMNS:
        if name in rows:
            rows[name] = texts_column(rows[name].tolist())
        else:
            rows[name] = Categorical([None] * len(rows))
    return SimpleNamespace(rows=rows, runs=runs, results=results)


if __name__ == "__main__":
    sys.exit(main())
