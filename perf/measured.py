"""What a script of this folder measured: printed beside its goal, and kept for the page `docs/speed.md`."""

import argparse
import json
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import joblib

ROOT = Path(__file__).parents[1]
MEASURED = Path(__file__).with_name("measured.json")
"""Script -> date, machine, commit and figures of its last recorded run."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A measured value with the goal that it has to meet."""

    what: str
    value: float
    unit: str
    """Such as s, ms, MB; `times` for a ratio."""
    most: float | None = None
    least: float | None = None
    beside: str = ""
    """What it is compared with, measured in the same run."""

    @property
    def goal(self) -> str:
        """The goal in words; empty if there is none."""
        if self.most is not None:
            return f"at most {self.most:g} {self.unit}"
        return f"at least {self.least:g} {self.unit}" if self.least is not None else ""

    @property
    def is_met(self) -> bool:
        """Whether the goal, if there is one, is met."""
        most_met = self.most is None or self.value <= self.most
        return most_met and (self.least is None or self.value >= self.least)

    @property
    def measured(self) -> str:
        """The value with three digits and its unit."""
        large = abs(self.value) >= 100
        return (
            f"{self.value:,.0f} {self.unit}"
            if large
            else f"{self.value:.3g} {self.unit}"
        )

    def __str__(self) -> str:
        goal = f"; goal {self.goal}: {'met' if self.is_met else 'MISSED'}"
        beside = f" (beside {self.beside})" if self.beside else ""
        return f"{self.what}: {self.measured}{beside}{goal if self.goal else ''}"


def options(doc: str | None) -> argparse.ArgumentParser:
    """Return the options that every script has."""
    parser = argparse.ArgumentParser(description=(doc or "").split("\n")[0])
    parser.add_argument(
        "--tiny",
        action="store_true",
        help="try the script on a tiny input; its figures mean nothing",
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="keep the figures in measured.json, from which docs/speed.md is made",
    )
    return parser


def finish(figures: Sequence[Figure], given: argparse.Namespace, script: str) -> int:
    """Print the figures and record them if asked to; return 1 if a goal is missed."""
    if given.tiny:
        print(
            "\n".join(f"{one.what}: {one.measured} on a tiny input" for one in figures)
        )
        return 0
    for figure in figures:
        print(figure)
    if given.record:
        record(Path(script).stem, figures)
    return 0 if all(figure.is_met for figure in figures) else 1


def record(script: str, figures: Sequence[Figure]) -> None:
    """Put the figures of a script in the place of those of its run before."""
    measured = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    measured[script] = {
        "date": datetime.now(tz=UTC).date().isoformat(),
        "machine": machine(),
        "commit": commit(),
        "figures": [asdict(figure) for figure in figures],
    }
    text = json.dumps(dict(sorted(measured.items())), indent=1, ensure_ascii=False)
    MEASURED.write_text(text + "\n")


def machine() -> str:
    """Name the processor, how many cores there are, and the interpreter."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    models = [
        line.partition(": ")[2] for line in lines if line.startswith("model name")
    ]
    processor = models[0] if models else platform.machine()
    return (
        f"{processor}, {joblib.cpu_count()} cores, Python {platform.python_version()}"
    )


def commit() -> str:
    """Return the short name of the commit that was measured, with a mark if files differ from it."""
    name = _git("rev-parse", "--short", "HEAD") or "unknown"
    # The scripts before this one wrote their figures.
    others = ["--", ".", ":!perf/measured.json", ":!docs/speed.md"]
    return f"{name}-dirty" if _git("status", "--porcelain", *others) else name


def _git(*arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()
