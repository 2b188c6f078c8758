"""Write files of responses as people have them: `python tests/files/people_files.py` writes those in this folder.

Tests write the same forms about other questions.
"""

import csv
import gzip
import io
import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

HERE = Path(__file__).parent


class Answered(NamedTuple):
    """A question of ours with a response."""

    id: str
    question: str
    truth: str
    response: str


def table(rows: Sequence[Sequence[str]], separator: str = ",") -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\r\n").writerows(rows)
    return text.getvalue()


def lines(records: Sequence[Any]) -> str:
    """Return records as JSON lines."""
    return "".join(json.dumps(record) + "\n" for record in records)


def sample_lines(answered: Sequence[Answered]) -> str:
    """Return what lm-eval writes with --log_samples."""
    records = []
    for name in ("paper", "robust"):
        for number, (row_id, question, _, response) in enumerate(answered):
            doc = {"id": row_id, "question": question}
            records.append(
                {
                    "doc_id": number,
                    "doc": doc,
                    "resps": [[response]],
                    "filtered_resps": [response],
                    "filter": name,
                }
            )
    return lines(records)


def chat(answered: Answered) -> list[dict[str, str]]:
    """Return the messages about a question."""
    return [
        {"role": "system", "content": "You are an analyst."},
        {"role": "user", "content": answered.question},
        {"role": "assistant", "content": answered.response},
    ]


def completion(text: str) -> dict[str, Any]:
    """Return a chat completion of OpenAI."""
    message = {"role": "assistant", "content": text}
    return {"choices": [{"message": message, "finish_reason": "stop"}]}


def openai_lines(answered: Sequence[Answered]) -> list[Any]:
    """Return the lines of OpenAI's batch output."""
    records = []
    for number, row in enumerate(answered):
        response = {"status_code": 200, "body": completion(row.response)}
        records.append(
            {
                "id": f"batch_req_{number}",
                "custom_id": row.id,
                "response": response,
                "error": None,
            }
        )
    return records


def responses_lines(answered: Sequence[Answered]) -> list[Any]:
    """Return the lines of OpenAI's batch output of the endpoint /v1/responses."""
    records = []
    for row in answered:
        thought = {"type": "reasoning", "summary": []}
        text = {"type": "output_text", "text": row.response, "annotations": []}
        said = {"type": "message", "role": "assistant", "content": [text]}
        body = {"status": "completed", "output": [thought, said]}
        records.append({"custom_id": row.id, "response": {"body": body}, "error": None})
    return records


def anthropic_lines(answered: Sequence[Answered]) -> list[Any]:
    """Return the lines of a batch of Anthropic."""
    records = []
    for row in answered:
        content = [{"type": "text", "text": row.response}]
        message = {"role": "assistant", "content": content, "stop_reason": "end_turn"}
        result = {"type": "succeeded", "message": message}
        records.append({"custom_id": row.id, "result": result})
    return records


def write_log(path: Path, answered: Sequence[Answered]) -> None:
    """Write a log of inspect_ai about a task of somebody else."""
    from inspect_ai.log import EvalLog, EvalSample, write_eval_log
    from inspect_ai.log._log import EvalConfig, EvalDataset, EvalSpec
    from inspect_ai.model import ModelOutput

    spec = EvalSpec(
        eval_id="e1",
        run_id="r1",
        created="2026-03-01T10:00:00+00:00",
        task="mine",
        dataset=EvalDataset(
            samples=len(answered), sample_ids=[row.id for row in answered]
        ),
        model="openai/gpt-4o",
        config=EvalConfig(),
    )
    samples = []
    for row in answered:
        output = ModelOutput.from_content("gpt-4o", row.response)
        samples.append(
            EvalSample(
                id=row.id, epoch=1, input=row.question, target=row.truth, output=output
            )
        )
    log = EvalLog(eval=spec, status="success", samples=samples)
    write_eval_log(log, str(path), format="eval" if path.suffix == ".eval" else "json")


def write_workbook(path: Path, answered: Sequence[Answered]) -> None:
    """Write what a spreadsheet program saves."""
    rows = [(row.id, row.question, row.response) for row in answered]
    table = pd.DataFrame(rows, columns=["ID", "Question", "Model Response"])
    table.to_excel(path, index=False)


def write_parquet(path: Path, answered: Sequence[Answered]) -> None:
    """Write what `DataFrame.to_parquet` writes."""
    rows = [(row.id, row.response) for row in answered]
    pd.DataFrame(rows, columns=["question_id", "prediction"]).to_parquet(path)


