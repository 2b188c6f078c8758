"""The environment, read in one place."""

from pathlib import Path

import pytest

from fin_tasks.errors import ConfigError
from fin_tasks.settings import Settings


def test_defaults() -> None:
    settings = Settings.from_environ({})
    assert settings.data_dir is None
    assert settings.cache_dir == Path("~/.cache/fin-tasks").expanduser()
    assert settings.sandbox == "auto"
    assert not settings.offline
    assert not settings.offline_markets
    assert settings.wikipedia == "https://en.wikipedia.org"
    assert settings.alpha_vantage == "https://www.alphavantage.co"
    assert settings.alpha_vantage_key is None
    assert settings.embeddings == "https://api.openai.com/v1"
    assert settings.api_keys == {}
    assert settings.sandbox_workers >= 1


def test_everything_set() -> None:
    settings = Settings.from_environ(
        {
            "FIN_TASKS_DATA": "/data",
            "XDG_CACHE_HOME": "/cache",
            "FIN_TASKS_GITHUB_RAW": "http://127.0.0.1:1/",
            "HF_ENDPOINT": "http://127.0.0.1:2/",
            "HF_TOKEN": "secret",
            "FIN_TASKS_WIKIPEDIA": "http://127.0.0.1:3/",
            "FIN_TASKS_ALPHA_VANTAGE": "http://127.0.0.1:4/",
            "ALPHAVANTAGE_API_KEY": "hush",
            "OPENAI_API_KEY": "private",
            "FIN_TASKS_EMBEDDINGS_BASE_URL": "http://127.0.0.1:5/v1/",
            "HF_HUB_OFFLINE": "1",
            "FIN_TASKS_SANDBOX": "landlock",
            "FIN_TASKS_SANDBOX_WORKERS": "3",
        }
    )
    assert settings.data_dir == Path("/data")
    assert settings.cache_dir == Path("/cache/fin-tasks")
    assert (settings.github_raw, settings.hub) == ("http://127.0.0.1:1", "http://127.0.0.1:2")
    assert (settings.wikipedia, settings.alpha_vantage) == ("http://127.0.0.1:3", "http://127.0.0.1:4")
    assert settings.alpha_vantage_key == "hush"
    assert settings.offline
    assert not settings.offline_markets, "the hub's own switch is about the hub"
    assert (settings.sandbox, settings.sandbox_workers) == ("landlock", 3)
    assert "secret" not in repr(settings)
    assert "hush" not in repr(settings)
    assert settings.embeddings == "http://127.0.0.1:5/v1"
    assert settings.api_keys["OPENAI_API_KEY"] == "private"
    assert "private" not in repr(settings)


def test_our_own_switch_turns_every_download_off() -> None:
    settings = Settings.from_environ({"FIN_TASKS_OFFLINE": "1"})
    assert settings.offline
    assert settings.offline_markets


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FIN_TASKS_SANDBOX", "docker"),
        ("FIN_TASKS_SANDBOX_WORKERS", "0"),
        ("FIN_TASKS_SANDBOX_WORKERS", "-1"),
        ("FIN_TASKS_OFFLINE", "maybe"),
    ],
)
def test_a_value_that_means_nothing_is_an_error_that_shows_it(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name}: expected .* got '{value}'"):
        Settings.from_environ({name: value})
