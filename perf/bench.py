"""Run every script that measures speed, keep what they measure, and write it into `docs/speed.md`.

    python perf/bench.py [SCRIPT ...]

Without names all scripts run, which takes about half an hour on two cores that nothing else uses. With `--page` nothing
is measured, and only the page is written from the figures that are there.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from measured import MEASURED, ROOT, Figure

SCRIPTS = {
    "startup": "Where nothing of fin-tasks is used",
    "overhead": "Our share of a run of lm-eval",
    "reader": "Reading answers",
    "replay": "Scoring saved responses",
    "recordings": "Scoring recorded models",
    "sandbox": "Running programs",
    "judge": "Judging",
    "retrieval": "Retrieval",
    "windows": "DynoStock's windows",
    "charts": "Charts",
    "report": "The report of a hundred runs",
    "questions": "The questions of a hundred runs",
    "board": "The page of two hundred models",
    "page": "The page of a hundred thousand samples",
    "recorded_page": "The page of recorded models",
}
"""Script -> what it measures, in the order of the page."""

PAGE = ROOT / "docs" / "speed.md"
MARK = "<!-- Below this line `make bench` writes. -->\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", help=", ".join(SCRIPTS))
    parser.add_argument("--page", action="store_true", help="only write the page")
    given = parser.parse_args()
    unknown = sorted(set(given.scripts) - set(SCRIPTS))
    if unknown:
        parser.error(f"expected {', '.join(SCRIPTS)}, found {', '.join(unknown)}")
    failed = []
    for script in () if given.page else given.scripts or SCRIPTS:
        print(f"\n{script}", flush=True)
        path = Path(__file__).with_name(f"{script}.py")
        command = [sys.executable, str(path), "--record"]
        if subprocess.run(command, check=False).returncode:
            failed.append(script)
    head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    measured = json.loads(MEASURED.read_text(encoding="utf-8"))
    PAGE.write_text(head + MARK + tables(measured), encoding="utf-8")
    if failed:
        print(f"\nA goal was missed or a script failed: {', '.join(failed)}")
    return 1 if failed else 0


def tables(measured: dict[str, Any]) -> str:
    """Return a table in Markdown for each script, with what it measured when, where and on which commit."""
    text = ""
    for script, title in SCRIPTS.items():
        text += f"\n## {title}\n\n"
        if script not in measured:
            text += (
                f"`perf/{script}.py` has not been run since the figures are recorded.\n"
            )
            continue
        run = measured[script]
        text += "| Measured | Value | Goal | Beside |\n|---|---|---|---|\n"
        for fields in run["figures"]:
            text += row(Figure(**fields))
        text += f"\n`perf/{script}.py`, {run['date']}, commit `{run['commit']}`, {run['machine']}.\n"
    return text


def row(figure: Figure) -> str:
    """Return a row of a table; a goal that is missed is in bold type."""
    goal = figure.goal if figure.is_met else f"**missed: {figure.goal}**"
    return f"| {figure.what} | {figure.measured} | {goal} | {figure.beside} |\n"


if __name__ == "__main__":
    sys.exit(main())
