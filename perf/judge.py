"""Time the judging of 300 responses with pictures by a server that takes 200 ms for a reply.

32 requests at a time cannot take less than n x 0.2 / 32 seconds. Goal: at most 1.3 times that in one run, and a second
run without a request in at most 2 s. The server is a process of its own.
"""

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from measured import Figure, finish, options
from PIL import Image

from fin_tasks.judging.item import Item
from fin_tasks.judging.judge import JudgeModel, judge_items
from fin_tasks.judging.rubric import load_rubric
from fin_tasks.settings import Settings

N_ITEMS = 300
LATENCY = 0.2  # seconds
CONCURRENCY = 32
GOAL = 1.3  # times the bound
GOAL_AGAIN = 2.0  # seconds
SIDE = 158  # pixels: a picture of 75 KB, as in the sample
REPLY = (
    b'{"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [{"index": 0, "message": '
    b'{"role": "assistant", "content": "4"}, "finish_reason": "stop"}], '
    b'"usage": {"prompt_tokens": 1500, "completion_tokens": 1, "total_tokens": 1501}}'
)
HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
)


def main() -> int:
    if "--serve" in sys.argv:
        asyncio.run(serve())
        return 0
    given = options(__doc__).parse_args()
    command = [sys.executable, __file__, "--serve"]
    with (
        tempfile.TemporaryDirectory() as name,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
    ):
        try:
            assert server.stdout is not None
            base_url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
            items = items_of(Path(name), 4 if given.tiny else N_ITEMS)
            return compare(items, base_url, Path(name), given)
        finally:
            server.terminate()


def compare(
    items: list[Item], base_url: str, folder: Path, given: argparse.Namespace
) -> int:
    """Judge the first item, which imports the libraries, then the others, then all of them again."""
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(folder)})
    rubric = load_rubric("mme_finance_en")
    seconds = []
    for chosen in (items[:1], items[1:], items):
        judge = JudgeModel(model="m", base_url=(base_url,), concurrency=CONCURRENCY)
        started = time.perf_counter()
        judged = judge_items(chosen, rubric, judge, settings=settings)
        seconds.append(time.perf_counter() - started)
        assert {response.replies for response in judged} == {("4",)}
    _, first, again = seconds
    ratio = first * CONCURRENCY / LATENCY / (len(items) - 1)
    n_asked_again = judge.usage.requests
    assert n_asked_again == 0, "replies that are kept were asked for again"
    figures = [
        Figure(
            what=f"{N_ITEMS} responses with pictures, {CONCURRENCY} at a time",
            value=ratio,
            unit="times",
            most=GOAL,
            beside=f"what no client can beat; {first:.1f} s in all, "
            f"{len(items) * LATENCY:.0f} s one after the other",
        ),
        Figure(
            what="the same again, every reply kept",
            value=again,
            unit="s",
            most=GOAL_AGAIN,
        ),
    ]
    return finish(figures, given, __file__)


def items_of(folder: Path, n: int) -> list[Item]:
    """Make responses with a picture each."""
    rng = np.random.default_rng(0)
    items = []
    for number in range(n):
        path = folder / f"{number}.png"
        pixels = rng.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path, compress_level=0)
        items.append(
            Item(
                question=f"The close of day {number}?",
                answer=f"{number}.50",
                response=f"It is {number}.50.",
                category="OCR",
                picture=path,
            )
        )
    return items


async def serve() -> None:
    """Answer every request after a while."""

    async def answer(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                fields = dict(
                    line.lower().split(b": ", 1)
                    for line in head.split(b"\r\n")[1:]
                    if line
                )
                await reader.readexactly(int(fields[b"content-length"]))
                await asyncio.sleep(LATENCY)
                writer.write(HEAD % len(REPLY) + REPLY)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=2**20)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
