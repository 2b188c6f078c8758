"""One runner per tier, with tight limits and a single server, so that every program runs where the last one did."""

from collections.abc import Iterator

import pytest
from sandbox_machine import need_tier

from fin_tasks.sandbox import Runner, open_runner

KERNEL_TIERS = ("bwrap", "landlock")


def _open(tier: str) -> Runner:
    need_tier(tier)
    return open_runner(tier=tier, workers=1, cpu_limit_s=1.0, wall_limit_s=1.2, memory_mb=256)


@pytest.fixture(scope="session", params=KERNEL_TIERS)
def kernel_runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    with _open(request.param) as runner:
        yield runner


@pytest.fixture(scope="session", params=[*KERNEL_TIERS, "monty"])
def any_runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    with _open(request.param) as runner:
        yield runner
