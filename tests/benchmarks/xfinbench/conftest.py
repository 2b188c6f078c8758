import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _own_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_proxy: None
) -> None:
    for name in [name for name in os.environ if name.startswith("FIN_TASKS")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("FIN_TASKS_OFFLINE", "1")
