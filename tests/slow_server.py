"""A server on the loopback interface that begins a reply, and then goes on for ever."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

HEADERS = b"HTTP/1.1 200 OK\r\nX-Slow: "
"""The beginning of a reply that never gets beyond its headers."""
BODY = b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n"
"""The beginning of a reply that never gets to the end of its body."""


@contextmanager
def endless(
    beginning: bytes,
    *,
    chunk: bytes = b"a",
    pause: float = 0.05,
    asked: threading.Event | None = None,
) -> Iterator[str]:
    """Serve on a free port; after the beginning a chunk comes after each pause.

    `asked` is set at the first request.
    """
    stopped = threading.Event()

    def answer(connection: socket.socket) -> None:
        with connection, suppress(OSError):  # the client hangs up
            connection.recv(1 << 16)
            if asked:
                asked.set()
            connection.sendall(beginning)
            while not stopped.wait(pause):
                connection.sendall(chunk)

    def accept() -> None:
        with suppress(OSError):  # the listener is closed
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        stopped.set()
        listener.shutdown(socket.SHUT_RDWR)
