"""The command line each tier starts its server with, and what of the file system it may see."""

import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from fin_tasks.errors import SandboxError

__all__ = ["NUMERIC_PRELOAD", "PLAIN_PRELOAD", "library_dirs", "readable_paths", "server_command", "server_environ"]

PLAIN_PRELOAD = ("math", "statistics", "random", "datetime", "decimal", "fractions", "itertools", "re")
NUMERIC_PRELOAD = (*PLAIN_PRELOAD, "numpy", "scipy.optimize", "scipy.stats", "sympy")
_LIBRARIES = ("numpy", "scipy", "sympy", "mpmath")
_SERVER_FILES = ("server.py", "child.py", "limits.py", "policy.py", "wire.py")
_INSIDE = "/fin_tasks_sandbox"
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def server_environ() -> dict[str, str]:
    """Return the whole environment of a server: nothing of the evaluator's own gets in."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    return {**dict.fromkeys(threads, "1"), "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8", "TZ": "UTC"}


def library_dirs() -> list[str]:
    """Return the folders outside the interpreter's own that hold the numeric libraries (a user site, a PYTHONPATH)."""
    own = {os.path.realpath(path) for path in _interpreter_paths()}
    found = []
    for name in _LIBRARIES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            continue
        folder = str(Path(spec.origin).parents[1])
        if os.path.realpath(folder) not in own and folder not in found:
            found.append(folder)
    return found


def readable_paths() -> list[str]:
    """Return what programs may read: the interpreter's libraries, the system's, and sources of random bytes."""
    system = ["/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib", "/etc/ld.so.cache", *_DEVICES]
    shared = [str(Path(sys.base_prefix) / "lib")]
    return [*_interpreter_paths(), *shared, *library_dirs(), *system]


def _interpreter_paths() -> list[str]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return list(dict.fromkeys(sysconfig.get_path(name) for name in names))


def _python_flags() -> list[str]:
    # -I would do as well but also ignores PYTHONHASHSEED; 3.10 does not know -P yet.
    return ["-s", "-P", "-B"] if sys.version_info >= (3, 11) else ["-I", "-B"]


def server_command(tier: str, config: str) -> list[str]:
    """Return the command that starts a server.

    Args:
        tier: `bwrap`, `landlock` or `unsafe-local-exec`.
        config: The server's configuration as JSON.

    Raises:
        SandboxError: The tier cannot be had on this system.
    """
    here = Path(__file__).resolve().parent
    if tier != "bwrap":
        return [sys.executable, *_python_flags(), str(here / "server.py"), config]
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        raise SandboxError("bwrap: expected the program of the package `bubblewrap` on PATH, found none. Install it.")
    if sys.platform != "linux":
        raise SandboxError(f"bwrap: expected Linux, got {platform.system()}")
    files = [arg for name in _SERVER_FILES for arg in ("--ro-bind", str(here / name), f"{_INSIDE}/{name}")]
    python = [sys.executable, *_python_flags(), f"{_INSIDE}/server.py", config]
    return [bwrap, *_namespaces(bwrap), *_mounts(), *files, "--remount-ro", "/tmp", "--remount-ro", "/", "--", *python]  # noqa: S108


def _namespaces(bwrap: str) -> list[str]:
    options = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
    options += ["--unshare-cgroup-try", "--die-with-parent", "--new-session", "--clearenv", "--cap-drop", "ALL"]
    options += ["--uid", "65534", "--gid", "65534"]
    known = subprocess.run([bwrap, "--help"], capture_output=True, text=True, check=False, timeout=10)  # noqa: S603
    if "--disable-userns" in known.stdout + known.stderr:  # from 0.8; seccomp refuses a new namespace anyway
        options.append("--disable-userns")
    for name, value in server_environ().items():
        options += ["--setenv", name, value]
    return options


def _mounts() -> list[str]:
    # /tmp comes first: a virtual environment that lies under it is bound on top.
    mounts = ["--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]  # noqa: S108
    for name in ("/lib", "/lib32", "/lib64"):
        top = Path(name)
        if top.is_symlink():
            mounts += ["--symlink", str(top.readlink()), name]
        elif top.is_dir():
            mounts += ["--ro-bind", name, name]
    for path in _outside_usr(
        [sys.base_prefix, sys.prefix, *_executable_chain(), *_interpreter_paths(), *library_dirs()]
    ):
        mounts += ["--ro-bind", path, path]
    for device in _DEVICES:
        mounts += ["--dev-bind", device, device]
    return mounts


def _executable_chain() -> list[str]:
    """Return the interpreter's file and every link on the way to it."""
    chain = [Path(sys.executable)]
    while chain[-1].is_symlink() and len(chain) < 16:
        chain.append(chain[-1].parent / chain[-1].readlink())
    return [os.path.normpath(path) for path in chain]


def _outside_usr(paths: Iterable[str]) -> list[str]:
    """Keep, in order, the paths that no path kept before contains."""
    kept = ["/usr"]
    for path in paths:
        if not any(Path(path).is_relative_to(parent) for parent in kept):
            kept.append(path)
    return kept[1:]
