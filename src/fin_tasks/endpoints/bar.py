"""Shows on a terminal how far a batch of questions is, and what it has cost."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from fin_tasks.endpoints.spending import Spent

__all__ = ["asking", "progress"]


class Spender(Protocol):
    """Something that says what it has used so far, a `Chat` as a rule."""

    @property
    def spent(self) -> Spent:
        """What was used."""


@contextmanager
def asking(what: str, total: int, chat: Spender) -> Iterator[Callable[[int], None]]:
    """Draw a bar on stderr, where that is a terminal: `Judging 120/600 · 340k tokens · $0.91`.

    Args:
        what: What is done, `Judging`.
        total: Items there are.
        chat: Whose tokens and cost are shown.

    Yields:
        A function to be told how many items are done; fit to be the `on_done` of `Chat.ask`.
    """
    from tqdm import tqdm

    told = "{desc} |{bar}| {elapsed}<{remaining}"
    with tqdm(desc=progress(what, 0, total, chat.spent), total=total, disable=None, bar_format=told) as bar:

        def advance(done: int) -> None:
            bar.set_description_str(progress(what, done, total, chat.spent), refresh=False)
            bar.update(done - bar.n)
            if done == total:
                bar.refresh()

        yield advance


def progress(what: str, done: int, total: int, spent: Spent) -> str:
    """Say in a line how far it is; the cost only where it is known.

    Example:
        >>> from fin_tasks.endpoints.spending import prices_of
        >>> progress("Judging", 120, 600, Spent(prompt_tokens=340_000, prices=prices_of("gpt-4o")))
        'Judging 120/600 · 340k tokens · $0.85'
        >>> progress("Judging", 1, 3, Spent(prompt_tokens=900))
        'Judging 1/3 · 900 tokens'
    """
    parts = [f"{what} {done}/{total}"]
    if spent.tokens:
        parts.append(f"{_short(spent.tokens)} tokens")
    if spent.cost:
        parts.append(f"${spent.cost:,.2f}")
    return " · ".join(parts)


def _short(tokens: int) -> str:
    if tokens < 1_000:
        return str(tokens)
    return f"{tokens / 1e3:.0f}k" if tokens < 999_500 else f"{tokens / 1e6:.1f}M"
