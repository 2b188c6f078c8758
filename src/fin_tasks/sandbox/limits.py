"""What one program may use: CPU, address space, open files. Standard library only, for the server imports it.

A limit of the kernel counts from the child's birth and cannot be raised again by the program, as soft and hard limit
are the same.
"""

import math
import mmap
import resource

__all__ = ["address_space_bytes", "apply_limits"]

_MIB = 1024 * 1024
_OPEN_FILES = 32


def address_space_bytes() -> int | None:
    """Return the size of this process's address space, found without /proc.

    `RLIMIT_AS` is lowered by bisection until mapping one more page fails. Run it in a single-threaded process only:
    while it searches, any other allocation may fail.

    Returns:
        Bytes, exact to one MiB, or None where the kernel does not enforce the limit (macOS).
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    low, high = 0, 1 << 47
    if _fits_under(low, hard):
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        return None
    while high - low > _MIB:
        middle = (low + high) // 2
        if _fits_under(middle, hard):
            high = middle
        else:
            low = middle
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return high


def _fits_under(limit: int, hard: int) -> bool:
    """Say whether one more page can be mapped below an address-space limit."""
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        mmap.mmap(-1, mmap.PAGESIZE).close()
    except (OSError, MemoryError):
        return False
    return True


def apply_limits(*, cpu_s: float, address_space: int | None) -> None:
    """Bind the calling process, for good.

    Args:
        cpu_s: CPU seconds; the kernel counts whole ones, so a fraction is rounded up.
        address_space: Bytes the process may map in all, or None for no limit.
    """
    seconds = max(1, math.ceil(cpu_s))
    _set(resource.RLIMIT_CPU, seconds)
    if address_space is not None:
        _set(resource.RLIMIT_AS, address_space)
    _set(resource.RLIMIT_NOFILE, _OPEN_FILES)
    _set(resource.RLIMIT_FSIZE, 0)
    _set(resource.RLIMIT_CORE, 0)
    if hasattr(resource, "RLIMIT_NPROC"):
        _set(resource.RLIMIT_NPROC, 0)


def _set(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))
