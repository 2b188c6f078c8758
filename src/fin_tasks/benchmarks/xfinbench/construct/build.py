"""Make questions with two models: one writes them, one verifies them."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product
from pathlib import Path
from random import Random
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from fin_tasks.answers.choices import lettered
from fin_tasks.answers.text import strip_reasoning
from fin_tasks.data.locate import write_file
from fin_tasks.endpoints.chat import ChatClient, ask_all
from fin_tasks.endpoints.replies import ChatReply

from ..rows import COLUMNS
from . import paper
from .question import KINDS, Exercise, Kind, Question, kept_questions, read_exercises
from .reading import Rules, is_useful, is_verified, read_questions, says_yes
from .templates import Templates

Role = Literal["writer", "verifier"]

_OPTIONS: Mapping[Rules, Mapping[str, Any]] = {
    "house": {"temperature": 0.0, "max_tokens": 4096},
    # The authors leave the temperature to the endpoint.
    "paper": {"max_tokens": 4096},
}


@dataclass(frozen=True, kw_only=True)
class Maker:
    """Makes questions with two models.

    With `ask_again`, a prompt whose cached reply cannot be used is asked again.
    """

    models: Mapping[Role, ChatClient]
    templates: Templates
    rules: Rules
    seed: int = 0
    ask_again: bool = False

    async def build(
        self, table: Path, out: Path, *, validation: float = 0.25
    ) -> dict[str, Any]:
        """Make questions of a CSV file, write splits, questions and report to a folder, and return the report.

        `validation` is the share of exercises whose questions make up the validation split. A
        failed request stops the run. Replies are kept on disk as they come, so a second run asks only
        for those that are missing.
        """
        exercises = read_exercises(table)
        jobs: list[tuple[Exercise, Kind]] = []
        for exercise in exercises:
            for task in exercise.kinds or KINDS:
                jobs += product([exercise], KINDS[task])
        made = await ask_all(self._make, jobs, title="Making questions")
        questions = list(chain.from_iterable(made))
        for number, question in enumerate(questions):
            question.id = f"{question.source}_{question.task}_{number}"
        await self._drop_given_away(questions)
        report = {
            "sources": len(exercises),
            **_counts(questions),
            "rule_set": self.rules,
            "models": {role: chat.endpoint.model for role, chat in self.models.items()},
            "prompts": {"set": self.templates.name, "sha256": self.templates.sha256},
            "seed": self.seed,
            "splits": self._write_splits(out, questions, validation),
        }
        lines = [json.dumps(vars(question)) + "\n" for question in questions]
        write_file(out / "questions.jsonl", "".join(lines).encode())
        write_file(out / "report.json", json.dumps(report, indent=2).encode())
        return report

    async def _make(self, job: tuple[Exercise, Kind]) -> list[Question]:
        """Have the writer make questions of one kind, and the verifier check each of them."""
        exercise, kind = job
        fields = {
            "source_question": exercise.question,
            "source_answer": exercise.answer,
        }
        reply = await self._ask(kind, **fields)
        questions = read_questions(
            exercise.id,
            kind,
            reply.text,
            self.rules,
            is_cut=reply.reason == "length",
            seed=self.seed,
        )
        for question in kept_questions(questions):
            answer = question.answer
            choices = lettered(question.choices)
            if self.rules == "paper" and kind == "mcq":
                answer = "a"  # the authors ask for the right choice first
                choices = paper.shown_choices(question.choices)
            check = await self._ask(
                f"verify_{kind}",
                context=question.context,
                question=question.text,
                choices=choices,
                answer=answer,
                **fields,
            )
            question.why = check.text
            is_kept = is_verified(question.why)
            if self.rules == "paper":
                is_kept = not paper.says_no(question.why)
            if not is_kept:
                question.dropped = "verification"
            elif self.rules == "paper":
                random = Random(f"{self.seed} {exercise.id} {question.text}")
                paper.finish(question, random)
        return questions

    async def _drop_given_away(self, questions: Sequence[Question]) -> None:
        """Drop each false statement that a true statement of its exercise gives away.

        By the authors' rules either of the two may go.
        """
        pairs = []
        for false in kept_questions(questions, "statement_false"):
            for true in kept_questions(questions, "statement_true"):
                if true.source == false.source:
                    pairs.append((true, false))

        async def gives_away(pair: tuple[Question, Question]) -> bool:
            true, false = pair
            contexts = dict.fromkeys([true.context, false.context])
            context = "\n".join(contexts).strip()
            if self.rules == "paper":
                context = true.context
            reply = await self._ask(
                "pair",
                context=context,
                true_statement=true.text,
                false_statement=false.text,
            )
            if self.rules == "paper":
                return not paper.says_no(reply.text)
            return says_yes(reply.text)

        verdicts = await ask_all(gives_away, pairs, title="Comparing statements")
        random = Random(self.seed)
        for (true, false), verdict in zip(pairs, verdicts, strict=True):
            if verdict and self.rules == "paper":
                paper.drop_one(true, false, questions, random)
            elif verdict:
                false.dropped = "gives_away"
                false.why = true.text

    async def _ask(self, purpose: str, **fields: str) -> ChatReply:
        """Return the reply to a template, without its reasoning."""
        role: Role = "writer" if purpose in get_args(Kind) else "verifier"
        chat = self.models[role]
        prompt = self.templates.fill(purpose, **fields)
        messages = [{"role": "user", "content": prompt}]
        options = _OPTIONS[self.rules]
        reply = await chat.ask(messages, **options)
        if self.ask_again and reply.cached and not is_useful(reply.text, purpose):
            reply = await chat.ask(messages, fresh=True, **options)
        return reply.model_copy(update={"text": strip_reasoning(reply.text)})

    def _write_splits(
        self,
        out: Path,
        questions: Sequence[Question],
        validation: float,
    ) -> dict[str, int]:
        """Write the kept questions as XFinBench's files, and return their numbers by split.

        The questions of an exercise stay together.
        """
        kept = kept_questions(questions)
        sources = list(dict.fromkeys(question.source for question in kept))
        n_drawn = round(validation * len(sources))
        drawn = Random(self.seed).sample(sources, n_drawn)
        is_drawn = np.array([question.source in drawn for question in kept], bool)
        table = pd.DataFrame([question.row() for question in kept], columns=COLUMNS)
        splits = {"test": table[~is_drawn], "validation": table[is_drawn]}
        for split, rows in splits.items():
            write_file(out / f"{split}_set.csv", rows.to_csv(index=False).encode())
        return {split: len(rows) for split, rows in splits.items()}


def _counts(questions: Sequence[Question]) -> dict[str, Any]:
    """Count questions by task and by the rule that dropped them; `kept` counts the others."""
    rules = {}
    for task in KINDS:
        own = [question for question in questions if question.task == task]
        rules[task] = Counter(question.dropped or "kept" for question in own)
    total = sum(rules.values(), Counter())
    n_dropped = len(questions) - total["kept"]
    return {
        "kept": total["kept"],
        "dropped": n_dropped,
        "dropped_share": n_dropped / len(questions),
        "rules": {**rules, "all": total},
    }
