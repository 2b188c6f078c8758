"""The bar of a batch."""

import io
import sys

import pytest

from fin_tasks.endpoints.bar import asking, progress
from fin_tasks.endpoints.spending import Prices, Spent


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class _Chat:
    spent = Spent(prices=Prices(prompt=2.5, completion=10.0))


def test_a_terminal_sees_tokens_and_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, chat = _Terminal(), _Chat()
    monkeypatch.setattr(sys, "stderr", terminal)
    with asking("Judging", 600, chat) as on_done:
        on_done(0)
        chat.spent = chat.spent.after({"prompt_tokens": 364_000, "completion_tokens": 120})
        on_done(600)
    assert "Judging 0/600 |" in terminal.getvalue()
    assert "Judging 600/600 · 364k tokens · $0.91 |" in terminal.getvalue()


def test_a_file_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    with asking("Judging", 2, _Chat()) as on_done:
        on_done(2)
    assert file.getvalue() == ""


@pytest.mark.parametrize(
    ("tokens", "told"), [(999, "999"), (1_000, "1k"), (999_499, "999k"), (999_500, "1.0M"), (12_340_000, "12.3M")]
)
def test_tokens_are_told_short(tokens: int, told: str) -> None:
    assert progress("Judging", 1, 2, Spent(prompt_tokens=tokens)) == f"Judging 1/2 · {told} tokens"
