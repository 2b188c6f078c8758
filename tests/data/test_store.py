"""The store against a real server on the loopback interface."""

import hashlib
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from filelock import FileLock
from loopback import Fault, Loopback

from fin_tasks.data.checksums import RECORD
from fin_tasks.data.download import Retry
from fin_tasks.data.sources import Source
from fin_tasks.data.store import Store
from fin_tasks.errors import DataError, FetchError
from fin_tasks.settings import Settings

Publish = Callable[..., Source]

BLOCK = 1 << 16
BODY = b"".join(i.to_bytes(4, "big") for i in range(50_000))
URL = "/someone/toy/0123456789abcdef0123456789abcdef01234567/big.bin"


def test_downloads_once_and_reads_the_cache_from_then_on(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY})
    file = store.get(source, "big.bin")
    assert file == store.settings.cache_dir / "toy" / source.revision / "big.bin"
    assert file.read_bytes() == BODY
    assert store.get(source, "big.bin") == file
    assert len(server.asked) == 1


def test_resumes_after_the_connection_broke(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY})
    server.faults[URL].append(Fault(drop_after=2 * BLOCK))
    assert store.get(source, "big.bin").read_bytes() == BODY
    first, second = server.of(URL)
    assert first.range is None
    assert second.range == f"bytes={2 * BLOCK}-"
    assert [first.sent, second.sent] == [(0, 2 * BLOCK), (2 * BLOCK, len(BODY))]


def test_resumes_what_an_earlier_run_left(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY})
    server.faults[URL].extend([Fault(drop_after=BLOCK)] + [Fault(status=503)] * 4)
    impatient = replace(store, retry=Retry(attempts=2, sleep=lambda _: None))
    with pytest.raises(FetchError, match="503"):
        impatient.get(source, "big.bin")
    assert not store.path(source, "big.bin").exists()
    server.faults[URL].clear()
    server.asked.clear()
    assert store.get(source, "big.bin").read_bytes() == BODY
    assert [asked.sent for asked in server.of(URL)] == [(BLOCK, len(BODY))]


def test_a_server_without_ranges_starts_again(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY})
    server.faults[URL].extend([Fault(drop_after=2 * BLOCK), Fault(ignore_range=True)])
    assert store.get(source, "big.bin").read_bytes() == BODY
    assert [asked.sent for asked in server.of(URL)] == [(0, 2 * BLOCK), (0, len(BODY))]


def test_a_range_that_was_not_asked_for_is_thrown_away(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY})
    server.faults[URL].extend([Fault(drop_after=2 * BLOCK), Fault(shift_range=10)])
    assert store.get(source, "big.bin").read_bytes() == BODY
    assert server.of(URL)[-1].sent == (0, len(BODY))


def test_an_answer_without_length_that_ends_early_is_resumed(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY})
    server.faults[URL].append(Fault(end_after=BLOCK))
    assert store.get(source, "big.bin").read_bytes() == BODY
    assert server.of(URL)[1].sent == (BLOCK, len(BODY))


def test_a_file_that_always_ends_early_is_an_error(
    store: Store, server: Loopback, publish: Publish, waits: list[float]
) -> None:
    source = publish({"big.bin": BODY})
    server.faults[URL].extend([Fault(end_after=BLOCK, ignore_range=True)] * 9)
    with pytest.raises(FetchError, match=rf"ended after {BLOCK:,} of {len(BODY):,} bytes \(5 tries in a row\)"):
        store.get(source, "big.bin")
    assert waits == [0.5, 1.0, 2.0, 4.0]
    assert not store.path(source, "big.bin").exists()


def test_a_shorter_file_than_pinned_is_refused_at_once(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY})
    server.files[URL] = BODY[:-1]
    with pytest.raises(FetchError, match=rf"has {len(BODY) - 1:,} bytes instead of {len(BODY):,}"):
        store.get(source, "big.bin")
    assert len(server.asked) == 1


