"""Hostile files, made by small generators: what a stranger may send in place of a valid file."""

import json
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pandas as pd

DEEP = b"[" * 100_000 + b"]" * 100_000
LARGE = "1" + "0" * 400  # no float is as large

JSON: Mapping[str, bytes] = {
    "nothing": b"",
    "a blank": b" \n",
    "text": b"hello",
    "half an object": b'{"results": {"xfinbench_bool": {"acc',
    "null": b"null",
    "a number": b"5",
    "a large number": LARGE.encode(),
    "nulls": b"[null, null]",
    "numbers": b"[1, 2, 3]",
    "an empty object": b"{}",
    "an empty list": b"[]",
    "lists in lists": DEEP,
    "deep results": b'{"results": ' + DEEP + b"}",
    "no UTF-8": b'{"results": "\xff\xfe"}',
    "UTF-16": '["results"]'.encode("utf-16"),
    "half a pair": b'{"results": {"\\ud800": {"acc,paper": 1}}}',
    "zeros": b"\0" * 1_000,
    "a long text": b'{"results": "' + b"x" * 20_000_000 + b'"}',
    "results as a list": b'{"results": [], "configs": [], "config": []}',
    "totals as text": b'{"results": {"xfinbench_bool": "all right"}}',
    "a large total": b'{"results": {"xfinbench_bool": {"acc,paper": %s}}}'
    % LARGE.encode(),
    "many tasks": json.dumps(
        {"results": {f"xfinbench_bool_{n}": {"acc,paper": 1.0} for n in range(20_000)}}
    ).encode(),
}
"""Results files, or files of responses."""

ROWS: Mapping[str, object] = {
    "a large truth": {"id": "a", "ground_truth": 10**400, "model_response": "1"},
    "a program as a number": {"question_id": "a", "output": "1", "python_solution": 5},
    "objects as texts": {"id": {"a": 1}, "question_id": {"a": 1}, "topic": {"a": {}}},
    "lists as texts": {"id": ["a"], "question_id": ["a"], "output": [[[]]]},
    "a nested capability": {"id": "a", "ground_truth": "1", "fin_capability": {"a": 1}},
    "no response": {"id": "a", "question_id": "a", "ground_truth": "1"},
    "half a pair": {"id": "\ud800", "question_id": "\ud800", "response": "\ud800"},
    "a long response": {"id": "a", "ground_truth": "1", "model_response": "9" * 10**6},
    "a program that hangs": {
        "id": "a",
        "question_id": "a",
        "ground_truth": "1",
        "model_response": "```python\nwhile True: pass\n```",
        "output": "```python\nwhile True: pass\n```",
    },
}
"""Rows of files of responses."""

CSV: Mapping[str, bytes] = {
    "nothing": b"",
    "a heading": b"id,model_response\n",
    "an open quote": b'id,response\n"a,b\n' * 1_000,
    "many columns": b",".join(b"c%d" % n for n in range(100_000)) + b"\n",
    "a long cell": b"id,response\na," + b"x" * 20_000_000 + b"\n",
    "zeros": b"id,response\n\0\0,\0\n",
    "no UTF-8": b"id,response\n\xff,\xfe\n",
    "columns twice": b"id,id,response,response\na,b,c,d\n",
    "cells without a column": b"id\na,b,c,d\n",
    "a formula": b'id,response\n=cmd|"/C calc"!A0,+1\n',
}

YAML: Mapping[str, bytes] = {
    "nothing": b"",
    "a number": b"5",
    "a list": b"- a\n- b\n",
    "a tab": b"name:\tx\n\ty: z\n",
    "lists in lists": DEEP,
    "a Python object": b'name: !!python/object/apply:os.system ["true"]\n',
    "aliases": b"a: &a [x, x, x, x, x, x, x, x, x]\n"
    + b"".join(
        b"%c: &%c [%s]\n" % (98 + n, 98 + n, b", ".join([b"*%c" % (97 + n)] * 9))
        for n in range(9)
    ),
    "a long file": b"name: x\n# " + b"y" * 20_000_000,
    "no UTF-8": b"name: \xff\n",
    "other fields": b"name: {}\nquestions: 5\nprompt: [1]\nm: {input: many}\n",
}


