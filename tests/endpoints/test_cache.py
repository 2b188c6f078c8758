"""Replies on the disk."""

import multiprocessing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.endpoints.cache import ReplyCache, request_key
from fin_tasks.errors import EndpointError

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None), max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


def _fill(path: Path, worker: int) -> None:
    cache = ReplyCache(path)
    for number in range(40):
        cache.put(f"{worker}-{number}", model="m", reply=f"reply {worker} {number}")
        cache.put("shared", model="m", reply=f"from {worker}")


def test_a_reply_stays(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "chat.sqlite"
    cache = ReplyCache(path)
    assert cache.get_all(["a"]) == {}
    cache.put("a", model="m", reply="Zürich\n\x00€")
    cache.put("a", model="m", reply="second thoughts")
    assert ReplyCache(path).get_all(["b", "a"]) == {"a": "Zürich\n\x00€"}


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "chat.sqlite"
    spawn = multiprocessing.get_context("spawn")
    workers = [spawn.Process(target=_fill, args=(path, worker)) for worker in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(50)
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    keys = [f"{worker}-{number}" for worker in range(3) for number in range(40)]
    assert len(ReplyCache(path).get_all([*keys, "shared"])) == 121


@pytest.mark.parametrize("make", ["file", "folder", "below a file"])
def test_no_such_file(tmp_path: Path, make: str) -> None:
    path = tmp_path / "chat.sqlite"
    if make == "folder":
        path.mkdir()
    else:
        path.write_text("no database, only text that is long enough to be looked at")
    with pytest.raises(EndpointError, match=r"expected an SQLite file.*Delete it"):
        ReplyCache(path / "deeper" if make == "below a file" else path)


@given(_JSON, _JSON)
def test_equal_requests_have_one_name(one: object, other: object) -> None:
    assert request_key("m", {"x": one, "y": 1}) == request_key("m", {"y": 1, "x": one})
    assert request_key("m", {"x": one}) != request_key("n", {"x": one})
    if repr(one) != repr(other):
        assert request_key("m", {"x": one}) != request_key("m", {"x": other})
