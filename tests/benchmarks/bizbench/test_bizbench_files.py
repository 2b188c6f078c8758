import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest

from fin_tasks.benchmarks.bizbench import files as module
from fin_tasks.benchmarks.bizbench.files import SPLITS, locate, revision_of
from fin_tasks.data import hub
from fin_tasks.data.hub import Snapshot
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

Make = Callable[..., Path]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path / "cache")})


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def write(*names: str) -> Path:
        for name in names:
            path = tmp_path / "data" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(Path(name).name)
        return tmp_path / "data"

    return write


@pytest.mark.parametrize(
    "name",
    [
        *("test-00000-of-00001.parquet", "data/test-00000-of-00001.parquet", "default/test/0000.parquet"),
        *("test.parquet", "test.jsonl", "test.json", "test.csv", "bizbench/test.csv", "bizbench/data/test.jsonl"),
        *("bizbench_test.json", "test_v2.parquet"),
    ],
)
def test_a_split_is_found_where_people_put_it(make: Make, settings: Settings, name: str) -> None:
    folder = make(name, "train.parquet", "notes.csv")
    found = locate(data_dir=folder, settings=settings)
    assert (found.origin, found.split, found.paths, found.commit) == ("data_dir", "test", (folder / name,), None)
    assert locate(settings=replace(settings, data_dir=folder)) == found
    assert locate(data_dir=folder, settings=settings, split="train").paths == (folder / "train.parquet",)


def test_shards_come_in_order(make: Make, settings: Settings) -> None:
    names = [f"data/test-{n:05d}-of-00012.parquet" for n in range(12)]
    folder = make(*reversed(names), "test.csv")
    assert locate(data_dir=folder, settings=settings).paths == tuple(folder / name for name in names)
    (folder / names[7]).unlink()
    with pytest.raises(DataError, match="every shard of one set"):
        locate(data_dir=folder, settings=settings)


def test_several_files_are_no_guess(make: Make, settings: Settings) -> None:
    with pytest.raises(DataError, match=r"expected one file.*a_test\.json, b_test\.json"):
        locate(data_dir=make("a_test.json", "b_test.json"), settings=settings)


def test_nothing_there_says_where_it_looked(make: Make, settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"test\.parquet.*found none") as caught:
        locate(data_dir=make("train.csv"), settings=settings)
    assert str(tmp_path / "data" / "bizbench" / "data") in str(caught.value)


@pytest.mark.parametrize(
    "name", ["test.parquet", "test.csv", "data/test-00000-of-00001.parquet", "mine.json", "latest.jsonl"]
)
def test_the_file_itself_can_be_named(make: Make, settings: Settings, name: str) -> None:
    path = make(name, "test.jsonl") / name
    found = locate(data_dir=path, settings=settings)
    assert (found.origin, found.split, found.paths) == ("data_dir", "test", (path,))
    assert locate(settings=replace(settings, data_dir=path)) == found


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("test-00001-of-00003.parquet", r"one of 3 shards\. Name their folder: .*data$"),
        ("train-00000-of-00001.parquet", r"named after train\. Set split: train"),
        ("test.xlsx", r"expected a file \.parquet, .*got .*test\.xlsx"),
    ],
)
def test_a_file_that_can_only_be_a_slip(make: Make, settings: Settings, name: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        locate(data_dir=make(name) / name, settings=settings)


def test_a_path_that_does_not_exist_names_no_folders_below_it(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"found no .*typo\.parquet\. Name the folder with test\.parquet") as caught:
        locate(data_dir=tmp_path / "typo.parquet", settings=settings)
    assert "typo.parquet/" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "dev"}, "split: expected one of test, train, got 'dev'"),
        ({"source": "hub"}, "source: expected one of auto.*got 'hub'"),
        ({"source": "data_dir"}, "data_dir needs a folder"),
    ],
)
def test_options_that_do_not_exist(settings: Settings, options: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        locate(settings=settings, **options)  # type: ignore[arg-type]


def test_the_hubs_files_are_asked_for_by_split(monkeypatch: pytest.MonkeyPatch, make: Make, settings: Settings) -> None:
    name = "data/test-00000-of-00001.parquet"
    folder = make(name)
    asked: list[dict[str, Any]] = []

    def snapshot(repo: str, **options: Any) -> Snapshot:
        asked.append({"repo": repo, **options})
        return Snapshot(repo=repo, revision="a" * 40, licence="cc0", files={name: folder / name})

    monkeypatch.setattr(hub, "snapshot", snapshot)
    found = locate(settings=settings, data_revision="b" * 40, notify=print)
    assert asked == [
        {
            **{"repo": "kensho/bizbench", "patterns": ["*test*.parquet"], "revision": "b" * 40},
            **{"settings": settings, "licence": module.LICENCE, "notify": print},
        }
    ]
    assert (found.origin, found.commit, found.paths) == ("upstream", "a" * 40, (folder / name,))
    assert found.licence == "cc0", "the page's word counts"
    assert revision_of(found) == revision_of(locate(data_dir=folder, settings=settings)), "the same from anywhere"


def test_offline_without_a_copy_says_what_to_do(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(DataError, match=r"kensho/bizbench: .*switched off.*data_dir or FIN_TASKS_DATA"):
        locate(settings=replace(settings, offline=True))


def test_the_revision_is_over_content_and_names(make: Make, settings: Settings) -> None:
    folder = make("test.jsonl")
    found = revision_of(locate(data_dir=folder, settings=settings))
    sha256 = hashlib.sha256(b"test.jsonl").hexdigest()
    assert found.files == {"test.jsonl": sha256}
    assert str(found) == hashlib.sha256(f"{sha256}  test.jsonl\n".encode()).hexdigest()[:16]
    (folder / "test.jsonl").write_text(json.dumps({}))
    assert revision_of(locate(data_dir=folder, settings=settings)) != found


def test_the_sample_is_one_for_all_splits(settings: Settings) -> None:
    found = [locate(source="sample", split=split, settings=settings) for split in SPLITS]
    assert {files.paths for files in found} == {(Path(module.__file__).parent / "sample" / "test.jsonl",)}
