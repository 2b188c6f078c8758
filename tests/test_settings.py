"""The environment, read in one place."""

import os
from pathlib import Path

import pytest

from fin_tasks.errors import ConfigError
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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FIN_TASKS_SANDBOX_WORKERS", "0"),
        ("FIN_TASKS_SANDBOX_WORKERS", "many"),
        ("FIN_TASKS_SANDBOX", "docker"),
        ("FIN_TASKS_OFFLINE", "maybe"),
        ("FIN_TASKS_METADATA", "sample"),
        ("FIN_TASKS_METADATA", "1"),
    ],
)
def test_a_wrong_value_is_named(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ConfigError, match=rf"{name}: expected .* got '{value}'"):
        Settings.from_environ()
