"""The clients for OpenAI-compatible addresses, and what they say when something is wrong."""

import ssl
import traceback
from pathlib import Path

import openai
import pytest
from chat_server import completion, serve

from fin_tasks.endpoints.client import Endpoint, endpoint_error, open_client, trusted_certificates
from fin_tasks.errors import ConfigError, EndpointError
from fin_tasks.settings import Settings

KEY = "sk-very-secret"


def _settings(tmp_path: Path, **keys: str) -> Settings:
    return Settings.from_environ({"FIN_TASKS_CACHE": str(tmp_path), **keys})


def _error(endpoint: Endpoint, settings: Settings) -> EndpointError:
    with open_client(endpoint, settings) as client, pytest.raises(openai.OpenAIError) as raised:
        client.chat.completions.create(model=endpoint.model, messages=[{"role": "user", "content": "Hi"}])
    return endpoint_error(endpoint, raised.value, settings)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("base_url", "127.0.0.1:8000/v1"),
        ("base_url", "ftp://127.0.0.1/v1"),
        ("base_url", "http:///v1"),
        ("base_url", "http://anna:geheim@127.0.0.1/v1"),
        ("model", " "),
        ("key_variable", "PATH"),
        ("timeout", 0.0),
        ("timeout", float("nan")),
        ("retries", -1),
    ],
)
def test_settings_that_cannot_work(field: str, value: object) -> None:
    with pytest.raises(ConfigError, match="expected") as raised:
        Endpoint(**{"base_url": "http://127.0.0.1/v1", "model": "m", field: value})  # type: ignore[arg-type]
    assert "geheim" not in str(raised.value)


def test_the_key_goes_into_the_header_and_nowhere_else(tmp_path: Path) -> None:
    settings = _settings(tmp_path, OPENAI_API_KEY=KEY, OTHER_KEY="other")
    with serve(lambda _: completion("ok")) as served:
        for variable in ("OPENAI_API_KEY", "OTHER_KEY", "UNSET_KEY"):
            endpoint = Endpoint(base_url=served.base_url, model="m", key_variable=variable)
            with open_client(endpoint, settings) as client:
                client.chat.completions.create(model="m", messages=[])
    sent = [headers["authorization"] for headers in served.headers]
    assert sent == [f"Bearer {KEY}", "Bearer other", "Bearer none"]
    assert KEY not in repr(settings) + repr(endpoint) + str(endpoint)
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and KEY in path.read_text(errors="replace")]


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "OPENAI_API_KEY is refused"),
        (403, "OPENAI_API_KEY is refused"),
        (404, "end in /v1"),
        (429, "Ask for less at once"),
        (400, "status 400"),
        (500, "status 500"),
    ],
)
def test_a_refusal_is_told_without_the_key(tmp_path: Path, status: int, told: str) -> None:
    settings = _settings(tmp_path, OPENAI_API_KEY=KEY)
    with serve(lambda _: (status, {}, {"error": {"message": f"no: {KEY}"}})) as served:
        error = _error(Endpoint(base_url=served.base_url, model="judge-1", retries=0), settings)
    assert told in str(error)
    assert "judge-1 at http://127.0.0.1" in str(error)
    assert "[key]" in str(error)
    assert KEY not in "".join(traceback.format_exception(error))


def test_no_key_is_said_to_be_missing(tmp_path: Path) -> None:
    with serve(lambda _: (401, {}, {"error": {"message": "no key"}})) as served:
        error = _error(Endpoint(base_url=served.base_url, model="m", retries=0), _settings(tmp_path))
    assert "OPENAI_API_KEY is not set" in str(error)


def test_no_server(tmp_path: Path) -> None:
    error = _error(Endpoint(base_url="http://127.0.0.1:1/v1", model="m", retries=0), _settings(tmp_path))
    assert "got no connection" in str(error)


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    with serve(lambda _: completion("late"), pause=0.6) as served:
        error = _error(Endpoint(base_url=served.base_url, model="m", timeout=0.1, retries=0), _settings(tmp_path))
    assert "within 0.1 s, got none in 1 attempt." in str(error)


def test_whom_clients_trust() -> None:
    certificates = trusted_certificates()
    assert certificates.verify_mode is ssl.CERT_REQUIRED
    assert certificates.check_hostname
    assert certificates.get_ca_certs()
