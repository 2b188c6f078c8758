"""Write questions with the finance terms that people linked them to, in the format of the benchmark's own file."""

from pathlib import Path

import pandas as pd

from fin_tasks.benchmarks import benchmark_named
from fin_tasks.data.locate import write_file

from .draw import Draw


def write_linked_questions(draw: Draw, labels: pd.DataFrame, file: Path) -> None:
    """Write the questions whose terms are decided; labels name candidates by number."""
    (name,) = draw.study.questions
    of_question = labels[labels["question"] == name]
    decided = of_question.dropna(subset="label")
    label_by_row = dict(zip(decided["row"], decided["label"], strict=True))
    docs = []
    linked = []
    for row in draw.rows:
        label = label_by_row.get(row.id)
        if label is None:
            continue
        ids = []
        if label != "none":
            for number in label.split("+"):
                term = row.doc["candidates"][int(number) - 1]
                ids.append(term["id"])
        docs.append(row.doc)
        linked.append(ids)
    terms = benchmark_named(draw.study.benchmark).module("terms")
    rows = terms.rows_with_terms(docs, linked)
    table = pd.DataFrame(rows, columns=terms.COLUMNS)
    # The texts stay as they are: this is a file for the benchmark, not for a spreadsheet.
    write_file(file, table.to_csv(index=False).encode())
