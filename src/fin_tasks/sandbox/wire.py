"""The bytes between evaluator and server. Standard library only, for the server imports it.

    request   length (u32), program as UTF-8
    response  id (u32), wait status (i32), ending (u8), CPU seconds (f64), length (u32), the child's bytes
    greeting  a response with id 0 whose bytes are JSON: what the server is and has loaded

One request is in flight per server, so order needs no bookkeeping; the id is checked all the same.
"""

import struct

__all__ = [
    "ENDED",
    "LOCKED",
    "MAX_FRAME",
    "MAX_PROGRAM",
    "RAN_ON",
    "REQUEST",
    "RESPONSE",
    "RESULT_FD",
    "TOO_MUCH",
    "WALL",
]

REQUEST = struct.Struct("!I")
RESPONSE = struct.Struct("!IiBdI")
MAX_PROGRAM = 1024 * 1024
MAX_FRAME = 64 * 1024

ENDED, WALL, TOO_MUCH, RAN_ON = range(4)
"""The child ended by itself; ran out of wall time; wrote too much; closed its pipe and ran on."""

RESULT_FD = 3
LOCKED = b"+"
"""What a child says once it is locked down and before the program runs; without it the runner failed."""
