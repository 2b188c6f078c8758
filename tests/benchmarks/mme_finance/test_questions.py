"""Questions about scenes: every one can be answered, and its own answer is right."""

from dataclasses import replace
from itertools import product

import pytest

from fin_tasks.benchmarks.mme_finance.old_exact import Truth, score_exact
from fin_tasks.benchmarks.mme_finance.questions.ask import ask
from fin_tasks.benchmarks.mme_finance.questions.labels import forms_of, others
from fin_tasks.benchmarks.mme_finance.questions.question import Question, lookup, worked
from fin_tasks.benchmarks.mme_finance.row import CATEGORIES, IMAGE_TYPES, LANGUAGES, Language
from fin_tasks.benchmarks.mme_finance.scene_making.make import make_scene
from fin_tasks.benchmarks.mme_finance.scenes import CandleScene, IndicatorScene, Scene, StatisticsScene
from fin_tasks.errors import ConfigError

SEEDS = range(12)
Asked = tuple[Language, str, str, int, Scene, Question]


@pytest.fixture(scope="module")
def asked() -> list[Asked]:
    found = []
    for language, image_type, seed in product(LANGUAGES, IMAGE_TYPES, SEEDS):
        scene = make_scene(image_type, language=language, seed=seed)
        if isinstance(scene, StatisticsScene) and scene.form != "pie" and seed % 2:
            scene = replace(scene, printed=False)
        for category in CATEGORIES:
            if (question := ask(scene, category, seed=seed)) is not None:
                found.append((language, image_type, category, seed, scene, question))
    return found


def test_every_type_carries_what_it_can(asked: list[Asked]) -> None:
    for language, image_type in product(LANGUAGES, IMAGE_TYPES):
        carried = {one[2] for one in asked if one[:2] == (language, image_type)}
        missing = set(CATEGORIES) - carried
        assert missing <= ({"Numerical Calculation"} if image_type in ("table", "document") else set())


def test_the_reference_answer_of_each_question_is_right(asked: list[Asked]) -> None:
    exact = [(one[0], one[5]) for one in asked if one[5].truth is not None]
    assert len(exact) > 600
    for language, question in exact:
        assert question.truth is not None
        assert score_exact(question.truth, question.answer, language=language) is True, question


def test_an_answer_in_a_sentence_is_right_too(asked: list[Asked]) -> None:
    for language, _, _, _, _, question in asked:
        if question.truth is not None and question.truth.kind not in ("not_applicable", "day"):
            end = question.answer.rpartition("=")[2].strip() if question.truth.worked else question.answer
            told = f"The answer is {end}." if language == "en" else f"答案是{end}。"
            assert score_exact(question.truth, told, language=language) is True, (question, told)


def test_wrong_names_and_other_numbers_are_wrong(asked: list[Asked]) -> None:
    for language, _, _, _, _, question in asked:
        truth = question.truth
        if truth is None:
            continue
        answers = list(truth.wrong)
        if truth.kind == "choice":
            answers += [f"{truth.accepted[0]}, {name}" for name in truth.wrong]
        if truth.kind == "number" and truth.value is not None:
            answers += [f"{truth.value * 1.5 + 1:.2f}", f"{truth.value:.2f} or {truth.value * 1.5 + 1:.2f}"]
        if truth.kind != "not_applicable":
            answers.append("Not Applicable")
        for answer in answers:
            assert score_exact(truth, answer, language=language) is False, (question, answer)


def test_only_a_judge_grades_what_is_subjective(asked: list[Asked]) -> None:
    for _, _, category, _, _, question in asked:
        assert (question.truth is None) == (CATEGORIES[category].kind == "subjective")
        if CATEGORIES[category].kind in ("calculation", "estimation"):
            assert question.truth is not None
            assert question.truth.worked
        if CATEGORIES[category].kind == "estimation":
            assert question.truth is not None
            assert question.truth.relative == 0.1


def test_texts_fit_a_table_and_their_language(asked: list[Asked]) -> None:
    for language, _, _, _, _, question in asked:
        for text in (question.question, question.answer, question.background):
            assert "\t" not in text
            assert "\n" not in text
            assert "  " not in text
            assert "{" not in text
        assert question.question.endswith((".", "?") if language == "en" else ("\u3002", "\uff1f")), question.question
        if language == "en":
            assert question.question.isascii()


def test_subjective_answers_keep_to_the_length_asked_for(asked: list[Asked]) -> None:
    longest = {"Image Caption": 250, "Risk Warning": 150, "Investment Advice": 150, "Explain Reason": 150}
    longest["Financial Knowledge"] = 100
    for language, image_type, category, _, _, question in asked:
        if language == "en" and category in longest:
            assert len(question.answer.split()) <= longest[category], (image_type, category, question.answer)


