"""`fin-tasks fetch bizbench` and `fin-tasks doctor bizbench`, run as a user runs them, with a hub on the loopback."""

import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow
import pytest
from loopback import Fault, Loopback
from pyarrow import parquet

COMMIT, NEWER = "c" * 40, "d" * 40
REPO = "kensho/bizbench"
NAME = "data/test-00000-of-00001.parquet"


def parquet_of(n: int) -> bytes:
    """A file of `n` good rows, one without a question and one of no known part."""
    empty = {"context": None, "context_type": None, "options": None, "program": None}
    row = {"answer": "5", "task": "FinCode", **empty}
    rows = [{**row, "question": f"How much is {place}?"} for place in range(n)]
    rows += [{**row, "question": "", "task": "FinCode"}, {**row, "question": "\x1b[31m?", "task": "[/red]\x1b[31m"}]
    out = io.BytesIO()
    text = pyarrow.string()
    parquet.write_table(
        pyarrow.table(
            {
                name: pyarrow.array([row[name] for row in rows], pyarrow.list_(text) if name == "options" else text)
                for name in rows[0]
            }
        ),
        out,
    )
    return out.getvalue()


def publish(server: Loopback, commit: str, body: bytes, **card: str) -> None:
    lfs = {"size": len(body), "sha256": hashlib.sha256(body).hexdigest(), "pointerSize": 130}
    siblings = [{"rfilename": NAME, "size": len(body), "lfs": lfs}, {"rfilename": "README.md", "size": 9}]
    answer = {"id": REPO, "sha": commit, "gated": False, "siblings": siblings, "cardData": card}
    for yes in ("true", "True"):
        for name in ("main", commit):
            server.files[f"/api/datasets/{REPO}/revision/{name}?blobs={yes}"] = json.dumps(answer).encode()
    server.files[f"/datasets/{REPO}/resolve/{commit}/{NAME}"] = body


def run(folder: Path, server: Loopback, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("FIN_TASKS", "HF_"))}
    env = {
        **kept,
        "FIN_TASKS_CACHE": str(folder / "cache"),
        "HF_ENDPOINT": server.url,
        "HF_HOME": str(folder),
        **environ,
    }
    program = str(Path(sys.executable).with_name("fin-tasks"))
    return subprocess.run([program, *arguments], env=env, capture_output=True, text=True, check=False)


def test_fetch_then_offline(server: Loopback, tmp_path: Path) -> None:
    publish(server, COMMIT, parquet_of(3))
    before = run(tmp_path, server, "fetch", "bizbench", "--verify")
    assert (before.returncode, "Run `fin-tasks fetch bizbench` first" in before.stderr) == (1, True)
    first = run(tmp_path, server, "fetch", "bizbench")
    assert first.returncode == 0, first.stderr
    assert f"1 file(s) of test at commit {COMMIT}" in first.stdout
    assert "Apache-2.0" in first.stderr
    verified = run(tmp_path, server, "fetch", "bizbench", "--verify", FIN_TASKS_OFFLINE="1")
    assert (verified.returncode, "1 of 2 files" in verified.stdout) == (0, True)
    report = json.loads(run(tmp_path, server, "doctor", "bizbench", "--json", HF_HUB_OFFLINE="1").stdout)
    (split,) = report["splits"]
    assert (report["commit"], split["rows"], split["counts"]["FinCode"]["number"]) == (COMMIT, 3, 3)
    assert split["left_out"] == {"empty-question": ["test_3"], "unknown-task": ["test_4"]}


@pytest.mark.parametrize(("card", "licence"), [({}, "Apache-2.0"), ({"license": "mit"}, "mit")])
def test_fetch_and_doctor_name_one_licence(
    server: Loopback, tmp_path: Path, card: dict[str, str], licence: str
) -> None:
    publish(server, COMMIT, parquet_of(1), **card)
    fetched = run(tmp_path, server, "fetch", "bizbench")
    assert f"comes under the licence {licence}" in fetched.stderr
    assert f"Licence: {licence}." in run(tmp_path, server, "doctor", "bizbench").stdout


def test_doctor_takes_the_file_itself(server: Loopback, tmp_path: Path) -> None:
    (tmp_path / "saved.parquet").write_bytes(parquet_of(2))
    done = run(tmp_path, server, "doctor", "bizbench", "--data-dir", str(tmp_path / "saved.parquet"))
    assert done.returncode == 0, done.stderr
    assert "test: 2 rows" in done.stdout
    assert server.asked == []


def test_the_newest_commit_only_when_asked_for(server: Loopback, tmp_path: Path) -> None:
    publish(server, COMMIT, parquet_of(1))
    run(tmp_path, server, "fetch", "bizbench")
    publish(server, NEWER, parquet_of(2))
    assert COMMIT in run(tmp_path, server, "fetch", "bizbench").stdout
    assert NEWER in run(tmp_path, server, "fetch", "bizbench", "--revision", "main").stdout
    assert NEWER in run(tmp_path, server, "fetch", "bizbench").stdout
    assert COMMIT in run(tmp_path, server, "fetch", "bizbench", "--revision", COMMIT).stdout


def test_doctor_names_defects_and_nothing_steers_the_terminal(server: Loopback, tmp_path: Path) -> None:
    publish(server, COMMIT, parquet_of(2))
    done = run(tmp_path, server, "doctor", "bizbench")
    assert done.returncode == 0, done.stderr
    for part in (f"{REPO} at {COMMIT[:12]}, from upstream", "unknown-task (1)", "test_3", "left out: 2 rows"):
        assert part in done.stdout
    assert "\x1b" not in done.stdout + done.stderr


def test_a_refusal_is_one_line_with_a_remedy(server: Loopback, tmp_path: Path) -> None:
    for yes in ("true", "True"):
        address = f"/api/datasets/{REPO}/revision/main?blobs={yes}"
        server.faults[address].append(Fault(status=403, headers={"X-Error-Code": "GatedRepo"}))
    done = run(tmp_path, server, "fetch", "bizbench")
    assert done.returncode == 1
    assert done.stderr.startswith(f"fin-tasks: error: {REPO}: ")
    assert "hf auth login" in done.stderr
    assert "Traceback" not in done.stderr
