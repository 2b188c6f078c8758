from collections.abc import Iterator

import pytest
from market_server import MarketServer


@pytest.fixture
def server() -> Iterator[MarketServer]:
    with MarketServer() as running:
        yield running
