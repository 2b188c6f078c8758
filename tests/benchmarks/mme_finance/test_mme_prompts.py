"""What the model is asked."""

import re
from pathlib import Path

import pytest

from fin_tasks.benchmarks.mme_finance.files import locate
from fin_tasks.benchmarks.mme_finance.old_prompts import fill, rubric_of, sha256
from fin_tasks.benchmarks.mme_finance.row import CATEGORIES, LANGUAGES, Language, Row
from fin_tasks.benchmarks.mme_finance.rows import read_rows
from fin_tasks.judging.old_rubric import load_rubric
from fin_tasks.settings import Settings

DECLINE = {"en": "Not Applicable", "zh": "无法回答"}


def row(category: str, *, question: str = "What is 7?", background: str = "") -> Row:
    return Row(
        index="1", question=question, answer="7", image_path=Path("7.png"), category=category, background=background
    )


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("category", CATEGORIES)
def test_the_model_reads_the_requirements_that_the_judge_reads(language: Language, category: str) -> None:
    requirements = load_rubric(rubric_of(language)).category(category).requirements.strip()
    prompt = fill(row(category), language=language)
    assert requirements in prompt.user
    assert "What is 7?" in prompt.user
    assert prompt.system and prompt.cue


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("category", CATEGORIES)
def test_declining_is_offered_once_to_the_unanswerable_and_in_the_second_setting_to_all(
    language: Language, category: str
) -> None:
    plain, second = (fill(row(category), language=language, na=na).user for na in (False, True))
    assert plain.count(DECLINE[language]) == (category == "Not Applicable")
    assert second.count(DECLINE[language]) == 1
    # in the same words, or the wording would tell which questions are unanswerable
    assert second.split("\n")[-1].endswith(fill(row("Not Applicable"), language=language).user.split("\n")[-1][-8:])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_background_comes_first_and_an_empty_one_leaves_no_trace(language: Language) -> None:
    user = fill(row("OCR", background=" The fund is called Elm. "), language=language).user
    assert user.index("The fund is called Elm.") < user.index("What is 7?")
    assert fill(row("OCR", background="  "), language=language) == fill(row("OCR"), language=language)


CHINESE = r"[\u3400-\u9fff]"
ASCII_MARK = re.compile(rf"(?<={CHINESE})[,:;?()]|[,:;?()](?={CHINESE})")


@pytest.mark.parametrize("category", CATEGORIES)
def test_chinese_is_written_with_chinese_marks(category: str) -> None:
    question = "\u95ee\uff1f"
    prompt = fill(row(category, question=question, background=question), language="zh", na=True)
    rubric = load_rubric(rubric_of("zh")).category(category)
    examples = (text for one in rubric.examples for text in (one.question, one.reference, one.response))
    for text in (prompt.system, prompt.user, prompt.cue, rubric.points, rubric.requirements, *examples):
        assert not ASCII_MARK.findall(text), text


def test_the_samples_chinese_is_written_with_chinese_marks() -> None:
    settings = Settings.from_environ({})
    for one in read_rows(locate(language="zh", source="sample", settings=settings)).rows:
        for text in (one.question, one.answer, one.background):
            assert not ASCII_MARK.findall(text), text


def test_what_a_question_holds_is_left_as_it_is() -> None:
    question = "Is {0} above {requirements}, 5 % or \\n?"
    assert question in fill(row("OCR", question=question), language="en").user


def test_every_setting_has_a_hash_of_its_own() -> None:
    assert len({sha256(language=language, na=na) for language in LANGUAGES for na in (False, True)}) == 4
