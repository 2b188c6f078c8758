"""The largest files that are accepted: how much memory and time each of them takes.

`python tests/hostile/largest.py KIND` reads one, and prints what it took as JSON.
"""

import json
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from run_commands import most_memory

MB = 2**20


def dense(n_bytes: int) -> str:
    """Return JSON of so many bytes that takes as much memory as any."""
    return "[" + "[]," * (n_bytes // 3 - 1) + "0]"


def spread(n_bytes: int, n_values: int) -> str:
    """Return JSON of so many bytes with so many values."""
    return (
        "[" + "[]," * (n_values // 2 - 2) + f'"{"x" * (n_bytes - 3 * n_values // 2)}"]'
    )


def results(folder: Path) -> Callable[[], object]:
    """A results file."""
    from fin_tasks.report.lm_eval_results import read_results

    file = folder / "results_2026-03-01T10-00-00.json"
    file.write_text(f'{{"results": {{}}, "x": {spread(60 * MB, 7_900_000)}}}')
    return lambda: read_results(file, "name")


def samples(folder: Path) -> Callable[[], object]:
    """A line of samples."""
    from fin_tasks.report.samples import read_samples

    file = folder / "samples.jsonl"
    doc = dense(16 * MB - 200)
    file.write_text(
        f'{{"filter": "paper", "doc": {{"x": {doc}}}, "metrics": ["acc"], "acc": 1}}\n'
    )
    return lambda: list(read_samples(file))


def responses(folder: Path) -> Callable[[], object]:
    """A file of responses."""
    from fin_tasks.data.tables import read_json

    file = folder / "responses.jsonl"
    line = json.dumps({"id": "a", "response": "x" * 10_000}) + "\n"
    file.write_text(line * (250 * MB // len(line)))
    return lambda: read_json(file)


def table(folder: Path) -> Callable[[], object]:
    """A CSV file with as many cells as are read."""
    from fin_tasks.data.tables import read_table

    file = folder / "table.csv"
    row = ",".join(["ab"] * 24) + "\n"
    names = ",".join(f"c{n}" for n in range(24)) + "\n"
    file.write_text(names + row * 199_000)
    return lambda: read_table(file)


def log(folder: Path) -> Callable[[], object]:
    """The head of a log of inspect_ai."""
    from fin_tasks.report.inspect_logs import read_log

    file = folder / "one.eval"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        head = (
            f'{{"version": 2, "eval": {{"metadata": {{"x": {dense(16 * MB - 200)}}}}}}}'
        )
        archive.writestr("header.json", head)
    return lambda: read_log(file, "name")


KINDS: Mapping[str, Callable[[Path], Callable[[], object]]] = {
    kind.__name__: kind for kind in (results, samples, responses, table, log)
}


def cost_of(kind: str) -> dict[str, float]:
    """Return the megabytes and seconds that reading takes, in a process of its own."""
    command = [sys.executable, __file__, kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    cost: dict[str, float] = json.loads(done.stdout)
    return cost


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        read = KINDS[sys.argv[1]](Path(place))
        begun = time.monotonic()
        try:
            read()
            outcome = "read"
        except Exception as error:  # noqa: BLE001 - what is refused late counts too
            outcome = type(error).__name__
        seconds = time.monotonic() - begun
        print(
            json.dumps(
                {"mb": most_memory() / MB, "seconds": seconds, "outcome": outcome}
            )
        )
