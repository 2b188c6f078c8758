"""lm-eval in this process."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="module")
def _offline() -> Iterator[None]:
    """Look for no data in the internet, and spare each run the two seconds in which torch asks pip for all packages."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIN_TASKS_OFFLINE", "1")
        patch.setattr("torch.utils.collect_env.get_pretty_env_info", lambda: "")
        yield
