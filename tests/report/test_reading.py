"""Reading run folders: the table equals what the files say, and broken files are named."""

import json
import os
import re
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from run_files import STAMP, scored, write_run
from typer.testing import CliRunner

from fin_tasks import report
from fin_tasks.cli import app
from fin_tasks.errors import DataError
from fin_tasks.report.lm_eval_results import run_of
from fin_tasks.report.samples import read_samples


def test_table_holds_what_the_samples_say(tmp_path: Path) -> None:
    docs = [
        {"capabilities": ["TU", "NM"], "figure": "a/7.png"},
        {"figure": "b/7.png"},
        {"question": "Which bond?"},
        {"question": "Which yield?"},
    ]
    model = "<script>alert(1)</script>"
    rows = scored(1.0, 0.0, None, float("nan"))
    write_run(tmp_path / "a", {"xfinbench_mcq": rows}, docs=docs, model=model)
    (run,), table, problems = report.read([tmp_path])
    assert not problems
    names = (model, "lm-eval", f"a/results_{STAMP}.json")
    assert (run.model, run.harness, run.name) == names
    assert run.tasks[0].n == 4
    robust = table[table["scoring"] == "robust"]
    assert len(table) == 2 * len(robust) == 8
    assert robust["acc"].fillna(-1).tolist() == [1.0, 0.0, -1.0, -1.0]
    assert robust["source"].tolist() == ["7.png", "7.png", "whichbond", "whichyield"]
    assert robust["capability"].iloc[0] == "TU|NM"
    assert robust["answer"].tolist() == ["1"] * 4
    samples = read_samples(run.tasks[0].samples)
    ids = [sample.doc["id"] for sample in samples]
    assert ids[:2] == ["xfinbench_mcq-0", "xfinbench_mcq-1"]

    # Tasks of other benchmarks share the table.
    tasks = {"financemath": [{"acc": 0.0, "acc_risk": 0.0}]}
    write_run(tmp_path / "b", tasks, docs=[{"topic": "Risk"}])
    table = report.read([tmp_path]).rows
    assert len(table) == 8 + 2
    assert table["topic"].dropna().tolist() == ["Risk"] * 2
    assert table["acc_risk"].dropna().tolist() == [0.0] * 2
    assert table["capability"].dropna().tolist() == ["TU|NM"] * 2


def test_each_scoring_has_its_own_document(tmp_path: Path) -> None:
    """A stranger's file may state another document of the same id under each scoring."""
    write_run(tmp_path, {"xfinbench_mcq": scored(1.0)}, docs=[{"capabilities": ["TU"]}])
    (file,) = tmp_path.glob("samples_*")
    paper, robust = file.read_text().splitlines()
    file.write_text(f"{paper}\n{robust.replace('TU', 'SP')}\n")
    rows = report.read([tmp_path]).rows
    assert rows["capability"].tolist() == ["TU", "SP"]


def test_bias_index_counts_wrong_rows_only(tmp_path: Path) -> None:
    shares = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.25, 0.25]]
    rows = [{"acc": one[0], "bias_index": one, "ece": [[0.4, 1]]} for one in shares]
    write_run(tmp_path, {"dynostock_recency_w4": rows})
    table = report.read([tmp_path]).rows
    paper = table[table["scoring"] == "paper"]
    assert paper["bias_index"].fillna(-1).tolist() == [-1, 1.0, 0.5]
    assert paper["bias_weight"].tolist() == [0.0, 1.0, 0.5]
    assert "ece" not in table


RESULTS, SAMPLES = f"results_{STAMP}.json", f"samples_xfinbench_bool_{STAMP}.jsonl"
LINE = '{"doc": {"id": 1}, "filter": "paper", "metrics": ["acc"], '
BROKEN = [
    (RESULTS, '{"results": {"xfinbench_bool": {"acc,paper": 1'),
    (RESULTS, '{"results": {"xfinbench_bool": {"acc,paper": Infinity}}}'),
    (RESULTS, '{"results": {"xfinbench_bool": [1]}}'),
    (RESULTS, '{"results": {"xfinbench_bool": {"acc,paper": 1' + "0" * 400 + "}}}"),
    (RESULTS, "{}"),
    (SAMPLES, LINE + '"acc": 1' + "0" * 400 + "}"),
    (RESULTS, '{"results": {"xfinbench_bool": ' + "[" * 100_000 + "]" * 100_000 + "}}"),
    (SAMPLES, '{"doc": {"id": 1}, "filter": "paper", "metr'),
    (SAMPLES, LINE + '"acc": 50}'),
    (SAMPLES, LINE + '"acc": "1"}'),
    (SAMPLES, '{"doc": ' + '{"a":' * 5000 + "1" + "}" * 5000 + "}"),
    (SAMPLES, (LINE + '"acc": 1}\n') * 2),
    (SAMPLES, LINE + '"no": 1}'),
]


