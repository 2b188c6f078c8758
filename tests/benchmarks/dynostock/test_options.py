"""Options as they come in the metadata: names that nobody knows."""

import logging

import pytest

from fin_tasks.benchmarks.dynostock import data, options
from fin_tasks.benchmarks.dynostock.options import ARGUMENTS_OF_OTHERS, warn_of_unknown


@pytest.fixture(autouse=True)
def _never_warned(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("FIN_TASKS_CACHE", str(tmp_path_factory.mktemp("cache")))
    options._warn.cache_clear()


def load(**metadata: object) -> None:
    data.load(bias="recency", window=20, mode="text", source="sample", frequency="monthly", **metadata)  # type: ignore[arg-type]


def test_a_misspelt_option_is_told_once_with_the_one_that_is_meant(caplog: pytest.LogCaptureFixture) -> None:
    load(promt="naive", anonymize=True)
    load(promt="naive")  # as the next task of a group does
    assert [record.levelno for record in caplog.records] == [logging.WARNING] * 2
    anonymise, prompt = (record.getMessage() for record in caplog.records)
    assert prompt == "metadata 'promt': DynoStock has no such option, so it changes nothing. Is prompt meant?"
    assert "'anonymize'" in anonymise and "Is anonymise meant?" in anonymise


def test_a_name_like_no_option_is_told_with_the_options_there_are(caplog: pytest.LogCaptureFixture) -> None:
    load(zzz=1)
    (message,) = (record.getMessage() for record in caplog.records)
    assert message.startswith("metadata 'zzz': expected one of DynoStock's options (anonymise, arm, data_dir, dpi,")
    assert "bias" not in message  # a task fixes it


def test_what_is_meant_for_the_model_or_another_benchmark_is_no_mistake(caplog: pytest.LogCaptureFixture) -> None:
    load(pretrained="a", dtype="float32", max_images=1, version=1.0, config_source="b", split="validation", style="cot")
    load(gpu_memory_utilization=0.9, attn_implementation="sdpa")
    assert not caplog.records


def test_no_option_of_ours_is_taken_for_somebody_elses() -> None:
    assert not data._NAMES & ARGUMENTS_OF_OTHERS


def test_names_from_outside_stay_on_their_line(caplog: pytest.LogCaptureFixture) -> None:
    warn_of_unknown({"a\nb\x1b[31m"}, {"arm"})
    (message,) = (record.getMessage() for record in caplog.records)
    assert "\n" not in message and "\x1b" not in message
