"""The environment, read in one place."""

from pathlib import Path

import pytest

from fin_tasks.errors import ConfigError
from fin_tasks.settings import OPENAI, Settings


def test_defaults() -> None:
    settings = Settings.from_environ({"FIN_TASKS_DATA": "", "FIN_TASKS_OFFLINE": ""})
    assert (settings.data_dir, settings.cache_dir) == (None, Path("~/.cache/fin-tasks").expanduser())
    assert (settings.sandbox, settings.offline, settings.offline_markets) == ("auto", False, False)
    assert (settings.embeddings, settings.judge_base_urls) == (OPENAI, (OPENAI,))
    assert (settings.hub_token, settings.alpha_vantage_key, settings.api_keys) == (None, None, {})
    assert settings.sandbox_workers >= 1


def test_every_variable_is_read_and_secrets_are_not_shown() -> None:
    addresses = ("FIN_TASKS_GITHUB_RAW", "HF_ENDPOINT", "FIN_TASKS_WIKIPEDIA", "FIN_TASKS_ALPHA_VANTAGE")
    environ = {name: f"http://127.0.0.1:{port}/" for port, name in enumerate(addresses)}
    environ |= {"FIN_TASKS_DATA": "/data", "XDG_CACHE_HOME": "/cache", "HF_HUB_OFFLINE": "1"}
    environ |= {"HF_TOKEN": "secret", "ALPHAVANTAGE_API_KEY": "secret", "OPENAI_API_KEY": "secret"}
    environ |= {"FIN_TASKS_EMBEDDINGS_BASE_URL": "http://e/v1/", "FIN_TASKS_JUDGE_BASE_URL": "http://a/, http://b"}
    environ |= {"FIN_TASKS_JUDGE_MODEL": "m", "OPENAI_API_BASE": "http://c", "FIN_TASKS_METADATA": '{"n": 1}'}
    environ |= {"FIN_TASKS_SANDBOX": "landlock", "FIN_TASKS_SANDBOX_WORKERS": "3"}
    settings = Settings.from_environ(environ)
    found = (settings.github_raw, settings.hub, settings.wikipedia, settings.alpha_vantage)
    assert found == tuple(f"http://127.0.0.1:{port}" for port in range(4))
    assert (settings.data_dir, settings.cache_dir) == (Path("/data"), Path("/cache/fin-tasks"))
    assert (settings.offline, settings.offline_markets) == (True, False), "the hub's switch is about the hub alone"
    assert (settings.hub_token, settings.alpha_vantage_key, settings.api_keys["OPENAI_API_KEY"]) == ("secret",) * 3
    assert "secret" not in repr(settings)
    assert (settings.embeddings, settings.judge_base_urls) == ("http://e/v1", ("http://a", "http://b"))
    assert (settings.judge_model, settings.openai_api_base, settings.metadata) == ("m", "http://c", {"n": 1})
    assert (settings.sandbox, settings.sandbox_workers) == ("landlock", 3)
    own = Settings.from_environ({"FIN_TASKS_OFFLINE": "yes", "FIN_TASKS_CACHE": "/own", "XDG_CACHE_HOME": "/cache"})
    assert (own.offline, own.offline_markets, own.cache_dir) == (True, True, Path("/own"))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("FIN_TASKS_SANDBOX", "docker"), ("FIN_TASKS_SANDBOX_WORKERS", "0"), ("FIN_TASKS_SANDBOX_WORKERS", "-1")),
        *(("FIN_TASKS_OFFLINE", "maybe"), ("FIN_TASKS_METADATA", "sample"), ("FIN_TASKS_METADATA", "1")),
    ],
)
def test_a_wrong_value_is_named(name: str, value: str) -> None:
    with pytest.raises(ConfigError, match=rf"{name}: expected .* got '{value}'"):
        Settings.from_environ({name: value})