@pytest.mark.parametrize(("name", "content"), BROKEN)
def test_broken_file_is_named_and_the_rest_is_complete(
    tmp_path: Path, name: str, content: str
) -> None:
    write_run(tmp_path / "good", {"xfinbench_bool": scored(1.0, 0.0)})
    write_run(tmp_path / "bad", {"xfinbench_bool": scored(0.0)}, model="bad")
    (tmp_path / "bad" / name).write_text(content)
    runs, rows, problems = report.read([tmp_path])
    assert len(rows) == 4
    assert [run.model for run in runs if run.tasks[0].samples] == ["org/model"]
    assert any(name in one.message for one in problems)


def test_link_out_of_the_folder_is_skipped(tmp_path: Path) -> None:
    tasks = {"xfinbench_bool": scored(0.0)}
    outside = write_run(tmp_path / "outside", tasks, model="other")
    write_run(tmp_path / "given", {"xfinbench_bool": scored(1.0)})
    (tmp_path / "given" / "results_2026-01-01T00-00-00.json").symlink_to(outside)
    runs, _, problems = report.read([tmp_path / "given"])
    assert [run.model for run in runs] == ["org/model"]
    assert len(problems) == 1


def test_of_copies_of_a_run_the_oldest_counts_and_the_other_is_named(
    tmp_path: Path,
) -> None:
    for name, stamp in (("a", STAMP), ("b", "2026-02-01T10-00-00")):
        write_run(tmp_path / name, {"xfinbench_bool": scored(1.0)}, stamp=stamp)
    runs, rows, problems = report.read([tmp_path])
    assert [run.path.parent.name for run in runs] == ["b"]
    assert (len(rows), len(problems)) == (2, 1)


def test_totals_without_samples_are_kept_and_samples_without_results_are_named(
    tmp_path: Path,
) -> None:
    write_run(tmp_path / "totals", {"xfinbench_bool": scored(1.0)}, model="totals")
    (tmp_path / "totals" / f"samples_xfinbench_bool_{STAMP}.jsonl").unlink()
    write_run(tmp_path / "rows", {"xfinbench_bool": scored(0.0)}).unlink()
    runs, rows, problems = report.read([tmp_path])
    assert [run.model for run in runs] == ["totals"]
    assert len(rows) == 0
    assert [Path(one.path).parent.name for one in problems] == ["rows"]


def test_file_brings_its_own_run_only(tmp_path: Path) -> None:
    results = write_run(tmp_path, {"xfinbench_bool": scored(1.0)})
    write_run(tmp_path, {"xfinbench_bool": scored(0.0)}, stamp="2026-03-02T10-00-00")
    assert len(report.read([results]).rows) == 2


def test_missing_path_and_folder_without_results_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(DataError):
            report.read([path])


def test_secrets_are_left_out(tmp_path: Path) -> None:
    judge = {"judge": {"model": "m", "api_key": "sk-12345678"}}
    file = write_run(tmp_path, {"xfinbench_bool": scored(1.0)}, metadata=judge)
    config = {"config": {"model_args": "model=x,api_key=abc"}}
    file.write_text(json.dumps({**json.loads(file.read_text()), **config}))
    found = report.read([tmp_path])
    assert "sk-1234" not in repr(found)
    assert "abc" not in repr(found.runs[0].settings)


def write_report(folder: Path) -> tuple[Result, Any]:
    """Run `fin-tasks report`, and return how it ended and the leaderboard."""
    out = folder / "out"
    command = ["report", str(folder), "--out", str(out), "--no-published"]
    done = CliRunner().invoke(app, command)
    return done, json.loads((out / "leaderboard.json").read_text())


def test_a_folder_name_that_is_not_utf8_is_escaped(tmp_path: Path) -> None:
    tasks = {"xfinbench_bool": scored(1.0)}
    write_run(tmp_path / os.fsdecode(b"caf\xe9"), tasks)
    write_run(tmp_path / os.fsdecode(b"bad\xe9"), tasks, model="bad")
    next(tmp_path.glob("bad*/samples_*")).write_text("{")
    done, board = write_report(tmp_path)
    assert done.exit_code == 1 and r"bad\udce9" in done.output
    assert any(run["path"].startswith(r"caf\udce9/") for run in board["runs"])


def test_names_that_are_expected_are_told(tmp_path: Path) -> None:
    file = write_run(tmp_path, {"xfinbench_bool": scored(1.0)})
    for path in (file.rename(tmp_path / "results.json"), tmp_path):
        with pytest.raises(DataError, match=r"results_2026-03-01T10-00-00.json"):
            report.read([path])
    write_run(tmp_path / "other", {"xfinbench_bool": scored(0.0)})
    problems = report.read([tmp_path]).problems
    assert any(
        "results.json: skipped because of its name" in one.message for one in problems
    )


