"""Conversations in lm-eval, which itself sends all requests of a task at once."""

from collections import defaultdict
from typing import Any

from fin_tasks.adapters.lm_eval import FinTask
from fin_tasks.errors import ConfigError


class ConversationTask(FinTask):
    """A task whose documents are turns of conversations, each asked with the model's own answers to the turns before.

    Documents have `index` (of the conversation) and `turn` (from 1). lm-eval sends the first turns; the others follow,
    one round per turn, before the responses are filtered.
    """

    def build_all_requests(self, *, world_size: int | None = None, **kwargs: Any) -> None:
        """Build the requests of all turns, and leave only first turns to lm-eval."""
        if (world_size or 1) > 1:
            raise ConfigError(
                f"{self.config.task}: expected one process, got {world_size}: the turns of a conversation follow each "
                "other. Run it without `accelerate launch`, or put the model on a server."
            )
        self._template = kwargs.get("chat_template") if kwargs.get("apply_chat_template") else None
        self._instruction = kwargs.get("system_instruction")
        super().build_all_requests(world_size=world_size, **kwargs)
        self._all: list[Any] = list(self.instances)
        self._instances = [request for request in self._all if request.doc["turn"] == 1]

    def apply_filters(self) -> Any:
        """Ask the later turns, then filter the responses to all."""
        conversations: dict[str, list[Any]] = defaultdict(list)
        for request in self._all:
            conversations[request.doc["index"]].append(request)
            if request.doc["turn"] != len(conversations[request.doc["index"]]):
                raise ConfigError(f"{self.config.task}: expected whole conversations, got a part of one in --samples.")
        for turns in range(2, 1 + max(map(len, conversations.values()))):
            self._ask([several[:turns] for several in conversations.values() if len(several) >= turns])
        self._instances = self._all
        return super().apply_filters()

    def _ask(self, conversations: list[list[Any]]) -> None:
        """Ask the last turn of each conversation; the turns before have responses."""
        asked = []
        for *before, request in conversations:
            for repeat in range(request.repeats):
                said = [(each.doc["prompt"], each.resps[repeat] or "") for each in before]
                context = self._context(said, request.doc)
                asked.append(self.construct_requests(request.doc, context, metadata=request.metadata))
            request.arguments = asked[-1].arguments
        responses = iter(self._lm.generate_until(asked))
        for *_, request in conversations:
            request.resps += [next(responses) for _ in range(request.repeats)]

    def _context(self, said: list[tuple[str, str]], doc: dict[str, Any]) -> Any:
        if self._template is None:  # a base model goes on with a transcript
            turns = "".join(f"{question}\n\n{doc['cue']} {answer}\n\n" for question, answer in said)
            return f"{turns}{doc['prompt']}\n\n{doc['cue']}".rstrip()
        messages = [{"role": "system", "content": self._instruction}] if self._instruction else []
        for question, answer in said:
            messages += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
        return self._template([*messages, {"role": "user", "content": doc["prompt"]}])
