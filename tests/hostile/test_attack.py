"""`make attack`: it runs to its end, no cheat passes, and no file takes more memory than it may."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from board_cheats import BOARD_CHEATS
from cheats import CHEATS
from largest import KINDS
from more_board_cheats import MORE_BOARD_CHEATS

ATTACK = Path(__file__).with_name("attack.py")


@pytest.mark.slow
def test_no_way_to_cheat_is_open() -> None:
    command = [sys.executable, str(ATTACK)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for cheat in (*CHEATS, *BOARD_CHEATS, *MORE_BOARD_CHEATS):
        assert f" {cheat.name}: " in done.stdout
    assert len(re.findall(r"^ *[\d,]+ MB ", done.stdout, re.MULTILINE)) == len(KINDS)
