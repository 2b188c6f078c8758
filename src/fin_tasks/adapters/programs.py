"""Run the programs in the responses to a task."""

import logging
from collections.abc import Mapping, Sequence
from functools import lru_cache

from fin_tasks import sandbox
from fin_tasks.errors import SandboxError
from fin_tasks.settings import Settings

_log = logging.getLogger(__name__)


def sandbox_facts() -> Mapping[str, str]:
    """Return what results say of the sandbox; raise SandboxError if it cannot start."""
    settings = Settings.from_environ()
    with sandbox.open_runner(tier=settings.sandbox, workers=1) as runner:
        return {"tier": runner.tier, "reason": runner.reason}


def run_programs(programs: Sequence[str | None]) -> Sequence[sandbox.Outcome]:
    """Run programs; if the sandbox breaks, outcomes are `broken`, and nothing raises."""
    return _run(tuple(programs))


@lru_cache(maxsize=4)  # both variants of a task often have the same programs
def _run(programs: tuple[str | None, ...]) -> Sequence[sandbox.Outcome]:
    try:
        return sandbox.run_programs(programs, settings=Settings.from_environ())
    except (SandboxError, OSError) as error:
        _log.error(
            "The sandbox broke, every program of this task stays unscored: %s", error
        )
        broken = sandbox.Outcome(status=sandbox.Status.broken, detail=str(error))
        return [broken] * len(programs)
