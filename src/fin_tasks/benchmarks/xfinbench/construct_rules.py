"""Questions in a model's reply, and the rules that drop some; `docs/own_questions.md` explains the rules' names."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random
from string import ascii_uppercase

from fin_tasks.benchmarks.xfinbench.data import parse_choices

__all__ = ["KINDS", "Question", "drop_pairs", "read_questions", "says_no"]

KINDS = {"bool": ("statement_true", "statement_false"), "mcq": ("mcq",), "calcu": ("calcu",)}
"""The file's `task` to the kinds that are asked for one by one."""

_LABEL = re.compile(r"^[\s*#>-]*(Context|(?:Generated )?Question|Statement|Choices|(?:Correct )?Answer)[ \d*]*:", re.M)
_CHOICE = re.compile(r"^[\s*-]*\(?([a-zA-Z])[).:]\**[ \t]*", re.M)
_MOST_WORDS_APART = 5


@dataclass
class Question:
    """A generated question; `dropped` names the rule that dropped it, and `why` is the reply that decided."""

    source: str
    kind: str
    context: str = ""
    text: str = ""
    answer: str = ""  # as in the file: 1.0 or 0.0, a letter, a number
    choices: tuple[str, ...] = ()
    dropped: str = ""
    why: str = ""
    id: str = ""

    @property
    def task(self) -> str:
        """The value of the file's `task` column."""
        return "bool" if self.kind in KINDS["bool"] else self.kind

    @property
    def whole(self) -> str:
        """Context and question."""
        return f"{self.context} {self.text}".strip()

    @property
    def lettered(self) -> str:
        """The choices as in the file."""
        return "\n".join(map(". ".join, zip(ascii_uppercase, self.choices, strict=False)))


def read_questions(source: str, kind: str, reply: str, *, cut: bool, seed: int) -> list[Question]:
    """Read the questions in a reply, mix their choices, and drop those that break a rule; of a cut reply the last."""
    found: list[Question] = []
    context, parts = "", _LABEL.split(reply)
    for label, part in zip(parts[1::2], parts[2::2], strict=True):
        text = part.strip(" *\n\t")
        if label == "Context":
            context = "" if text.lower().strip(".") in ("none", "n/a") else " ".join(text.split())
        elif label.endswith(("Question", "Statement")):
            found.append(Question(source, kind, context, " ".join(text.split()), why=reply))
        elif found and label == "Choices":
            found[-1].choices = tuple(parse_choices(_CHOICE.sub(lambda match: f"{match[1].upper()}. ", text)))
        elif found:
            found[-1].answer = text.partition("\n")[0].strip(" *")
    for one in found:
        is_cut = cut and one is found[-1]
        one.dropped = "incomplete" if is_cut else _flaw(one, Random(f"{seed} {source} {one.text}"))
    return found or [Question(source, kind, dropped="no_question", why=reply)]


def _flaw(one: Question, random: Random) -> str:
    """Return the rule that a question breaks, or bring choices and answer into the file's form."""
    if not one.text or not one.answer:
        return "incomplete"
    if one.task == "bool":
        truth, given = one.kind.removeprefix("statement_"), re.sub(r"\W", "", one.answer).lower()
        one.answer = "1.0" if truth == "true" else "0.0"
        return "" if given == truth else "other_answer"
    if one.task == "calcu":
        if not re.fullmatch(r"-?(?:\d+\.?\d*|\.\d+)(?:/0*[1-9]\d*)?", one.answer):
            return "not_a_number"
        upper, _, lower = one.answer.partition("/")
        one.answer = repr(float(upper) / float(lower)) if lower else one.answer
        return ""
    sizes = [len(text.split()) for text in one.choices]
    if len(sizes) != 3 or len({" ".join(text.lower().split()) for text in one.choices}) < 3:
        return "choices"
    if max(sizes) - min(sizes) > _MOST_WORDS_APART:
        return "choice_length"
    letter = re.match(r"\W*(?:choice\W+)?([a-c])\b", one.answer, re.IGNORECASE)
    if not letter:
        return "other_answer"
    right = one.choices["abc".index(letter[1].lower())]
    one.choices = tuple(random.sample(one.choices, 3))
    one.answer = ascii_uppercase[one.choices.index(right)]
    return ""


def says_no(reply: str, questions: int) -> bool | None:
    """Tell whether a reply to some yes-or-no questions holds a no; None if it answers too few of them."""
    answers = re.findall(r"^\W*(?:Q?\d\W+)?(yes|no)\b", reply, re.IGNORECASE | re.MULTILINE)
    if len(answers) != questions:  # prose, or all in one line
        answers = re.findall(r"\b(yes|no)\b", reply, re.IGNORECASE)
    if "no" in map(str.lower, answers):
        return True
    return False if len(answers) >= questions else None


def drop_pairs(pairs: Iterable[Sequence[Question]], kept: Iterable[Sequence[Question]], random: Random) -> None:
    """Drop one of each true and false statement: of the kind that its source has more of, else by a coin."""
    siblings = {id(one): of for of in kept for one in of}
    for true, false in pairs:
        if not (true.dropped or false.dropped):
            left = [one.kind for one in siblings[id(true)] if not one.dropped]
            more = left.count(true.kind) - left.count(false.kind)
            loser, other = (true, false) if more > 0 or (more == 0 and random.random() < 0.5) else (false, true)
            loser.dropped, loser.why = "gives_away", other.text
