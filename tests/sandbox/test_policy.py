"""The seccomp filter, run by a small interpreter of classic BPF, and all walls on the live kernel."""

import os
import struct
from types import SimpleNamespace

import pytest

from fin_tasks.sandbox import policy
from fin_tasks.sandbox.policy import Policy, seccomp_program

ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050001
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
CALLS = {
    "x86_64": {"read": 0, "openat": 257, "fcntl": 72, "madvise": 28, "membarrier": 324},
    "aarch64": {
        "read": 63,
        "openat": 56,
        "fcntl": 25,
        "madvise": 233,
        "membarrier": 283,
    },
}
# socket, clone, execve, kill, ptrace, prctl, unshare, prlimit64, memfd_create, bpf, io_uring_setup, ...
DANGEROUS = {
    "x86_64": "2 41 56 57 58 59 62 87 101 157 234 272 302 310 319 321 322 424 425 435 437 1073741824",
    "aarch64": "35 97 117 129 131 167 198 220 221 261 270 279 280 425 435 437",
}
CHECKED = [  # call, index of its argument, values that are allowed, values that are refused
    (
        "openat",
        2,
        [0, os.O_CLOEXEC],
        [1, 2, os.O_CREAT, os.O_TRUNC, os.O_TRUNC | 1 << 40],
    ),
    ("fcntl", 1, [1, 2, 1030], [8, 10]),  # F_SETOWN and F_SETSIG direct signals
    (
        "madvise",
        2,
        [0, 4, 8, 14, 15],
        [9, 10, 12, 17, 21, 25, 100, 101],
    ),  # 100, 101: HWPOISON, SOFT_OFFLINE
    ("membarrier", 0, [0, 8, 16], [1, 2, 4, 32, 64, 128]),
]


def run_filter(
    code: bytes, *, number: int, arch: int, arguments: tuple[int, ...] = ()
) -> int:
    """Interpret the four instructions the filter is made of."""
    data = struct.pack(
        "=IIQ6Q", number, arch, 0, *arguments, *[0] * (6 - len(arguments))
    )
    lines = list(struct.iter_unpack("=HBBI", code))
    register, at = 0, 0
    while True:
        operation, if_true, if_false, operand = lines[at]
        at += 1
        if operation == 0x20:
            (register,) = struct.unpack_from("=I", data, operand)
        elif operation == 0x54:
            register &= operand
        elif operation == 0x15:
            at += if_true if register == operand else if_false
        else:
            assert operation == 0x06
            return int(operand)


@pytest.mark.parametrize("machine", ARCH)
def test_the_filter(machine: str) -> None:
    code, calls, arch = seccomp_program(machine), CALLS[machine], ARCH[machine]
    for number in map(int, DANGEROUS[machine].split()):
        assert run_filter(code, number=number, arch=arch) == REFUSE, number
    assert run_filter(code, number=calls["read"], arch=arch) == ALLOW
    assert run_filter(code, number=calls["read"], arch=0x40000003) == KILL
    for call, index, good, bad in CHECKED:
        answers = {value: run_filter(code, number=calls[call], arch=arch, arguments=(*[0] * index, value))
                   for value in good + bad}  # fmt: skip
        assert answers == {
            **dict.fromkeys(good, ALLOW),
            **dict.fromkeys(bad, REFUSE),
        }, call


def test_a_kernel_without_landlock_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "landlock_abi", lambda: 0)
    monkeypatch.setattr(policy.platform, "machine", lambda: "x86_64")
    with pytest.raises(OSError, match="Landlock: expected a kernel"):
        Policy([], "/x", need_landlock=True)


@pytest.mark.parametrize("failing", range(3))
def test_a_wall_that_does_not_stand_is_an_error(
    failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the calls by which a child locks itself in fails once."""
    n_calls = 0

    def call(*_: object) -> int:
        nonlocal n_calls
        n_calls += 1
        return -1 if n_calls == failing + 1 else 0

    made = Policy.__new__(Policy)
    vars(made).update(_ruleset=3, _program=b"")
    monkeypatch.setattr(policy, "_libc", SimpleNamespace(prctl=call, syscall=call))
    monkeypatch.setattr(os, "closerange", lambda *_: None)
    with pytest.raises(OSError, match=r"no_new_privs|landlock_restrict_self|seccomp"):
        made.enter(kept_fds=3)
    assert n_calls == failing + 1
