"""The cache of embeddings on disk."""

import logging
import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from fin_tasks.retrieval.vectors import VectorCache

IDENTITY = "ab" * 32
TEXTS = [f"text {i}" for i in range(1201)]


def _vectors(n: int, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n, 6))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def _saved(folder: Path) -> VectorCache:
    cache = VectorCache(folder, IDENTITY)
    cache.save(TEXTS, "text", _vectors(len(TEXTS)), [i % 7 == 0 for i in range(len(TEXTS))])
    return cache


def test_gives_back_what_it_was_given(tmp_path: Path) -> None:
    _saved(tmp_path / "vectors")
    found = VectorCache(tmp_path / "vectors", IDENTITY).load(["new", *TEXTS], "text")
    assert sorted(found) == list(range(1, 1202))
    assert np.array_equal([found[i + 1][0] for i in range(1201)], _vectors(1201))
    assert found[1][0].dtype == np.float32
    assert [i for i in range(1201) if found[i + 1][1]] == list(range(0, 1201, 7))


def test_roles_and_encoders_are_kept_apart(tmp_path: Path) -> None:
    cache = _saved(tmp_path)
    assert cache.load(TEXTS, "query") == {}
    assert VectorCache(tmp_path, "cd" * 32).load(TEXTS, "text") == {}


def test_reading_makes_no_file(tmp_path: Path) -> None:
    assert VectorCache(tmp_path / "vectors", IDENTITY).load(TEXTS, "text") == {}
    assert list(tmp_path.iterdir()) == []


def test_a_broken_character_is_a_text_like_another(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, IDENTITY)
    cache.save(["\ud800"], "text", _vectors(1), [False])
    assert list(cache.load(["\ud800"], "text")) == [0]


@pytest.mark.parametrize("damage", [b"this was a database once, and is none any more" * 100, b"half"])
def test_a_damaged_file_is_moved_aside(tmp_path: Path, damage: bytes, caplog: pytest.LogCaptureFixture) -> None:
    cache = _saved(tmp_path)
    whole = cache.file.read_bytes()
    cache.file.write_bytes(whole[: len(whole) // 2] if damage == b"half" else damage)
    caplog.set_level(logging.WARNING)
    assert cache.load(TEXTS, "text") == {}
    assert "got a damaged file" in caplog.text
    (aside,) = tmp_path.glob("*.damaged-1")
    assert aside.name in caplog.text
    _saved(tmp_path)
    assert len(cache.load(TEXTS, "text")) == 1201


def test_a_damaged_file_is_moved_aside_when_writing_finds_it(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path, IDENTITY)
    cache.file.write_bytes(b"no database at all " * 100)
    _saved(tmp_path)
    assert len(cache.load(TEXTS, "text")) == 1201
    assert len(list(tmp_path.glob("*.damaged-*"))) == 1


@pytest.mark.parametrize(
    "blob", [b"", b"odd", np.ones(6, "<f4").tobytes(), np.full(6, np.nan, "<f4").tobytes(), "text"]
)
def test_a_vector_that_is_none_is_not_used(tmp_path: Path, blob: object, caplog: pytest.LogCaptureFixture) -> None:
    cache = _saved(tmp_path)
    with closing(sqlite3.connect(cache.file)) as connection, connection:
        connection.execute("UPDATE vectors SET vector = ? WHERE rowid = 5", [blob])
    found = cache.load(TEXTS, "text")
    assert set(range(1201)) - set(found) == {4}
    assert "1 of 1201 vectors found there are damaged" in caplog.text


def test_a_folder_that_cannot_be_made_means_no_cache(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = VectorCache(tmp_path / "file" / "vectors", IDENTITY)
    for _ in range(3):
        cache.save(TEXTS[:1], "text", _vectors(1), [False])
    assert cache.load(TEXTS, "text") == {}
    assert caplog.text.count("expected to keep embeddings there") == 1
    assert "FIN_TASKS_CACHE" in caplog.text


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_means_no_cache(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "vectors").mkdir(mode=0o500)
    _saved(tmp_path / "vectors")
    assert caplog.text.count("expected to keep embeddings there") == 1


def test_a_file_that_stays_locked_is_given_up(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = VectorCache(tmp_path, IDENTITY, patience=0.05)
    _saved(tmp_path)
    with closing(sqlite3.connect(cache.file, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        cache.save(["new"], "text", _vectors(1), [False])
    assert "locked" in caplog.text
    assert len(cache.load(["new", *TEXTS], "text")) == 1201


def test_waits_for_another_that_writes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    cache = _saved(tmp_path)
    with closing(sqlite3.connect(cache.file, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        release = threading.Timer(0.3, other.execute, ["COMMIT"])
        release.start()
        cache.save(["new"], "text", _vectors(1), [False])
        release.join()
    assert caplog.text == ""
    assert list(cache.load(["new"], "text")) == [0]


def test_processes_write_one_file_at_the_same_time(tmp_path: Path) -> None:
    write = """
import sys
import numpy as np
from pathlib import Path
from fin_tasks.retrieval.vectors import VectorCache
cache = VectorCache(Path(sys.argv[1]), sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
vectors = np.eye(4, dtype=np.float32)
for batch in range(25):
    cache.save([f"{sys.argv[3]} {batch} {i}" for i in range(4)], "text", vectors, [False] * 4)
    cache.save([f"both {batch} {i}" for i in range(4)], "text", vectors, [False] * 4)
"""
    command = [sys.executable, "-W", "error", "-c", write, str(tmp_path), IDENTITY]
    running = [
        subprocess.Popen([*command, name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for name in ("one", "two", "three")
    ]
    for process in running:
        assert process.stdout is not None
        process.stdout.readline()
    said = [process.communicate(b"go\n", timeout=180)[1] for process in running]
    assert said == [b"", b"", b""]
    texts = [f"{name} {batch} {i}" for name in ("one", "two", "three", "both") for batch in range(25) for i in range(4)]
    assert len(VectorCache(tmp_path, IDENTITY).load(texts, "text")) == 400
