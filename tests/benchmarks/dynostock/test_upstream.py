"""The authors' template and figures."""

import json
from pathlib import Path
from typing import Any

import pytest

from fin_tasks.benchmarks.dynostock.authorities import AUTHORITIES
from fin_tasks.benchmarks.dynostock.upstream import locate_config, read_authorities, read_template
from fin_tasks.data.fetch import load_pins
from fin_tasks.errors import ConfigError, DataError, FetchError
from fin_tasks.settings import Settings

REAL = Path(__file__).parents[4] / "shared" / "data"
SLOTS = "a {} b {} c {} d {} e {} f {} g {{ h }}"

needs_real_files = pytest.mark.skipif(
    not (REAL / "dynostock" / "config").is_dir(), reason="the authors' files are not beside the checkout"
)


def written(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def settings(tmp_path: Path) -> Settings:
    return Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path / "cache"), "FIN_TASKS_OFFLINE": "1"})


@pytest.mark.parametrize(
    "text",
    [
        SLOTS,
        f"[INST] {SLOTS} [/INST]",
        f"[INST] <image>\n{SLOTS} [/INST]",
        f"<|image_1|>\n{SLOTS}",
        f"<image>\n{SLOTS}",
    ],
)
def test_chat_markers_are_the_harness_s_business(tmp_path: Path, text: str) -> None:
    path = written(tmp_path / "prompt.json", {"m": {"prompt": text, "split": "[/INST]"}})
    assert read_template(path, "m") == SLOTS


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "could not read it"),
        ([], "expected an object of prompts by model, got list"),
        ({"m": {"split": "x"}}, "expected an object with the text 'prompt'"),
        ({"m": {"prompt": "{} {}"}}, r"expected 6 fields without a name, \{\}, got \['', ''\]"),
        ({"m": {"prompt": "{} {} {} {} {} {now}"}}, "'now'"),
        ({"m": {"prompt": "a } b"}}, "a lone brace"),
    ],
)
def test_another_file_is_an_error(tmp_path: Path, content: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_template(written(tmp_path / "prompt.json", content), "m")


def test_an_unknown_entry_is_an_error_that_lists_them(tmp_path: Path) -> None:
    path = written(tmp_path / "prompt.json", {"gpt-4o": {"prompt": SLOTS}, "llava": {"prompt": SLOTS}})
    with pytest.raises(ConfigError, match="expected one of gpt-4o, llava, got 'gpt-5'"):
        read_template(path, "gpt-5")


@pytest.mark.parametrize("content", [{}, [], ["x"], [{"name": "A", "summary": "b"}], [{"name": 1}]])
def test_another_list_is_an_error(tmp_path: Path, content: Any) -> None:
    with pytest.raises(DataError, match="expected"):
        read_authorities(written(tmp_path / "celebrity.json", content))


@pytest.mark.parametrize("below", ["", "dynostock"])
def test_a_folder_of_yours_comes_first(tmp_path: Path, below: str) -> None:
    for name in ("prompt.json", "celebrity.json"):
        written(tmp_path / below / "config" / name, {})
    config = locate_config(data_dir=tmp_path, settings=settings(tmp_path))
    assert config.prompt == tmp_path / below / "config" / "prompt.json"
    assert set(config.hashes()) == {"config/prompt.json", "config/celebrity.json"}


def test_otherwise_they_are_downloaded(tmp_path: Path) -> None:
    written(tmp_path / "config" / "prompt.json", {})  # one of the two is not enough
    with pytest.raises(FetchError, match=r"config/celebrity\.json"):
        locate_config(data_dir=tmp_path, settings=settings(tmp_path))


def test_a_downloaded_file_that_was_changed_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "dynostock" / str(load_pins("dynostock").revision)
    for name in ("prompt.json", "celebrity.json"):
        written(folder / "config" / name, {})
    with pytest.raises(DataError, match=r"config/celebrity\.json: expected"):
        locate_config(data_dir=None, settings=settings(tmp_path))


@needs_real_files
def test_the_authors_own_files() -> None:
    config = locate_config(data_dir=REAL, settings=Settings.from_environ({}))
    pins = {pin.path: pin.sha256 for pin in load_pins("dynostock").files}
    assert config.hashes() == {path: pins[path] for path in config.hashes()}
    names = json.loads(config.prompt.read_text(encoding="utf-8"))
    (template,) = {read_template(config.prompt, name) for name in names}  # they differ in what is put around it alone
    assert not [mark for mark in ("INST", "<image>", "<|") if mark in template]
    theirs = read_authorities(config.celebrity)
    assert [figure.name for figure in theirs] == [figure.name for figure in AUTHORITIES]


@needs_real_files
def test_our_introductions_are_in_our_own_words() -> None:
    theirs = read_authorities(REAL / "dynostock" / "config" / "celebrity.json")
    for mine, other in zip(AUTHORITIES, theirs, strict=True):
        ours = f"{mine.role} {mine.standing}".split()
        original = f" {other.role} {other.standing} "
        phrases = [" ".join(ours[i : i + 5]) for i in range(len(ours) - 4)]
        assert not [phrase for phrase in phrases if f" {phrase} " in original]
