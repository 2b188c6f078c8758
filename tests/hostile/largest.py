"""The largest files that are accepted: how much memory and time each of them takes.

`python tests/hostile/largest.py [KIND]` writes and reads each of them, or one, and prints what that took as JSON.
"""

import importlib
import json
import multiprocessing
import resource
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from forged_parquet import forge_page, forge_width
from run_commands import most_memory

MB = 2**20
WIDE = "\U0001f4c8"
"""A character for whose sake Python holds the text around it in four bytes a character."""


def dense(n_bytes: int) -> str:
    """Return JSON of so many bytes that takes as much memory as any."""
    return "[" + "[]," * (n_bytes // 3 - 1) + "0]"


def spread(n_bytes: int, n_values: int) -> str:
    """Return JSON of so many bytes with so many values."""
    return (
        "[" + "[]," * (n_values // 2 - 2) + f'"{"x" * (n_bytes - 3 * n_values // 2)}"]'
    )


def rows(n_bytes: int) -> Iterator[dict[str, str]]:
    """Yield so many bytes of long responses, one of them with a wide character."""
    yield {"id": "b", "response": WIDE}
    for number in range(n_bytes // 10_050):
        yield {"id": f"a{number}", "response": "x" * 10_000}


def json_rows(n_bytes: int) -> Iterator[str]:
    """Yield such responses as JSON."""
    for row in rows(n_bytes):
        yield json.dumps(row, ensure_ascii=False)


def results(file: Path) -> None:
    """A results file."""
    file.write_text(f'{{"results": {{}}, "x": {spread(60 * MB, 7_900_000)}}}')


def samples(file: Path) -> None:
    """A line of samples."""
    doc = dense(16 * MB - 200)
    file.write_text(
        f'{{"filter": "paper", "doc": {{"x": {doc}}}, "metrics": ["acc"], "acc": 1}}\n'
    )


def lines(file: Path) -> None:
    """Responses as JSON lines."""
    file.write_text("\n".join(json_rows(250 * MB)))


def listed(file: Path) -> None:
    """Responses as a JSON list."""
    plain = islice(json_rows(250 * MB), 1, None)
    file.write_text(f"[{', '.join(plain)}]")


def values(file: Path) -> None:
    """Responses as a JSON list with as many values as are read."""
    row = f'{{"id": "a", "response": "b", "c": [{"[]," * 16}0]}}'
    file.write_text(f"[{','.join([row] * 200_000)}]")


def cells(file: Path) -> None:
    """A CSV file with as many cells as are read."""
    names = ",".join(["id", "response", *(f"c{n}" for n in range(22))]) + "\n"
    file.write_text(names + (",".join(["ab"] * 24) + "\n") * 199_000)


def long_cells(file: Path) -> None:
    """A CSV file with long cells."""
    content = "\n".join(",".join(row.values()) for row in rows(250 * MB))
    file.write_text(f"id,response\n{content}")


def workbook(file: Path) -> None:
    """A workbook."""
    from corpus import write_book

    row = b'<row r="%d"><c t="inlineStr"><is><t>id</t></is></c></row>'
    many = b"".join(row % number for number in range(2, 190_000))
    end = b"</sheetData>"
    write_book(file, lambda sheet: sheet.replace(end, many + end))


def parquet(file: Path) -> None:
    """A Parquet file."""
    import pandas as pd

    pd.DataFrame(rows(250 * MB)).to_parquet(file)


def packed(file: Path) -> None:
    """A Parquet file of equal texts, which take little room in it."""
    import pandas as pd

    texts = pd.DataFrame({"id": "a", "response": ["x" * 10_000] * 500_000})
    texts.to_parquet(file)


def page(file: Path) -> None:
    """A Parquet file with a page of 1,900 MB of which its footer says nothing."""
    forge_page(file, 1_900 * 10**6)


def width(file: Path) -> None:
    """A Parquet file of equal values with a large fixed width."""
    forge_width(file, 2_000 * 10**6)


def head(file: Path) -> None:
    """The head of a log of inspect_ai."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        metadata = dense(16 * MB - 200)
        content = f'{{"version": 2, "eval": {{"metadata": {{"x": {metadata}}}}}}}'
        archive.writestr("header.json", content)


def draw(file: Path) -> None:
    """The file beside a sheet of labels."""
    file.write_text(f'{{"x": {spread(60 * MB, 7_900_000)}}}')


def read_results(file: Path) -> object:
    from fin_tasks.report.lm_eval_results import read_results

    return read_results(file, "name")


def read_samples(file: Path) -> object:
    from fin_tasks.report.samples import read_samples

    return list(read_samples(file))


def read_log(file: Path) -> object:
    from fin_tasks.report.inspect_logs import read_log

    return read_log(file, "name")


def read_responses(file: Path) -> object:
    from fin_tasks.saved.files import read_saved_rows

    return read_saved_rows(file)


def read_questions(file: Path) -> object:
    from fin_tasks.data.tables import read_json

    return read_json(file)


def read_labels(file: Path) -> object:
    from fin_tasks.labels.filled import _read_draw

    return _read_draw([file.with_name("a_1.csv")])


@dataclass(frozen=True)
class Kind:
    """A kind of file, its name, and what reads it."""

    write: Callable[[Path], None]
    name: str
    read: Callable[[Path], object]


KINDS: Mapping[str, Kind] = {
    kind.write.__name__: kind
    for kind in (
        Kind(results, "results_2026-03-01T10-00-00.json", read_results),
        Kind(samples, "samples.jsonl", read_samples),
        Kind(lines, "a.jsonl", read_responses),
        Kind(listed, "a.json", read_responses),
        Kind(values, "a.json", read_responses),
        Kind(cells, "a.csv", read_responses),
        Kind(long_cells, "a.csv", read_responses),
        Kind(workbook, "a.xlsx", read_responses),
        Kind(parquet, "a.parquet", read_responses),
        Kind(packed, "a.parquet", read_responses),
        Kind(page, "a.parquet", read_responses),
        Kind(width, "a.parquet", read_responses),
        Kind(head, "a.eval", read_log),
        Kind(draw, "a.draw.json", read_labels),
    )
}


PACKAGES = ("inspect_ai.log", "pyarrow.parquet", "fin_tasks.api")
"""What takes long to import, and what files are read with."""


def cost_of(kind: Kind) -> dict[str, Any]:
    """Return the megabytes and seconds that reading takes, in a process of its own.

    The process is forked from this one, which has the packages, so nothing is imported again.
    """
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    with TemporaryDirectory() as folder:
        file = Path(folder) / kind.name
        for work in (
            lambda: kind.write(file),
            lambda: answers.put(read_largest(kind, file)),
        ):
            process = context.Process(target=work)
            process.start()
            process.join()
            assert process.exitcode == 0, kind.write.__doc__
    cost: dict[str, Any] = answers.get()
    return cost


def read_largest(kind: Kind, file: Path) -> dict[str, Any]:
    """Read a file, and return what that took, also in processes that this one started."""
    start = time.monotonic()
    outcome = ""
    try:
        kind.read(file)
    except Exception as error:  # noqa: BLE001 - what is refused late counts too
        outcome = f"{type(error).__name__}: {error!s:.300}"
    seconds = time.monotonic() - start
    of_others = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    most = max(most_memory(), of_others)
    return {"mb": most / MB, "seconds": seconds, "outcome": outcome}


if __name__ == "__main__":
    for package in PACKAGES:
        importlib.import_module(package)
    for name in sys.argv[1:] or KINDS:
        print(json.dumps({"kind": name, **cost_of(KINDS[name])}), flush=True)
