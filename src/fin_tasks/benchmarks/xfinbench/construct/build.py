"""Make questions with two models: one writes them, one verifies them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain, product
from pathlib import Path
from random import Random
from typing import Any, Literal, get_args

from fin_tasks.answers.choices import lettered
from fin_tasks.answers.read import read_quantity
from fin_tasks.benchmarks.short_answers import compare_with, read_answer
from fin_tasks.benchmarks.xfinbench.construct.output import (
    count_questions,
    write_lines,
    write_splits,
)
from fin_tasks.benchmarks.xfinbench.construct.question import (
    KINDS,
    Exercise,
    Kind,
    Question,
    kept_questions,
    read_exercises,
)
from fin_tasks.benchmarks.xfinbench.construct.reading import (
    LABEL,
    Rules,
    has_yes_or_no,
    is_verified,
    read_questions,
    says_yes,
)
from fin_tasks.benchmarks.xfinbench.construct.templates import Templates
from fin_tasks.benchmarks.xfinbench.prompts import Style, house_prompts
from fin_tasks.benchmarks.xfinbench.truth import parse_truth
from fin_tasks.data.files import write_file
from fin_tasks.endpoints.chat import Chat
from fin_tasks.endpoints.reply import ChatReply
from fin_tasks.endpoints.threads import map_in_threads

Role = Literal["writer", "verifier"]

_OPTIONS: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 4096}
_END_OF_REASONING = "</think>"


@dataclass
class Maker:
    """Makes questions, and keeps the replies of both models.

    A reply from the cache that cannot be used is asked for again if `ask_again` says so.
    """

    models: Mapping[Role, Chat]
    templates: Templates
    rules: Rules
    seed: int = 0
    ask_again: bool = False
    replies: list[dict[str, Any]] = field(default_factory=list)

    def build(
        self, table: Path, out: Path, *, validation: float = 0.25
    ) -> dict[str, Any]:
        """Make questions of a CSV file, write splits, replies and report to a folder, and return the report.

        `validation` is the share of exercises whose questions make up the validation split. A
        failed request stops the run. Replies are kept on disk as they come: a second run asks only
        for what is missing.
        """
        exercises = read_exercises(table)
        chats = list(self.models.values())
        jobs: list[tuple[Exercise, Kind]] = []
        for exercise in exercises:
            for task in exercise.kinds or KINDS:
                jobs += product([exercise], KINDS[task])
        made = map_in_threads(
            lambda job: self._make(*job), jobs, chats=chats, title="Making questions"
        )
        questions = list(chain.from_iterable(made))
        for number, question in enumerate(questions):
            question.id = f"{question.source}_{question.task}_{number}"
        statements = product(
            kept_questions(questions, "statement_true"),
            kept_questions(questions, "statement_false"),
        )
        pairs = [
            (true, false) for true, false in statements if true.source == false.source
        ]
        verdicts = map_in_threads(
            lambda pair: self._gives_away(*pair),
            pairs,
            chats=chats,
            title="Comparing statements",
        )
        random = Random(self.seed)
        for (true, false), gives_away in zip(pairs, verdicts, strict=True):
            if gives_away and not true.dropped and not false.dropped:
                _drop_one(true, false, questions, random)
        splits = write_splits(out, questions, validation=validation, seed=self.seed)
        report = {
            "sources": len(exercises),
            **count_questions(questions),
            "rule_set": self.rules,
            "models": {role: self._spent(role) for role in self.models},
            "prompts": {"set": self.templates.name, "sha256": self.templates.sha256},
            "seed": self.seed,
            "splits": splits,
        }
        write_lines(out / "questions.jsonl", map(asdict, questions))
        write_lines(out / "replies.jsonl", self.replies)
        write_file(out / "report.json", json.dumps(report, indent=2).encode())
        return report

    def _make(self, exercise: Exercise, kind: Kind) -> list[Question]:
        """Have the writer make questions of one kind, and the verifier check each of them."""
        fields = {
            "source_question": exercise.question,
            "source_answer": exercise.answer,
        }
        reply = self._ask(kind, exercise.id, self.templates.fill(kind, **fields))
        is_cut = reply.reason == "length"
        questions = read_questions(
            exercise.id,
            kind,
            reply.text,
            self.rules,
            is_cut=is_cut,
            seed=self.seed,
        )
        for question in kept_questions(questions):
            self._verify(question, fields)
        return questions

    def _verify(self, question: Question, fields: Mapping[str, str]) -> None:
        """Ask the verifier about a question, and drop it unless all answers are yes."""
        purpose = f"verify_{question.kind}"
        prompt = self.templates.fill(
            purpose,
            context=question.context,
            question=question.text,
            choices=lettered(question.choices),
            answer=question.answer,
            **fields,
        )
        question.why = self._ask(purpose, question.source, prompt).text
        if not is_verified(
            question.why, self.templates.n_questions(purpose), self.rules
        ):
            question.dropped = "verification"
        elif question.task == "calcu" and self.rules == "house":
            self._solve(question)

    def _solve(self, question: Question) -> None:
        """Have the verifier solve a calculation without the exercise and the answer."""
        prompt = house_prompts().fill(
            "calcu",
            Style("cot", role=True),
            question=question.whole,
            choices="",
            terms=[],
        )
        reply = self._ask("solve", question.source, prompt["prompt"], prompt["system"])
        question.why = reply.text
        truth = parse_truth("calcu", question.answer)
        reading = read_answer("number", reply.text, variant="robust")
        if not compare_with(
            [(truth.value or 0.0, truth.step)], reading, numeric=True
        ).correct_err:
            question.dropped = "second_solution"

    def _gives_away(self, true: Question, false: Question) -> bool:
        """Return whether a true statement gives a false one of its exercise away."""
        contexts = dict.fromkeys(filter(None, (true.context, false.context)))
        prompt = self.templates.fill(
            "pair",
            context="\n".join(contexts),
            true_statement=true.text,
            false_statement=false.text,
        )
        return says_yes(self._ask("pair", true.source, prompt).text, self.rules)

    def _ask(
        self, purpose: str, source: str, prompt: str, system: str = ""
    ) -> ChatReply:
        """Return the reply to a prompt without its reasoning."""
        role: Role = "writer" if purpose in get_args(Kind) else "verifier"
        messages = [{"role": "user", "content": prompt}]
        if system:
            messages.insert(0, {"role": "system", "content": system})
        chat = self.models[role]
        reply = chat.ask(messages, **_OPTIONS)
        if self.ask_again and reply.cached and not _is_useful(purpose, reply.text):
            reply = chat.ask(messages, fresh=True, **_OPTIONS)
        self.replies.append(
            {"role": role, "purpose": purpose, "source": source, **vars(reply)}
        )
        return reply.model_copy(update={"text": _without_reasoning(reply.text)})

    def _spent(self, role: Role) -> dict[str, Any]:
        replies = [reply for reply in self.replies if reply["role"] == role]
        model = self.models[role].model
        spent: dict[str, Any] = {"model": model, "replies": len(replies)}
        for name in ("prompt_tokens", "completion_tokens"):
            spent[name] = sum(reply[name] for reply in replies)
        return spent


def _without_reasoning(text: str) -> str:
    return text.rpartition(_END_OF_REASONING)[2]


def _is_useful(purpose: str, reply: str) -> bool:
    """Return whether a reply has what it was asked for, right or wrong."""
    text = _without_reasoning(reply)
    if purpose in get_args(Kind):
        return LABEL.search(text) is not None
    if purpose == "solve":
        return read_quantity(text).answer is not None
    return has_yes_or_no(text)


def _drop_one(
    true: Question,
    false: Question,
    questions: Sequence[Question],
    random: Random,
) -> None:
    """Drop the statement of which its exercise has more left; a coin decides if it has as many."""
    kept = kept_questions(questions)
    sides = [(question.source, question.kind) for question in kept]
    surplus = sides.count((true.source, true.kind)) - sides.count(
        (false.source, false.kind)
    )
    drops_true = surplus > 0 or (surplus == 0 and random.random() < 0.5)
    loser, winner = (true, false) if drops_true else (false, true)
    loser.dropped = "gives_away"
    loser.why = winner.text
