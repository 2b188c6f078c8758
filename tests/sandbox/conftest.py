"""One runner per tier, with tight limits and a single worker, so that every program runs where the last one did."""

import importlib.util
import platform
import shutil
import subprocess
from collections.abc import Iterator

import pytest

from fin_tasks.sandbox import Runner, open_runner
from fin_tasks.sandbox.policy import landlock_abi


def missing(tier: str) -> str:
    # Asked without our own code: a tier that we broke must fail its tests, not skip them.
    if tier == "monty":
        return "" if importlib.util.find_spec("pydantic_monty") else "pydantic-monty is not installed"
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "aarch64"):
        return f"no table of system calls for {platform.system()} {platform.machine()}"
    if tier == "landlock":
        return "" if landlock_abi() else "the kernel has no Landlock"
    bwrap = shutil.which("bwrap") or "true"
    probe = [bwrap, "--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "true"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=30)
    return "bubblewrap cannot make namespaces here" if done.returncode or bwrap == "true" else ""


@pytest.fixture(scope="session", params=["bwrap", "landlock", "monty"])
def any_runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    if reason := missing(request.param):
        pytest.skip(f"{request.param}: {reason}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIN_TASKS_TEST_SECRET", "bait-7d1f")
        with open_runner(tier=request.param, workers=1, cpu_limit_s=1.0, wall_limit_s=1.2, memory_mb=256) as runner:
            yield runner
