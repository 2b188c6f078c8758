"""The flag that draws the kept pictures anew."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="draw the kept pictures anew; then look at them")
