"""Lock a process down: seccomp allow-list, Landlock rules, capabilities, resource limits.

The server runs this file under a bare interpreter, so it uses the standard library only. A system
call that is not named here fails with `EPERM`. Sources: seccomp(2), landlock(7), capabilities(7),
and `unistd.h` for the numbers.
"""

import ctypes
import math
import mmap
import os
import platform
import resource
import struct

_X86_64 = """
    0:read 1:write 3:close 4:stat 5:fstat 6:lstat 8:lseek 9:mmap 10:mprotect 11:munmap
    12:brk 13:rt_sigaction 14:rt_sigprocmask 15:rt_sigreturn 16:ioctl 17:pread64 19:readv
    20:writev 21:access 24:sched_yield 25:mremap 28:madvise 32:dup 33:dup2 35:nanosleep
    39:getpid 60:exit 63:uname 72:fcntl 78:getdents 79:getcwd 89:readlink 95:umask
    96:gettimeofday 97:getrlimit 98:getrusage 99:sysinfo 100:times 102:getuid 104:getgid
    107:geteuid 108:getegid 110:getppid 111:getpgrp 121:getpgid 124:getsid 127:sigpending
    131:sigaltstack 138:fstatfs 140:getpriority 143:sched_getparam 145:sched_getscheduler
    158:arch_prctl 186:gettid 201:time 202:futex 204:sched_getaffinity 217:getdents64
    218:set_tid_address 219:restart_syscall 228:clock_gettime 229:clock_getres
    230:clock_nanosleep 231:exit_group 257:openat 262:newfstatat 267:readlinkat
    269:faccessat 273:set_robust_list 292:dup3 309:getcpu 318:getrandom 324:membarrier
    332:statx 334:rseq 439:faccessat2
"""
_AARCH64 = """
    17:getcwd 23:dup 24:dup3 25:fcntl 29:ioctl 44:fstatfs 48:faccessat 56:openat 57:close
    61:getdents64 62:lseek 63:read 64:write 65:readv 66:writev 67:pread64 78:readlinkat
    79:newfstatat 80:fstat 93:exit 94:exit_group 96:set_tid_address 98:futex
    99:set_robust_list 101:nanosleep 113:clock_gettime 114:clock_getres 115:clock_nanosleep
    120:sched_getscheduler 121:sched_getparam 123:sched_getaffinity 124:sched_yield
    128:restart_syscall 132:sigaltstack 134:rt_sigaction 135:rt_sigprocmask 136:sigpending
    139:rt_sigreturn 141:getpriority 153:times 155:getpgid 156:getsid 160:uname
    163:getrlimit 165:getrusage 166:umask 168:getcpu 169:gettimeofday 172:getpid 173:getppid
    174:getuid 175:geteuid 176:getgid 177:getegid 178:gettid 179:sysinfo 214:brk 215:munmap
    216:mremap 222:mmap 226:mprotect 233:madvise 278:getrandom 283:membarrier 291:statx
    293:rseq 439:faccessat2
"""
_MACHINES = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _AARCH64)}
"""The constant AUDIT_ARCH of a machine, and its allowed calls."""

_WORD = 0xFFFFFFFF
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# An argument's position, a mask, and the values that the masked argument may have.
_CHECKED_ARGUMENTS = {
    "openat": (2, _WRITES, [0]),
    # F_DUPFD, GETFD, SETFD, GETFL, DUPFD_CLOEXEC. F_SETOWN with F_SETSIG would send signals to
    # other processes.
    "fcntl": (1, _WORD, [0, 1, 2, 3, 1030]),
    "ioctl": (1, _WORD, [0x5401]),  # TCGETS
    # NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED, FREE, HUGEPAGE, NOHUGEPAGE: what malloc and
    # numpy need.
    "madvise": (2, _WORD, [0, 1, 2, 3, 4, 8, 14, 15]),
    # QUERY, and PRIVATE_EXPEDITED with its registration; the others interrupt every processor.
    "membarrier": (0, _WORD, [0, 8, 16]),
}

_LOAD = 0x20
_AND = 0x54
_JUMP_EQUAL = 0x15
_RETURN = 0x06
_ALLOW = 0x7FFF0000
_KILL_PROCESS = 0x80000000
_REFUSE = 0x00050001  # with EPERM
_CALL_OFFSET = 0  # in `struct seccomp_data`
_ARCHITECTURE_OFFSET = 4
_ARGUMENTS_OFFSET = 16

_PR_SET_PDEATHSIG = 1
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522

_CREATE_RULESET = 444
_ADD_RULE = 445
_RESTRICT_SELF = 446
_RULE_PATH_BENEATH = 1
_READ_FILE = 1 << 2
_READ_DIR = 1 << 3
_ALL_RIGHTS = (1 << 13) - 1  # of the first version; seccomp refuses what later ones add

_libc = ctypes.CDLL(None, use_errno=True)

_Instruction = tuple[int, int, int, int]
"""Operation, jump if true, jump if false, operand."""


