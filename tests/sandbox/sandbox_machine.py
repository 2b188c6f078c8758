"""What this machine offers, asked without our own code: a tier we broke must fail its tests, not skip them."""

import importlib.util
import platform
import shutil
import subprocess

import pytest

from fin_tasks.sandbox.policy import landlock_abi


def need_tier(tier: str) -> None:
    """Skip the running test where the machine lacks what a tier is built on."""
    missing = _missing(tier)
    if missing:
        pytest.skip(f"{tier}: {missing}")


def _missing(tier: str) -> str:
    if tier == "monty":
        return "" if importlib.util.find_spec("pydantic_monty") else "pydantic-monty is not installed"
    if platform.machine() not in ("x86_64", "aarch64"):
        return f"no table of system calls for {platform.machine()}"
    if tier == "landlock":
        return "" if landlock_abi() else "the kernel has no Landlock"
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return "bubblewrap is not installed"
    probe = [bwrap, "--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "true"]
    done = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=30)
    return "" if done.returncode == 0 else f"bubblewrap cannot make namespaces here: {done.stderr.strip()}"
