"""Chromium, for the tests of pages."""

import shutil
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("needs Chromium: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        found = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page that at the end has told of no error and asked for nothing but files of tests."""
    told: list[str] = []
    asked: list[str] = []
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        found = context.new_page()
        found.on("console", lambda message: told.append(message.text))
        found.on("pageerror", lambda error: told.append(str(error)))
        found.on(
            "dialog", lambda dialog: (told.append(dialog.message), dialog.dismiss())
        )
        found.on("request", lambda request: asked.append(request.url))
        yield found
    assert told == []
    own = (tmp_path_factory.getbasetemp().as_uri(), "data:")
    assert [url for url in asked if not url.startswith(own)] == []