def test_a_longer_answer_than_pinned_is_cut_off(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY[:BLOCK]})
    server.files[URL] = BODY
    server.faults[URL].append(Fault(end_after=len(BODY)))
    with pytest.raises(FetchError, match="sent more than"):
        store.get(source, "big.bin")


def test_a_wrong_checksum_removes_the_file(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY})
    wrong = BODY[:-1] + bytes([BODY[-1] ^ 1])
    server.files[URL] = wrong
    with pytest.raises(DataError) as caught:
        store.get(source, "big.bin")
    message = str(caught.value)
    assert hashlib.sha256(BODY).hexdigest() in message
    assert hashlib.sha256(wrong).hexdigest() in message
    assert "put it at" in message
    assert sorted(p.name for p in store.folder(source).iterdir()) == [".lock", "LICENCE-NOTICE.txt"]


def test_a_bad_beginning_of_an_earlier_run_is_replaced(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY})
    store.folder(source).mkdir(parents=True)
    (store.folder(source) / "big.bin.part").write_bytes(b"x" * BLOCK)
    assert store.get(source, "big.bin").read_bytes() == BODY
    assert [asked.range for asked in server.of(URL)] == [f"bytes={BLOCK}-", None]


def test_a_beginning_longer_than_the_file_is_thrown_away(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY})
    store.folder(source).mkdir(parents=True)
    (store.folder(source) / "big.bin.part").write_bytes(BODY + b"x")
    assert store.get(source, "big.bin").read_bytes() == BODY
    assert [asked.range for asked in server.of(URL)] == [None]


def test_a_complete_partial_file_needs_no_request(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY})
    store.folder(source).mkdir(parents=True)
    (store.folder(source) / "big.bin.part").write_bytes(BODY)
    assert store.get(source, "big.bin").read_bytes() == BODY
    assert server.asked == []


def test_without_a_pin_only_an_unchanged_file_is_resumed(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY}, pinned=False)
    server.etags[URL] = '"one"'
    server.faults[URL].append(Fault(drop_after=BLOCK))
    assert store.get(source, "big.bin").read_bytes() == BODY
    assert server.of(URL)[1].sent == (BLOCK, len(BODY))
    assert (
        not store.path(source, "big.bin.part.etag".removesuffix(".part.etag")).with_name("big.bin.part.etag").exists()
    )


def test_without_a_pin_a_file_that_changed_midway_starts_again(
    store: Store, server: Loopback, publish: Publish
) -> None:
    source = publish({"big.bin": BODY}, pinned=False)
    server.etags[URL] = '"one"'
    changed = bytes(reversed(BODY))

    def change() -> None:
        server.files[URL], server.etags[URL] = changed, '"two"'

    server.faults[URL].extend([Fault(drop_after=BLOCK), Fault(hold=change)])
    assert store.get(source, "big.bin").read_bytes() == changed
    assert server.of(URL)[1].sent == (0, len(changed))


def test_without_a_pin_and_an_etag_nothing_is_resumed(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY}, pinned=False)
    server.etags[URL] = 'W/"weak"'
    server.faults[URL].append(Fault(drop_after=BLOCK))
    assert store.get(source, "big.bin").read_bytes() == BODY
    assert [asked.range for asked in server.of(URL)] == [None, None]


@pytest.mark.parametrize("status", [404, 410])
def test_a_file_that_is_not_there_fails_at_once(store: Store, server: Loopback, publish: Publish, status: int) -> None:
    source = publish({"big.bin": BODY})
    server.faults[URL].append(Fault(status=status))
    with pytest.raises(FetchError, match=str(status)) as caught:
        store.get(source, "big.bin")
    assert server.url + URL in str(caught.value)
    assert str(store.path(source, "big.bin")) in str(caught.value)
    assert "DIR/toy/big.bin" in str(caught.value)
    assert len(server.asked) == 1


def test_waits_as_long_as_the_server_says(store: Store, server: Loopback, publish: Publish, waits: list[float]) -> None:
    source = publish({"big.bin": BODY})
    long_ago, too_long = "Mon, 01 Jan 2001 00:00:00 GMT", "86400"
    retry_after = ["3", long_ago, too_long, "nonsense"]
    server.faults[URL].extend(Fault(status=429, headers={"Retry-After": value}) for value in retry_after)
    store.get(source, "big.bin")
    assert waits == [3.0, 0.0, 60.0, 4.0]


