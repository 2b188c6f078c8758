"""Replies on the disk."""

import multiprocessing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.endpoints.old_cache import Claim, ReplyCache, request_key
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


def _yes(_: str) -> bool:
    return True


def test_a_claim_is_one_batches_until_it_is_settled(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "chat.sqlite")
    with cache.batch() as one, cache.batch() as other:
        assert one.claim("a", _yes) == Claim(granted=True)
        assert other.claim("a", _yes) == Claim(granted=False)
        other.settle("a", model="m", reply=None)  # not its own to give back
        assert other.claim("a", _yes) == Claim(granted=False)
        one.settle("a", model="m", reply="5")
        assert other.claim("a", _yes) == Claim(granted=False, reply="5")
        assert other.claim("a", lambda text: text != "5") == Claim(granted=True)  # dropped, to be asked for again
        other.settle("a", model="m", reply=None)
        assert one.claim("a", _yes) == Claim(granted=True)
    with cache.batch() as later:
        assert later.claim("a", _yes) == Claim(granted=True)  # batches that end give all claims back


def test_a_claim_without_a_sign_of_life_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("fin_tasks.endpoints.old_cache.time.time", lambda: now)
    cache = ReplyCache(tmp_path / "chat.sqlite")
    with cache.batch() as killed, cache.batch() as other:
        killed.claim("a", _yes)
        now += 4
        killed.show_life()
        now += 4
        assert not other.claim("a", _yes).granted
        now += 4
        assert other.claim("a", _yes).granted
        assert not killed.claim("a", _yes).granted


def test_a_clock_set_back_does_not_make_claims_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("fin_tasks.endpoints.old_cache.time.time", lambda: now)
    cache = ReplyCache(tmp_path / "chat.sqlite")
    with cache.batch() as killed, cache.batch() as other:
        killed.claim("a", _yes)
        now -= 3600
        assert other.claim("a", _yes).granted


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