def test_both_languages_ask_the_same(asked: list[Asked]) -> None:
    values = {
        language: {
            one[1:4]: one[5].truth.value
            for one in asked
            if one[0] == language
            and one[5].truth is not None
            and not one[5].truth.unit.startswith(("亿", "万", "mill"))
        }
        for language in LANGUAGES
    }
    shared = values["en"].keys() & values["zh"].keys()
    assert len(shared) > 250
    assert all(values["en"][key] == values["zh"][key] for key in shared)


def test_the_same_seed_asks_the_same_and_others_differ() -> None:
    scene = make_scene("table", language="en", seed=5)
    assert ask(scene, "OCR", seed=3) == ask(scene, "OCR", seed=3)
    assert len({question.question for seed in range(20) if (question := ask(scene, "OCR", seed=seed))}) > 8


def test_an_unknown_category_is_named() -> None:
    with pytest.raises(ConfigError, match="expected a category of Image Caption, OCR"):
        ask(make_scene("table", language="en", seed=1), "OCRS", seed=1)


def test_values_that_are_not_printed_are_not_asked_for_as_printed() -> None:
    for seed in range(30):
        scene = make_scene("statistical chart", language="en", seed=seed)
        assert isinstance(scene, StatisticsScene)
        plain = replace(scene, printed=False)
        assert ask(plain, "Accurate Numerical Calculation", seed=seed) is None
        assert ask(scene, "Numerical Calculation", seed=seed) is None
        question = ask(plain, "OCR", seed=seed)
        assert question is None or question.truth is None or question.truth.kind == "text"


@pytest.mark.parametrize("seed", range(8))
def test_truths_about_prices_follow_from_the_prices(seed: int) -> None:
    scene = make_scene("candlestick chart", language="en", seed=seed)
    assert isinstance(scene, CandleScene)
    for at in range(40):
        question = ask(scene, "Spatial Awareness", seed=at)
        assert question is not None
        assert question.truth is not None
        if "highest price" in question.question:
            best = scene.prices.high.index(max(scene.prices.high))
            assert question.answer == ("Left" if best < len(scene.prices.days) / 2 else "Right")
        if "close above or below MA20" in question.question:
            last = scene.averages[20][-1]
            assert last is not None
            assert question.answer == ("Above" if scene.prices.close[-1] > last else "Below")


@pytest.mark.parametrize("seed", range(8))
def test_truths_about_indicators_follow_from_their_lines(seed: int) -> None:
    scene = make_scene("technical indicator chart", language="en", seed=seed)
    assert isinstance(scene, IndicatorScene)
    for at in range(30):
        question = ask(scene, "Spatial Awareness", seed=at)
        if question is not None and question.question.startswith("Which line is higher"):
            ends = {name: line[-1] or 0.0 for name, line in scene.lines.items()}
            first, second = question.question.removesuffix("?").rpartition(": ")[2].split(" or ")
            assert question.answer == max(first, second, key=ends.__getitem__)


def test_other_forms_of_labels() -> None:
    assert "2021年第二季度" in forms_of("Q2 2021")
    assert "Q2 2021" in forms_of("2021Q2")
    assert "第三季度" in forms_of("Q3")
    assert not set(others(["FY2021", "FY2022"], "FY2021")) & set(forms_of("FY2021"))


def test_a_number_is_read_as_printed() -> None:
    assert lookup("?", "-0.69%").truth == Truth(kind="number", value=-0.69, unit="%")
    assert lookup("?", "1.50亿").truth == Truth(kind="number", value=1.5, unit="亿")
    with pytest.raises(ValueError, match="printed number"):
        lookup("?", "n/a")


def test_a_worked_answer_ends_in_its_result() -> None:
    from decimal import Decimal

    made = worked("?", "2 + 2 =", Decimal("4.0"), unit="USD")
    assert made.answer == "2 + 2 = 4.0 USD"
    assert made.truth == Truth(kind="number", value=4.0, unit="USD", worked=True)


def test_the_name_of_a_part_does_not_tell_the_answer() -> None:
    for seed in range(40):
        scene = make_scene("mixed chart", language="en", seed=seed)
        for category in ("OCR", "Entity Recognition"):
            question = ask(scene, category, seed=seed)
            assert question is not None
            assert question.truth is not None
            for form in (*question.truth.accepted, *(form for part in question.truth.parts for form in part)):
                assert form.casefold() not in question.question.partition(".")[0].casefold().split()
                assert form not in question.question.partition(".")[0]
