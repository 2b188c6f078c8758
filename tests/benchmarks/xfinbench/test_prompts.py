"""What the model is asked."""

from pathlib import Path

import pytest

from fin_tasks.benchmarks.xfinbench.files import locate, prompt_templates
from fin_tasks.benchmarks.xfinbench.prompts import MARKER, STYLES, Style, house_prompts, style_named, upstream_prompts
from fin_tasks.errors import ConfigError
from fin_tasks.settings import Settings

REAL = Path(__file__).parents[4] / "shared" / "data"
COT = Style(mode="cot", role=True)


@pytest.mark.parametrize("task", ["bool", "mcq", "calcu"])
@pytest.mark.parametrize("name", STYLES)
def test_every_house_prompt_holds_the_question_and_the_marker(task: str, name: str) -> None:
    prompt = house_prompts().fill(task=task, style=STYLES[name], question="Is 1 > 0?", choices="A. yes\nB. no")
    assert "Is 1 > 0?" in prompt.user
    assert MARKER in prompt.user
    assert ("A. yes\nB. no" in prompt.user) == (task == "mcq")
    assert ("[" in prompt.user) == (task == "calcu")
    assert bool(prompt.system) == STYLES[name].role
    assert ("step by step" in prompt.user) == (STYLES[name].mode == "cot")


def test_program_prompt_asks_for_the_function_and_no_marker() -> None:
    prompt = house_prompts().fill(task="calcu", style=Style(mode="pot", role=True), question="2 * 3?")
    assert "solution()" in prompt.user
    assert MARKER not in prompt.user
    assert prompt.cue.endswith("def solution():")


def test_a_question_with_a_field_name_in_it_is_left_as_it_is() -> None:
    question = r"\frac{a}{b} {choices} {knowledge} {0}"
    prompt = house_prompts().fill(task="mcq", style=COT, question=question, knowledge="K {question}\n\n")
    assert question in prompt.user
    assert prompt.user.startswith("K {question}\n\nQuestion: ")


def test_the_hash_changes_with_the_wording() -> None:
    house = house_prompts()
    assert house.sha256() == house_prompts().sha256()
    other = type(house)(name=house.name, system={**house.system, "cot": "x"}, user=house.user, cue=house.cue)
    assert other.sha256() != house.sha256()


def test_styles() -> None:
    assert style_named(None, mode="cot") == COT
    assert style_named("da", mode="cot") == Style(mode="da", role=False)
    assert style_named("cot", mode="pot") == Style(mode="pot", role=False)
    with pytest.raises(ConfigError, match="direct-answer task expected da_role or da, got 'cot'"):
        style_named("cot", mode="da")
    with pytest.raises(ConfigError, match="expected one of cot_role, da_role, cot, da, got 'nice'"):
        style_named("nice", mode="cot")


def test_missing_templates_are_named() -> None:
    with pytest.raises(ConfigError, match=r"Sys_msg/CoT\.txt.*bool_CoT\.txt"):
        upstream_prompts({"empty.txt": "hello"})


@pytest.mark.skipif(not (REAL / "xfinbench").is_dir(), reason="the real files are not beside the checkout")
def test_upstream_templates_are_filled_without_another_change() -> None:
    files = locate(source="data_dir", data_dir=REAL, settings=Settings.from_environ({}), split="validation")
    prompts = upstream_prompts(prompt_templates(files))
    raw = (REAL / "xfinbench" / "prompt_template" / "mcq_CoT.txt").read_text(encoding="utf-8")
    filled = prompts.fill(task="mcq", style=COT, question="Q?", choices="A. x\nB. y")
    filled_by_hand = raw.replace("\\n", "\n").replace("{knowledge}", "").replace("{question}", "Q?")
    by_hand = filled_by_hand.replace("{choices}", "A. x\nB. y")
    assert filled.user == by_hand
    assert filled.system == (REAL / "xfinbench" / "prompt_template" / "Sys_msg" / "CoT.txt").read_text(encoding="utf-8")
    assert filled.cue == ""
