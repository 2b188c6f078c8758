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


@pytest.fixture(scope="module")
def opened(browser: Any) -> Iterator[Any]:
    """A page for all tests of a module: to open one takes longer than most of them."""
    with browser.new_context() as context:
        yield context.new_page()


@pytest.fixture
def page(opened: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """An empty page that at the end has told of no error and asked for nothing but files of tests."""
    told: list[str] = []
    asked: list[str] = []
    listeners = {
        "console": lambda message: told.append(message.text),
        "pageerror": lambda error: told.append(str(error)),
        "dialog": lambda dialog: (told.append(dialog.message), dialog.dismiss()),
        "request": lambda request: asked.append(request.url),
    }
    opened.goto("about:blank")
    opened.set_viewport_size({"width": 1280, "height": 900})
    opened.emulate_media(media="null", color_scheme="null")
    for event, listener in listeners.items():
        opened.on(event, listener)
    yield opened
    for event, listener in listeners.items():
        opened.remove_listener(event, listener)
    assert told == []
    own = (tmp_path_factory.getbasetemp().as_uri(), "data:")
    assert [url for url in asked if not url.startswith(own)] == []