def test_a_server_error_passes(store: Store, server: Loopback, publish: Publish, waits: list[float]) -> None:
    source = publish({"big.bin": BODY})
    server.faults[URL].extend([Fault(status=500), Fault(status=502)])
    assert store.get(source, "big.bin").read_bytes() == BODY
    assert waits == [0.5, 1.0]


def test_progress_earns_new_patience(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY})
    server.faults[URL].extend([Fault(drop_after=BLOCK), Fault(drop_after=BLOCK), Fault(drop_after=BLOCK)])
    patient_twice = replace(store, retry=Retry(attempts=2, sleep=lambda _: None))
    assert patient_twice.get(source, "big.bin").read_bytes() == BODY


def test_no_network_says_where_to_put_the_file(settings: Settings, publish: Publish, waits: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}"
    source = publish({"dir/big.bin": BODY})
    store = Store(replace(settings, github_raw=closed), notify=lambda _: None, retry=Retry(sleep=waits.append))
    with pytest.raises(FetchError, match="refused") as caught:
        store.get(source, "dir/big.bin")
    assert f"{closed}/someone/toy/{source.revision}/dir/big.bin" in str(caught.value)
    assert str(settings.cache_dir / "toy" / source.revision / "dir" / "big.bin") in str(caught.value)
    assert len(waits) == 4


def test_offline_asks_nobody_and_still_reads_the_cache(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY, "small.txt": b"small"})
    store.get(source, "small.txt")
    server.asked.clear()
    offline = replace(store, settings=replace(store.settings, offline=True))
    assert offline.get(source, "small.txt").read_bytes() == b"small"
    with pytest.raises(FetchError, match="FIN_TASKS_OFFLINE"):
        offline.get(source, "big.bin")
    assert server.asked == []


def test_the_token_goes_to_the_hub_and_no_further(settings: Settings, publish: Publish, server: Loopback) -> None:
    source = publish({"big.bin": BODY}, host="hub")
    path = f"/datasets/someone/toy/resolve/{source.revision}/big.bin"
    with Loopback("localhost") as elsewhere:
        elsewhere.files["/blob"] = BODY
        server.faults[path].append(Fault(status=302, headers={"Location": f"{elsewhere.url}/blob"}))
        assert Store(settings, notify=lambda _: None).get(source, "big.bin").read_bytes() == BODY
        assert [asked.authorization for asked in server.of(path)] == ["Bearer hf_secret"]
        assert [asked.authorization for asked in elsewhere.asked] == [None]


def test_the_token_is_not_sent_to_github_nor_shown(
    store: Store, publish: Publish, server: Loopback, said: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    server.faults[URL].append(Fault(status=401))
    with pytest.raises(FetchError, match="401") as caught:
        store.get(publish({"big.bin": BODY}), "big.bin")
    assert [asked.authorization for asked in server.asked] == [None]
    hub = publish({"big.bin": BODY}, host="hub", name="hub")
    server.faults[f"/datasets/someone/toy/resolve/{hub.revision}/big.bin"].append(Fault(status=403))
    with pytest.raises(FetchError, match=r"403.*HF_TOKEN") as caught_hub:
        store.get(hub, "big.bin")
    shown = f"{caught.value} {caught_hub.value} {said} {caplog.text} {store!r}"
    assert "hf_secret" not in shown


def test_trust_on_first_use(store: Store, server: Loopback, publish: Publish, said: list[str]) -> None:
    source = publish({"big.bin": BODY}, pinned=False)
    file = store.get(source, "big.bin")
    sha256 = hashlib.sha256(BODY).hexdigest()
    record = json.loads((store.folder(source) / RECORD).read_text())
    assert record == {"big.bin": {"sha256": sha256, "size": len(BODY)}}
    assert [line for line in said if sha256 in line and "trusted from now on" in line]
    said.clear()
    store.get(source, "big.bin")
    assert said == []
    assert [check.state for check in store.verify(source)] == ["trusted"]

    file.unlink()
    server.files[URL] = BODY[::-1]
    with pytest.raises(DataError, match=sha256) as caught:
        store.get(source, "big.bin")
    assert RECORD in str(caught.value)
    assert not file.exists()


def test_a_trusted_file_that_changes_in_the_cache_is_an_error(store: Store, publish: Publish) -> None:
    source = publish({"big.bin": BODY}, pinned=False)
    store.get(source, "big.bin").write_bytes(b"other")
    with pytest.raises(DataError, match="Delete that file"):
        store.get(source, "big.bin")


def test_files_put_there_by_hand_are_checked(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"big.bin": BODY})
    place = store.path(source, "big.bin")
    place.parent.mkdir(parents=True)
    place.write_bytes(b"not it")
    with pytest.raises(DataError, match="expected sha256"):
        store.get(source, "big.bin")
    place.write_bytes(BODY)
    assert store.get(source, "big.bin") == place
    assert server.asked == []


