"""Lock a process down: seccomp allow-list, Landlock rules, capabilities, resource limits.

The server runs this file under a bare interpreter, so it uses the standard library only. A system call that is not
named here fails with `EPERM`. Sources: seccomp(2), landlock(7), capabilities(7), and `unistd.h` for the numbers.
"""

import ctypes
import errno
import math
import mmap
import os
import platform
import resource
import struct

_X86_64 = (
    "0:read 1:write 3:close 4:stat 5:fstat 6:lstat 8:lseek 9:mmap 10:mprotect 11:munmap 12:brk 13:rt_sigaction "
    "14:rt_sigprocmask 15:rt_sigreturn 16:ioctl 17:pread64 19:readv 20:writev 21:access 24:sched_yield 25:mremap "
    "28:madvise 32:dup 33:dup2 35:nanosleep 39:getpid 60:exit 63:uname 72:fcntl 78:getdents 79:getcwd 89:readlink "
    "95:umask 96:gettimeofday 97:getrlimit 98:getrusage 99:sysinfo 100:times 102:getuid 104:getgid 107:geteuid "
    "108:getegid 110:getppid 111:getpgrp 121:getpgid 124:getsid 127:sigpending 131:sigaltstack 138:fstatfs "
    "140:getpriority 143:sched_getparam 145:sched_getscheduler 158:arch_prctl 186:gettid 201:time 202:futex "
    "204:sched_getaffinity 217:getdents64 218:set_tid_address 219:restart_syscall 228:clock_gettime 229:clock_getres "
    "230:clock_nanosleep 231:exit_group 257:openat 262:newfstatat 267:readlinkat 269:faccessat 273:set_robust_list "
    "292:dup3 309:getcpu 318:getrandom 324:membarrier 332:statx 334:rseq 439:faccessat2"
)
_AARCH64 = (
    "17:getcwd 23:dup 24:dup3 25:fcntl 29:ioctl 44:fstatfs 48:faccessat 56:openat 57:close 61:getdents64 62:lseek "
    "63:read 64:write 65:readv 66:writev 67:pread64 78:readlinkat 79:newfstatat 80:fstat 93:exit 94:exit_group "
    "96:set_tid_address 98:futex 99:set_robust_list 101:nanosleep 113:clock_gettime 114:clock_getres "
    "115:clock_nanosleep 120:sched_getscheduler 121:sched_getparam 123:sched_getaffinity 124:sched_yield "
    "128:restart_syscall 132:sigaltstack 134:rt_sigaction 135:rt_sigprocmask 136:sigpending 139:rt_sigreturn "
    "141:getpriority 153:times 155:getpgid 156:getsid 160:uname 163:getrlimit 165:getrusage 166:umask 168:getcpu "
    "169:gettimeofday 172:getpid 173:getppid 174:getuid 175:geteuid 176:getgid 177:getegid 178:gettid 179:sysinfo "
    "214:brk 215:munmap 216:mremap 222:mmap 226:mprotect 233:madvise 278:getrandom 283:membarrier 291:statx 293:rseq "
    "439:faccessat2"
)
_MACHINES = {
    "x86_64": (0xC000003E, _X86_64),
    "aarch64": (0xC00000B7, _AARCH64),
}  # AUDIT_ARCH constant, system calls
# Call -> (argument, mask, values): allowed only if argument & mask is one of the values.
_CHECKED: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "openat": (2, os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC, (0,)),
    # F_DUPFD, GETFD, SETFD, GETFL, DUPFD_CLOEXEC. F_SETOWN with F_SETSIG would send signals to other processes.
    "fcntl": (1, 0xFFFFFFFF, (0, 1, 2, 3, 1030)),
    "ioctl": (1, 0xFFFFFFFF, (0x5401,)),  # TCGETS
    # NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE: what malloc and numpy need.
    "madvise": (2, 0xFFFFFFFF, (0, 1, 2, 3, 4, 8, 14, 15)),
    "membarrier": (
        0,
        0xFFFFFFFF,
        (0, 8, 16),
    ),  # QUERY and PRIVATE_EXPEDITED; the others interrupt every processor
}
_LOAD, _AND, _JUMP_EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x06
_ALLOW, _KILL_PROCESS, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM
_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS = 1, 22, 24, 38
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_RIGHTS_BY_ABI = (
    13,
    14,
    15,
    15,
    16,
)  # how many file-system rights each ABI knows; later ones add none
_libc = ctypes.CDLL(None, use_errno=True)


