"""Make questions like XFinBench's out of source questions with solutions: one model writes, one verifies."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, groupby, product
from pathlib import Path
from random import Random
from typing import Any

import pandas as pd

from fin_tasks.benchmarks.xfinbench.asking import Prompts, in_threads
from fin_tasks.benchmarks.xfinbench.construct_rules import KINDS, Question, drop_pairs, read_questions, says_no
from fin_tasks.benchmarks.xfinbench.data import COLUMNS, SPLITS, items_of
from fin_tasks.benchmarks.xfinbench.prompts import Style, house_prompts
from fin_tasks.benchmarks.xfinbench.score import programs, score
from fin_tasks.data.fetch import write_file
from fin_tasks.data.tables import read_csv
from fin_tasks.endpoints.chat import Chat, ChatReply, Usage
from fin_tasks.errors import DataError, EndpointError
from fin_tasks.judging.judge import Prices
from fin_tasks.sandbox import Ran, run_programs
from fin_tasks.settings import Settings

__all__ = ["Maker"]

_COLUMNS = ("id", "source", "chapter", "question", "answer", "kinds")


@dataclass
class Maker:
    """Makes questions: the models `writer` and `verifier`, what they are asked, and what they replied."""

    models: Mapping[str, Chat]
    prompts: Prompts
    settings: Settings
    prices: Mapping[str, Prices] = field(default_factory=dict)  # by `writer` and `verifier`
    seed: int = 0
    max_tokens: int = 4096
    threads: int = 16
    replies: list[dict[str, Any]] = field(default_factory=list)

    def build(self, table: Path, out: Path, *, validation: float = 0.25) -> dict[str, Any]:
        """Make questions of a CSV file, write splits, replies and report to a folder, and return the report.

        `validation` is the share of source questions whose questions make up the validation split. A failed request
        stops the run. Replies are kept on disk as they come: a second run asks only for what is missing.
        """
        sources = list(_read_sources(table))
        jobs = [(one, kind) for one in sources for task in one["tasks"] for kind in KINDS[task]]
        made = list(chain(*in_threads(self._make, jobs, threads=self.threads, what="Making questions")))
        self._check_programs([one for one in made if one.task == "calcu" and not one.dropped])
        kept = [[one for one in of if not one.dropped] for _, of in groupby(made, lambda one: one.source)]
        pairs = [(a, b) for of in kept for a, b in product(of, of) if (a.kind, b.kind) == KINDS["bool"]]
        told = in_threads(self._gives_away, pairs, threads=self.threads, what="Comparing statements")
        drop_pairs([pair for pair, away in zip(pairs, told, strict=True) if away], kept, Random(self.seed))
        report = {"sources": len(sources), **_counts(made), "models": {role: self._spent(role) for role in self.models}}
        report |= {"prompts": {"set": self.prompts.name, "sha256": self.prompts.sha256}, "seed": self.seed}
        _write(out, made, report, validation, Random(self.seed))
        write_file(out / "replies.jsonl", "".join(f"{json.dumps(one)}\n" for one in self.replies).encode())
        return report

    def _ask(self, role: str, purpose: str, source: str, prompt: str, system: str = "") -> ChatReply:
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": prompt})
        try:
            reply = self.models[role].ask(messages, temperature=0.0, max_tokens=self.max_tokens)
        except EndpointError as error:
            raise EndpointError(f"{purpose} of {source}: {error} Replies are kept: run again to go on.") from error
        self.replies.append({"role": role, "purpose": purpose, "source": source, **vars(reply)})
        return replace(reply, text=reply.text.rpartition("</think>")[2])

    def _make(self, source: Mapping[str, Any], kind: str) -> list[Question]:
        fields = {"source_question": source["question"], "source_answer": source["answer"]}
        reply = self._ask("writer", kind, source["id"], self.prompts.fill(kind, **fields))
        found = read_questions(source["id"], kind, reply.text, cut=reply.reason == "length", seed=self.seed)
        for one in found:
            if not one.dropped:
                one.dropped, one.why = self._verify(one, fields)
        return found

    def _verify(self, one: Question, fields: Mapping[str, str]) -> tuple[str, str]:
        fields = {**fields, "context": one.context, "question": one.text, "choices": one.lettered, "answer": one.answer}
        purpose = f"verify_{one.kind}"
        text = self._ask("verifier", purpose, one.source, self.prompts.fill(purpose, **fields)).text
        no = says_no(text, self.prompts.questions(purpose))
        if no is not False:
            return "verification" if no else "verification_unread", text
        for mode in ("cot", "pot") if one.task == "calcu" else ():  # the solver sees neither solution nor answer
            asked = house_prompts().fill("calcu", Style(mode, True), question=one.whole, choices="", terms=[])
            text = self._ask("verifier", f"solve_{mode}", one.source, asked["prompt"], asked["system"]).text
            if mode == "cot" and not score(_doc(one, mode), text, variant="robust").correct_err:
                return "second_solution", text
        return "", text

    def _check_programs(self, asked: Sequence[Question]) -> None:
        sources = [programs(_doc(one, "pot"), one.why, variant="robust")[0] for one in asked]
        outcomes = run_programs(sources, settings=self.settings) if asked else []
        for one, outcome in zip(asked, outcomes, strict=True):
            near = score(_doc(one, "pot"), Ran(one.why, (outcome,)), variant="robust").correct_err
            one.dropped = "" if near else "program_unchecked" if near is None else "program"

    def _gives_away(self, true: Question, false: Question) -> bool:
        context = "\n".join(dict.fromkeys(filter(None, (true.context, false.context))))
        asked = self.prompts.fill("pair", context=context, true_statement=true.text, false_statement=false.text)
        return says_no(self._ask("verifier", "pair", true.source, asked).text, 1) is False

    def _spent(self, role: str) -> dict[str, Any]:
        """Return replies, tokens and cost of a model, earlier runs included, and the requests of this run."""
        own = [one for one in self.replies if one["role"] == role]
        tokens = {name: sum(one[name] for one in own) for name in ("prompt_tokens", "completion_tokens")}
        price = self.prices.get(role)
        cost = {"cost": price.cost(Usage(**tokens)), "currency": price.currency} if price else {}
        asked_now = sum(not one["cached"] for one in own)
        return {"model": self.models[role].model, "replies": len(own), "asked_now": asked_now, **tokens, **cost}


def _read_sources(path: Path) -> Iterator[dict[str, Any]]:
    ids = {""}
    for record in read_csv(path, _COLUMNS).records:
        cells = {name: record.cells[name].strip() for name in _COLUMNS}
        tasks = items_of(cells["kinds"]) or list(KINDS)
        if cells["id"] in ids or not (cells["question"] and cells["answer"]) or not set(tasks) <= KINDS.keys():
            expected = f"an id of its own, question, answer, and as kinds some of {', '.join(KINDS)}"
            raise DataError(f"{path}, line {record.line}: expected {expected}, got {cells!r:.200}.")
        ids.add(cells["id"])
        yield {**cells, "tasks": tasks}


def _doc(one: Question, mode: str) -> dict[str, Any]:
    return {"task": "calcu", "mode": mode, "ground_truth": one.answer, "choices": ()}


def _counts(made: Sequence[Question]) -> dict[str, Any]:
    by_task = {task: Counter(one.dropped or "kept" for one in made if one.task == task) for task in KINDS}
    every = sum(by_task.values(), Counter[str]())
    generated = {task: counts.total() for task, counts in by_task.items()}
    share = 1 - every["kept"] / max(1, every.total())
    return {"generated": generated, "rules": {**by_task, "all": every}, "dropped": share, "dropped_in_paper": 0.352}


def _write(out: Path, made: Sequence[Question], report: dict[str, Any], validation: float, random: Random) -> None:
    names = list(dict.fromkeys(one.source for one in made if not one.dropped))
    held_out = set(random.sample(names, round(validation * len(names))))
    numbers: Counter[str] = Counter()
    rows: dict[str, list[dict[str, str]]] = {split: [] for split in SPLITS}
    for one in made:
        numbers[prefix := f"{one.source}_{one.task}"] += 1
        one.id = f"{prefix}_{numbers[prefix]}"
        if not one.dropped:
            row = {"id": one.id, "task": one.task, "question": one.whole, "choice": one.lettered}
            rows["validation" if one.source in held_out else "test"].append({**row, "ground_truth": one.answer})
    for split, of in rows.items():
        write_file(out / f"{split}_set.csv", pd.DataFrame(of, columns=COLUMNS).to_csv(index=False).encode())
    write_file(out / "questions.jsonl", "".join(f"{json.dumps(vars(one))}\n" for one in made).encode())
    report["splits"] = {split: len(of) for split, of in rows.items()}
    write_file(out / "report.json", json.dumps(report, indent=2).encode())
