"""Make questions like XFinBench's out of source questions with solutions: one model writes, one verifies."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain, product
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

__all__ = ["build_questions"]

_COLUMNS = ("id", "source", "chapter", "question", "answer", "kinds")


def build_questions(
    table: Path,
    out: Path,
    *,
    writer: Chat,
    verifier: Chat,
    prompts: Prompts,
    settings: Settings,
    prices: Mapping[str, Prices] | None = None,  # by `writer` and `verifier`
    validation: float = 0.25,  # share of the source questions
    seed: int = 0,
    max_tokens: int = 4096,
    concurrency: int = 16,
) -> dict[str, Any]:
    """Write splits, questions with the rules that dropped some, replies and report to a folder; return the report.

    A failed request stops the run. Replies are kept on disk as they come: a second run asks only for what is missing.
    """
    sources = list(_read_sources(table))
    work = _Work({"writer": writer, "verifier": verifier}, prompts, max_tokens, seed)
    jobs = [(one, kind) for one in sources for task in one["tasks"] for kind in KINDS[task]]
    made = list(chain(*in_threads(work.make, jobs, threads=concurrency, what="Making questions")))
    _check_programs([one for one in made if one.task == "calcu" and not one.dropped], settings)
    kept = [one for one in made if not one.dropped]
    pairs = [pair for pair in product(kept, kept) if _are_opposed(*pair)]
    told = in_threads(work.gives_away, pairs, threads=concurrency, what="Comparing statements")
    drop_pairs([pair for pair, away in zip(pairs, told, strict=True) if away], kept, Random(seed))
    report = {"sources": len(sources), "seed": seed, "validation": validation, **_counts(made)}
    report |= {"prompts": {"set": prompts.name, "sha256": prompts.sha256}, "models": work.spent(prices or {})}
    _write(out, made, work.replies, report, Random(seed))
    return report


class _Work:
    """What the threads share; `replies` holds what the models said, and what for."""

    def __init__(self, models: Mapping[str, Chat], prompts: Prompts, max_tokens: int, seed: int) -> None:
        self.models, self.prompts, self.max_tokens, self.seed = models, prompts, max_tokens, seed
        self.replies: list[dict[str, Any]] = []

    def ask(self, role: str, purpose: str, source: str, prompt: str, system: str = "") -> ChatReply:
        messages = [{"role": "system", "content": system}] if system else []
        messages.append({"role": "user", "content": prompt})
        try:
            reply = self.models[role].ask(messages, temperature=0.0, max_tokens=self.max_tokens)
        except EndpointError as error:
            raise EndpointError(f"{purpose} of {source}: {error} Replies are kept: run again to go on.") from error
        self.replies.append({"role": role, "purpose": purpose, "source": source, **vars(reply)})
        return reply

    def make(self, source: Mapping[str, Any], kind: str) -> list[Question]:
        fields = {"source_question": source["question"], "source_answer": source["answer"]}
        reply = self.ask("writer", kind, source["id"], self.prompts.fill(kind, **fields))
        found = read_questions(source["id"], kind, reply.text, cut=reply.reason == "length", seed=self.seed)
        for one in found:
            if not one.dropped:
                one.dropped, one.why = self.verify(one, fields)
        return found

    def verify(self, one: Question, fields: Mapping[str, str]) -> tuple[str, str]:
        fields = {**fields, "context": one.context, "question": one.text, "choices": one.lettered, "answer": one.answer}
        purpose = f"verify_{one.kind}"
        text = self.ask("verifier", purpose, one.source, self.prompts.fill(purpose, **fields)).text
        no = says_no(text, self.prompts.questions(purpose))
        if no is not False:
            return "verification" if no else "verification_unread", text
        for mode in ("cot", "pot") if one.task == "calcu" else ():  # the solver sees neither solution nor answer
            asked = house_prompts().fill("calcu", Style(mode, True), question=one.whole, choices="", terms=[])
            text = self.ask("verifier", f"solve_{mode}", one.source, asked["prompt"], asked["system"]).text
            if mode == "cot" and not score(_doc(one, mode), text, variant="robust").correct_err:
                return "second_solution", text
        return "", text

    def gives_away(self, true: Question, false: Question) -> bool:
        context = "\n".join(dict.fromkeys(filter(None, (true.context, false.context))))
        asked = self.prompts.fill("pair", context=context, true_statement=true.text, false_statement=false.text)
        return says_no(self.ask("verifier", "pair", true.source, asked).text, 1) is False

    def spent(self, prices: Mapping[str, Prices]) -> dict[str, Any]:
        """Return replies and tokens of each model, those of earlier runs included, and the requests of this run."""
        found: dict[str, Any] = {}
        for role, chat in self.models.items():
            own = [one for one in self.replies if one["role"] == role]
            tokens = {name: sum(one[name] for one in own) for name in ("prompt_tokens", "completion_tokens")}
            found[role] = {"model": chat.model, "replies": len(own), **tokens}
            found[role]["asked_now"] = sum(not one["cached"] for one in own)
            if price := prices.get(role):
                found[role] |= {"cost": price.cost(Usage(**tokens)), "currency": price.currency}
        return found


def _read_sources(path: Path) -> Iterator[dict[str, Any]]:
    ids: set[str] = set()
    for record in read_csv(path, _COLUMNS).records:
        cells = {name: record.cells[name].strip() for name in _COLUMNS}
        tasks = items_of(cells["kinds"]) or list(KINDS)
        if cells["id"] in {*ids, ""} or not (cells["question"] and cells["answer"]) or not set(tasks) <= KINDS.keys():
            expected = f"an id of its own, question, answer, and as kinds some of {', '.join(KINDS)}"
            raise DataError(f"{path}, line {record.line}: expected {expected}, got {cells!r:.200}.")
        ids.add(cells["id"])
        yield {**cells, "tasks": tasks}


def _doc(one: Question, mode: str) -> dict[str, Any]:
    return {"task": "calcu", "mode": mode, "ground_truth": one.answer, "choices": ()}


def _check_programs(asked: list[Question], settings: Settings) -> None:
    docs = [_doc(one, "pot") for one in asked]
    sources = [programs(doc, one.why, variant="robust")[0] for doc, one in zip(docs, asked, strict=True)]
    outcomes = run_programs(sources, settings=settings) if asked else []
    for doc, one, outcome in zip(docs, asked, outcomes, strict=True):
        near = score(doc, Ran(one.why, (outcome,)), variant="robust").correct_err
        one.dropped = "" if near else "program_unchecked" if near is None else "program"


def _are_opposed(one: Question, other: Question) -> bool:
    return one.source == other.source and (one.kind, other.kind) == KINDS["bool"]


def _counts(made: list[Question]) -> dict[str, Any]:
    by_task = {task: Counter(one.dropped or "kept" for one in made if one.task == task) for task in KINDS}
    every = sum(by_task.values(), Counter[str]())
    dropped = 1 - every["kept"] / max(1, every.total())
    generated = {task: counts.total() for task, counts in by_task.items()}
    return {"generated": generated, "rules": {**by_task, "all": every}, "dropped": dropped, "dropped_in_paper": 0.352}


def _write(out: Path, made: list[Question], replies: list[dict[str, Any]], report: Any, random: Random) -> None:
    names = list(dict.fromkeys(one.source for one in made if not one.dropped))
    held_out = set(random.sample(names, round(report["validation"] * len(names))))
    numbers: Counter[str] = Counter()
    rows: dict[str, list[dict[str, str]]] = {split: [] for split in SPLITS}
    for one in made:
        numbers[prefix := f"{one.source}_{one.task}"] += 1
        one.id = f"{prefix}_{numbers[prefix]}"
        if not one.dropped:
            row = {"id": one.id, "task": one.task, "question": one.whole, "choice": one.lettered}
            rows["validation" if one.source in held_out else "test"].append({**row, "ground_truth": one.answer})
    report["splits"] = {split: len(of) for split, of in rows.items()}
    for split, of in rows.items():
        write_file(out / f"{split}_set.csv", pd.DataFrame(of, columns=COLUMNS).to_csv(index=False).encode())
    for name, lines in {"questions": [vars(one) for one in made], "replies": replies}.items():
        write_file(out / f"{name}.jsonl", "".join(f"{json.dumps(line)}\n" for line in lines).encode())
    write_file(out / "report.json", json.dumps(report, indent=2).encode())