def test_a_file_put_there_by_hand_without_a_pin_is_trusted(store: Store, publish: Publish, said: list[str]) -> None:
    source = publish({"big.bin": BODY}, pinned=False)
    place = store.path(source, "big.bin")
    place.parent.mkdir(parents=True)
    place.write_bytes(BODY)
    assert [check.state for check in store.verify(source)] == ["unrecorded"]
    store.get(source, "big.bin")
    assert len(said) == 1
    assert [check.state for check in store.verify(source)] == ["trusted"]


def test_verify_hashes_what_is_cached(store: Store, publish: Publish) -> None:
    source = publish({"a.txt": b"a", "b.txt": b"b", "c.txt": b"c"})
    store.get_all(source, ["a.txt", "b.txt"])
    store.path(source, "b.txt").write_bytes(b"B")
    checks = {check.path: check for check in store.verify(source)}
    assert {path: check.state for path, check in checks.items()} == {"a.txt": "pinned", "b.txt": "differs"}
    assert checks["b.txt"].found.sha256 == hashlib.sha256(b"B").hexdigest()
    assert checks["b.txt"].expected is not None
    assert checks["b.txt"].expected.sha256 == hashlib.sha256(b"b").hexdigest()


def test_many_files_come_side_by_side(store: Store, server: Loopback, publish: Publish) -> None:
    bodies = {f"figures/{i}.png": bytes([i]) * 100 for i in range(6)}
    source = publish(bodies)
    together = threading.Barrier(3, timeout=60)
    for path in list(bodies)[:3]:
        server.faults[f"/someone/toy/{source.revision}/{path}"].append(Fault(hold=together.wait))
    files = store.get_all(source, bodies)
    assert not together.broken
    assert {path: file.read_bytes() for path, file in files.items()} == bodies
    assert len(server.asked) == 6


def test_one_failure_among_many_is_told_and_the_rest_is_kept(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"a.txt": b"a", "b.txt": b"b"})
    server.faults[f"/someone/toy/{source.revision}/b.txt"].append(Fault(status=404))
    with pytest.raises(FetchError, match=r"b\.txt"):
        store.get_all(source, ["a.txt", "b.txt"])
    assert store.path(source, "a.txt").read_bytes() == b"a"


def test_the_licence_is_told_once(store: Store, publish: Publish, said: list[str]) -> None:
    source = publish({"a.txt": b"a", "b.txt": b"b"}, licence="CC-BY-NC-4.0", non_commercial=True)
    store.get(source, "a.txt")
    store.get(source, "b.txt")
    assert len(said) == 1
    assert "CC-BY-NC-4.0, which forbids commercial use" in said[0]


def test_without_a_listener_it_is_logged(
    settings: Settings, publish: Publish, caplog: pytest.LogCaptureFixture
) -> None:
    Store(settings).get(publish({"a.txt": b"a"}), "a.txt")
    assert [(record.levelname, "CC0-1.0" in record.getMessage()) for record in caplog.records] == [("WARNING", True)]


