"""Six hundred responses judged by a server that takes 200 ms each: ours beside the ways the harnesses ask.

    python perf/judge.py [--items N] [--runs N] [--picture-kb N]

The server runs in a process of its own, replies `4` 200 ms after a request is there whole, and never tires. Every item
has a picture of its own, noise of the size given: 300 KB, as screenshots and photographs have, four times what the
pictures of the sample have on average (75 KB). Sides:

- ours: `judge_items` with 32 requests at a time. No way of asking can be faster than items / 32 x 0.2 s; all that comes
  on top (reading, hashing and packing pictures, HTTP, keeping replies) is ours. Goal: at most 1.25 times that bound.
- ours again, every reply being on the disk. Goal: no request, and at most a second.
- one request after the other, as a scoring function of lm-evaluation-harness that calls a judge per document does.
- four threads, as VLMEvalKit's evaluations do by default.

The latter two ask the same server with the same prompts by the openai library, for part of the items; the time is
multiplied by items asked. Libraries are imported, and one request made, before any clock starts. Of several runs of
ours the fastest counts, as other work on the machine only ever adds time; the median is printed beside it.
"""

import argparse
import asyncio
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from openai import OpenAI
from PIL import Image

from fin_tasks.endpoints.pictures import Picture, map_leaves
from fin_tasks.judging.old_item import JudgeItem
from fin_tasks.judging.old_judge import Judged, judge_items
from fin_tasks.judging.old_rubric import load_rubric
from fin_tasks.judging.prompt import judge_request
from fin_tasks.judging.setup import JudgeSetup
from fin_tasks.settings import Settings

LATENCY, CONCURRENCY = 0.2, 32
GOAL, GOAL_AGAIN = 1.25, 1.0
MODEL, RUBRIC = "stub-judge", "mme_finance_en"
REPLY = (
    b'{"id": "1", "object": "chat.completion", "created": 0, "model": "stub-judge", "choices": [{"index": 0, '
    b'"message": {"role": "assistant", "content": "4"}, "finish_reason": "stop"}], '
    b'"usage": {"prompt_tokens": 1500, "completion_tokens": 1, "total_tokens": 1501}}'
)


def main() -> int:
    """Run all sides; status 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=600, help="responses to judge (default: 600)")
    parser.add_argument("--runs", type=int, default=5, help="runs of ours (default: 5)")
    parser.add_argument("--picture-kb", type=int, default=300, help="size of a picture (default: 300)")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve())
        return 0
    with tempfile.TemporaryDirectory() as folder, stub() as base_url:
        items = make_items(Path(folder), options.items, options.picture_kb)
        return compare(items, base_url, Path(folder), runs=options.runs)


def compare(items: Sequence[JudgeItem], base_url: str, folder: Path, *, runs: int) -> int:
    """Time all sides, and print what they took."""
    n, bound = len(items), len(items) / CONCURRENCY * LATENCY
    megabytes = sum(item.image.stat().st_size for item in items if item.image is not None) / 1e6
    timed(items[:1], base_url, folder / "warm")
    held = peak_megabytes()
    taken, again = [], []
    worked = time.process_time()
    for run in range(runs):
        seconds, judged = timed(items, base_url, folder / f"cache-{run}")
        assert judged.spent.requests == n
        assert [verdict.score for verdict in judged.verdicts] == [4] * n
        taken.append(seconds)
        seconds, judged = timed(items, base_url, folder / f"cache-{run}")
        assert (judged.spent.requests, judged.spent.cached) == (0, n), judged.spent
        again.append(seconds)
    needed = peak_megabytes() - held
    worked = (time.process_time() - worked) / runs
    one_by_one, four = asked_by_library(items, base_url, 1, 30), asked_by_library(items, base_url, 4, 120)
    ours, kept = min(taken), min(again)
    print(f"{n} responses, {megabytes:,.0f} MB of pictures, {LATENCY * 1000:.0f} ms a reply; bound {bound:.2f} s")
    print(f"one by one       {one_by_one:7.2f} s  (30 items asked, multiplied)  {one_by_one / ours:5.1f} x ours")
    print(f"four threads     {four:7.2f} s  (120 items asked, multiplied) {four / ours:5.1f} x ours")
    print(
        f"ours             {ours:7.2f} s  (fastest of {runs}, median {statistics.median(taken):.2f}; {CONCURRENCY} "
        f"at a time)  {ours / bound:.2f} x the bound (goal {GOAL}); {worked:.1f} s of processor, "
        f"{needed:.0f} MB more memory than before"
    )
    print(
        f"ours, from disk  {kept:7.2f} s  (fastest of {runs}, median {statistics.median(again):.2f})  0 requests "
        f"(goal {GOAL_AGAIN:.0f} s)"
    )
    return 0 if ours <= GOAL * bound and kept <= GOAL_AGAIN else 1


def timed(items: Sequence[JudgeItem], base_url: str, cache: Path) -> tuple[float, Judged]:
    """Judge all items, and return the seconds it took beside the verdicts."""
    settings = Settings.from_environ({"FIN_TASKS_CACHE": str(cache)})
    setup = JudgeSetup(model=MODEL, base_urls=(base_url,), rubric=RUBRIC, concurrency=CONCURRENCY)
    started = time.perf_counter()
    judged = judge_items(items, setup, settings)
    return time.perf_counter() - started, judged


def asked_by_library(items: Sequence[JudgeItem], base_url: str, threads: int, asked: int) -> float:
    """Return the seconds all items would take in so many threads, judged by the first ones."""
    rubric = load_rubric(RUBRIC)
    asked = min(asked, len(items))
    with OpenAI(base_url=base_url, api_key="none") as client, ThreadPoolExecutor(threads) as pool:

        def ask(item: JudgeItem) -> str | None:
            picture = Picture(item.image) if item.image else None
            request = judge_request(item, rubric, model=MODEL, temperature=0.0, max_tokens=3, picture=picture)
            sent = map_leaves(request.body(), lambda leaf: leaf.data_address() if isinstance(leaf, Picture) else leaf)
            return client.chat.completions.create(model=MODEL, **sent).choices[0].message.content

        started = time.perf_counter()
        assert list(pool.map(ask, items[:asked])) == ["4"] * asked
        return (time.perf_counter() - started) * len(items) / asked


def make_items(folder: Path, n: int, kilobytes: int) -> list[JudgeItem]:
    """Make responses with a picture each."""
    rng = np.random.default_rng(0)
    side = max(8, int((kilobytes * 1000 / 3) ** 0.5))
    categories = list(load_rubric(RUBRIC).categories)
    items = []
    for number in range(n):
        path = folder / f"{number}.png"
        Image.fromarray(rng.integers(0, 256, (side, side, 3), dtype=np.uint8)).save(path, compress_level=0)
        items.append(
            JudgeItem(
                index=str(number),
                question=f"What did the share close at on day {number}?",
                answer=f"{number}.50",
                response=f"The share closed at {number}.50 dollars.",
                category=categories[number % len(categories)],
                image=path,
            )
        )
    return items


@contextmanager
def stub() -> Iterator[str]:
    """Run the server in a process of its own."""
    with subprocess.Popen([sys.executable, __file__, "--serve"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.terminate()


async def serve() -> None:
    """Answer whatever comes, after a while."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
                await reader.readexactly(int(fields[b"content-length"]))
                await asyncio.sleep(LATENCY)
                sent = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(REPLY)
                writer.write(sent + REPLY)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, limit=2**20)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


def peak_megabytes() -> float:
    """Peak memory of this process so far, in units of 1e6 bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


if __name__ == "__main__":
    sys.exit(main())
