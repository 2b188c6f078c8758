"""One cache for the tests of DynoStock: the windows of the sample are found once for each cache."""

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def cache_of_dynostock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dynostock")


@pytest.fixture
def shared_cache(cache_of_dynostock: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(cache_of_dynostock))