def test_a_cache_that_cannot_be_written_is_named(settings: Settings, publish: Publish, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    store = Store(replace(settings, cache_dir=tmp_path / "file"))
    with pytest.raises(DataError, match="FIN_TASKS_CACHE"):
        store.get(publish({"a.txt": b"a"}), "a.txt")


def test_a_broken_record_is_named(store: Store, publish: Publish) -> None:
    source = publish({"a.txt": b"a"}, pinned=False)
    store.get(source, "a.txt")
    (store.folder(source) / RECORD).write_text("[1]")
    with pytest.raises(DataError, match=r"trusted\.json.*Delete it"):
        store.get(source, "a.txt")


def test_a_file_the_source_does_not_list_is_refused(store: Store, server: Loopback, publish: Publish) -> None:
    source = publish({"dir/a.txt": b"a"})
    with pytest.raises(DataError, match=r"Did you mean dir/a\.txt"):
        store.get(source, "a.txt")
    with pytest.raises(DataError, match="expected a file its pins list"):
        store.get(source, "../../escape")
    assert server.asked == []


def test_the_bar_adds_up(store: Store, publish: Publish, capsys: pytest.CaptureFixture[str]) -> None:
    source = publish({"a.txt": b"a" * 1000, "b.txt": b"b" * 500})
    replace(store, progress=True).get_all(source, ["a.txt", "b.txt"])
    printed = capsys.readouterr()
    assert "toy: 2 file(s)" in printed.err
    assert printed.out == ""
    assert "1.46k/1.46k" in printed.err


def test_a_lock_that_stays_taken_is_named(store: Store, publish: Publish, said: list[str]) -> None:
    source = publish({"a.txt": b"a"})
    store.folder(source).mkdir(parents=True)
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with FileLock(store.folder(source) / ".lock"):
            held.set()
            release.wait(120)

    holder = threading.Thread(target=hold)
    holder.start()
    assert held.wait(10)
    try:
        with pytest.raises(FetchError, match=r"\.lock to come free"):
            replace(store, lock_timeout=0).get(source, "a.txt")
    finally:
        release.set()
        holder.join()
    assert said == ["toy: waiting for another process that is downloading it."]
    assert store.get(source, "a.txt").read_bytes() == b"a"


PROCESS = """
import sys
from pathlib import Path
from fin_tasks.data.sources import parse_source
from fin_tasks.data.store import Store
from fin_tasks.settings import Settings
source = parse_source(Path(sys.argv[1]).read_text(), origin="test")
tell = lambda text: print(text, flush=True)
print(Store(Settings.from_environ(), notify=tell).get(source, "big.bin").stat().st_size, flush=True)
"""


def test_two_processes_download_once(
    settings: Settings, server: Loopback, publish: Publish, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = publish({"big.bin": BODY})
    entry = source.files[0]
    pins = {
        **{key: getattr(source, key) for key in ("name", "host", "repo", "revision", "licence", "non_commercial")},
        **{"homepage": "", "note": ""},
        "files": [{"path": entry.path, "size": entry.size, "sha256": entry.sha256}],
    }
    (tmp_path / "pins.json").write_text(json.dumps(pins))
    monkeypatch.setenv("FIN_TASKS_CACHE", str(settings.cache_dir))
    monkeypatch.setenv("FIN_TASKS_GITHUB_RAW", server.url)
    arrived, release = threading.Event(), threading.Event()
    server.faults[URL].append(Fault(hold=lambda: (arrived.set(), release.wait(120))))

    def start() -> "subprocess.Popen[str]":
        command = [sys.executable, "-c", PROCESS, str(tmp_path / "pins.json")]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    with start() as first:
        assert arrived.wait(120)
        with start() as second:
            assert second.stdout is not None
            waiting = second.stdout.readline()
            release.set()
            second_said = second.communicate(timeout=120)[0]
        first_said = first.communicate(timeout=120)[0]
    assert "waiting for another process" in waiting
    assert first_said.splitlines()[-1] == second_said.splitlines()[-1] == str(len(BODY))
    assert len(server.asked) == 1
