"""What the kernel lets a program do: a seccomp allow-list and a Landlock rule set. Standard library only.

Both are set up through ctypes, because the server must run under a bare interpreter: the seccomp binding on PyPI
needs the C library `libseccomp`, which most machines lack. A system call that is not named here fails with `EPERM`.

Sources: seccomp(2), landlock(7), and the kernel's `unistd.h` for the numbers of the system calls.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from collections.abc import Sequence

__all__ = ["Policy", "PolicyError", "die_with_parent", "landlock_abi", "seccomp_program"]

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
_MACHINES = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _AARCH64)}
"""Machine -> (AUDIT_ARCH constant, its system calls as number:name)."""

_F_DUPFD, _F_GETFD, _F_SETFD, _F_GETFL, _F_DUPFD_CLOEXEC = 0, 1, 2, 3, 1030
_TCGETS = 0x5401
_CHECKED: dict[str, tuple[int, int, tuple[int, ...]]] = {
    "openat": (2, os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC, (0,)),
    # F_SETOWN with F_SETSIG would have the kernel send signals to other processes: no setter but F_SETFD.
    "fcntl": (1, 0xFFFFFFFF, (_F_DUPFD, _F_GETFD, _F_SETFD, _F_GETFL, _F_DUPFD_CLOEXEC)),
    "ioctl": (1, 0xFFFFFFFF, (_TCGETS,)),
}
"""Call -> (argument, mask, values): let through only where argument & mask is one of the values."""

_LOAD, _AND, _JUMP_EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x06
_ALLOW, _KILL_PROCESS, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SECCOMP_MODE_FILTER = 2

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
_RIGHTS_BY_ABI = (13, 14, 15, 15, 16)
"""How many file-system rights each ABI knows; later ones add none."""


class PolicyError(OSError):
    """The kernel refused a part of the policy, so the program must not run."""


def seccomp_program(machine: str) -> bytes:
    """Assemble the filter as classic BPF.

    Args:
        machine: `x86_64` or `aarch64`.

    Returns:
        `struct sock_filter` records of 8 bytes: kill on a foreign architecture, let the allow-list through, check
        the arguments of a few calls, refuse the rest with `EPERM`.

    Raises:
        PolicyError: There is no table for this machine.

    Example:
        >>> len(seccomp_program("x86_64")) % 8
        0
    """
    if machine not in _MACHINES:
        raise PolicyError(f"seccomp: expected a machine out of {', '.join(_MACHINES)}, got {machine!r}")
    arch, table = _MACHINES[machine]
    code = [(_LOAD, 0, 0, 4), (_JUMP_EQUAL, 1, 0, arch), (_RETURN, 0, 0, _KILL_PROCESS), (_LOAD, 0, 0, 0)]
    for pair in table.split():
        number, name = pair.split(":")
        block = _argument_check(*_CHECKED[name]) if name in _CHECKED else [(_RETURN, 0, 0, _ALLOW)]
        code += [(_JUMP_EQUAL, 0, len(block), int(number)), *block]
    code.append((_RETURN, 0, 0, _REFUSE))
    return b"".join(struct.pack("=HBBI", *line) for line in code)


def _argument_check(index: int, mask: int, values: Sequence[int]) -> list[tuple[int, int, int, int]]:
    low_word = 16 + 8 * index  # the checked arguments are 32-bit, and both machines are little-endian
    block = [(_LOAD, 0, 0, low_word), (_AND, 0, 0, mask)]
    for value in values:
        block += [(_JUMP_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW)]
    return [*block, (_RETURN, 0, 0, _REFUSE)]


def landlock_abi() -> int:
    """Return the Landlock ABI of the running kernel, 0 where there is none."""
    if sys.platform != "linux":
        return 0
    version = ctypes.CDLL(None, use_errno=True).syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), 1)
    return max(0, int(version))


class Policy:
    """A policy that was prepared once and is entered by every child.

    Args:
        readable: Files and folders programs may read (the interpreter's own libraries); everything else is closed.
        need_landlock: Whether a kernel without Landlock is an error; inside bubblewrap the mounts already close the
            file system, so there it is a second wall.

    Raises:
        PolicyError: The machine has no seccomp table, or the kernel no Landlock.
    """

    def __init__(self, readable: Sequence[str], *, need_landlock: bool) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        code = seccomp_program(platform.machine())
        self._code = ctypes.create_string_buffer(code, len(code))
        # struct sock_fprog: a count, padding up to the pointer, the pointer
        self._program = struct.pack("@HP", len(code) // 8, ctypes.addressof(self._code))
        self.landlock_abi = landlock_abi()
        if need_landlock and not self.landlock_abi:
            raise PolicyError("Landlock: expected a kernel of 5.13 or newer with Landlock switched on, found none")
        self._ruleset = self._make_ruleset(readable) if self.landlock_abi else None

    def close_files(self) -> None:
        """Close the file system to the calling process for good, by Landlock.

        Raises:
            PolicyError: The kernel refused.
        """
        self._check("no_new_privs", self._libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        if self._ruleset is not None:
            self._check("landlock_restrict_self", self._libc.syscall(_RESTRICT_SELF, self._ruleset, 0))

    def close_calls(self) -> None:
        """Refuse the calling process every system call that is not on the list, for good, by seccomp.

        Raises:
            PolicyError: The kernel refused.
        """
        self._check("seccomp", self._libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, self._program, 0, 0))

    def _make_ruleset(self, readable: Sequence[str]) -> int:
        abi = self.landlock_abi
        files = (1 << _RIGHTS_BY_ABI[min(abi, len(_RIGHTS_BY_ABI)) - 1]) - 1
        words = [files]
        if abi >= 4:
            words.append(0b11)  # bind and connect TCP
        if abi >= 6:
            words.append(0b11)  # abstract unix sockets and signals beyond the own domain
        attributes = struct.pack(f"={len(words)}Q", *words)
        size = ctypes.c_size_t(len(attributes))
        ruleset = self._check("landlock_create_ruleset", self._libc.syscall(_CREATE_RULESET, attributes, size, 0))
        for path in readable:
            self._add_readable(ruleset, path)
        return ruleset

    def _add_readable(self, ruleset: int, path: str) -> None:
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except FileNotFoundError:
            return
        try:
            rights = _READ_FILE | (_READ_DIR if os.path.isdir(path) else 0)  # noqa: PTH112 - pathlib costs start-up time
            rule = struct.pack("=Qi", rights, fd)
            self._check("landlock_add_rule", self._libc.syscall(_ADD_RULE, ruleset, 1, rule, 0))
        finally:
            os.close(fd)

    @staticmethod
    def _check(what: str, result: int) -> int:
        if result < 0:
            code = ctypes.get_errno()
            raise PolicyError(code, f"{what}: {os.strerror(code)}")
        return result


def die_with_parent(signal_number: int) -> None:
    """Have the kernel send this process a signal when its parent ends (Linux; elsewhere nothing happens)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal_number, 0, 0, 0)
