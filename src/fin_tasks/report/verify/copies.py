"""Find responses of a submission that are those of another run on the board."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from fin_tasks.saved.origin import task_of

from ..samples import read_samples
from .names import letters_of

MIN_LENGTH = 40
"""Letters and digits of a response; shorter responses of good models are the same."""
MIN_ROWS = 20
"""Rows with long responses; among fewer, chance may make them the same."""
COPIED = 0.9
"""Share of the long responses from which on a run is a copy."""
SIMILAR = 0.5
"""Share from which on a run is said to be similar."""
_BLOCK = 8  # letters
_MIN_BLOCKS = 3
_COPIED_BLOCKS = 0.6
"""Share of a response's blocks that another response has."""

Texts = Mapping[str, Mapping[str, str]]
"""What was answered, by task and document, as letters and digits."""


class Twin(NamedTuple):
    """A run on the board that shares responses with a submission."""

    folder: Path
    task: str
    """The task of these responses; empty for all tasks of the run."""
    n_same: int
    n: int
    """How many rows have a long response in the submission, and some response on the board."""

    @property
    def share(self) -> float:
        """The share of long responses that are the same."""
        return self.n_same / self.n

    @property
    def text(self) -> str:
        """What is the same, for people."""
        where = f" to {self.task}" if self.task else ""
        return f"{self.n_same:,} of {self.n:,} long responses{where}"


def plain_text(responses: list[str]) -> str:
    """Return the letters and digits of a row's responses."""
    return letters_of("\n".join(responses))


def twins_of(texts: Texts, folders: list[Path]) -> Iterator[Twin]:
    """Yield the runs in some folders that share many responses with a submission."""
    for folder in folders:
        n_same = Counter[str]()
        n = Counter[str]()
        for file in sorted(folder.glob("samples_*.jsonl")):
            task = task_of(file)
            if task in texts:
                same_of_task, n_of_task = _count_same(texts[task], file)
                # The whole run counts too, as its tasks may be small.
                for name in (task, ""):
                    n_same[name] += same_of_task
                    n[name] += n_of_task
        twins = [Twin(folder, name, n_same[name], n[name]) for name in n]
        large = [twin for twin in twins if twin.n >= MIN_ROWS]
        nearest = max(large, key=lambda twin: (twin.share, twin.n), default=None)
        if nearest and nearest.share >= SIMILAR:
            yield nearest


def _count_same(texts: Mapping[str, str], file: Path) -> tuple[int, int]:
    """Return how many long responses are those in a samples file, and how many there are."""
    n_same = 0
    n = 0
    scoring = ""
    for sample in read_samples(file):
        scoring = scoring or sample.scoring
        if sample.scoring != scoring:
            break  # the next scoring has the same responses
        text = texts.get(sample.id, "")
        if len(text) <= MIN_LENGTH:
            continue
        n += 1
        board_text = plain_text(list(map(str, sample.responses)))
        n_same += _is_copy(text, board_text, str(sample.doc.get("prompt", "")))
    return n_same, n


def _is_copy(text: str, board_text: str, prompt: str) -> bool:
    """Return whether most of a response stands in another one, also with other words between."""
    if text in board_text or (board_text in text and len(board_text) > MIN_LENGTH):
        return True
    starts = range(0, len(text) - _BLOCK + 1, _BLOCK)
    blocks = [text[start : start + _BLOCK] for start in starts]
    n_found = sum(block in board_text for block in blocks)
    if n_found < _COPIED_BLOCKS * len(blocks):
        return False
    # Two models may both repeat the question.
    question = letters_of(prompt)
    own = [block for block in blocks if block not in question]
    n_own_found = sum(block in board_text for block in own)
    return len(own) >= _MIN_BLOCKS and n_own_found >= _COPIED_BLOCKS * len(own)