def write_book(path: Path, change: Callable[[bytes], bytes], name: str = "") -> None:
    """Write a small workbook whose sheet part is changed, and has another name if one is given."""
    pd.DataFrame({"a": ["1", "2"], "b": ["x", "y"]}).to_excel(path, index=False)
    with zipfile.ZipFile(path) as archive:
        parts = {part: archive.read(part) for part in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for part, content in parts.items():
            if part.endswith("sheet1.xml"):
                part = part.replace("sheet1.xml", name or "sheet1.xml")
                content = change(content)
            elif name:
                content = content.replace(b"sheet1.xml", name.encode())
            archive.writestr(part, content)


def replaced(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """Return a function that replaces the first such bytes."""
    return lambda content: content.replace(old, new, 1)


def _many_cells(content: bytes) -> bytes:
    cells = b"<row>" + b"<c/>" * 5_000_000 + b"</row></sheetData>"
    return content.replace(b"</sheetData>", cells)


def _far_cells(content: bytes) -> bytes:
    rows = b"".join(
        b'<row r="%d"><c r="ALL%d"><v>1</v></c></row>' % (row, row)
        for row in range(4, 20_000)
    )
    return content.replace(b"</sheetData>", rows + b"</sheetData>")


def _entities(content: bytes) -> bytes:
    laughs = b"".join(
        b"<!ENTITY a%d '%s'>" % (number, b"&a%d;" % (number - 1) * 10)
        for number in range(1, 10)
    )
    head = b"<!DOCTYPE a [<!ENTITY a0 'ha'>" + laughs + b"]><worksheet"
    row = b"<sheetData><row><c t='str'><v>&a9;</v></c></row>"
    content = content.replace(b"<worksheet", head, 1)
    return content.replace(b"<sheetData>", row)


BOOKS: Mapping[str, tuple[Callable[[bytes], bytes], str]] = {
    "spaces": (
        replaced(b"<sheetData>", b"<sheetData>" + b" " * 300_000_000),
        "sheet1.foo",
    ),
    "cells": (_many_cells, "sheet1.foo"),
    "a far row": (replaced(b'<row r="3"', b'<row r="999999999"'), "sheet1.foo"),
    "a far column": (replaced(b'r="B3"', b'r="ZZZ3"'), ""),
    "far cells in many rows": (_far_cells, ""),
    "entities": (_entities, ""),
}
"""How the sheet of a workbook is changed, and the name of its part."""


def write_log(path: Path, name: str = "header.json", size: int = 20_000_000) -> None:
    """Write an archive in which one small part unpacks to a large one."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open(name, "w", force_zip64=True) as part,
    ):
        for _ in range(size // 1_000_000):
            part.write(b" " * 1_000_000)


def hostile_files(folder: Path, kinds: str) -> Iterator[tuple[str, Path]]:
    """Write files of the kinds that a command reads; return the name of each."""
    folder.mkdir(parents=True)
    contents: dict[str, bytes] = {}
    if "json" in kinds.split():
        contents |= {f"{name}.json": content for name, content in JSON.items()}
        for name, row in ROWS.items():
            contents[f"{name}.jsonl"] = json.dumps(row).encode() + b"\n"
    if "csv" in kinds.split():
        contents |= {f"{name}.csv": content for name, content in CSV.items()}
        contents["a-\udcff-name.csv"] = CSV["nothing"]
    if "yaml" in kinds.split():
        contents |= {f"{name}.yaml": content for name, content in YAML.items()}
    if "xlsx" in kinds.split():
        contents["text.xlsx"] = b"no archive"
        for name, (change, part) in BOOKS.items():
            write_book(folder / f"{name}.xlsx", change, part)
            yield name, folder / f"{name}.xlsx"
        write_log(folder / "no sheet.xlsx", "a", 1_000_000)
        yield "no sheet", folder / "no sheet.xlsx"
    for name, content in contents.items():
        (folder / name).write_bytes(content)
        yield name, folder / name
    yield "a folder", folder
    yield "no file", folder / "no file"


def hostile_data(folder: Path, name: str) -> Iterator[tuple[str, Path]]:
    """Write data folders in which one file is replaced; return the file of each."""
    contents = dict(JSON)
    for row_name, row in ROWS.items():
        contents[row_name] = json.dumps([row]).encode()
    for number, (case, content) in enumerate(contents.items()):
        file = folder / f"data {number}" / name
        file.parent.mkdir(parents=True)
        file.write_bytes(content)
        yield case, file


def hostile_runs(honest: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Write copies of a run folder in which one file is replaced; return the name of each."""
    results = next(honest.rglob("results_*.json")).relative_to(honest)
    samples = next(honest.rglob("samples_*.jsonl")).relative_to(honest)
    for part, file in (("results", results), ("samples", samples)):
        for number, (name, content) in enumerate(JSON.items()):
            copy = folder / f"{part} {number}"
            shutil.copytree(honest, copy)
            (copy / file).write_bytes(content)
            yield f"{part}: {name}", copy
    for number, (name, change) in enumerate(RUNS.items()):
        copy = folder / f"run {number}"
        shutil.copytree(honest, copy)
        change(copy, copy / results)
        yield name, copy


def _is_a_link(copy: Path, results: Path) -> None:
    results.unlink()
    results.symlink_to("/etc/passwd")


def _is_a_pipe(copy: Path, results: Path) -> None:
    results.unlink()
    os.mkfifo(results)


def _is_a_folder(copy: Path, results: Path) -> None:
    results.unlink()
    results.mkdir()


def _circle(copy: Path, results: Path) -> None:
    (copy / "circle").symlink_to(copy)


def _log(copy: Path, results: Path) -> None:
    write_log(copy / "large.eval")


def _name(copy: Path, results: Path) -> None:
    shutil.copytree(copy, copy / "a-\udcff-name")


RUNS: Mapping[str, Callable[[Path, Path], None]] = {
    "a link out of the folder": _is_a_link,
    "a pipe": _is_a_pipe,
    "a folder": _is_a_folder,
    "a folder in itself": _circle,
    "a log with a large part": _log,
    "a name that is not UTF-8": _name,
}
"""What else a folder may hold."""
