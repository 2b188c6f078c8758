"""Have a model name the mathematical types of calculations."""

from collections.abc import Sequence

from fin_tasks.benchmarks.xfinbench.construct.templates import Templates
from fin_tasks.benchmarks.xfinbench.math_types import read_types
from fin_tasks.benchmarks.xfinbench.rows import Row
from fin_tasks.endpoints.chat import Chat
from fin_tasks.endpoints.threads import map_in_threads

_MAX_TOKENS = 2048


def label_rows(
    rows: Sequence[Row],
    chat: Chat,
    templates: Templates,
) -> list[dict[str, str]]:
    """Ask a model about the `question` and the `ground_truth` of each row.

    `math_types` are separated by `;`, and empty if the reply cannot be used; `reason` says why.
    """

    def label(row: Row) -> dict[str, str]:
        prompt = templates.fill(
            "math_types", question=row.question, answer=row.ground_truth
        )
        message = {"role": "user", "content": prompt}
        reply = chat.ask([message], temperature=0.0, max_tokens=_MAX_TOKENS)
        types, reason = read_types(reply.text)
        return {"id": row.id, "math_types": ";".join(types), "reason": reason}

    return map_in_threads(label, rows, title="Labeling")
