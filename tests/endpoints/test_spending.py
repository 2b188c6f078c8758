"""Tokens and money."""

import pytest

from fin_tasks.endpoints.spending import Prices, Spent, prices_of


@pytest.mark.parametrize(
    ("model", "prompt"),
    [
        ("gpt-4o", 2.5),
        ("gpt-4o-2024-08-06", 2.5),
        ("gpt-4o-2024-05-13", 5.0),
        ("openai/gpt-4o-mini", 0.15),
        ("gpt-4o-audio-preview", None),
        ("my-gpt-4o", None),
        ("Qwen/Qwen2.5-VL-72B-Instruct", None),
    ],
)
def test_a_price_is_known_or_not_told(model: str, prompt: float | None) -> None:
    prices = prices_of(model)
    assert (prices.prompt if prices else None) == prompt


def test_what_replies_say_is_summed() -> None:
    spent = Spent(prices=Prices(prompt=2.0, completion=8.0))
    assert spent.cost == 0.0
    spent = spent.after({"prompt_tokens": 1_000_000, "completion_tokens": 250_000}).after(
        {"prompt_tokens": 500_000, "completion_tokens": 0}
    )
    assert (spent.prompt_tokens, spent.completion_tokens, spent.tokens) == (1_500_000, 250_000, 1_750_000)
    assert spent.cost == 5.0


@pytest.mark.parametrize(
    "usage", [None, {}, [1], "7", {"prompt_tokens": True, "completion_tokens": 1}, {"prompt_tokens": -1}]
)
def test_a_reply_that_does_not_say_makes_no_cost_up(usage: object) -> None:
    spent = Spent(prices=Prices(prompt=2.0, completion=8.0)).after(usage)
    assert (spent.tokens, spent.unmetered, spent.cost) == (0, 1, None)
