"""Commands that are killed while their program runs: none is left to run beside the next."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fin_tasks.errors import ConfigError
from fin_tasks.report.held_run import alone_in, run_held

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and locks of POSIX")

PROGRAM = """
import os, pathlib, signal, sys, time
def said(number, frame):
    pathlib.Path("received").write_text(str(number))
    if not pathlib.Path("stubborn").exists():
        sys.exit(0)
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, said)
pathlib.Path("pid.new").write_text(str(os.getpid()))
os.rename("pid.new", "pid")
time.sleep(600)
"""
COMMAND = f"""
import sys
from pathlib import Path
from fin_tasks.report.held_run import alone_in, run_held
with alone_in(Path("folder")) as held:
    run_held([sys.executable, "-c", {PROGRAM!r}], held, stdout=sys.stderr)
"""


def started(folder: Path) -> tuple["subprocess.Popen[bytes]", int]:
    """Return a command whose program runs, and the program's process id."""
    command = subprocess.Popen([sys.executable, "-c", COMMAND], cwd=folder, stderr=subprocess.DEVNULL)
    return command, int(_text_of(folder / "pid"))


def _text_of(path: Path) -> str:
    until = time.monotonic() + 120
    while not path.exists() or not path.read_text():
        assert time.monotonic() < until, f"{path} did not appear"
        time.sleep(0.02)
    return path.read_text()


def is_gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_is_handed_on_and_ends_both(number: signal.Signals, tmp_path: Path) -> None:
    command, pid = started(tmp_path)
    command.send_signal(number)
    assert command.wait(30) == -number
    assert (tmp_path / "received").read_text() == str(int(number))
    assert is_gone(pid)
    with alone_in(tmp_path / "folder"):
        pass


def test_a_second_signal_kills_a_program_that_goes_on(tmp_path: Path) -> None:
    (tmp_path / "stubborn").touch()
    command, pid = started(tmp_path)
    command.send_signal(signal.SIGTERM)
    _text_of(tmp_path / "received")
    assert command.poll() is None
    command.send_signal(signal.SIGTERM)
    assert command.wait(30) == -signal.SIGTERM
    assert is_gone(pid)


def test_a_program_whose_command_was_killed_keeps_the_folder(tmp_path: Path) -> None:
    command, pid = started(tmp_path)
    command.kill()
    command.wait(30)
    with pytest.raises(ConfigError, match=rf"still under way \(process {pid}\)"), alone_in(tmp_path / "folder"):
        pass
    os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 120
    while True:
        try:
            with alone_in(tmp_path / "folder"):
                break
        except ConfigError:
            assert time.monotonic() < until
            time.sleep(0.02)


def test_the_status_is_the_program_s_and_handlers_are_put_back(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with alone_in(tmp_path) as held:
        assert run_held([sys.executable, "-c", "raise SystemExit(3)"], held, stdout=sys.stderr) == 3
    assert signal.getsignal(signal.SIGTERM) is before
