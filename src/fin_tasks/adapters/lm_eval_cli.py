"""lm-eval's own command line with only our tasks indexed.

lm-eval reads some 14,000 task files of its own before it does anything; a run that needs none of them starts in about
half the time without (`perf/startup.py` measures it). Everything else is lm-eval's: options, models, results files.
"""

import functools
import sys
from collections.abc import Sequence
from typing import Any

from fin_tasks.resources import task_yaml_dir

__all__ = ["run"]


def run(arguments: Sequence[str]) -> None:
    """Run lm-eval's command line in this process.

    Args:
        arguments: What would follow `lm_eval` on the command line, such as `["--tasks", "xfinbench_calc"]`.

    Raises:
        SystemExit: As lm-eval's command line does.
    """
    from lm_eval.__main__ import cli_evaluate
    from lm_eval.tasks import manager

    init = manager.TaskManager.__init__

    @functools.wraps(init)
    def with_our_tasks_only(self: Any, *args: Any, include_path: Any = None, **kwargs: Any) -> None:
        theirs = include_path or []
        theirs = list(theirs) if isinstance(theirs, (list, tuple)) else [theirs]
        init(self, *args, include_path=[task_yaml_dir(), *theirs], **{**kwargs, "include_defaults": False})

    argv = sys.argv
    manager.TaskManager.__init__ = with_our_tasks_only
    sys.argv = ["lm_eval", *arguments]
    try:
        cli_evaluate()
    finally:
        manager.TaskManager.__init__ = init
        sys.argv = argv
