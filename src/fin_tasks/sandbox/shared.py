"""The sandbox of this process. It starts once, and the programs of all tasks run in it."""

import atexit
import logging
from collections.abc import Sequence
from threading import Lock

from fin_tasks.errors import SandboxError, escape
from fin_tasks.settings import Settings

from .outcome import Outcome, Status
from .runner import Runner, open_runner

_log = logging.getLogger(__name__)

_MOST_KEPT = 20_000  # outcomes; one takes about 3 kB, most of it its program

_lock = Lock()
_runners: dict[tuple[str, int], Runner] = {}
"""The runners that were opened, by tier and number of workers."""
_outcomes: dict[str, Outcome] = {}
"""What programs did, because both scorings often have the same programs."""


def shared_runner() -> Runner:
    """Return the runner of this process, which is closed when Python ends.

    Raises:
        SandboxError: No tier works. The next call tries again.
    """
    settings = Settings.from_environ()
    key = (settings.sandbox, settings.sandbox_workers)
    with _lock:
        if key not in _runners:
            tier, workers = key
            runner = open_runner(tier=tier, workers=workers)
            atexit.register(runner.close)
            _runners[key] = runner
        return _runners[key]


def run_programs(programs: Sequence[str | None]) -> list[Outcome]:
    """Run programs in the shared runner, each one once in this process.

    If the sandbox breaks, the outcomes are `broken`, and nothing raises. The next call tries again.
    """
    if len(_outcomes) > _MOST_KEPT:
        _outcomes.clear()
    found: dict[str | None, Outcome] = {}
    for program in programs:
        if program is not None and program in _outcomes:
            found[program] = _outcomes[program]
    missing = [program for program in programs if program not in found]
    try:
        outcomes = shared_runner().run(missing)
    except (SandboxError, OSError, RuntimeError) as error:
        _log.error("The sandbox broke, its programs stay unscored: %s", error)
        broken = Outcome(status=Status.broken, detail=escape(str(error)))
        outcomes = [broken] * len(missing)
    for program, outcome in zip(missing, outcomes, strict=True):
        found[program] = outcome
        if program is not None and outcome.status is not Status.broken:
            _outcomes[program] = outcome
    return [found[program] for program in programs]
