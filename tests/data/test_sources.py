import json
from pathlib import Path

import pytest

from fin_tasks.data.sources import RemoteFile, Source, load_source, parse_source, source_names
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "pins.json"

PINS = {
    "name": "toy",
    "host": "github",
    "repo": "someone/toy",
    "revision": "0123456789abcdef0123456789abcdef01234567",
    "licence": "MIT",
    "non_commercial": False,
    "homepage": "",
    "note": "",
    "files": [{"path": "a/b c.txt", "size": 1, "sha256": "0" * 64}],
}


def parse(**changes: object) -> Source:
    return parse_source(json.dumps({**PINS, **changes}), origin="pins/toy.json")


def settings() -> Settings:
    return Settings.from_environ({"FIN_TASKS_GITHUB_RAW": "https://raw.example/", "HF_ENDPOINT": "https://hub.example"})


def test_addresses() -> None:
    at = "0123456789abcdef0123456789abcdef01234567"
    assert parse().url("a/b c.txt", settings()) == f"https://raw.example/someone/toy/{at}/a/b%20c.txt"
    hub = parse(host="hub")
    assert hub.url("a/b c.txt", settings()) == f"https://hub.example/datasets/someone/toy/resolve/{at}/a/b%20c.txt"


@pytest.mark.parametrize(
    "path",
    ["../a", "a/../../b", "/etc/passwd", "a//b", "./a", "a/.", "..", "", "C:/a", "a\\..\\b", "a\nb", "a/ b", "a?b"],
)
def test_paths_stay_in_their_folder(path: str) -> None:
    with pytest.raises(DataError, match="expected a plain relative path"):
        parse(files=[{"path": path, "size": 1, "sha256": "0" * 64}])
    with pytest.raises(DataError, match="expected a plain relative path"):
        RemoteFile(path=path, size=None, sha256=None)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"name": "../toy"}, "expected name to be lower-case letters"),
        ({"host": "ftp"}, "expected host to be 'github' or 'hub', got 'ftp'"),
        ({"repo": "toy"}, "expected repo to be owner/name"),
        ({"repo": "../toy"}, "expected repo to be owner/name"),
        ({"revision": "main"}, "expected revision to be a commit of 40 hex digits, got 'main'"),
        ({"licence": " "}, "expected licence to be"),
        ({"non_commercial": 1}, "expected non_commercial to be bool, got 1"),
        ({"files": []}, "non-empty list"),
        ({"files": {}}, "expected files to be list"),
        ({"files": ["a"]}, r"files\[0\]: expected an object"),
        ({"files": [{"path": "a", "size": "1", "sha256": None}]}, "expected size to be int or null, got '1'"),
        ({"files": [{"path": "a", "size": True, "sha256": None}]}, "expected size to be int or null, got True"),
        ({"files": [{"path": "a", "size": -1, "sha256": None}]}, "expected a size of 0 bytes or more, got -1"),
        ({"files": [{"path": "a", "size": 1, "sha256": "ABC"}]}, "expected 64 lower-case hex digits"),
        ({"files": [{"path": "a", "size": 1}]}, r"files\[0\]: expected an object with the keys path, size, sha256"),
        ({"files": [{"path": "a", "size": 1, "sha256": None}] * 2}, r"each path once, got \['a'\]"),
        ({"extra": 1}, "expected an object with the keys"),
    ],
)
def test_malformed_pins_are_explained(changes: dict[str, object], message: str) -> None:
    with pytest.raises(DataError, match=f"(?s)pins/toy.json.*{message}"):
        parse(**changes)


def test_pins_that_are_no_json() -> None:
    with pytest.raises(DataError, match="line 2"):
        parse_source("{\n]", origin="pins/toy.json")


def test_every_packaged_source_loads() -> None:
    assert {"xfinbench", "financemath"} <= set(source_names())
    assert [load_source(name).name for name in source_names()] == list(source_names())


def test_an_unknown_benchmark_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"financemath, .*xfinbench, got '\.\./x'"):
        load_source("../x")


@pytest.mark.parametrize(
    ("name", "repo"), [("xfinbench", "Zhihan72/XFinBench"), ("financemath", "yale-nlp/FinanceMath")]
)
def test_pins_are_the_recorded_facts(name: str, repo: str) -> None:
    if not SHARED.is_file():
        pytest.skip("the recorded pins are not beside this checkout")
    facts = json.loads(SHARED.read_text(encoding="utf-8"))[repo]
    source = load_source(name)
    assert (source.repo, source.revision) == (repo, facts["commit"])
    known = {file.path: (file.size, file.sha256) for file in source.files if file.sha256 is not None}
    assert known == {file["path"]: (file["bytes"], file["sha256"]) for file in facts["files"]}


def test_only_the_knowledge_bank_of_xfinbench_is_without_a_checksum() -> None:
    source = load_source("xfinbench")
    assert [file.path for file in source.files if file.sha256 is None] == ["dataset/knowledge_bank.csv"]
    assert len(source.files) == 79
