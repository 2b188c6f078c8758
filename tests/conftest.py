"""For all tests."""

import functools
import gc
import signal
from pathlib import Path

import hypothesis
import pytest
import typer.testing

from fin_tasks.settings import Settings

# Doctests are looked for in every module, and pytest would import the conftest files of two folders under one name.
collect_ignore_glob = ["*conftest.py"]

# A first example imports what is imported lazily, scipy for one, which takes a busy machine longer than an example may.
hypothesis.settings.register_profile("any machine", deadline=None)
hypothesis.settings.load_profile("any machine")

# CliRunner builds the commands anew for each call, a quarter of the time of many tests.
typer.testing._get_command = functools.cache(typer.testing._get_command)

# A background job, and nohup, pass on to all that is started from there that these are ignored; tests send them.
for number, handler in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, handler)


def pytest_collection_finish() -> None:
    """Keep garbage collection from looking through all modules and tests again, which takes half a second each time."""
    gc.collect()
    gc.freeze()


SKIPPED_GROUPS = {
    "Chromium": "tests of the page in a browser: `make system` installs Chromium",
    "bubblewrap": "tests of the sandbox tier bwrap: `make system` installs bubblewrap",
    "VLMEvalKit": "tests in VLMEvalKit: `make vlmevalkit` makes its environment",
    "authors'": "tests against the authors' files, which cannot be shared: lay them in ../shared/data",
}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say which groups of tests were skipped, and how to get them."""
    reports = terminalreporter.stats.get("skipped", [])
    # A skipped test's report holds its file, line and reason.
    reasons = [str(report.longrepr[-1]) for report in reports]
    for word, how in SKIPPED_GROUPS.items():
        number = sum(word.lower() in reason.lower() for reason in reasons)
        if number:
            terminalreporter.write_line(f"Skipped {number} {how}.")
    if "not slow" in terminalreporter.config.option.markexpr:
        terminalreporter.write_line(
            "Left out the slow tests: `make test-slow` runs them."
        )


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the test a cache of its own."""
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return settings with a cache of the test's own and a key."""
    (cache := tmp_path / "cache").mkdir()
    return Settings.from_environ(
        {"FIN_TASKS_CACHE": str(cache), "OPENAI_API_KEY": "sk-loopback-0123456789"}
    )


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away the machine's proxies: they would be asked for servers on the loopback interface too."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
