"""Processes that share the work of a command, on this machine or on a Ray cluster."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from .errors import ConfigError
from .interrupt import start_workers

Engine = Literal["local", "ray"]

_log = logging.getLogger(__name__)


@contextmanager
def running_on(engine: Engine) -> Iterator[None]:
    """Let the workers of a `with` statement be processes of this machine, or of a Ray cluster.

    The cluster is the one that Ray finds, otherwise one that is started here. All its machines must see the files.
    """
    if engine == "local":
        yield
        return
    try:
        import ray
        from ray.util.joblib import register_ray
    except ImportError as error:
        raise ConfigError(
            "--engine ray: expected the package ray, found none. Run `pip install ray`."
        ) from error
    import joblib

    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    register_ray()
    with joblib.parallel_config("ray", n_jobs=-1):
        yield


@contextmanager
def workers(n: int) -> Iterator[Any]:
    """Open a `joblib.Parallel` of `n` processes of this machine, or of all CPUs of the cluster.

    The processes import nothing from the current folder, which may hold a stranger's files.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
    import joblib
    from joblib.externals.loky import get_reusable_executor
    from joblib.parallel import get_active_backend

    _, n_of_cluster = get_active_backend()
    n_jobs = n_of_cluster or n
    is_alone = joblib.effective_n_jobs(n_jobs) == 1
    if n_jobs > 1 and is_alone:
        _log.warning(
            "one process does all the work, since shared memory (/dev/shm) is missing"
        )
    with joblib.Parallel(n_jobs, batch_size=1) as parallel:
        if n_jobs > 1:
            start_workers(parallel)
        yield parallel
    if not is_alone and not n_of_cluster:
        # A pool that waits for five minutes ends its processes, and work that comes at this moment would wait forever.
        get_reusable_executor().shutdown()