def test_tasks_of_others_have_their_own_metrics(tmp_path: Path) -> None:
    rows = [{"exact_match": 1.0}, {"exact_match": 0.0}]
    file = write_run(tmp_path, {"gsm8k": rows, "financemath": scored(1.0)})
    (samples,) = tmp_path.glob("samples_gsm8k_*")
    text = re.sub(r'"id": "[^"]*"', '"answer": "#### 7"', samples.read_text())
    filters = {"paper": "strict-match", "robust": "flexible-extract"}
    results = file.read_text()
    for ours, theirs in filters.items():
        text = text.replace(f'"filter": "{ours}"', f'"filter": "{theirs}"')
        results = results.replace(f"exact_match,{ours}", f"exact_match,{theirs}")
    file.write_text(results)
    samples.write_text(text)
    done, board = write_report(tmp_path)
    assert done.exit_code == 0, done.output
    values = [
        (entry["task"], entry["value"], entry["n"])
        for entry in board["entries"]
        if entry["metric"] == "exact_match"
    ]
    assert values == [
        ("gsm8k/flexible-extract/split=test", 0.5, 2),
        ("gsm8k/strict-match/split=test", 0.5, 2),
    ]
    assert (tmp_path / "out" / "index.html").is_file()


def write_log(path: Path, sizes: Mapping[str, int]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as log:
        for name, size in sizes.items():
            log.writestr(name, b" " * size)


@pytest.mark.parametrize(
    "sizes",
    [
        {"header.json": 2**24 + 1},
        {"samples/a_epoch_1.json": 2**24 + 1},
        {f"samples/a_epoch_{n}.json": 12 * 2**20 for n in range(3)},
    ],
    ids=["a head", "a sample", "the epochs of a sample"],
)
def test_a_log_with_a_huge_part_is_refused(
    sizes: Mapping[str, int], tmp_path: Path
) -> None:
    write_log(tmp_path / "one.eval", sizes)
    with pytest.raises(DataError, match=rf"got more in {[*sizes][-1]}"):
        report.read([tmp_path])


@pytest.mark.parametrize(
    ("limit", "sentence"), [("_MAX_PARTS", "more than 3 parts"), ("_MAX_TOTAL", "0 MB")]
)
def test_a_log_of_too_many_parts_is_refused(
    limit: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"fin_tasks.saved.inspect_log.{limit}", 3)
    write_log(tmp_path / "one.eval", {f"samples/{n}_epoch_1.json": 1 for n in range(4)})
    with pytest.raises(DataError, match=sentence):
        report.read([tmp_path])


def test_a_log_that_states_a_small_size_is_counted(tmp_path: Path) -> None:
    log = tmp_path / "one.eval"
    write_log(log, {"header.json": 2**24 + 1})
    # A size of 1,000 bytes, with the checksum of the first 1,000.
    content = bytearray(log.read_bytes())
    directory = content.index(b"PK\x01\x02")
    for place, value in ((24, 1_000), (16, zlib.crc32(b" " * 1_000))):
        start = directory + place
        content[start : start + 4] = value.to_bytes(4, "little")
    log.write_bytes(content)
    with pytest.raises(DataError, match=r"header\.json"):
        report.read([tmp_path])


def test_a_results_file_with_many_small_values_is_refused(tmp_path: Path) -> None:
    write_run(tmp_path, {"financemath": scored(1)})
    (file,) = tmp_path.glob("results_*")
    results = file.read_bytes().removesuffix(b"}")
    file.write_bytes(results + b',"x":[' + b"[]," * 4_000_000 + b"0]}")
    with pytest.raises(DataError, match="at most 8,000,000 values"):
        report.read([tmp_path])


def test_a_user_raises_the_limit_of_a_results_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_run(tmp_path, {"financemath": scored(1)})
    (file,) = tmp_path.glob("results_*")
    file.write_bytes(file.read_bytes() + b" " * (64 << 20))
    with pytest.raises(DataError, match=r"at most 64 MB.*FIN_TASKS_MAX_MB"):
        report.read([tmp_path])
    monkeypatch.setenv("FIN_TASKS_MAX_MB", "100")
    assert len(report.read([tmp_path]).runs) == 1


def test_names_of_models_are_shown_escaped(tmp_path: Path) -> None:
    write_run(tmp_path, {"financemath": scored(1)}, model="a\x1b[31m\n\u202eb")
    (run,) = report.read([tmp_path]).runs
    assert run.model == "a\\x1b[31m\\n\\u202eb"
    log = {"results": {}, "model_name": "a\x1b[31m"}  # as inspect_logs.py hands it on
    assert run_of("id", tmp_path, "name", log).model == "a\\x1b[31m"


def test_lists_of_responses_are_read_up_to_a_thousand(tmp_path: Path) -> None:
    write_run(tmp_path, {"financemath": scored(1)})
    (file,) = tmp_path.glob("samples_*")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        line["resps"] = [["text"] * 1_200]
        line["filtered_resps"] = [["{}"] * 1_200]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for sample in read_samples(file):
        assert (len(sample.responses), len(sample.readings)) == (1_000, 1_000)
