"""The authors' own rubric: the judge's prompt in their `mmfin.py`, which is parsed and never executed."""

from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import Field

from fin_tasks.benchmarks.mme_finance.upstream import authors_file, function
from fin_tasks.data.fetch import sha256_of
from fin_tasks.data.source_text import follow
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.item import Item
from fin_tasks.judging.rubric import Rubric, load_rubric, with_picture

_FUNCTIONS = {"en": "build_mmfin_gpt4_prompt", "zh": "build_mmfin_gpt4_prompt_cn"}


class UpstreamRubric(Rubric):
    """The authors' texts in one language: one user message, with a table whose last cell the judge fills in."""

    function: Any = Field(exclude=True)  # ast.FunctionDef
    source_sha256: str  # of the authors' file

    def messages(self, item: Item) -> list[dict[str, Any]]:
        """Return the message by which the authors ask a judge about an item; the picture comes last."""
        row = {"question": item.question, "answer": item.answer, "prediction": item.response}
        row["task_category"] = item.category
        known: dict[str, Any] = {f"line['{name}']": value for name, value in row.items()}
        follow(self.function.body, known)
        text = known.get("gpt4_prompt")
        if not isinstance(text, str):
            raise DataError("mmfin.py of MME-Finance's authors: expected a prompt, got none. Use the house rubric.")
        content = with_picture(text, item.picture) if item.picture else [{"type": "text", "text": text}]
        return [{"role": "user", "content": content}]


def rubric_named(name: str, *, language: str, **place: Any) -> Rubric:
    """Return a rubric by its name or file; `upstream` is the authors' own, in English or Chinese.

    `place` is `source` and `data_dir` of the authors' file, as for the data.
    """
    if name != "upstream":
        return load_rubric(name)
    if language not in _FUNCTIONS:
        raise ConfigError(f"rubric upstream: expected the language en or zh, got {language!r}.")
    path = authors_file("mmfin.py", **place)
    return _upstream(path, sha256_of(path), language)


@lru_cache(maxsize=4)
def _upstream(path: Path, sha256: str, language: str) -> UpstreamRubric:
    facts: dict[str, Any] = {"name": f"mme_finance_upstream_{language}", "version": sha256[:12], "language": language}
    return UpstreamRubric(**facts, function=function(path, _FUNCTIONS[language]), source_sha256=sha256)
