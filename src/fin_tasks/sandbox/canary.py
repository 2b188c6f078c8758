"""Programs that must fail inside a tier before it is trusted with anybody's programs.

Each tries one thing a sandbox exists to prevent, and the evaluator looks at the effect from outside wherever there is
one. A tier in which any of them gets through is refused.
"""

import secrets
import socket
import tempfile
from collections.abc import Callable
from pathlib import Path

from fin_tasks.sandbox.outcome import Outcome
from fin_tasks.sandbox.process import ServerDied

__all__ = ["CANARIES", "escaped_canaries"]

_THROUGH = "got through"
CANARIES = {
    "read a file": "def solution():\n    return open({path!r}).read()\n",
    "write a file": "def solution():\n    open({target!r}, 'w').write('x')\n    return 'got through'\n",
    "open a socket": (
        "import socket\ndef solution():\n"
        "    socket.create_connection(('127.0.0.1', {port}), 2)\n    return 'got through'\n"
    ),
    "fork": ("import os\ndef solution():\n    if os.fork() == 0:\n        os._exit(0)\n    return 'got through'\n"),
    "kill the parent": "import os\ndef solution():\n    os.kill(os.getppid(), 9)\n    return 'got through'\n",
}
"""What is tried -> the program, with places for the evaluator's bait."""


def escaped_canaries(run: Callable[[str], Outcome]) -> list[str]:
    """Run the suite.

    Args:
        run: Runs one program in the tier under test; may raise `ServerDied`.

    Returns:
        What got through, in words; empty where the tier holds and also computes 6 x 7 right.
    """
    escaped: list[str] = []
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        secret = secrets.token_hex(16)
        bait, target = Path(folder, "bait"), Path(folder, "target")
        bait.write_text(secret)
        places = {"path": str(bait), "target": str(target), "port": listener.getsockname()[1]}
        for name, template in CANARIES.items():
            try:
                outcome = run(template.format_map(places))
            except ServerDied:
                return [*escaped, name]
            if outcome.value is not None and (_THROUGH in outcome.value or secret in outcome.value):
                escaped.append(name)
        if target.exists() and "write a file" not in escaped:
            escaped.append("write a file")
    if run("def solution():\n    return 6 * 7\n").value != "42.0":
        escaped.append("a plain calculation fails")
    return escaped
