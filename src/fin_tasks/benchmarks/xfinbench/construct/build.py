"""Make questions with two models: one writes them, one verifies them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, product
from pathlib import Path
from random import Random
from typing import Any, Literal

from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.read import read_quantity
from fin_tasks.benchmarks.short_answers import Response, compare_with, read_answer
from fin_tasks.benchmarks.xfinbench.construct.output import (
    count_questions,
    split_questions,
    write_set,
)
from fin_tasks.benchmarks.xfinbench.construct.question import (
    KINDS,
    Exercise,
    Kind,
    Question,
    kept_questions,
    read_exercises,
)
from fin_tasks.benchmarks.xfinbench.construct.reading import read_questions
from fin_tasks.benchmarks.xfinbench.construct.rules import RuleSet, has_yes_or_no
from fin_tasks.benchmarks.xfinbench.construct.templates import Templates
from fin_tasks.benchmarks.xfinbench.prompts import Style, house_prompts
from fin_tasks.benchmarks.xfinbench.rows import lettered
from fin_tasks.benchmarks.xfinbench.truth import parse_truth
from fin_tasks.endpoints.chat import Chat
from fin_tasks.endpoints.prices import Prices
from fin_tasks.endpoints.reply import ChatReply
from fin_tasks.endpoints.threads import map_in_threads
from fin_tasks.sandbox import Ran, run_programs
from fin_tasks.settings import Settings

Role = Literal["writer", "verifier"]

_MAX_TOKENS = 4096
_END_OF_REASONING = "</think>"


@dataclass
class Maker:
    """Makes questions, and keeps the replies of both models.

    A reply from the cache that cannot be used is asked for again if `ask_again` says so.
    """

    models: Mapping[Role, Chat]
    templates: Templates
    rules: RuleSet
    settings: Settings
    prices: Prices | None = None
    seed: int = 0
    ask_again: bool = False
    replies: list[dict[str, Any]] = field(default_factory=list)

    def build(self, table: Path, out: Path, *, validation: float = 0.25) -> dict[str, Any]:
        """Make questions of a CSV file, write splits, replies and report to a folder, and return the report.

        `validation` is the share of exercises whose questions make up the validation split. A
        failed request stops the run. Replies are kept on disk as they come: a second run asks only
        for what is missing.
        """
        exercises = read_exercises(table)
        questions = self._write_questions(exercises)
        if self.rules.solves_calculations:
            self._check_programs(kept_questions(questions, "calcu"))
        self._compare_statements(questions)
        splits = split_questions(questions, validation=validation, seed=self.seed)
        report = {
            "sources": len(exercises),
            **count_questions(questions),
            "rule_set": self.rules.name,
            "models": {role: self._spent(role) for role in self.models},
            "prompts": {"set": self.templates.name, "sha256": self.templates.sha256},
            "seed": self.seed,
            "splits": {split: len(own) for split, own in splits.items()},
        }
        write_set(out, splits, questions, self.replies, report)
        return report

    def _write_questions(self, exercises: Iterable[Exercise]) -> list[Question]:
        """Have the writer make questions of each kind, and the verifier check each of them."""
        jobs: list[tuple[Exercise, Kind]] = []
        for exercise in exercises:
            for task in exercise.tasks:
                jobs += product([exercise], KINDS[task])
        questions_of_jobs = map_in_threads(
            lambda job: self._make(*job), jobs, chats=self._chats, title="Making questions"
        )
        questions = list(chain.from_iterable(questions_of_jobs))
        for number, question in enumerate(questions):
            question.id = f"{question.source}_{question.task}_{number}"
        return questions

    @property
    def _chats(self) -> list[Chat]:
        return list(self.models.values())

    def _make(self, exercise: Exercise, kind: Kind) -> list[Question]:
        def questions_in(text: str, *, is_cut: bool = False) -> list[Question]:
            return read_questions(
                exercise.id, kind, text, self.rules, is_cut=is_cut, seed=self.seed
            )

        fields = {"source_question": exercise.question, "source_answer": exercise.answer}
        reply = self._ask(
            "writer",
            kind,
            exercise.id,
            self.templates.fill(kind, **fields),
            is_useful=lambda text: kept_questions(questions_in(text)),
        )
        questions = questions_in(reply.text, is_cut=reply.reason == "length")
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
        question.why = self._verdict(purpose, question.source, prompt)
        if not self.rules.all_yes(question.why, self.templates.n_questions(purpose)):
            question.dropped = "verification"
        elif question.task == "calcu" and self.rules.solves_calculations:
            self._solve(question)

    def _solve(self, question: Question) -> None:
        """Have the verifier solve a calculation in words, then by a program that is run later."""
        question.why = self._ask_to_solve(
            question, "cot", is_useful=lambda text: read_quantity(text).answer
        )
        if not _is_near(question, question.why):
            question.dropped = "second_solution"
            return
        question.why = self._ask_to_solve(question, "pot", is_useful=extract_program)

    def _ask_to_solve(
        self,
        question: Question,
        mode: Literal["cot", "pot"],
        *,
        is_useful: Callable[[str], object],
    ) -> str:
        """Show the verifier neither the solution of the exercise nor the answer."""
        prompt = house_prompts().fill(
            "calcu", Style(mode, role=True), question=question.whole, choices="", terms=[]
        )
        return self._ask(
            "verifier",
            f"solve_{mode}",
            question.source,
            prompt["prompt"],
            system=prompt["system"],
            is_useful=is_useful,
        ).text

    def _check_programs(self, calculations: Sequence[Question]) -> None:
        """Run the programs that solve calculations, and drop those that give another answer."""
        if not calculations:
            return
        programs = [extract_program(question.why) for question in calculations]
        outcomes = run_programs(programs, settings=self.settings)
        for question, outcome in zip(calculations, outcomes, strict=True):
            run = Ran(question.why, (outcome,))
            is_near = _is_near(question, run)
            if is_near is None:
                question.dropped = "program_unchecked"
            elif not is_near:
                question.dropped = "program"

    def _compare_statements(self, questions: Sequence[Question]) -> None:
        """Drop one of two statements of an exercise if the true one gives the false one away."""
        statements = product(
            kept_questions(questions, "statement_true"),
            kept_questions(questions, "statement_false"),
        )
        pairs = [(true, false) for true, false in statements if true.source == false.source]
        verdicts = map_in_threads(
            lambda pair: self._gives_away(*pair),
            pairs,
            chats=self._chats,
            title="Comparing statements",
        )
        random = Random(self.seed)
        for (true, false), gives_away in zip(pairs, verdicts, strict=True):
            if gives_away and not true.dropped and not false.dropped:
                _drop_one(true, false, questions, random)

    def _gives_away(self, true: Question, false: Question) -> bool:
        contexts = dict.fromkeys(filter(None, (true.context, false.context)))
        prompt = self.templates.fill(
            "pair",
            context="\n".join(contexts),
            true_statement=true.text,
            false_statement=false.text,
        )
        return self.rules.says_yes(self._verdict("pair", true.source, prompt))

    def _verdict(self, purpose: str, source: str, prompt: str) -> str:
        reply = self._ask("verifier", purpose, source, prompt, is_useful=has_yes_or_no)
        return reply.text

    def _ask(
        self,
        role: Role,
        purpose: str,
        source: str,
        prompt: str,
        *,
        system: str = "",
        is_useful: Callable[[str], object],
    ) -> ChatReply:
        """Return the reply to a prompt without its reasoning."""
        messages = [{"role": "user", "content": prompt}]
        if system:
            messages.insert(0, {"role": "system", "content": system})
        chat = self.models[role]
        reply = chat.ask(messages, temperature=0.0, max_tokens=_MAX_TOKENS)
        if self.ask_again and reply.cached and not is_useful(_without_reasoning(reply.text)):
            reply = chat.ask(messages, fresh=True, temperature=0.0, max_tokens=_MAX_TOKENS)
        self.replies.append({"role": role, "purpose": purpose, "source": source, **vars(reply)})
        return reply.model_copy(update={"text": _without_reasoning(reply.text)})

    def _spent(self, role: Role) -> dict[str, Any]:
        replies = [reply for reply in self.replies if reply["role"] == role]
        n_prompt = sum(reply["prompt_tokens"] for reply in replies)
        n_completion = sum(reply["completion_tokens"] for reply in replies)
        model = self.models[role].model
        spent = {
            "model": model,
            "replies": len(replies),
            "prompt_tokens": n_prompt,
            "completion_tokens": n_completion,
        }
        if self.prices is not None:
            spent["cost"] = self.prices.cost(model, n_prompt, n_completion)
            spent["currency"] = self.prices.currency
        return spent


def _without_reasoning(text: str) -> str:
    return text.rpartition(_END_OF_REASONING)[2]


def _is_near(question: Question, response: Response) -> bool | None:
    """Return whether a response gives the answer of a calculation; None if its program could not run."""
    truth = parse_truth("calcu", question.answer)
    reading = read_answer("number", response, variant="robust")
    return compare_with([(truth.value or 0.0, truth.step)], reading, numeric=True).correct_err


def _drop_one(
    true: Question,
    false: Question,
    questions: Sequence[Question],
    random: Random,
) -> None:
    """Drop the statement of which its exercise has more left; a coin decides if it has as many."""
    statements = [question for question in questions if question.source == true.source]
    n_true = len(kept_questions(statements, true.kind))
    n_false = len(kept_questions(statements, false.kind))
    if n_true > n_false or (n_true == n_false and random.random() < 0.5):
        loser = true
        winner = false
    else:
        loser = false
        winner = true
    loser.dropped = "gives_away"
    loser.why = winner.text
