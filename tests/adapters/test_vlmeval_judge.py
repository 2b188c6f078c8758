"""The judge that VLMEvalKit's arguments name."""

import logging
from typing import Any

import pytest

from fin_tasks.adapters.vlmeval_judge import judge_of, label_of
from fin_tasks.errors import ConfigError
from fin_tasks.judging.old_rubric import load_rubric
from fin_tasks.settings import OPENAI, Settings

RUBRIC = "mme_finance_en"
KITS = {"nproc": 4, "verbose": False, "retry": 3}


def read(environ: dict[str, str] | None = None, **arguments: Any) -> Any:
    return judge_of({**KITS, **arguments}, Settings.from_environ(environ or {}), rubric=RUBRIC)


def test_what_the_kit_gives_is_enough() -> None:
    setup, _ = read()
    assert setup.model == load_rubric(RUBRIC).default_model
    assert (setup.concurrency, setup.base_urls, setup.rubric) == (4, (OPENAI,), RUBRIC)


@pytest.mark.parametrize(
    ("environ", "arguments", "expected"),
    [
        ({"OPENAI_API_BASE": "http://a/v1/chat/completions"}, {}, ("http://a/v1",)),
        (
            {"OPENAI_API_BASE": "http://a/v1/chat/completions", "FIN_TASKS_JUDGE_BASE_URL": "http://b/v1"},
            {},
            ("http://b/v1",),
        ),
        ({"FIN_TASKS_METADATA": '{"judge_base_url": "http://c/v1"}'}, {}, ("http://c/v1",)),
        ({"FIN_TASKS_METADATA": '{"judge_base_url": "http://c/v1"}'}, {"base_url": "http://d/v1/"}, ("http://d/v1",)),
        ({}, {"api_base": "http://e/v1/chat/completions"}, ("http://e/v1",)),
        ({}, {"base_url": ["http://e/v1", "http://f/v1"]}, ("http://e/v1", "http://f/v1")),
    ],
)
def test_the_nearest_address_counts(environ: dict[str, str], arguments: Any, expected: tuple[str, ...]) -> None:
    assert read(environ, **arguments)[0].base_urls == expected


def test_the_nearest_model_counts() -> None:
    environ = {"FIN_TASKS_JUDGE_MODEL": "e", "FIN_TASKS_METADATA": '{"judge_model": "m"}'}
    assert read(environ)[0].model == "m"
    assert read(environ, model="j")[0].model == "j"
    assert read({"FIN_TASKS_JUDGE_MODEL": "e"})[0].model == "e"


def test_concurrency_is_nproc_where_nobody_says_more() -> None:
    assert read({"FIN_TASKS_METADATA": '{"judge_concurrency": 9}'})[0].concurrency == 9
    assert read({"FIN_TASKS_METADATA": '{"judge_concurrency": 9}'}, concurrency=2)[0].concurrency == 2


def test_a_key_is_kept_in_memory_and_a_variable_is_named() -> None:
    setup, settings = read(key="sk-secret")
    assert settings.api_keys[setup.key_variable] == "sk-secret"
    assert "sk-secret" not in repr(setup) + repr(settings)
    assert read({"JUDGE_KEY": "x"}, key="JUDGE_KEY")[0].key_variable == "JUDGE_KEY"


def test_options_reach_the_setup() -> None:
    setup, _ = read(image=False, requests_per_minute=60, max_failed=0.5, rubric="mme_finance_zh")
    assert (setup.image, setup.requests_per_minute, setup.max_failed, setup.rubric) == (
        False,
        60,
        0.5,
        "mme_finance_zh",
    )


@pytest.mark.parametrize(("slip", "meant"), [("concurency", "concurrency"), ("max_token", "max_tokens")])
def test_slips_are_refused(slip: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=rf"--judge-args {slip}: .* Is it {meant}\?"):
        read(**{slip: 1})


def test_what_the_kits_judges_take_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        setup, _ = read(temperature=0, system_prompt="x", fail_msg="y", img_size=512, use_azure=True, wait=3)
    assert setup == read()[0]
    assert "fail_msg, img_size, system_prompt, temperature, use_azure: without meaning" in caplog.text
    assert "wait" not in caplog.text, "what the kit adds of itself is not worth a word"


@pytest.mark.parametrize(
    ("environ", "arguments", "said"),
    [
        ({}, {"nproc": "4"}, "--judge-args nproc: expected a whole number, got '4'"),
        ({}, {"nproc": 0}, "--judge-args nproc: expected a whole number from 1 up, got 0"),
        ({}, {"image": "no"}, "--judge-args image: expected true or false"),
        ({}, {"model": 7}, "--judge: expected a text, got 7"),
        ({}, {"base_url": 7}, "--judge-args base_url: expected an address"),
        (
            {"FIN_TASKS_METADATA": '{"judge_concurrency": 0}'},
            {},
            "FIN_TASKS_METADATA judge_concurrency: expected a whole number from 1 up",
        ),
    ],
)
def test_messages_name_what_somebody_wrote(environ: dict[str, str], arguments: Any, said: str) -> None:
    with pytest.raises(ConfigError) as told:
        read(environ, **arguments)
    assert str(told.value).startswith(said)


@pytest.mark.parametrize(
    ("environ", "arguments", "label"),
    [
        ({}, {}, "d"),
        ({}, {"model": "m", "image": True, "rubric": RUBRIC}, "m"),
        ({}, {"model": "m", "image": False}, "m_no_image"),
        ({}, {"model": "m", "rubric": "a/own.yaml", "image": "no"}, "m_own"),
        ({"FIN_TASKS_METADATA": '{"judge_model": "m", "judge_image": false}'}, {}, "m_no_image"),
        ({"FIN_TASKS_JUDGE_MODEL": "e"}, {"concurency": 2}, "e"),
    ],
)
def test_files_are_named_by_how_the_judge_is_asked(environ: dict[str, str], arguments: Any, label: str) -> None:
    settings = Settings.from_environ(environ)
    assert label_of({**KITS, **arguments}, settings, rubric=RUBRIC, default="d") == label
