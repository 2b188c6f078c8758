"""The environment, read in one place."""

import os
import re
from pathlib import Path

import pytest

import fin_tasks
from fin_tasks.errors import ConfigError, FinTasksError
from fin_tasks.settings import OPENAI, Settings


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("FIN_TASKS_", "HF_", "XDG_")) or name.endswith("_KEY"):
            monkeypatch.delenv(name)


def test_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_TASKS_DATA", "")
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "")
    settings = Settings.from_environ()
    assert settings.data_dir is None
    assert settings.cache_dir == Path("~/.cache/fin-tasks").expanduser()
    assert (settings.sandbox, settings.offline) == ("auto", False)
    assert settings.hub_token is None
    assert (settings.embeddings, settings.judge_base_urls) == (OPENAI, (OPENAI,))
    assert 1 <= settings.sandbox_workers <= 8


def test_variables_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    environ = {
        "FIN_TASKS_DATA": "~/data",
        "XDG_CACHE_HOME": "/cache",
        "HF_HUB_OFFLINE": "1",
        "HF_ENDPOINT": "http://h/",
        "FIN_TASKS_JUDGE_BASE_URL": "http://a/, http://b",
        "FIN_TASKS_METADATA": '{"n": 1}',
    }
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    settings = Settings.from_environ()
    assert settings.data_dir == Path("~/data").expanduser()
    assert settings.cache_dir == Path("/cache/fin-tasks")
    assert settings.hub == "http://h"
    assert settings.offline
    assert settings.judge_base_urls == ("http://a", "http://b")
    assert settings.metadata == {"n": 1}
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "0")
    assert not Settings.from_environ().offline, "our own variable counts first"


def test_given_variables_count_before_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", "/cache")
    monkeypatch.setenv("A_KEY", "a")
    own = Settings.from_environ({"FIN_TASKS_CACHE": "/own", "B_KEY": "b"})
    assert own.cache_dir == Path("/own")
    assert own.api_keys == {"A_KEY": "a", "B_KEY": "b"}


def test_secrets_have_no_line_breaks_and_are_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HF_TOKEN", "ALPHAVANTAGE_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(name, "secret\r\n")
    settings = Settings.from_environ()
    assert settings.hub_token == "secret"  # noqa: S105
    assert settings.alpha_vantage_key == "secret"
    assert settings.api_keys["OPENAI_API_KEY"] == "secret"
    assert "secret" not in repr(settings) + str(settings)


WRONG = {
    "FIN_TASKS_GITHUB_RAW": ["raw.example.org"],
    "FIN_TASKS_ALPHA_VANTAGE": ["ftp://example.org"],
    "FIN_TASKS_EMBEDDINGS_BASE_URL": ["localhost:8000/v1"],
    "FIN_TASKS_JUDGE_BASE_URL": ["http://a, b", "https://"],
    "FIN_TASKS_METADATA": ["sample", "1", "[" * 100_000],
    "FIN_TASKS_OFFLINE": ["maybe"],
    "FIN_TASKS_MAX_MB": ["-1", "much", "9" * 5_000],
    "FIN_TASKS_SANDBOX": ["docker"],
    "FIN_TASKS_SANDBOX_WORKERS": ["0", "many"],
}
"""Wrong values of each variable that not every text is right for."""
ANY_TEXT = {"FIN_TASKS_DATA", "FIN_TASKS_CACHE", "FIN_TASKS_JUDGE_MODEL"}
SOURCES = Path(fin_tasks.__file__).parent


def our_variables() -> set[str]:
    names = []
    for field in Settings.model_fields.values():
        alias = field.validation_alias
        names += getattr(alias, "choices", [alias])
    return {name for name in names if name and name.startswith("FIN_TASKS_")}


@pytest.mark.parametrize("name", sorted(our_variables()))
def test_a_wrong_value_is_one_sentence(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (name in WRONG) != (name in ANY_TEXT), "say which values are wrong"
    for value in WRONG.get(name, []):
        monkeypatch.setenv(name, value)
        with pytest.raises(ConfigError) as caught:
            Settings.from_environ()
        assert re.fullmatch(
            rf"{name}: expected another value, got .*\.", str(caught.value)
        )
        assert len(str(caught.value)) < 400


def test_the_environment_is_read_in_one_place() -> None:
    """One more variable is read at interpreter start, and one is set for child processes."""
    readers = set()
    for file in SOURCES.rglob("*.py"):
        text = file.read_text("utf-8")
        if re.search(r"environ(\.get|\[)|getenv|environb", text):
            readers.add(file.relative_to(SOURCES).as_posix())
    assert readers == {"settings.py", "workers.py", "adapters/vlmeval.py"}


@pytest.mark.parametrize(
    ("name", "source"),
    [("FIN_TASKS_DATA", "data_dir"), ("FIN_TASKS_CACHE", "upstream")],
)
def test_a_folder_that_cannot_be_used_is_one_sentence(
    name: str, source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")
    monkeypatch.setenv(name, str(file))
    with pytest.raises(FinTasksError, match=str(file)):
        fin_tasks.load("financemath", source=source)
