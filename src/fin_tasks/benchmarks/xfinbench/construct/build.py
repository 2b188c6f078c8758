"""Make questions with two models: one writes them, one verifies them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, Literal, TypeVar

from fin_tasks.answers.programs import extract_program
from fin_tasks.answers.read import read_quantity
from fin_tasks.benchmarks.xfinbench.construct.output import (
    Report,
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
from fin_tasks.benchmarks.xfinbench.score import score
from fin_tasks.endpoints.chat import Chat
from fin_tasks.endpoints.prices import Prices
from fin_tasks.endpoints.reply import ChatReply
from fin_tasks.endpoints.threads import map_in_threads
from fin_tasks.sandbox import Ran, run_programs
from fin_tasks.settings import Settings

Role = Literal["writer", "verifier"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_MAX_TOKENS = 4096
_N_THREADS = 16
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

    def build(self, table: Path, out: Path, *, validation: float = 0.25) -> Report:
        """Make questions of a CSV file, write splits, replies and report to a folder, and return the report.

        `validation` is the share of exercises whose questions make up the validation split. A
        failed request stops the run. Replies are kept on disk as they come: a second run asks only
        for what is missing.
        """
        exercises = read_exercises(table)
        questions = self._write_questions(exercises)
        self._check_programs(kept_questions(questions, "calcu"))
        self._compare_statements(questions)
        splits = split_questions(questions, validation=validation, seed=self.seed)
        report: Report = {
            "sources": len(exercises),
            **count_questions(questions),
            "rule_set": self.rules.name,
            "models": {role: self._spent(role) for role in self.models},
            "prompts": {"set": self.templates.name, "sha256": self.templates.sha256},
            "seed": self.seed,
            "splits": {
                split: len(questions_of_split) for split, questions_of_split in splits.items()
            },
        }
        write_set(out, splits, questions, self.replies, report)
        return report

    def _write_questions(self, exercises: Sequence[Exercise]) -> list[Question]:
        """Have the writer make questions of each kind, and the verifier check each of them."""
        jobs = []
        for exercise in exercises:
            for task in exercise.tasks:
                for kind in KINDS[task]:
                    jobs.append((exercise, kind))
        questions_of_jobs = self._map(lambda job: self._make(*job), jobs, "Making questions")
        questions = list(chain.from_iterable(questions_of_jobs))
        for number, question in enumerate(questions):
            question.id = f"{question.source}_{question.task}_{number}"
        return questions

    def _make(self, exercise: Exercise, kind: Kind) -> list[Question]:
        def questions_in(reply: ChatReply) -> list[Question]:
            is_cut = reply.reason == "length"
            return read_questions(
                exercise.id, kind, reply.text, self.rules, is_cut=is_cut, seed=self.seed
            )

        fields = {"source_question": exercise.question, "source_answer": exercise.answer}
        reply = self._ask(
            "writer",
            kind,
            exercise.id,
            self.templates.fill(kind, **fields),
            is_useful=lambda reply: bool(kept_questions(questions_in(reply))),
        )
        questions = questions_in(reply)
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
        reply = self._ask("verifier", purpose, question.source, prompt, is_useful=_has_answer)
        question.why = reply.text
        n_questions = self.templates.n_questions(purpose)
        if not self.rules.all_yes(reply.text, n_questions):
            question.dropped = "verification"
        elif question.task == "calcu" and self.rules.solves_calculations:
            self._solve(question)

    def _solve(self, question: Question) -> None:
        """Have the verifier solve a calculation in words, then by a program that is run later."""
        solution = self._ask_to_solve(question, "cot", is_useful=_has_number)
        question.why = solution
        if not score(question.doc, solution, variant="robust").correct_err:
            question.dropped = "second_solution"
            return
        question.why = self._ask_to_solve(question, "pot", is_useful=_has_program)

    def _ask_to_solve(
        self,
        question: Question,
        mode: Literal["cot", "pot"],
        *,
        is_useful: Callable[[ChatReply], bool],
    ) -> str:
        """Show the verifier neither the solution of the exercise nor the answer."""
        prompt = house_prompts().fill(
            "calcu", Style(mode, role=True), question=question.whole, choices="", terms=[]
        )
        reply = self._ask(
            "verifier",
            f"solve_{mode}",
            question.source,
            prompt["prompt"],
            system=prompt["system"],
            is_useful=is_useful,
        )
        return reply.text

    def _check_programs(self, calculations: Sequence[Question]) -> None:
        """Run the programs that solve calculations, and drop those that give another answer."""
        if not calculations or not self.rules.solves_calculations:
            return
        sources = [extract_program(question.why) for question in calculations]
        outcomes = run_programs(sources, settings=self.settings)
        for question, outcome in zip(calculations, outcomes, strict=True):
            run = Ran(question.why, (outcome,))
            is_near = score(question.doc, run, variant="robust").correct_err
            if is_near is None:
                question.dropped = "program_unchecked"
            elif not is_near:
                question.dropped = "program"

    def _compare_statements(self, questions: Sequence[Question]) -> None:
        """Drop one of two statements of an exercise if the true one gives the false one away."""
        pairs = []
        for true in kept_questions(questions, "statement_true"):
            for false in kept_questions(questions, "statement_false"):
                if true.source == false.source:
                    pairs.append((true, false))
        verdicts = self._map(lambda pair: self._gives_away(*pair), pairs, "Comparing statements")
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
        reply = self._ask("verifier", "pair", true.source, prompt, is_useful=_has_answer)
        return self.rules.says_yes(reply.text)

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
        if self.prices is None:
            return spent
        cost = self.prices.cost(model, n_prompt, n_completion)
        return {**spent, "cost": cost, "currency": self.prices.currency}

    def _ask(
        self,
        role: Role,
        purpose: str,
        source: str,
        prompt: str,
        *,
        system: str = "",
        is_useful: Callable[[ChatReply], bool],
    ) -> ChatReply:
        """Return the reply to a prompt without its reasoning."""
        messages = [{"role": "user", "content": prompt}]
        if system:
            messages.insert(0, {"role": "system", "content": system})
        chat = self.models[role]
        reply = chat.ask(messages, temperature=0.0, max_tokens=_MAX_TOKENS)
        if self.ask_again and reply.cached and not is_useful(_without_reasoning(reply)):
            reply = chat.ask(messages, fresh=True, temperature=0.0, max_tokens=_MAX_TOKENS)
        about = {"role": role, "purpose": purpose, "source": source}
        self.replies.append({**about, **vars(reply)})
        return _without_reasoning(reply)

    def _map(
        self,
        function: Callable[[_Item], _Result],
        items: Sequence[_Item],
        title: str,
    ) -> list[_Result]:
        chats = list(self.models.values())
        return map_in_threads(function, items, chats=chats, n_threads=_N_THREADS, title=title)


def _without_reasoning(reply: ChatReply) -> ChatReply:
    text = reply.text.rpartition(_END_OF_REASONING)[2]
    return reply.model_copy(update={"text": text})


def _has_answer(reply: ChatReply) -> bool:
    return has_yes_or_no(reply.text)


def _has_number(reply: ChatReply) -> bool:
    return read_quantity(reply.text).answer is not None


def _has_program(reply: ChatReply) -> bool:
    return extract_program(reply.text) is not None


def _drop_one(
    true: Question,
    false: Question,
    questions: Sequence[Question],
    random: Random,
) -> None:
    """Drop the statement of which its exercise has more left; a coin decides if it has as many."""
    statements = [question for question in questions if question.source == true.source]
    n_true = len(kept_questions(statements, true.kind))
    n_more_true = n_true - len(kept_questions(statements, false.kind))
    drops_true = random.random() < 0.5 if n_more_true == 0 else n_more_true > 0
    loser = true if drops_true else false
    winner = false if drops_true else true
    loser.dropped = "gives_away"
    loser.why = winner.text