def texts_of(answered: Sequence[Answered]) -> dict[str, str | bytes]:
    """Return the files that are texts, by name."""
    rows = [(row.id, row.response) for row in answered]
    by_id = dict(rows)
    first, second, *_ = answered
    objects = [{"id": name, "response": text} for name, text in rows]
    whole = table([("id", "response"), *rows])
    asked = [(row.question, row.truth, row.response) for row in answered]
    truths = [(row.id, row.truth, row.response) for row in answered]
    truths[0] = (first.id, "something else", first.response)
    umlauts = [(name, f"{text} Für 5 €.") for name, text in rows]
    columns = {"id": list(by_id), "output": list(by_id.values())}
    by_name = {name: dict(enumerate(values)) for name, values in columns.items()}
    entries = {name: {"response": text, "seconds": 2} for name, text in rows}
    runs = {"model": "gpt-4o", "date": "2026", "results": objects}
    chats = [{"id": row.id, "messages": chat(row)} for row in answered]
    unnamed = [{"messages": chat(row)} for row in answered]
    gpt = [{"from": "human", "value": "?"}, {"from": "gpt", "value": first.response}]
    shared = [{"id": first.id, "conversations": gpt}, *chats[1:]]
    sampled = [{"id": name, "output": [text, text]} for name, text in rows]
    numbered = [(name, str(at), text) for at, (name, text) in enumerate(rows)]
    return {
        "plain.csv": whole,
        "excel_germany.csv": table([("ID", "Prediction"), *umlauts], ";").encode(
            "cp1252"
        ),
        "byte_order_mark.csv": table([("question_id", "output"), *rows]).encode(
            "utf-8-sig"
        ),
        "unicode_text.txt": table([("id", "response"), *umlauts], "\t").encode(
            "utf-16"
        ),
        "tabs.tsv": table([("index", "prediction"), *rows], "\t"),
        "separator_named.csv": "sep=;\r\n" + table([("id", "response"), *rows], ";"),
        "bars.csv": table([("id", "answer"), *rows], "|"),
        "packed.csv.gz": gzip.compress(whole.encode(), mtime=0),
        "with_row_numbers.csv": table([("id", "", "response"), *numbered]),
        "unusual_names.csv": table([("Nr.", "Antwort"), *rows]),
        "questions_without_ids.csv": table(
            [("question", "answer", "prediction"), *asked]
        ),
        "other_truths.csv": table([("id", "ground_truth", "model_response"), *truths]),
        "too_many_rows.csv": table(
            [("id", "response"), *rows, ("x1", "a"), ("x2", "b")]
        ),
        "missing_rows.csv": table([("id", "response"), *rows[1:]]),
        "repeated_row.csv": table([("id", "response"), *rows, rows[0]]),
        "list.json": json.dumps(objects, indent=1),
        "lines.jsonl": lines(objects),
        "packed_lines.jsonl.gz": gzip.compress(lines(objects).encode(), mtime=0),
        "text_by_id.json": json.dumps(by_id),
        "lists_by_id.json": json.dumps({name: [text] for name, text in rows}),
        "objects_by_id.json": json.dumps(entries),
        "wrapped.json": json.dumps(runs),
        "column_lists.json": json.dumps(columns),
        "pandas_columns.json": json.dumps(by_name),
        "samples_mine_2026-03-01T10-00-00.123456.jsonl": sample_lines(answered),
        "openai_batch.jsonl": lines(openai_lines(answered)),
        "openai_responses_batch.jsonl": lines(responses_lines(answered)),
        "anthropic_batch.jsonl": lines(anthropic_lines(answered)),
        "chats.jsonl": lines(chats),
        "chats_without_ids.jsonl": lines(unnamed),
        "sharegpt.json": json.dumps(shared),
        "several_responses.jsonl": lines(sampled),
        "stopped.jsonl": lines(objects) + '{"id": "' + second.id,
        "unfinished_batch.jsonl": lines(
            [
                *openai_lines(answered[1:]),
                {"custom_id": first.id, "response": None, "error": {"code": "expired"}},
            ]
        ),
        "no_responses.csv": table([("id", "question"), *[row[:2] for row in answered]]),
        "unquoted_commas.csv": whole + f"{first.id},Yes, it is,really\r\n",
        "other_questions.csv": table([("id", "response"), ("x1", "a"), ("x2", "b")]),
        "no_rows.csv": "",
        "results.json": json.dumps({"results": {}, "configs": {}, "versions": {}}),
        "old_excel.xls": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(100),
        "report.pdf": b"%PDF-1.7\n%\xe2\xe3",
        "bytes.csv": bytes(range(256)),
    }


def write_files(
    folder: Path, answered: Sequence[Answered], *, has_logs: bool = True
) -> list[str]:
    """Write all files into a folder, logs of inspect_ai only if asked for, and return their names."""
    texts = texts_of(answered)
    for name, text in texts.items():
        content = text if isinstance(text, bytes) else text.encode()
        (folder / name).write_bytes(content)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr(zipfile.ZipInfo("plain.csv"), texts["plain.csv"])
    (folder / "archive.json").write_bytes(archive.getvalue())
    writers: dict[str, Callable[[Path, Sequence[Answered]], None]] = {
        "workbook.xlsx": write_workbook,
        "frame.parquet": write_parquet,
    }
    if has_logs:
        writers |= {"log.eval": write_log, "log.json": write_log}
    for name, write in writers.items():
        write(folder / name, answered)
    return [*texts, "archive.json", *writers]


def sample_answers(task: str) -> list[Answered]:
    """Return the sample's questions of a task, the last two with a wrong response."""
    import fin_tasks

    answered = []
    for doc in fin_tasks.load(task, source="sample"):
        question = doc.get("question") or doc["prompt"]
        truth = doc.get("letter") or doc.get("answer") or ""
        answered.append(Answered(doc["id"], question, truth, doc["target"]))
    wrong = [row._replace(response="I cannot say.") for row in answered[-2:]]
    return [*answered[:-2], *wrong]


if __name__ == "__main__":
    write_files(HERE, sample_answers("bizbench_finknow"))
