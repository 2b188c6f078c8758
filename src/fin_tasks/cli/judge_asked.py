"""What models were asked whose predictions are judged: in which language, and whether they might decline everywhere."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fin_tasks.benchmarks.mme_finance.row import Language
from fin_tasks.judging.old_item import JudgeItem
from fin_tasks.judging.old_rubric import Rubric

__all__ = ["Asked", "as_asked", "asked_of", "kit_language", "language_note"]

_DATA_SET = re.compile(r".+_(?:MMEFinance|MMfin)(?P<chinese>_CN)?(?P<na>_NA)?")
"""How VLMEvalKit names predictions on our data sets, and on those of the benchmark's authors."""
_SAMPLES = re.compile(r"samples_mme_finance_(?P<language>en|zh)(?P<na>_na)?_\d{4}-.+")
"""How lm-eval names the samples of our tasks."""
_HAN = re.compile("[\u3400-\u9fff]")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """How MME-Finance was asked.

    Attributes:
        language: Of the words around the questions.
        na: Whether "Not Applicable" was allowed in every category.
    """

    language: Language
    na: bool


def kit_language(file: Path) -> Language | None:
    """Return the language of MME-Finance's data set that VLMEvalKit made predictions on; None for any other file.

    Example:
        >>> kit_language(Path("M_MMEFinance_CN_NA.xlsx")), kit_language(Path("predictions.jsonl"))
        ('zh', None)
    """
    match = _DATA_SET.fullmatch(file.stem)
    return None if match is None else "zh" if match["chinese"] else "en"


def asked_of(file: Path, rubric: Rubric) -> Asked:
    """Tell from a file's name, the language else from the rubric, how the model was asked."""
    if match := _SAMPLES.fullmatch(file.stem):
        return Asked(language="zh" if match["language"] == "zh" else "en", na=match["na"] is not None)
    if match := _DATA_SET.fullmatch(file.stem):
        return Asked(language="zh" if match["chinese"] else "en", na=match["na"] is not None)
    return Asked(language="zh" if rubric.language.startswith("zh") else "en", na=False)


def as_asked(items: Sequence[JudgeItem], asked: Asked, *, na: bool | None) -> tuple[JudgeItem, ...]:
    """Return the items with what their models were also told, as tasks and data sets give them to the judge.

    Args:
        items: What is judged.
        asked: What the file says.
        na: What the user says of "Not Applicable"; None for what the file says.
    """
    from fin_tasks.benchmarks.mme_finance.old_prompts import allowance

    if not (asked.na if na is None else na):
        return tuple(items)
    return tuple(replace(item, also_told=allowance(item.category, language=asked.language)) for item in items)


def language_note(items: Sequence[JudgeItem], rubric: Rubric) -> str | None:
    """Say so where a rubric is in another language than most questions; its examples and limits are for that one.

    Rubrics in other languages than English and Chinese are their writers' affair.
    """
    chinese = sum(_is_chinese(item.question) for item in items)
    asked = "zh" if 2 * chinese > len(items) else "en"
    if {asked, rubric.language.lower()[:2]} != {"en", "zh"}:
        return None
    count, which = (chinese, "in Chinese") if asked == "zh" else (len(items) - chinese, "not in Chinese")
    return (
        f"{count:,} of {len(items):,} questions are {which}, and rubric {rubric.name} is in {rubric.language}. Is it "
        "the right one? Examples and limits of length are made for one language."
    )


def _is_chinese(text: str) -> bool:
    """Whether a third of the letters are Han: names of indicators and companies are written in Latin ones."""
    return 3 * len(_HAN.findall(text)) >= sum(character.isalpha() for character in text) > 0
