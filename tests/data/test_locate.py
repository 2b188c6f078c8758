"""Files of a benchmark from GitHub, the hub and a folder, against one server on the loopback interface."""

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import huggingface_hub.constants
import pytest
from loopback import Loopback
from slow_server import BODY, HEADERS, endless

from fin_tasks.data import download
from fin_tasks.data import locate as locating
from fin_tasks.data.locate import (
    Located,
    Pin,
    Pins,
    load_pins,
    locate,
    pinned_benchmarks,
)
from fin_tasks.errors import ConfigError, DataError, FetchError
from fin_tasks.settings import Settings

CSV = "dataset/test_set.csv"
PICTURE = "dataset/figures/a.jpg"
BANK = "dataset/knowledge_bank.csv"
BODIES = {CSV: b"id,question\n", PICTURE: b"picture", BANK: b"bank"}
TEST_SET = ["data/test-*.parquet|test.jsonl"]
COMMIT = "1" * 40
NEWER = "2" * 40
GITHUB = f"/Zhihan72/XFinBench/{load_pins('xfinbench').revision}/"
SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture
def server(no_proxy: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """Serve BODIES as the files of XFinBench; the knowledge bank has no pin."""
    files = [
        Pin(path, len(body), hashlib.sha256(body).hexdigest())
        for path, body in BODIES.items()
        if path != BANK
    ]

    def pins(name: str, *more: object) -> Pins:
        found = load_pins(name, *more)  # type: ignore[arg-type]
        if name == "xfinbench":
            return replace(found, files=(*files, Pin(BANK, None, None)))
        return found

    monkeypatch.setattr(locating, "load_pins", pins)
    # Pauses between attempts.
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with Loopback() as running:
        running.files |= {GITHUB + path: body for path, body in BODIES.items()}
        yield running


@pytest.fixture
def settings(server: Loopback, tmp_path: Path) -> Settings:
    names = {
        "FIN_TASKS_GITHUB_RAW": server.url,
        "HF_ENDPOINT": server.url,
        "HF_TOKEN": "hf_secret",
    }
    return Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path / "cache"), **names})


def with_values(settings: Settings, **values: object) -> Settings:
    return settings.model_copy(update=values)


def is_own(found: Located) -> bool:
    return found.provenance()["is_own"]


def xfinbench(settings: Settings, *paths: str, **options: object) -> Located:
    return locate("xfinbench", paths or [CSV], settings=settings, **options)  # type: ignore[arg-type]


def test_a_file_is_downloaded_once_and_checked_each_time(
    server: Loopback, settings: Settings
) -> None:
    server.faults[GITHUB + CSV] = [503, 429]  # a busy server is asked again
    found = xfinbench(settings).with_files(
        [PICTURE, "dataset/figures/b.png"], optional=True
    )
    contents = {name: path.read_bytes() for name, path in found.files.items()}
    assert contents == {CSV: BODIES[CSV], PICTURE: BODIES[PICTURE]}
    assert found.provenance()["files"][CSV] == hashlib.sha256(BODIES[CSV]).hexdigest()
    assert found.provenance()["commit"] == load_pins("xfinbench").revision
    offline = with_values(settings, offline=True)
    assert xfinbench(offline).files[CSV] == found.files[CSV]
    assert len(server.asked) == 4
    found.files[CSV].write_bytes(b"changed")
    message = r"test_set.csv: expected sha256 .*, got .*was removed"
    with pytest.raises(DataError, match=message):
        xfinbench(offline)
    # A wrong file is replaced.
    assert xfinbench(settings).files[CSV].read_bytes() == BODIES[CSV]


def test_a_trickling_server_does_not_hold_a_download(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "SECONDS", 0.5)
    monkeypatch.setattr(download, "BYTES_PER_SECOND", 1e9)
    started = time.monotonic()
    with (
        endless(BODY, chunk=b"a" * 10_000) as url,
        pytest.raises(FetchError, match=r"it took too long.*put it at DIR/xfinbench"),
    ):
        xfinbench(with_values(settings, github_raw=url), BANK)
    with (
        endless(HEADERS, pause=60) as url,
        pytest.raises(FetchError, match=r"ReadTimeout.*put it at DIR/xfinbench"),
    ):
        xfinbench(with_values(settings, github_raw=url), BANK)
    with (
        endless(HEADERS, pause=60) as url,
        pytest.raises(FetchError, match="put it at DIR/bizbench"),
    ):
        locate("bizbench", TEST_SET, settings=with_values(settings, hub=url))
    assert time.monotonic() - started < 20
    assert not [path for path in settings.cache_dir.rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        (BANK, b"x" * 21, "knowledge_bank.csv .*it has more than 20 bytes"),
        (
            CSV,
            b"id,problem!\n",
            "test_set.csv of Zhihan72/XFinBench, but SHA256 hash .* does not match",
        ),
        (
            PICTURE,
            None,
            r"a\.jpg of Zhihan72/XFinBench, but 404 .*set data_dir or FIN_TASKS_DATA to DIR",
        ),
    ],
)
def test_a_wrong_download_is_an_error_and_not_kept(
    server: Loopback,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    body: bytes | None,
    message: str,
) -> None:
    monkeypatch.setitem(download.MAX_BYTES, "github", 20)
    server.files[GITHUB + path] = body  # type: ignore[assignment]
    with pytest.raises(DataError, match=message):
        xfinbench(settings, path)
    assert not [path for path in settings.cache_dir.rglob("*") if path.is_file()]


