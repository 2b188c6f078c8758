"""Chromium, and a page opened in it; each module of tests makes its own `site`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsing import Opened, chromium, opened


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def shown(browser: Any, site: Path) -> Iterator[Opened]:
    """The page of the module's site, which at the end has told of no error and asked for nothing from elsewhere."""
    with opened(browser, site) as found:
        yield found
        assert found.told == []
        assert found.strangers() == []
