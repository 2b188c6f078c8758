"""Data sets of the hub against a server on the loopback interface that speaks the few addresses it takes."""

import hashlib
import json
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import huggingface_hub.constants
import pytest
from loopback import Fault, Loopback

from fin_tasks.data.hub import Snapshot, remembered, snapshot
from fin_tasks.errors import DataError, FetchError
from fin_tasks.settings import Settings

FIRST, SECOND = "1" * 40, "2" * 40
BODY = bytes(range(256)) * 40
REPO = "someone/Toy.Set"


def addresses(name: str) -> list[str]:
    """Where a revision is looked up; HTTP libraries write the value of a flag in two ways."""
    return [f"/api/datasets/{REPO}/revision/{name}?blobs={yes}" for yes in ("true", "True")]


Put = Callable[..., None]


@pytest.fixture(autouse=True)
def _alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither the machine's switch nor its stored token may reach a test."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(huggingface_hub.constants, "HF_TOKEN_PATH", str(tmp_path / "token"))
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def put(server: Loopback) -> Put:
    """Put a commit on the hub: its listing and its files."""

    def make(
        files: dict[str, bytes],
        *,
        commit: str = FIRST,
        names: tuple[str, ...] = ("main",),
        lfs: bool = True,
        listed: dict[str, bytes] | None = None,
        **more: object,
    ) -> None:
        siblings = []
        for path, body in (listed or files).items():
            entry: dict[str, object] = {"rfilename": path, "size": len(body), "blobId": "b"}
            if lfs:
                entry["lfs"] = {"size": len(body), "sha256": hashlib.sha256(body).hexdigest(), "pointerSize": 130}
            siblings.append(entry)
        card = {"cardData": {"license": "apache-2.0"}, "gated": False, **more}
        answer = json.dumps({"id": REPO, "sha": commit, "siblings": siblings, **card}).encode()
        for name in (*names, commit):
            server.files |= dict.fromkeys(addresses(name), answer)
        for path, body in files.items():
            server.files[f"/datasets/{REPO}/resolve/{commit}/{path}"] = body

    return make


def take(settings: Settings, revision: str | None = None, *, pattern: str = "*.parquet", **more: object) -> Snapshot:
    return snapshot(REPO, patterns=[pattern], revision=revision, settings=settings, **more)  # type: ignore[arg-type]


def test_the_newest_commit_is_resolved_told_and_remembered(
    server: Loopback, settings: Settings, put: Put, said: list[str]
) -> None:
    put({"data/test-00000-of-00001.parquet": BODY, "README.md": b"read me"})
    found = take(settings, notify=said.append)
    assert (found.revision, found.licence) == (FIRST, "apache-2.0")
    (place,) = found.files.values()
    assert place == settings.cache_dir / "toy-set" / FIRST / "data" / "test-00000-of-00001.parquet"
    assert place.read_bytes() == BODY
    assert len(said) == 1
    assert FIRST[:12] in said[0]
    assert "apache-2.0" in said[0]
    put({"data/test-00000-of-00001.parquet": BODY[:-1]}, commit=SECOND)
    asked = len(server.asked)
    assert take(settings, notify=said.append) == found
    assert (len(server.asked), len(said)) == (asked, 1), "what is here and known takes no request and no notice"
    listed = remembered(REPO, settings)
    assert listed is not None
    assert [file.path for file in listed.files] == ["data/test-00000-of-00001.parquet", "README.md"]


def test_a_branch_asked_for_by_name_is_looked_up_anew(settings: Settings, put: Put) -> None:
    put({"a.parquet": BODY})
    assert take(settings).revision == FIRST
    put({"a.parquet": BODY[::-1]}, commit=SECOND)
    assert take(settings).revision == FIRST
    newer = take(settings, "main")
    assert newer.revision == SECOND
    assert newer.files["a.parquet"].read_bytes() == BODY[::-1]
    assert take(settings).revision == SECOND, "and from then on it is the one that is used"
    assert take(settings, FIRST).files["a.parquet"].read_bytes() == BODY


def test_nothing_is_asked_offline(server: Loopback, settings: Settings, put: Put) -> None:
    offline = replace(settings, offline=True)
    with pytest.raises(
        FetchError, match=r"switched off \(FIN_TASKS_OFFLINE or HF_HUB_OFFLINE\).*copy .*toy-set.*data_dir"
    ):
        take(offline)
    assert server.asked == []
    put({"a.parquet": BODY, "b.parquet": BODY})
    take(settings, pattern="a*")
    asked = len(server.asked)
    for revision in (None, "main", FIRST):
        assert take(offline, revision, pattern="a*").files["a.parquet"].read_bytes() == BODY
    with pytest.raises(FetchError, match=r"b\.parquet.*switched off"):
        take(offline)
    assert len(server.asked) == asked


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            Fault(status=403, headers={"X-Error-Code": "GatedRepo"}),
            "is gated. Accept the conditions on .*hf auth login",
        ),
        (Fault(status=401, headers={"X-Error-Code": "GatedRepo"}), "is gated. Accept the conditions on .*HF_TOKEN"),
        (Fault(status=404, headers={"X-Error-Code": "RepoNotFound"}), "no such data set"),
        (Fault(status=404, headers={"X-Error-Code": "RevisionNotFound"}), "no such revision"),
        (Fault(status=403), "403.*Accept the conditions"),
        (Fault(status=500), "500.*Try again later"),
    ],
)
def test_refusals_of_the_hub_say_what_to_do(
    server: Loopback, settings: Settings, put: Put, fault: Fault, message: str
) -> None:
    put({"a.parquet": BODY})
    for address in addresses("main"):
        server.faults[address].append(fault)
    with pytest.raises(FetchError, match=message) as caught:
        take(settings)
    assert REPO in str(caught.value)
    assert "hf_secret" not in str(caught.value)


