"""The seccomp filter, run by a small interpreter of classic BPF; the live kernel's say is in test_hostile.py."""

import os
import struct
import subprocess
import sys

import pytest

from fin_tasks.sandbox import policy
from fin_tasks.sandbox.policy import Policy, PolicyError, landlock_abi, seccomp_program

ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050001
ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
READ = {"x86_64": 0, "aarch64": 63}
OPENAT = {"x86_64": 257, "aarch64": 56}
FCNTL = {"x86_64": 72, "aarch64": 25}
DANGEROUS = {
    "x86_64": {
        "open": 2, "socket": 41, "clone": 56, "fork": 57, "vfork": 58, "execve": 59, "kill": 62, "ptrace": 101,
        "prctl": 157, "unlink": 87, "tgkill": 234, "unshare": 272, "prlimit64": 302, "process_vm_readv": 310,
        "memfd_create": 319, "bpf": 321, "execveat": 322, "io_uring_setup": 425, "pidfd_send_signal": 424,
        "clone3": 435, "openat2": 437, "x32 read": 0x40000000,
    },
    "aarch64": {
        "socket": 198, "clone": 220, "execve": 221, "kill": 129, "tgkill": 131, "ptrace": 117, "prctl": 167,
        "unlinkat": 35, "unshare": 97, "prlimit64": 261, "memfd_create": 279, "bpf": 280, "io_uring_setup": 425,
        "clone3": 435, "openat2": 437, "process_vm_readv": 270,
    },
}  # fmt: skip


def run_filter(code: bytes, *, number: int, arch: int, arguments: tuple[int, ...] = ()) -> int:
    """Interpret the four instructions the filter is made of."""
    data = struct.pack("=IIQ6Q", number, arch, 0, *arguments, *[0] * (6 - len(arguments)))
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
class TestFilter:
    def test_reading_is_allowed(self, machine: str) -> None:
        assert run_filter(seccomp_program(machine), number=READ[machine], arch=ARCH[machine]) == ALLOW

    def test_a_foreign_architecture_is_killed(self, machine: str) -> None:
        assert run_filter(seccomp_program(machine), number=READ[machine], arch=0x40000003) == KILL

    def test_dangerous_calls_are_refused(self, machine: str) -> None:
        code = seccomp_program(machine)
        answers = {name: run_filter(code, number=n, arch=ARCH[machine]) for name, n in DANGEROUS[machine].items()}
        assert answers == dict.fromkeys(DANGEROUS[machine], REFUSE)

    @pytest.mark.parametrize(
        ("flags", "answer"),
        [
            (os.O_RDONLY | os.O_CLOEXEC, ALLOW),
            (os.O_WRONLY, REFUSE),
            (os.O_RDWR, REFUSE),
            (os.O_CREAT, REFUSE),
            (os.O_TRUNC, REFUSE),
            (os.O_RDONLY | os.O_TRUNC | 1 << 40, REFUSE),
        ],
    )
    def test_opening_is_for_reading(self, machine: str, flags: int, answer: int) -> None:
        code = seccomp_program(machine)
        assert run_filter(code, number=OPENAT[machine], arch=ARCH[machine], arguments=(0, 0, flags)) == answer

    @pytest.mark.parametrize(("command", "answer"), [(1, ALLOW), (2, ALLOW), (1030, ALLOW), (8, REFUSE), (10, REFUSE)])
    def test_fcntl_cannot_direct_signals(self, machine: str, command: int, answer: int) -> None:
        code = seccomp_program(machine)
        assert run_filter(code, number=FCNTL[machine], arch=ARCH[machine], arguments=(3, command)) == answer

    def test_every_number_is_listed_once(self, machine: str) -> None:
        pairs = [pair.split(":") for pair in policy._MACHINES[machine][1].split()]
        assert len({number for number, _ in pairs}) == len({name for _, name in pairs}) == len(pairs)


def test_an_unknown_machine_is_refused() -> None:
    with pytest.raises(PolicyError, match="x86_64, aarch64, got 'riscv64'"):
        seccomp_program("riscv64")


def test_landlock_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy, "landlock_abi", lambda: 0)
    monkeypatch.setattr(policy.platform, "machine", lambda: "x86_64")
    with pytest.raises(PolicyError, match="Landlock: expected a kernel"):
        Policy([], need_landlock=True)
    assert Policy([], need_landlock=False).landlock_abi == 0


@pytest.mark.skipif(landlock_abi() < 1, reason="this kernel has no Landlock")
def test_both_walls_bind_the_process(tmp_path: object) -> None:
    script = (
        "import os, sys; from fin_tasks.sandbox.policy import Policy\n"
        "p = Policy(['/usr/lib', '/nonexistent'], need_landlock=True)\n"
        "open('/etc/hostname').close(); p.close_files()\n"
        "try: open('/etc/hostname'); print('file open')\n"
        "except PermissionError: print('file closed')\n"
        "p.close_calls()\n"
        "try: os.fork(); print('call open')\n"
        "except PermissionError: print('call closed')\n"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=180)
    assert done.stdout.split("\n") == ["file closed", "call closed", ""]
