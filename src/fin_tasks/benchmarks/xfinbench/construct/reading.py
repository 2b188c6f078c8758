"""Read the questions in a reply of the model that writes them."""

import re
from random import Random

from fin_tasks.benchmarks.xfinbench.construct.question import Kind, Question
from fin_tasks.benchmarks.xfinbench.construct.rules import Rules, flaw_of
from fin_tasks.benchmarks.xfinbench.rows import parse_choices

LABEL = re.compile(
    r"""
    ^[\s*\#>-]*
    (Context | (?:Generated\ )?Question | Statement | Choices | (?:Correct\ )?Answer)
    [\ \d*]*:
    """,
    re.MULTILINE | re.VERBOSE,
)
"""What stands before each part of a question."""
_CHOICE_LETTER = re.compile(r"^[\s*-]*\(?([a-zA-Z])[).:]\**[ \t]*", re.MULTILINE)
_NO_CONTEXT = ("none", "n/a")


def read_questions(
    source: str,
    kind: Kind,
    reply: str,
    rules: Rules,
    *,
    is_cut: bool,
    seed: int,
) -> list[Question]:
    """Read the questions in a reply, mix their choices, and drop those that break a rule.

    Args:
        source: Id of the exercise.
        kind: What the model was asked for.
        reply: Its reply.
        rules: The rules.
        is_cut: Whether the reply was cut off, so that its last question is incomplete.
        seed: Decides the order of choices.
    """
    questions: list[Question] = []
    context = ""
    _, *parts = LABEL.split(reply)
    for label, part in zip(parts[::2], parts[1::2], strict=True):
        text = part.strip(" *\n\t")
        on_one_line = " ".join(text.split())
        if label == "Context":
            has_context = text.lower().strip(".") not in _NO_CONTEXT
            context = on_one_line if has_context else ""
        elif label.endswith(("Question", "Statement")):
            questions.append(Question(source, kind, context, on_one_line, why=reply))
        elif questions and label == "Choices":
            capitals = _CHOICE_LETTER.sub(lambda match: f"{match[1].upper()}. ", text)
            questions[-1].choices = parse_choices(capitals)
        elif questions:
            questions[-1].answer = text.partition("\n")[0].strip(" *")
    if not questions:
        return [Question(source, kind, dropped="no_question", why=reply)]
    for question in questions:
        random = Random(f"{seed} {source} {question.text}")
        question.dropped = flaw_of(question, rules, random)
    if is_cut:
        questions[-1].dropped = "incomplete"
    return questions
