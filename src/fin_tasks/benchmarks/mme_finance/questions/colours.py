"""Names of the colours that things are drawn in, the same in light and dark pictures."""

from collections.abc import Sequence

from fin_tasks.benchmarks.mme_finance.questions.question import Question, choice, say
from fin_tasks.benchmarks.mme_finance.row import Language

__all__ = ["SERIES", "colour_question"]

SERIES = (
    ("blue", "蓝色"),
    ("orange", "橙色"),
    ("green", "绿色"),
    ("purple", "紫色"),
    ("red", "红色"),
    ("grey", "灰色"),
)
"""Of lines, bars and slices, in the order in which `drawing.look` gives colours out."""

_SAME = {
    "orange": ("yellow", "黄色", "橘色", "橘黄色", "橙黄色"),
    "purple": ("violet", "紫"),
    "grey": ("gray", "grey-blue", "blue-grey", "灰蓝色", "蓝灰色"),
    "blue": ("light blue", "dark blue", "浅蓝色", "深蓝色"),
    "green": ("teal", "light green", "dark green", "浅绿色", "深绿色"),
    "red": ("crimson", "浅红色", "深红色"),
}


def colour_question(language: Language, question: str, right: str, names: Sequence[str] = ()) -> Question:
    """Ask for a colour, by its English name.

    Args:
        language: Of the question.
        question: The words.
        right: The colour.
        names: The colours that are wrong; all others where there are none.
    """
    forms = {english: (english, chinese, *_SAME[english]) for english, chinese in SERIES}
    wrong = [form for name, own in forms.items() if name != right and (not names or name in names) for form in own]
    english, chinese, *more = forms[right]
    first = say(language, english, chinese)
    return choice(question, [first, chinese if first == english else english, *more], wrong)
