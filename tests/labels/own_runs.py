"""A judged run over questions of one's own, for tests of labels."""

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from fin_tasks.cli import app

TASK = "mme_finance_en"
STAMP = "2026-01-01T00-00-00"


def run(*arguments: object) -> Any:
    done = CliRunner().invoke(app, [*map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done


def write_run(folder: Path, docs: list[dict[str, Any]]) -> Path:
    folder.mkdir()
    lines = []
    for place, doc in enumerate(docs):
        line = {"doc": doc, "resps": [[f"said {place}"]], "filtered_resps": [["{}"]]}
        line |= {"filter": "robust", "metrics": ["score"], "score": 20.0 * (place % 6)}
        lines.append(json.dumps(line) + "\n")
    (folder / f"samples_{TASK}_{STAMP}.jsonl").write_text("".join(lines))
    metadata = {"judge": {"model": "judge", "rubric": "r@1"}}
    results = {
        "results": {TASK: {"score,robust": 50.0}},
        "configs": {TASK: {"task": TASK, "metadata": metadata}},
        "model_name": "mine",
    }
    (folder / f"results_{STAMP}.json").write_text(json.dumps(results))
    return folder
