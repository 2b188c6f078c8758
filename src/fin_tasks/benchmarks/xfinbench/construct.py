"""Make questions like XFinBench's out of source questions with solutions: one model writes, one verifies.

`docs/own_questions.md` explains the rules by which questions are dropped.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from string import ascii_uppercase
from typing import Any, TypeVar

import pandas as pd

from fin_tasks.benchmarks.xfinbench.data import COLUMNS, SPLITS, items_of, lettered, parse_choices
from fin_tasks.benchmarks.xfinbench.document import XFinBenchDocument
from fin_tasks.benchmarks.xfinbench.prompts import Style, Templates, house_prompts
from fin_tasks.benchmarks.xfinbench.score import programs, score
from fin_tasks.data.files import write_file
from fin_tasks.data.tables import read_csv
from fin_tasks.endpoints.chat import Chat
from fin_tasks.endpoints.prices import Prices
from fin_tasks.endpoints.reply import ChatReply
from fin_tasks.endpoints.threads import map_in_threads
from fin_tasks.errors import DataError
from fin_tasks.sandbox import Ran, run_programs
from fin_tasks.settings import Settings

KINDS = {"bool": ("statement_true", "statement_false"), "mcq": ("mcq",), "calcu": ("calcu",)}
"""The kinds of questions of each `task` in the file. The model makes one kind at a time."""

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
_LABEL = re.compile(
    r"^[\s*#>-]*(Context|(?:Generated )?Question|Statement|Choices|(?:Correct )?Answer)[ \d*]*:",
    re.M,
)
_CHOICE = re.compile(r"^[\s*-]*\(?([a-zA-Z])[).:]\**[ \t]*", re.M)


@dataclass
class Question:
    """A generated question. `dropped` names the rule that dropped it, and `why` is the reply that decided this."""

    source: str
    kind: str
    context: str = ""
    text: str = ""
    answer: str = ""  # as in the file: 1.0 or 0.0, a letter, a number
    choices: Sequence[str] = ()
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
    def doc(self) -> XFinBenchDocument:
        """A calculation, to be answered by a program, as `score` wants it."""
        return {
            "task": "calcu",
            "subset": "calc",
            "mode": "pot",
            "ground_truth": self.answer,
            "choices": (),
            "capabilities": (),
            "has_table": None,
        }


@dataclass
class Maker:
    """Makes questions with two models, `writer` and `verifier`, and keeps their replies."""

    models: Mapping[str, Chat]
    prompts: Templates
    settings: Settings
    prices: Prices | None = None
    seed: int = 0
    replies: list[dict[str, Any]] = field(default_factory=list)

    def build(self, table: Path, out: Path, *, validation: float = 0.25) -> dict[str, Any]:
        """Make questions of a CSV file, write splits, replies and report to a folder, and return the report.

        `validation` is the share of source questions whose questions make up the validation split. A failed request
        stops the run. Replies are kept on disk as they come: a second run asks only for what is missing.
        """
        sources = _read_sources(table)
        jobs = [
            (source, kind) for source in sources for task in source["tasks"] for kind in KINDS[task]
        ]
        found = self._map(lambda job: self._make(*job), jobs, "Making questions")
        made = [question for of_job in found for question in of_job]
        for number, one in enumerate(made):
            one.id = f"{one.source}_{one.task}_{number}"
        self._check_programs([one for one in made if one.task == "calcu" and not one.dropped])
        trues, falses = (
            [one for one in made if one.kind == kind and not one.dropped] for kind in KINDS["bool"]
        )
        pairs = [(true, false) for true in trues for false in falses if true.source == false.source]
        away = self._map(lambda pair: self._gives_away(*pair), pairs, "Comparing statements")
        _drop_pairs(
            [pair for pair, one in zip(pairs, away, strict=True) if one], made, Random(self.seed)
        )

        kept = [one for one in made if not one.dropped]
        names = list(dict.fromkeys(one.source for one in kept))
        held_out = Random(self.seed).sample(names, round(validation * len(names)))
        rows: dict[str, list[dict[str, str]]] = {split: [] for split in SPLITS}
        for one in kept:
            row = {
                "id": one.id,
                "task": one.task,
                "question": one.whole,
                "choice": lettered(one.choices),
            }
            rows["validation" if one.source in held_out else "test"].append(
                {**row, "ground_truth": one.answer}
            )
        rules = {
            task: Counter(one.dropped or "kept" for one in made if one.task == task)
            for task in KINDS
        }
        rules["all"] = Counter(one.dropped or "kept" for one in made)
        report = {
            "sources": len(sources),
            "generated": {task: rules[task].total() for task in KINDS},
            "rules": rules,
            "dropped": 1 - rules["all"]["kept"] / max(1, len(made)),
            "models": {role: self._spent(role) for role in self.models},
            "prompts": {"set": self.prompts.name, "sha256": self.prompts.sha256},
            "seed": self.seed,
            "splits": {split: len(own) for split, own in rows.items()},
        }
        for split, own in rows.items():
            write_file(
                out / f"{split}_set.csv",
                pd.DataFrame(own, columns=COLUMNS).to_csv(index=False).encode(),
            )
        for name, lines in {"questions": map(vars, made), "replies": self.replies}.items():
            write_file(
                out / f"{name}.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines).encode()
            )
        write_file(out / "report.json", json.dumps(report, indent=2).encode())
        return report

    def _ask(
        self, role: str, purpose: str, source: str, prompt: str, system: str = ""
    ) -> ChatReply:
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": prompt})
        reply = self.models[role].ask(messages, temperature=0.0, max_tokens=4096)
        self.replies.append({"role": role, "purpose": purpose, "source": source, **vars(reply)})
        text = reply.text.rpartition("</think>")[2]
        return reply.model_copy(update={"text": text})

    def _make(self, source: Mapping[str, Any], kind: str) -> list[Question]:
        fields = {"source_question": source["question"], "source_answer": source["answer"]}
        reply = self._ask("writer", kind, source["id"], self.prompts.fill(kind, **fields))
        found = read_questions(
            source["id"], kind, reply.text, cut=reply.reason == "length", seed=self.seed
        )
        for one in found:
            if not one.dropped:
                one.dropped, one.why = self._verify(one, fields)
        return found

    def _verify(self, one: Question, fields: Mapping[str, str]) -> tuple[str, str]:
        shown = {
            "context": one.context,
            "question": one.text,
            "choices": lettered(one.choices),
            "answer": one.answer,
        }
        purpose = f"verify_{one.kind}"
        text = self._ask(
            "verifier", purpose, one.source, self.prompts.fill(purpose, **fields, **shown)
        ).text
        asked = set(
            re.findall(r"\bQ\d", self.prompts.texts[purpose])
        )  # templates count their questions
        if not all_yes(text, len(asked) or 1):
            return "verification", text
        for mode in (
            ("cot", "pot") if one.task == "calcu" else ()
        ):  # the solver sees neither solution nor answer
            solve = house_prompts().fill(
                "calcu", Style(mode, True), question=one.whole, choices="", terms=[]
            )
            text = self._ask(
                "verifier", f"solve_{mode}", one.source, solve["prompt"], solve["system"]
            ).text
            if mode == "cot" and not score(one.doc, text, variant="robust").correct_err:
                return "second_solution", text
        return "", text

    def _check_programs(self, asked: Sequence[Question]) -> None:
        sources = [programs(one.doc, one.why, variant="robust")[0] for one in asked]
        outcomes = run_programs(sources, settings=self.settings) if asked else []
        for one, outcome in zip(asked, outcomes, strict=True):
            near = score(one.doc, Ran(one.why, (outcome,)), variant="robust").correct_err
            one.dropped = "" if near else "program_unchecked" if near is None else "program"

    def _gives_away(self, true: Question, false: Question) -> bool:
        context = "\n".join(dict.fromkeys(filter(None, (true.context, false.context))))
        asked = self.prompts.fill(
            "pair", context=context, true_statement=true.text, false_statement=false.text
        )
        return all_yes(self._ask("verifier", "pair", true.source, asked).text, 1)

    def _map(
        self, function: Callable[[_Item], _Result], items: Sequence[_Item], title: str
    ) -> list[_Result]:
        chats = list(self.models.values())
        return map_in_threads(function, items, chats=chats, n_threads=16, title=title)

    def _spent(self, role: str) -> dict[str, Any]:
        own = [one for one in self.replies if one["role"] == role]
        tokens = {
            name: sum(one[name] for one in own) for name in ("prompt_tokens", "completion_tokens")
        }
        model = self.models[role].model
        prices = self.prices
        cost = (
            {"cost": prices.cost(model, *tokens.values()), "currency": prices.currency}
            if prices
            else {}
        )
        return {"model": model, "replies": len(own), **tokens, **cost}


def _read_sources(path: Path) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for record in read_csv(path, ("id", "question", "answer", "kinds")):
        cells = {name: cell.strip() for name, cell in record.cells.items()}
        tasks = items_of(cells["kinds"]) or list(KINDS)
        whole = cells["id"] and cells["question"] and cells["answer"]
        if not whole or cells["id"] in found or not set(tasks) <= KINDS.keys():
            expected = (
                f"an id of its own, question, answer, and as kinds some of {', '.join(KINDS)}"
            )
            raise DataError(f"{path}, line {record.line}: expected {expected}, got {cells!r:.200}.")
        found[cells["id"]] = {**cells, "tasks": tasks}
    return list(found.values())


def read_questions(source: str, kind: str, reply: str, *, cut: bool, seed: int) -> list[Question]:
    """Read the questions in a reply, mix their choices, and drop those that break a rule, or that were cut off."""
    found: list[Question] = []
    context, parts = "", _LABEL.split(reply)
    for label, part in zip(parts[1::2], parts[2::2], strict=True):
        text = part.strip(" *\n\t")
        if label == "Context":
            context = "" if text.lower().strip(".") in ("none", "n/a") else " ".join(text.split())
        elif label.endswith(("Question", "Statement")):
            found.append(Question(source, kind, context, " ".join(text.split()), why=reply))
        elif found and label == "Choices":
            found[-1].choices = parse_choices(
                _CHOICE.sub(lambda match: f"{match[1].upper()}. ", text)
            )
        elif found:
            found[-1].answer = text.partition("\n")[0].strip(" *")
    for one in found:
        one.dropped = (
            "incomplete"
            if cut and one is found[-1]
            else _flaw(one, Random(f"{seed} {source} {one.text}"))
        )
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
    if max(sizes) - min(sizes) > 5:
        return "choice_length"
    letter = re.match(r"\W*(?:choice\W+)?([a-c])\b", one.answer, re.IGNORECASE)
    if not letter:
        return "other_answer"
    right = one.choices["abc".index(letter[1].lower())]
    one.choices = random.sample(one.choices, 3)
    one.answer = ascii_uppercase[one.choices.index(right)]
    return ""


def all_yes(reply: str, questions: int) -> bool:
    """Return whether a reply answers yes to this many yes-or-no questions, and no to none."""
    answers = re.findall(r"^\W*(?:Q?\d\W+)?(yes|no)\b", reply, re.IGNORECASE | re.MULTILINE)
    if len(answers) != questions:  # prose, or all in one line
        answers = re.findall(r"\b(yes|no)\b", reply, re.IGNORECASE)
    return len(answers) >= questions and "no" not in map(str.lower, answers)


def _drop_pairs(
    pairs: Iterable[Sequence[Question]], made: Sequence[Question], random: Random
) -> None:
    for true, false in pairs:
        if not (true.dropped or false.dropped):
            left = [one.kind for one in made if one.source == true.source and not one.dropped]
            more = left.count(true.kind) - left.count(
                false.kind
            )  # the larger side loses one, else a coin decides
            loser, other = (
                (true, false)
                if more > 0 or (more == 0 and random.random() < 0.5)
                else (false, true)
            )
            loser.dropped, loser.why = "gives_away", other.text
