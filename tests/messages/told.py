"""What models and judges are told: a hash for each task under each condition, on the packaged samples.

`python tests/messages/told.py` writes what changed into `told.json` and prints the names. A set of messages
that is not the released one needs a higher version of its benchmark or rubric. `--release` makes the messages of
today the released ones.
"""

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

import fin_tasks
from fin_tasks.benchmarks.task_file import TaskFile, task_names
from fin_tasks.charts import pool
from fin_tasks.charts.chart import Chart
from fin_tasks.judging.item import Item
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.resources import folder_of

FILE = Path(__file__).with_suffix(".json")
_BENCHMARKS = Path(fin_tasks.__file__).with_name("benchmarks")
_NO_TEXTS = {"tables.yaml", "columns.yaml", "market.yaml"}
"""Files of benchmarks whose texts nobody tells a model."""

Metadata = Mapping[str, object]
CONDITIONS: Mapping[str, Sequence[Metadata]] = {
    "xfinbench_bool": [
        {"system_role": "user"},
        {"knowledge": "bm25"},
        {"knowledge": "oracle"},
        *({"style": style} for style in ("cot_role", "da_role", "cot", "da")),
    ],
    "xfinbench_mcq_visual": [{"knowledge": "oracle"}],
    "xfinbench_calc_pot": [{"knowledge": "bm25"}, {"knowledge": "oracle"}],
    "financemath": [{"protocol": "xfinbench"}],
    "financemath_pot": [{"protocol": "xfinbench"}],
    "bizbench_paper_quantity": [{"protocol": "xfinbench"}],
    "dynostock_recency_w4": [
        *({"arm": arm} for arm in ("none", "flipped", "aligned")),
        {"anonymize": True},
        {"picture": "last"},
        {"chart": "paper"},
    ],
    "dynostock_recency_w4_text": [
        *({"arm": arm} for arm in ("none", "flipped", "aligned")),
        {"anonymize": True},
    ],
    "dynostock_authority_w4_text": [{"arm": "none"}],
}
"""More conditions of a task than its own."""
_NEWEST: Metadata = {"after": "2010-12"}
"""For DynoStock, whose windows differ in numbers alone."""
_OTHER_SIZES = ("_w8", "_w12", "_w16", "_w20")
"""Windows of other sizes, whose words are those of the smallest."""
_PICTURES = ("chart", "figure_path", "image_path")
_TEXTS = ("system", "prompt", "cue")


class Told(NamedTuple):
    """The messages of a task under a condition, or of a rubric."""

    version: str
    """Of the benchmark, or of the rubric."""
    sha256: str


def hash_of(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n\0".join(texts).encode()).hexdigest()[:24]


def sets() -> dict[str, Told]:
    """Return all sets of messages by their names."""
    told = dict(_of_rubrics())
    told.update(_of_files())
    for task in task_names():
        if any(size in task for size in _OTHER_SIZES):
            continue
        for metadata in [{}, *CONDITIONS.get(task, ())]:
            words = [task, *(f"{key}={value}" for key, value in metadata.items())]
            told[" ".join(words)] = _of_task(task, metadata)
    return told


def _of_task(task: str, metadata: Metadata) -> Told:
    part = _NEWEST if task.startswith("dynostock") else {}
    docs = fin_tasks.load(task, source="sample", **metadata, **part).to_list()
    texts = []
    for doc in docs:
        texts += [str(doc.get(name) or "") for name in _TEXTS]
        pictures = doc.get("image_paths") or filter(None, map(doc.get, _PICTURES))
        texts += map(_picture, pictures)
    return Told(str(TaskFile(task).benchmark.version), hash_of(texts))


def _picture(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def _of_rubrics() -> Iterator[tuple[str, Told]]:
    for file in sorted(folder_of("judges").glob("*.yaml")):
        rubric = load_rubric(file)
        texts = []
        for category in rubric.categories:
            fields = {"question": "What?", "answer": "5 %", "response": "About 5 %."}
            item = Item(category=category, background="A note.", **fields)
            texts.append(json.dumps(rubric.messages(item), ensure_ascii=False))
        yield f"rubric {rubric.name}", Told(rubric.version, hash_of(texts))


def _of_files() -> Iterator[tuple[str, Told]]:
    """Yield the texts of YAML files, some of which no task of the samples tells, such as those that make questions."""
    versions = {}
    for task in task_names():
        benchmark = TaskFile(task).benchmark
        versions[benchmark.name] = str(benchmark.version)
    for file in sorted(_BENCHMARKS.rglob("*.yaml")):
        name = file.relative_to(_BENCHMARKS)
        if file.name not in _NO_TEXTS and name.parts[0] in versions:
            content = yaml.safe_load(file.read_text("utf-8"))
            text = json.dumps(content, ensure_ascii=False)
            yield (
                f"file {name.as_posix()}",
                Told(versions[name.parts[0]], hash_of([text])),
            )


def without_drawing(
    charts: Iterable[Chart], folder: Path, *, jobs: int = 1
) -> tuple[list[Path], int]:
    """Write the names of charts, which are hashes of what they show, in place of their pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / chart.file_name for chart in charts]
    for path in paths:
        path.write_text(path.name)
    return paths, 0


Record = dict[str, dict[str, Any]]


def read_record() -> Record:
    """Return what `told.json` says of each set: its version and hash, and those of the last release."""
    record: Record = json.loads(FILE.read_text("utf-8"))
    return record


def differences(told: Mapping[str, Told], record: Record) -> list[str]:
    """Return a sentence for each set that is not as recorded, or that moved without a higher version."""
    sentences = [f"{name}: is no longer told" for name in record if name not in told]
    for name, now in told.items():
        known = record.get(name)
        if known is None:
            sentences.append(f"{name}: is new")
        elif (known["version"], known["sha256"]) != now:
            sentences.append(f"{name}: changed")
        released = known["released"] if known else None
        if (
            released
            and released["sha256"] != now.sha256
            and released["version"] == now.version
        ):
            sentences.append(
                f"{name}: differs from the released messages of version {now.version}; raise the version"
            )
    return sentences


def main() -> int:
    """Write the record of today, and print what changed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--release", action="store_true")
    args = parser.parse_args()
    record = read_record() if FILE.is_file() else {}
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FIN_TASKS_CACHE"] = cache
        pool.draw_charts = without_drawing
        told = sets()
    for sentence in differences(told, record):
        print(sentence)
    content = {}
    for name, now in sorted(told.items()):
        released = record.get(name, {}).get("released")
        content[name] = {
            **now._asdict(),
            "released": now._asdict() if args.release else released,
        }
    FILE.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
