"""A short run of `perf/fuzz_answers.py`; the full 100,000 strings take about a minute and run by hand."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "perf" / "fuzz_answers.py"


@pytest.fixture
def fuzzer() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("fuzz_answers", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_answers"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["fuzz_answers"]


def test_random_strings_raise_nothing(fuzzer: ModuleType) -> None:
    report = fuzzer.fuzz(count=4000, seed=20, size=0)
    assert report.strings == 4000
    assert report.exceptions == []


def test_hostile_strings_end_soon(fuzzer: ModuleType) -> None:
    # About 250 ms for the slowest; a reader that goes back over its text without end takes minutes.
    report = fuzzer.fuzz(count=0, seed=1, size=4000, limit_ms=5000)
    assert report.exceptions == []
    assert report.slow == []


def test_an_exception_is_found_and_counted(fuzzer: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> str:
        raise RecursionError(text)

    monkeypatch.setattr(fuzzer, "boxed", broken)
    assert len(fuzzer.fuzz(count=3, seed=1, size=0).exceptions) == 3
