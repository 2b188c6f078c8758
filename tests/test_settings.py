"""The environment, read in one place."""

from pathlib import Path

import pytest

from fin_tasks.errors import ConfigError
from fin_tasks.settings import OPENAI, Settings


def test_defaults() -> None:
    settings = Settings.from_environ({"FIN_TASKS_DATA": "", "FIN_TASKS_OFFLINE": ""})
    assert (settings.data_dir, settings.cache_dir) == (
        None,
        Path("~/.cache/fin-tasks").expanduser(),
    )
    assert (settings.sandbox, settings.offline, settings.hub_token) == (
        "auto",
        False,
        None,
    )
    assert (settings.embeddings, settings.judge_base_urls) == (OPENAI, (OPENAI,))


def test_variables_are_read_and_secrets_are_not_shown() -> None:
    environ = {
        "FIN_TASKS_DATA": "/data",
        "XDG_CACHE_HOME": "/cache",
        "HF_HUB_OFFLINE": "1",
        "HF_ENDPOINT": "http://h/",
    }
    environ |= {
        "HF_TOKEN": "secret",
        "ALPHAVANTAGE_API_KEY": "secret",
        "OPENAI_API_KEY": "secret",
    }
    environ |= {
        "FIN_TASKS_JUDGE_BASE_URL": "http://a/, http://b",
        "FIN_TASKS_METADATA": '{"n": 1}',
    }
    settings = Settings.from_environ(environ)
    assert (settings.data_dir, settings.cache_dir, settings.hub) == (
        Path("/data"),
        Path("/cache/fin-tasks"),
        "http://h",
    )
    assert settings.offline
    assert (
        settings.hub_token,
        settings.alpha_vantage_key,
        settings.api_keys["OPENAI_API_KEY"],
    ) == ("secret",) * 3
    assert "secret" not in repr(settings)
    assert (
        Settings.from_environ({"OPENAI_API_KEY": "sk-1\r\n"}).api_keys["OPENAI_API_KEY"]
        == "sk-1"
    )
    assert (settings.judge_base_urls, settings.metadata) == (
        ("http://a", "http://b"),
        {"n": 1},
    )
    own = Settings.from_environ(
        {
            "FIN_TASKS_OFFLINE": "yes",
            "FIN_TASKS_CACHE": "/own",
            "XDG_CACHE_HOME": "/cache",
        }
    )
    assert (own.offline, own.cache_dir) == (True, Path("/own"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("FIN_TASKS_SANDBOX_WORKERS", "0"), ("FIN_TASKS_SANDBOX_WORKERS", "-1")),
        ("FIN_TASKS_SANDBOX", "docker"),
        *(
            ("FIN_TASKS_OFFLINE", "maybe"),
            ("FIN_TASKS_METADATA", "sample"),
            ("FIN_TASKS_METADATA", "1"),
        ),
    ],
)
def test_a_wrong_value_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name}: expected .* got '{value}'"):
        Settings.from_environ({name: value})
