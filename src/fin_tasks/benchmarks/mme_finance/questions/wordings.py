"""Ways to ask that fit any picture, beside those that name what is in it."""

from collections.abc import Mapping

from fin_tasks.benchmarks.mme_finance.questions.question import say
from fin_tasks.benchmarks.mme_finance.row import Language

__all__ = ["for_any"]

_WORDINGS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "Image Caption": (
        (
            "Tell somebody who cannot see the picture what is in it.",
            "请向看不到图片的人说明其内容。",
        ),
        (
            "Write a short text to go with this picture, with its main figures.",
            "请为此图配一段简短文字，并包含主要数据。",
        ),
        (
            "What are the main facts to be seen here?",
            "从图中可以看到哪些主要信息？",
        ),
    ),
    "Risk Warning": (
        (
            "List the risks that an investor should keep in mind after seeing this.",
            "看过此图后，投资者应牢记哪些风险？",
        ),
        (
            "A cautious adviser looks at this. What would they warn a client of?",
            "一位谨慎的顾问看到此图，会提醒客户注意什么？",
        ),
        (
            "Is there anything here that speaks for caution? Explain.",
            "图中有哪些信息提示应保持谨慎？请说明。",
        ),
    ),
    "Investment Advice": (
        (
            "Which course of action would you recommend on this basis? Give reasons.",
            "据此您建议采取什么操作？请给出理由。",
        ),
        (
            "What should an investor who takes few risks do in view of this?",
            "面对这些信息，风险偏好较低的投资者应如何应对？",
        ),
        (
            "Put yourself in the place of a portfolio manager: what would you do now, and why?",
            "假如您是基金经理，此时会怎样操作？为什么？",
        ),
    ),
}


def for_any(language: Language, category: str) -> tuple[str, ...]:
    """Return questions of a category that fit any picture."""
    return tuple(say(language, english, chinese) for english, chinese in _WORDINGS[category])
