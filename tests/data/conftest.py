import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from loopback import Loopback

from fin_tasks.data.download import Retry
from fin_tasks.data.sources import RemoteFile, Source
from fin_tasks.data.store import Store
from fin_tasks.settings import Settings

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture(autouse=True)
def _no_proxy(no_proxy: None) -> None:
    """Servers of these tests are on the loopback interface."""


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as running:
        yield running


@pytest.fixture
def settings(server: Loopback, tmp_path: Path) -> Settings:
    environ = {
        "FIN_TASKS_CACHE": str(tmp_path / "cache"),
        "FIN_TASKS_GITHUB_RAW": server.url,
        "HF_ENDPOINT": server.url,
        "HF_TOKEN": "hf_secret",
    }
    return Settings.from_environ(environ)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def store(settings: Settings, said: list[str], waits: list[float]) -> Store:
    return Store(settings, notify=said.append, retry=Retry(sleep=waits.append, read_timeout=10))


@pytest.fixture
def publish(server: Loopback) -> Callable[..., Source]:
    """Put files on the server and return a source that pins them."""

    def make(files: dict[str, bytes], *, pinned: bool = True, **changes: object) -> Source:
        head: dict[str, object] = {
            "name": "toy",
            "host": "github",
            "repo": "someone/toy",
            "revision": COMMIT,
            "licence": "CC0-1.0",
            "non_commercial": False,
            **changes,
        }
        prefix = "/datasets/someone/toy/resolve" if head["host"] == "hub" else "/someone/toy"
        entries = []
        for path, body in files.items():
            server.files[f"{prefix}/{COMMIT}/{path}"] = body
            sha256 = hashlib.sha256(body).hexdigest()
            entries.append(RemoteFile(path=path, size=len(body) if pinned else None, sha256=sha256 if pinned else None))
        return Source(files=tuple(entries), **head)  # type: ignore[arg-type]

    return make
