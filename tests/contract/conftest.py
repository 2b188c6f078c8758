"""lm-eval in this process."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True, scope="session")
def _no_facts_of_the_machine() -> Iterator[None]:
    """Spare each run the two seconds in which lm-eval lists the packages of the machine."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torch.utils.collect_env.get_pretty_env_info", lambda: "")
        yield