def _check(what: str, result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return result


def seccomp_program(machine: str) -> bytes:
    """Assemble the filter for `x86_64` or `aarch64` as classic BPF, 8 bytes per `struct sock_filter`."""
    arch, table = _MACHINES[machine]
    # Kill on a foreign architecture, let the allow-list through, check a few arguments, refuse the rest.
    code = [
        (_LOAD, 0, 0, 4),
        (_JUMP_EQUAL, 1, 0, arch),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, 0),
    ]
    for pair in table.split():
        number, name = pair.split(":")
        block = [(_RETURN, 0, 0, _ALLOW)]
        if name in _CHECKED:
            index, mask, values = _CHECKED[
                name
            ]  # 32-bit arguments, so the low word is enough (little-endian)
            block = [(_LOAD, 0, 0, 16 + 8 * index), (_AND, 0, 0, mask)]
            for value in values:
                block += [(_JUMP_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
            block.append((_RETURN, 0, 0, _REFUSE))
        code += [(_JUMP_EQUAL, 0, len(block), int(number)), *block]
    code.append((_RETURN, 0, 0, _REFUSE))
    return b"".join(struct.pack("=HBBI", *line) for line in code)


def landlock_abi() -> int:
    """Return the Landlock ABI of the running Linux kernel, 0 if it has none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)))


class Policy:
    """Seccomp and Landlock, prepared once and entered by every child, which may read `readable` but not `hidden`."""

    def __init__(self, readable: list[str], hidden: str, *, need_landlock: bool) -> None:
        code = seccomp_program(platform.machine())
        self._code = ctypes.create_string_buffer(code, len(code))
        # struct sock_fprog: a count, padding up to the pointer, the pointer
        self._program = struct.pack("@HP", len(code) // 8, ctypes.addressof(self._code))
        self._ruleset, abi = None, landlock_abi()
        if need_landlock and not abi:
            raise OSError(
                "Landlock: expected a kernel of 5.13 or newer with Landlock switched on, found none"
            )
        if abi:
            words = [(1 << _RIGHTS_BY_ABI[min(abi, len(_RIGHTS_BY_ABI)) - 1]) - 1]
            words += [0b11] if abi >= 4 else []  # bind and connect TCP
            words += (
                [0b11] if abi >= 6 else []
            )  # abstract unix sockets and signals beyond the own domain
            attributes = struct.pack(f"={len(words)}Q", *words)
            made = _libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
            self._ruleset = _check("landlock_create_ruleset", made)
            for path in readable:
                self._allow(os.path.realpath(path), os.path.realpath(hidden))

    def _allow(self, path: str, hidden: str) -> None:
        if path == hidden or not os.path.exists(path):  # noqa: PTH110 - pathlib costs start-up time
            return
        # Landlock only adds rights, so a folder around the hidden one is listed and its other entries are allowed.
        around = hidden.startswith(path + "/")
        rights = _READ_DIR if around else _READ_FILE | (_READ_DIR if os.path.isdir(path) else 0)  # noqa: PTH112
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", rights, fd)
        _check(f"landlock_add_rule {path}", _libc.syscall(_ADD_RULE, self._ruleset, 1, rule, 0))
        os.close(fd)
        for entry in os.scandir(path) if around else ():
            if not entry.is_symlink():  # its target may lie anywhere
                self._allow(entry.path, hidden)

    def enter(self, *, kept_fds: int) -> None:
        """Lock the calling process for good: its other descriptors, the file system, and all calls not listed."""
        _check("no_new_privs", _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        if self._ruleset is not None:
            _check("landlock_restrict_self", _libc.syscall(_RESTRICT_SELF, self._ruleset, 0))
        os.closerange(kept_fds, 256)
        _check(
            "seccomp", _libc.prctl(_PR_SET_SECCOMP, 2, self._program, 0, 0)
        )  # 2: SECCOMP_MODE_FILTER


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send this process a signal when its parent ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)


def drop_capabilities() -> None:
    """Give up all of root's privileges for good."""
    for capability in range(64):
        _libc.prctl(
            _PR_CAPBSET_DROP, capability, 0, 0, 0
        )  # fails for an ordinary user, who has none to pass on
    _check(
        "capset", _libc.capset(struct.pack("=Ii", 0x20080522, 0), bytes(24))
    )  # version 3; all sets empty


def address_space_bytes() -> int:
    """Return the size of this single-threaded process's address space to one MiB, found without /proc."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    low, high = 0, 1 << 47 if hard == resource.RLIM_INFINITY else hard
    while (
        high - low > 1024 * 1024
    ):  # lower the limit by bisection until one more page cannot be mapped
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_AS, (middle, hard))
        try:
            mmap.mmap(-1, mmap.PAGESIZE).close()
            high = middle
        except (OSError, MemoryError):
            low = middle
    resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    return high


def apply_limits(*, cpu_s: float, address_space: int) -> None:
    """Limit the calling process for good; CPU seconds are rounded up, because the kernel counts whole ones."""
    limits = {
        "CPU": max(1, math.ceil(cpu_s)),
        "AS": address_space,
        "NOFILE": 32,
        "FSIZE": 0,
        "CORE": 0,
        "NPROC": 0,
    }
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (most, most))
