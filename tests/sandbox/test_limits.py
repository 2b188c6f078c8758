"""Limits bind; they are tried in processes of their own."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="compares with /proc")


def _python(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=180)


def test_the_address_space_is_found_without_proc() -> None:
    script = (
        "import mmap; from fin_tasks.sandbox.limits import address_space_bytes\n"
        "found = address_space_bytes()\n"
        "true = int(open('/proc/self/statm').read().split()[0]) * mmap.PAGESIZE\n"
        "import resource; print(found - true, resource.getrlimit(resource.RLIMIT_AS)[0])\n"
    )
    difference, limit = _python(script).stdout.split()
    assert abs(int(difference)) <= 4 * 1024 * 1024
    assert limit == "-1"


def test_limits_cannot_be_raised_again() -> None:
    script = (
        "import resource; from fin_tasks.sandbox.limits import apply_limits\n"
        "apply_limits(cpu_s=2.5, address_space=1 << 30)\n"
        "for kind in ('CPU', 'AS', 'NOFILE', 'FSIZE', 'CORE', 'NPROC'):\n"
        "    print(kind, *resource.getrlimit(getattr(resource, 'RLIMIT_' + kind)))\n"
    )
    told = _python(script).stdout.splitlines()
    assert told == ["CPU 3 3", f"AS {1 << 30} {1 << 30}", "NOFILE 32 32", "FSIZE 0 0", "CORE 0 0", "NPROC 0 0"]
