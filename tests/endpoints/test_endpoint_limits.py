"""Requests and tokens a minute."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fin_tasks.endpoints.limits import Limits, Window, estimate_tokens
from fin_tasks.endpoints.pictures import Picture
from fin_tasks.errors import ConfigError


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_requests_a_minute() -> None:
    clock = Clock()
    window = Window(Limits(requests_per_minute=2), clock=clock)
    for at in (1000.0, 1010.0):
        clock.now = at
        assert window.delay(10**9) == 0.0
        window.admit(10**9)
    assert window.delay(1) == 51.0  # a second more: requests are not all as long on their way
    clock.now = 1061.0
    assert window.delay(1) == 0.0


def test_tokens_are_put_right_by_what_a_reply_used() -> None:
    clock = Clock()
    window = Window(Limits(tokens_per_minute=100), clock=clock)
    admission = window.admit(90)
    assert window.delay(20) == 61.0
    admission.tokens = 30
    assert window.delay(20) == 0.0
    admission.tokens = 99
    assert window.delay(20) == 61.0


def test_a_request_larger_than_the_limit_goes_alone() -> None:
    clock = Clock()
    window = Window(Limits(tokens_per_minute=100), clock=clock)
    assert window.delay(500) == 0.0
    window.admit(1)
    clock.now += 20
    window.admit(1)
    assert window.delay(500) == 61.0
    clock.now += 61
    assert window.delay(500) == 0.0


@given(
    st.integers(1, 4),
    st.integers(1, 60),
    st.lists(st.tuples(st.integers(1, 50), st.floats(0, 40)), min_size=1, max_size=30),
)
def test_no_sixty_seconds_hold_more(requests: int, tokens: int, asked: list[tuple[int, float]]) -> None:
    clock = Clock()
    window = Window(Limits(requests_per_minute=requests, tokens_per_minute=tokens), clock=clock)
    sent: list[tuple[float, int]] = []
    for size, pause in asked:
        clock.now += pause
        while (seconds := window.delay(size)) > 0:
            clock.now += seconds
        window.admit(size)
        sent.append((clock.now, size))
    for at, (start, _) in enumerate(sent):
        together = [size for when, size in sent[at:] if when < start + 61 - 1e-6]
        assert len(together) <= requests
        assert sum(together) <= tokens or len(together) == 1


@pytest.mark.parametrize("limits", [{"requests_per_minute": 0}, {"tokens_per_minute": -5}])
def test_limits_nothing_fits_into(limits: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match="expected 1 or more"):
        Limits(**limits)


def test_pictures_count_by_number_not_by_size(tmp_path: object) -> None:
    def tokens(*urls: object) -> int:
        content = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
        return estimate_tokens({"messages": [{"role": "user", "content": content}], "max_tokens": 3})

    address = "data:image/png;base64," + "A" * 1_000_000
    assert tokens(address) == tokens(Picture(path="not read")) < 1_200  # type: ignore[arg-type]
    assert 2_200 < tokens(address, address) < 2_300