def test_a_gated_set_lists_its_files_and_keeps_them(server: Loopback, settings: Settings, put: Put) -> None:
    put({"a.parquet": BODY}, gated="auto")
    server.faults[f"/datasets/{REPO}/resolve/{FIRST}/a.parquet"].append(Fault(status=403))
    with pytest.raises(
        FetchError, match=rf"403.*Accept the conditions on {server.url}/datasets/{REPO} .*hf auth login"
    ):
        take(settings)


def test_a_hub_that_is_not_there(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        address = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with pytest.raises(
        FetchError, match=rf"{address}, but .*Try again later\. Or download it where there is a network"
    ):
        take(replace(settings, hub=address))


@pytest.mark.parametrize("answer", [b"<html>log in</html>", b'{"sha": "x"}', b"[]", b'{"id": "a", "sha": "main"}'])
def test_something_else_that_answers(server: Loopback, settings: Settings, answer: bytes) -> None:
    server.files |= dict.fromkeys(addresses("main"), answer)
    with pytest.raises(FetchError, match="Is HF_ENDPOINT right"):
        take(settings)


@pytest.mark.parametrize(
    ("where", "field", "of"),
    [
        ("", "id", "of the data set"),
        ("", "sha", "of the data set (its commit)"),
        ("", "siblings", "of the data set (its files)"),
        ("file", "rfilename", "of a file (its path)"),
        ("lfs", "sha256", "of a file's 'lfs'"),
    ],
)
def test_an_answer_that_lacks_a_field(server: Loopback, settings: Settings, where: str, field: str, of: str) -> None:
    lfs = {"size": 1, "sha256": "0" * 64, "pointerSize": 130}
    file = {"rfilename": "a.parquet", "size": 1, "lfs": lfs}
    answer = {"id": REPO, "sha": FIRST, "siblings": [file]}
    del {"": answer, "file": file, "lfs": lfs}[where][field]
    server.files |= dict.fromkeys(addresses("main"), json.dumps(answer).encode())
    with pytest.raises(FetchError) as caught:
        take(settings)
    assert f"the answer lacks the field {field!r} {of}" in str(caught.value)


def test_a_page_without_a_licence_does_not_hide_a_known_one(settings: Settings, put: Put, said: list[str]) -> None:
    put({"a.parquet": BODY}, cardData={})
    assert take(settings, licence="MIT", notify=said.append).licence == "MIT"
    assert "comes under the licence MIT" in said[0]
    assert take(settings).licence == "none stated"
    put({"a.parquet": BODY}, commit=SECOND)
    assert take(settings, "main", licence="MIT").licence == "apache-2.0"


def test_the_token_of_a_login_is_used(server: Loopback, settings: Settings, put: Put, tmp_path: Path) -> None:
    put({"a.parquet": BODY})
    (tmp_path / "token").write_text("hf_stored")
    take(replace(settings, hub_token=None))
    assert {asked.authorization for asked in server.asked} == {"Bearer hf_stored"}
    (tmp_path / "token").unlink()
    server.asked.clear()
    take(replace(settings, hub_token=None, cache_dir=tmp_path / "other"))
    assert {asked.authorization for asked in server.asked} == {None}


@pytest.mark.parametrize("path", ["../a.parquet", "data/../../a.parquet", "/a.parquet", "c:\\a.parquet"])
def test_a_path_cannot_leave_its_folder(settings: Settings, put: Put, path: str, tmp_path: Path) -> None:
    put({}, listed={path: BODY, "b.parquet": BODY})
    with pytest.raises(DataError, match="plain relative path"):
        take(settings)
    assert [found for found in tmp_path.rglob("a.parquet")] == []


def test_another_file_than_listed_is_refused(server: Loopback, settings: Settings, put: Put) -> None:
    put({"a.parquet": BODY[::-1]}, listed={"a.parquet": BODY})
    with pytest.raises(DataError, match=r"a\.parquet: expected sha256"):
        take(settings)
    assert list(settings.cache_dir.rglob("a.parquet*")) == []


def test_a_file_without_checksum_is_trusted_at_first_and_held_to_it(
    settings: Settings, put: Put, said: list[str]
) -> None:
    put({"a.parquet": BODY}, lfs=False)
    place = take(settings, notify=said.append).files["a.parquet"]
    assert "no pinned checksum" in said[-1]
    place.write_bytes(BODY[:-1] + b"!")
    with pytest.raises(DataError, match="Delete that file"):
        take(settings)


def test_no_file_of_that_name(settings: Settings, put: Put) -> None:
    put({"train.parquet": BODY})
    with pytest.raises(FetchError, match=r"files like \*test\*, got train\.parquet"):
        take(settings, pattern="*test*")


def test_a_spoilt_record_says_so(settings: Settings, put: Put) -> None:
    put({"a.parquet": BODY})
    take(settings)
    record = settings.cache_dir / "toy-set" / f"{FIRST}.json"
    record.write_text('{"repo": "someone/else"}')
    with pytest.raises(DataError, match="Delete it and try again"):
        take(settings)
    record.unlink()
    assert take(settings).revision == FIRST


def test_licences_that_rule_out_commerce_are_told(settings: Settings, put: Put, said: list[str]) -> None:
    put({"a.parquet": BODY}, cardData={"license": ["cc-by-nc-4.0"]})
    take(settings, notify=said.append)
    assert "which forbids commercial use" in said[0]
