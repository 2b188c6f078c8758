"""Conversations in lm-eval: each turn is asked with the model's own answers to the turns before."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from fin_tasks.benchmarks.task_file import Mapped
from fin_tasks.errors import ConfigError

from .lm_eval import Context, FinTask
from .lm_eval_private import LM, Instance


class ConversationTask(FinTask):
    """A task whose documents are turns of conversations, asked with the model's own answers before.

    Documents have `index` (of the conversation) and `turn` (from 1).
    """

    def build_all_requests(self, **kwargs: Any) -> None:
        """Build the requests of all turns; their prompts follow when the turns before are answered."""
        n_processes = kwargs["world_size"]
        if n_processes > 1:
            raise ConfigError(
                f"{self.config.task}: expected one process, got {n_processes}: the turns of a "
                "conversation follow each other. Run it without `accelerate launch`, or put the "
                "model on a server."
            )
        self._template = (
            kwargs["chat_template"] if kwargs["apply_chat_template"] else None
        )
        self._instruction = kwargs["system_instruction"]
        super().build_all_requests(**kwargs)

    def answer(self, lm: LM, requests: Sequence[Instance]) -> list[str]:
        """Return the model's responses, asked round by round; earlier turns are asked even if nobody wants them."""
        last_turns: dict[str, int] = {}
        for request in requests:
            index = request.doc["index"]
            last_turns[index] = max(request.doc["turn"], last_turns.get(index, 0))
        docs = {}
        for doc in self.eval_docs:
            if doc["turn"] <= last_turns.get(doc["index"], 0):
                docs[doc["index"], doc["turn"]] = doc
        conversations: dict[tuple[str, int], list[tuple[Mapped, str]]] = {}
        for index in last_turns:
            for repeat in range(self.config.repeats):
                conversations[index, repeat] = []
        requests_by_turn = {}
        for turn in range(1, max(last_turns.values()) + 1):
            keys = [key for key in conversations if last_turns[key[0]] >= turn]
            turn_requests = []
            for index, repeat in keys:
                doc = docs[index, turn]
                context = self._context(conversations[index, repeat], doc)
                turn_requests.append(self.construct_requests(doc, context))
                requests_by_turn[index, turn] = turn_requests[-1]
            responses = lm.generate_until(turn_requests)
            for key, request, response in zip(
                keys, turn_requests, responses, strict=True
            ):
                conversations[key].append((request.doc, response))
        n_answered: Counter[tuple[str, int]] = Counter()
        texts = []
        for request in requests:
            index, turn = request.doc["index"], request.doc["turn"]
            request.arguments = requests_by_turn[index, turn].arguments
            repeat = n_answered[index, turn]
            n_answered[index, turn] += 1
            _, response = conversations[index, repeat][turn - 1]
            texts.append(response)
        return texts

    def _context(self, before: Sequence[tuple[Mapped, str]], doc: Mapped) -> Context:
        """Return the messages of a turn, or for a base model the transcript that it goes on with."""
        transcript = ""
        messages = []
        if self._instruction:
            messages.append({"role": "system", "content": self._instruction})
        for earlier, response in before:
            answer = response or ""
            messages.append({"role": "user", "content": earlier["prompt"]})
            messages.append({"role": "assistant", "content": answer})
            transcript += f"{earlier['prompt']}\n\n{doc['cue']} {answer}\n\n"
        if self._template is None:
            return f"{transcript}{doc['prompt']}\n\n{doc['cue']}".rstrip()
        messages.append({"role": "user", "content": doc["prompt"]})
        context: Context = self._template(messages)
        return context
