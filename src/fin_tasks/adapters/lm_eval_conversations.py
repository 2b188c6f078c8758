"""Tasks of lm-eval whose questions follow each other in conversations."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from fin_tasks.benchmarks.task_file import Mapped
from fin_tasks.errors import ConfigError

from .lm_eval_private import Instance
from .lm_eval_task import Context, FinTask


class ConversationTask(FinTask):
    """A task whose documents are turns of conversations, asked with the model's own answers before.

    Documents have `index` (of the conversation) and `turn` (from 1). lm-eval sends the first turns;
    the others follow, one round per turn, before the responses are read.
    """

    _is_asked = False

    @property
    def instances(self) -> list[Instance]:
        """The requests: first turns for lm-eval to send, all of them once they were sent."""
        requests: list[Instance] = super().instances
        if self._is_asked:
            return requests
        return [request for request in requests if request.doc["turn"] == 1]

    def build_all_requests(self, **kwargs: Any) -> None:
        """Build the requests of all turns."""
        n_processes = kwargs["world_size"]
        if n_processes > 1:
            raise ConfigError(
                f"{self.config.task}: expected one process, got {n_processes}: the turns of a "
                "conversation follow each other. Run it without `accelerate launch`, or put the "
                "model on a server."
            )
        self._is_asked = False
        self._template = (
            kwargs["chat_template"] if kwargs["apply_chat_template"] else None
        )
        self._instruction = kwargs["system_instruction"]
        super().build_all_requests(**kwargs)

    def apply_filters(self) -> None:
        """Ask the later turns, then read the responses to all."""
        self._is_asked = True
        by_index: dict[str, list[Instance]] = defaultdict(list)
        for request in self.instances:
            by_index[request.doc["index"]].append(request)
        conversations = by_index.values()
        for n_turns in range(2, max(map(len, conversations)) + 1):
            self._ask(
                [turns[:n_turns] for turns in conversations if len(turns) >= n_turns]
            )
        super().apply_filters()

    def _ask(self, conversations: Iterable[list[Instance]]) -> None:
        """Ask the last turn of each conversation; the turns before have responses."""
        sent = []
        owners = []
        for *before, request in conversations:
            for repeat in range(request.repeats):
                context = self._context(before, repeat, request.doc)
                again = self.construct_requests(
                    request.doc, context, metadata=request.metadata
                )
                request.arguments = again.arguments
                sent.append(again)
                owners.append(request)
        for request, response in zip(owners, self.lm.generate_until(sent), strict=True):
            request.resps.append(response)

    def _context(
        self,
        before: Iterable[Instance],
        repeat: int,
        doc: Mapped,
    ) -> Context:
        transcript = ""
        messages = []
        if self._instruction:
            messages.append({"role": "system", "content": self._instruction})
        for request in before:
            question = request.doc["prompt"]
            answer = request.resps[repeat] or ""
            messages.append({"role": "user", "content": question})
            messages.append({"role": "assistant", "content": answer})
            transcript += f"{question}\n\n{doc['cue']} {answer}\n\n"
        if self._template is None:  # a base model goes on with a transcript
            return f"{transcript}{doc['prompt']}\n\n{doc['cue']}".rstrip()
        messages.append({"role": "user", "content": doc["prompt"]})
        context: Context = self._template(messages)
        return context