@pytest.mark.parametrize("host", ["offline", "http://127.0.0.1:9"])
def test_without_a_network_the_message_says_where_to_put_the_file(
    settings: Settings, host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_offline = host == "offline"
    unreachable = with_values(settings, offline=is_offline, github_raw=host, hub=host)
    place = r"github\.com/Zhihan72/XFinBench, put it at DIR/xfinbench/dataset/test_set"
    with pytest.raises(FetchError, match=place):
        xfinbench(unreachable)
    place = r"kensho/bizbench: expected to look up main .*put it at DIR/bizbench/"
    with pytest.raises(FetchError, match=place):
        locate("bizbench", TEST_SET, settings=unreachable)


def publish(server: Loopback, body: bytes, commit: str = COMMIT) -> str:
    """Make a file of ten bytes BizBench's test set in the newest commit on the hub, and return its address."""
    lfs = {"sha256": hashlib.sha256(body).hexdigest(), "size": 10, "pointerSize": 9}
    siblings = [
        {"rfilename": "data/test-0.parquet", "size": 10, "lfs": lfs},
        {"rfilename": "a.md"},
    ]
    list_files(server, siblings, commit)
    file = f"/datasets/kensho/bizbench/resolve/{commit}/data/test-0.parquet"
    server.files[file] = body
    return file


def list_files(server: Loopback, siblings: object, commit: str = COMMIT) -> None:
    """Let the hub list the files of BizBench's newest commit."""
    listing = {"id": "kensho/bizbench", "sha": commit, "siblings": siblings}
    for end in ("", f"/revision/{commit}"):
        address = f"/api/datasets/kensho/bizbench{end}"
        server.files[address] = json.dumps(listing).encode()


def test_the_hub_names_the_commit_and_the_hash(
    server: Loopback, settings: Settings
) -> None:
    publish(server, b"some rows!")
    found = locate("bizbench", TEST_SET, settings=settings)
    assert found.provenance()["commit"] == COMMIT
    assert found.files["test-0.parquet"].read_bytes() == b"some rows!"
    assert not list(settings.cache_dir.rglob("hashes.json")), "the hub knows the hash"
    file = publish(server, b"other rows", NEWER)
    n_asked = len(server.asked)
    # The first commit is used from then on.
    assert locate("bizbench", TEST_SET, settings=settings).files == found.files
    assert len(server.asked) == n_asked
    server.files[file] = b"wrong rows"
    with pytest.raises(DataError, match="expected sha256"):
        locate("bizbench", TEST_SET, settings=settings, revision=NEWER)


def test_the_token_goes_to_the_hub_and_not_where_it_redirects(
    server: Loopback, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    file = publish(server, b"some rows!")
    with Loopback() as other:
        other.files["/blob"] = b"some rows!"
        server.redirects[file] = f"{other.url.replace('127.0.0.1', 'localhost')}/blob"
        assert locate("bizbench", TEST_SET, settings=settings).files
        assert {authorization for _, authorization in server.asked} == {
            "Bearer hf_secret"
        }
        assert {authorization for _, authorization in other.asked} == {None}
    assert "hf_secret" not in caplog.text


def test_what_the_hub_refuses_is_an_error(
    server: Loopback, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(server, b"some rows!")
    with (
        monkeypatch.context() as patch,
        pytest.raises(FetchError, match="it has more than 5 bytes"),
    ):
        patch.setitem(download.MAX_BYTES, "hub", 5)
        locate("bizbench", TEST_SET, settings=settings)


@pytest.mark.parametrize(
    "place", [CSV, "test_set.csv", f"xfinbench/{CSV}", "xfinbench/test_set.csv"]
)
def test_a_folder_is_laid_out_like_the_repository_or_flat(
    settings: Settings, tmp_path: Path, place: str
) -> None:
    csv = tmp_path / "data" / place
    figure = csv.parent / "figures" / "a.jpg"
    figure.parent.mkdir(parents=True)
    csv.write_bytes(BODIES[CSV])
    figure.write_bytes(BODIES[PICTURE])
    found = xfinbench(with_values(settings, data_dir=tmp_path / "data"))
    found = found.with_files([PICTURE, BANK], optional=True)
    assert dict(found.files) == {CSV: csv, PICTURE: figure}
    facts = found.provenance()
    assert facts["commit"] is None
    downloaded = xfinbench(settings, CSV, PICTURE).provenance()
    assert facts["revision"] == downloaded["revision"]


def test_files_that_are_not_the_authors_are_own(
    settings: Settings, tmp_path: Path
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    table = folder / "test_set.csv"
    table.write_bytes(BODIES[CSV])
    (folder / "knowledge_bank.csv").write_bytes(b"a bank, which has no hash")
    at_folder = {"data_dir": folder}
    assert not is_own(xfinbench(settings, CSV, BANK, **at_folder))
    assert not is_own(xfinbench(settings, CSV))
    table.write_bytes(b"id,question\nown,Is it?\n")
    found = xfinbench(settings, CSV, BANK, **at_folder)
    assert is_own(found)
    assert not is_own(xfinbench(settings, CSV, source="sample", sample=folder))


def test_the_sample_takes_no_folder(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="data_dir: expected none with source sample"):
        xfinbench(settings, CSV, source="sample", sample=tmp_path, data_dir=tmp_path)


def test_a_file_stands_for_the_first_path_if_there_is_one(
    settings: Settings, tmp_path: Path
) -> None:
    file = tmp_path / "own.csv"
    file.write_bytes(BODIES[CSV])
    found = locate("xfinbench", [CSV], data_dir=file, settings=settings)
    assert dict(found.files) == {CSV: file}
    assert not locate("xfinbench", [], data_dir=file, settings=settings).files


def test_own_files_of_a_data_set_on_the_hub_are_known_after_its_hashes(
    server: Loopback, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "test.jsonl").write_bytes(b"{}")
    at_folder = {"data_dir": tmp_path, "settings": settings}
    assert not is_own(locate("bizbench", TEST_SET, **at_folder))  # type: ignore[arg-type]
    lfs = {"sha256": "a" * 64, "size": 10, "pointerSize": 9}
    list_files(server, [{"rfilename": "test.jsonl", "lfs": lfs}])
    download.look_up(load_pins("bizbench"), None, settings)
    assert is_own(locate("bizbench", TEST_SET, **at_folder))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"source": "hub"}, "one of auto, upstream, data_dir, sample, got 'hub'"),
        ({"source": ["hub"]}, r"one of auto, .*, got \['hub'\]"),
        ({"source": "data_dir"}, "data_dir needs a folder"),
        (
            {"data_dir": "/no/such"},
            "expected dataset/test_set.csv in /no/such, found none. .*FIN_TASKS_DATA",
        ),
        ({"paths": ["dataset/no.csv"]}, r"expected dataset/no\.csv"),
    ],
)
def test_bad_input_is_one_clear_sentence(
    settings: Settings, options: dict[str, object], message: str
) -> None:
    with pytest.raises((ConfigError, DataError), match=message):
        locate("xfinbench", **{"paths": [CSV], "settings": settings, **options})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "path", ["own\udcff/test-0.parquet", "own/test-\udcff.parquet"]
)
def test_a_name_that_is_not_utf_8_is_refused(
    settings: Settings, tmp_path: Path, path: str
) -> None:
    file = tmp_path / path
    file.parent.mkdir()
    file.write_bytes(b"")
    for data_dir in (file, file.parent):
        with pytest.raises(DataError, match=r"\\xff.*: expected a path in UTF-8"):
            locate("bizbench", TEST_SET, data_dir=data_dir, settings=settings)


@pytest.mark.skipif(
    not SHARED.is_dir(), reason="upstream's list is not beside the checkout"
)
def test_our_pins_agree_with_upstreams_list() -> None:
    ours = {pins.repo: pins for pins in map(load_pins, pinned_benchmarks())}
    assert all(
        (pins.revision is None) == (pins.host == "hub") for pins in ours.values()
    )
    for repo, listed in json.loads((SHARED / "pins.json").read_text()).items():
        if repo in ours and ours[repo].host == "github":
            files = {
                (file["path"], file["bytes"], file["sha256"])
                for file in listed["files"]
            }
            assert files == {
                (pin.path, pin.size, pin.sha256)
                for pin in ours[repo].files
                if pin.sha256
            }
            assert ours[repo].revision == listed["commit"]


@pytest.mark.parametrize(
    "name", ["../../bank.csv", "/etc/bank.csv", "data/../../../bank.csv"]
)
def test_the_hub_names_no_file_outside_the_cache(
    server: Loopback, settings: Settings, name: str
) -> None:
    list_files(server, [{"rfilename": name}])
    with pytest.raises(FetchError, match=r"not below the data set.s folder"):
        locate("bizbench", [name], settings=settings)