def _check(action: str, result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{action}: {os.strerror(number)}")


def seccomp_program(machine: str) -> bytes:
    """Assemble the filter for `x86_64` or `aarch64` as classic BPF, 8 bytes an instruction."""
    architecture, calls = _MACHINES[machine]
    code = [
        (_LOAD, 0, 0, _ARCHITECTURE_OFFSET),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, _CALL_OFFSET),
    ]
    for call in calls.split():
        number, name = call.split(":")
        block = _instructions_for(name)
        code.append((_JUMP_EQUAL, 0, len(block), int(number)))
        code.extend(block)
    code.append((_RETURN, 0, 0, _REFUSE))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _instructions_for(name: str) -> list[_Instruction]:
    """Return the instructions that allow a call, after they checked its argument."""
    if name not in _CHECKED_ARGUMENTS:
        return [(_RETURN, 0, 0, _ALLOW)]
    position, mask, values = _CHECKED_ARGUMENTS[name]
    # These arguments have 32 bits, so the low word is enough (little-endian).
    offset = _ARGUMENTS_OFFSET + 8 * position
    block = [(_LOAD, 0, 0, offset), (_AND, 0, 0, mask)]
    for value in values:
        block += [(_JUMP_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
    return [*block, (_RETURN, 0, 0, _REFUSE)]


def landlock_abi() -> int:
    """Return the Landlock ABI of the running Linux kernel, 0 if it has none."""
    # The flag 1 asks for the version.
    abi: int = _libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    return max(0, abi)


class Policy:
    """Seccomp and Landlock, prepared once and entered by every child.

    A child may read what lies below `readable`. Folders that are `hidden` may be listed, but nothing
    below them is read, unless it is itself `readable`.
    """

    def __init__(
        self, readable: list[str], hidden: list[str], *, need_landlock: bool
    ) -> None:
        code = seccomp_program(platform.machine())
        self._code = ctypes.create_string_buffer(code, len(code))
        # struct sock_fprog: a count, padding up to the pointer, the pointer
        self._program = struct.pack("@HP", len(code) // 8, ctypes.addressof(self._code))
        self._ruleset: int | None = None
        if landlock_abi():
            rights = struct.pack("=Q", _ALL_RIGHTS)
            size = ctypes.c_size_t(len(rights))
            self._ruleset = _libc.syscall(_CREATE_RULESET, rights, size, 0)
            _check("landlock_create_ruleset", self._ruleset)
            hidden_folders = set(map(os.path.realpath, hidden))
            for path in readable:
                self._allow(os.path.realpath(path), hidden_folders)
        elif need_landlock:
            raise OSError(
                "Landlock: expected a kernel of 5.13 or newer with Landlock switched on, found none"
            )

    def _allow(self, path: str, hidden: set[str]) -> None:
        if not os.path.exists(path):  # noqa: PTH110 - pathlib starts slowly
            return
        if path in hidden:
            self._add_rule(path, _READ_DIR)
            return
        if not any(folder.startswith(f"{path}/") for folder in hidden):
            is_folder = os.path.isdir(path)  # noqa: PTH112 - pathlib starts slowly
            self._add_rule(path, _READ_FILE | _READ_DIR if is_folder else _READ_FILE)
            return
        # Landlock only adds rights. So a folder around the hidden one may be listed, and each of
        # its other entries gets a rule of its own.
        self._add_rule(path, _READ_DIR)
        for entry in os.scandir(path):
            if not entry.is_symlink():  # its target may lie anywhere
                self._allow(entry.path, hidden)

    def _add_rule(self, path: str, rights: int) -> None:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        rule = struct.pack("=Qi", rights, fd)
        result = _libc.syscall(_ADD_RULE, self._ruleset, _RULE_PATH_BENEATH, rule, 0)
        _check(f"landlock_add_rule {path}", result)
        os.close(fd)

    def enter(self, *, kept_fds: int) -> None:
        """Lock down the calling process for good: files, other descriptors, unlisted calls."""
        _check("no_new_privs", _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        if self._ruleset is not None:
            _check(
                "landlock_restrict_self",
                _libc.syscall(_RESTRICT_SELF, self._ruleset, 0),
            )
        os.closerange(kept_fds, 256)
        result = _libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, self._program, 0, 0)
        _check("seccomp", result)


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send this process a signal when its parent ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)


def drop_capabilities() -> None:
    """Give up all of root's privileges for good."""
    for capability in range(64):
        # This fails for an ordinary user, who has no capability to pass on.
        _libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    empty_sets = bytes(24)
    _check("capset", _libc.capset(header, empty_sets))


def address_space_bytes() -> int:
    """Return the size of this single-threaded process's address space to one MiB.

    Works without /proc: lowers the limit by bisection until one more page cannot be mapped.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    low = 0
    high = 1 << 47 if hard == resource.RLIM_INFINITY else hard
    while high - low > 1 << 20:
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
    """Limit the calling process for good.

    CPU seconds are rounded up, because the kernel counts whole ones.
    """
    limits = {
        resource.RLIMIT_CPU: max(1, math.ceil(cpu_s)),
        resource.RLIMIT_AS: address_space,
        resource.RLIMIT_NOFILE: 32,
        resource.RLIMIT_FSIZE: 0,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_NPROC: 0,
    }
    for kind, limit in limits.items():
        _, hard = resource.getrlimit(kind)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(kind, (limit, limit))
