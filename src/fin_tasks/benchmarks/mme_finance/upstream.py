"""The authors' own texts for model and judge, read from files of theirs that are parsed and never executed."""

import ast
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, StringConstraints

from fin_tasks.benchmarks.mme_finance.multi_turn import python_literal
from fin_tasks.benchmarks.mme_finance.prompts import Wording
from fin_tasks.data.files import sha256_of
from fin_tasks.data.locate import locate
from fin_tasks.data.source_text import follow_statements
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.item import Item
from fin_tasks.judging.rubric import Rubric, load_rubric, with_picture
from fin_tasks.settings import Settings

_CLASSES = {"en": "MMfin", "zh": "MMfin_CN"}
_RUBRICS = {"en": "build_mmfin_gpt4_prompt", "zh": "build_mmfin_gpt4_prompt_cn"}
_DIMENSIONS = {
    "creativity": "Creativity",
    "richness": "Richness",
    "visual_perception": "Visual Perception",
    "logical_coherence": "Logical Coherence",
    "answer_accuracy": "Answer Accuracy",
    "image_relationship_understanding": "Image Relationship Understanding",
    "overall": "Overall Score",
}
_CONVERSATION_TEXTS = (
    "meta_prompt",
    "question_begin_prompt",
    "reference_begin_prompt",
    "reference_end_prompt",
    "answers_begin_prompt",
    "answers_end_prompt",
)
_QUESTION = "\0question\0"
_BACKGROUND = "\0background\0"
"""These stand for the texts of a row."""

_REMEDY = "Take the file of the pinned commit."


def wording(
    language: str,
    *,
    source: str,
    data_dir: str | None,
) -> Wording:
    """Read the model's prompt from the authors' `image_vqa.py`, which is downloaded if needed."""
    path = _file("vlmeval/dataset", "image_vqa.py", source, data_dir)
    known: dict[str, Any] = {
        "isinstance()": False,
        "not pd.isna(line['background'])": True,
        "line['question']": _QUESTION,
        "line['task_category']": "OCR",
        "line['background']": _BACKGROUND,
    }
    function = _definition(path, _CLASSES[language], "build_prompt")
    follow_statements(function.body, known)
    try:
        requirements = known["format_prompt"]
        before_question, rest = known["prompt"].split(_QUESTION)
        before_requirements, rest = rest.split(requirements["OCR"])
        before_background, _ = rest.split(_BACKGROUND)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        expected = "expected build_prompt to join role, question, requirements and background"
        got = f"{known.get('prompt')!r:.200}"
        raise DataError(f"{path}: {expected}, got {got}. {_REMEDY}") from error
    return Wording(
        name="upstream",
        before_question=before_question,
        before_requirements=before_requirements,
        requirements=requirements,
        between="",
        before_background=before_background,
    )


class UpstreamRubric(Rubric):
    """The authors' texts in one language: one user message, with a table whose last cell the judge fills in."""

    function: Any = Field(exclude=True)  # ast.FunctionDef
    source_sha256: str
    """Hash of the authors' file."""

    def messages(
        self,
        item: Item,
    ) -> list[dict[str, Any]]:
        """Return the message by which the authors ask a judge about an item; the picture comes last."""
        known: dict[str, Any] = {
            "line['question']": item.question,
            "line['answer']": item.answer,
            "line['prediction']": item.response,
            "line['task_category']": item.category,
        }
        follow_statements(self.function.body, known)
        text = known.get("gpt4_prompt")
        if not isinstance(text, str):
            problem = "expected a prompt, got none. Use the house rubric"
            raise DataError(f"mmfin.py of MME-Finance's authors: {problem}.")
        content = [{"type": "text", "text": text}]
        if item.picture:
            content = with_picture(text, item.picture)
        return [{"role": "user", "content": content}]


class UpstreamConversationRubric(Rubric):
    """The authors' texts about a turn of a conversation: one user message without a picture."""

    texts: dict[str, Annotated[str, StringConstraints(strip_whitespace=False)]]

    def messages(
        self,
        item: Item,
    ) -> list[dict[str, Any]]:
        """Return the message by which the authors ask a judge about a turn."""
        texts = self.texts
        question = f"{texts['question_begin_prompt']}\n{item.question}\n\n"
        reference = f"{texts['reference_begin_prompt']}\n{item.answer}\n"
        answer = f"{texts['answers_begin_prompt']}\n{item.response}\n"
        text = texts["meta_prompt"] + question
        text += reference + texts["reference_end_prompt"] + "\n\n"
        text += answer + texts["answers_end_prompt"]
        return [{"role": "user", "content": text}]

    def score_of(self, reply: str) -> dict[str, int] | None:
        """Read the dict in a reply, which the authors let a judge explain; None unless it is complete."""
        start = reply.find("{")
        end = reply.rfind("}") + 1
        points = python_literal(reply[start:end])
        return self.complete(points) if isinstance(points, dict) else None


def rubric_named(
    name: str,
    *,
    language: str,
    part: str = "open",
    source: str = "auto",
    data_dir: str | None = None,
) -> Rubric:
    """Return a rubric by its name or file; `upstream` is the authors' own, in English or Chinese."""
    if name != "upstream":
        return load_rubric(name)
    if part == "multi_turn":
        path = _file("vlmeval/dataset/utils", "mmdu.py", source, data_dir)
        return _conversation_rubric(path, sha256_of(path), language)
    if language not in _RUBRICS:
        raise ConfigError(f"rubric upstream: expected the language en or zh, got {language!r}.")
    path = _file("vlmeval/dataset/utils", "mmfin.py", source, data_dir)
    return _rubric(path, sha256_of(path), language)


@lru_cache(maxsize=4)
def _rubric(path: Path, sha256: str, language: str) -> UpstreamRubric:
    facts = {
        "name": f"mme_finance_upstream_{language}",
        "version": sha256[:12],
        "language": language,
        "function": _definition(path, _RUBRICS[language]),
        "source_sha256": sha256,
    }
    return UpstreamRubric.model_validate(facts)


@lru_cache(maxsize=4)
def _conversation_rubric(path: Path, sha256: str, language: str) -> UpstreamConversationRubric:
    assignments = [
        node
        for node in _parse(path).body
        if isinstance(
            node,
            ast.Assign,
        )
    ]
    known: dict[str, Any] = {}
    follow_statements(assignments, known)
    missing = [
        name
        for name in _CONVERSATION_TEXTS
        if not isinstance(
            known.get(name),
            str,
        )
    ]
    if missing:
        raise DataError(f"{path}: expected the text {missing[0]}, found none. {_REMEDY}")
    facts = {
        "name": f"mme_finance_upstream_mt_{language}",
        "version": sha256[:12],
        "language": language,
        "parser": "dimensions",
        "highest": 10,
        "dimensions": _DIMENSIONS,
        "max_tokens": 1024,
        "temperatures": [0.0],
        "texts": {name: known[name] for name in _CONVERSATION_TEXTS},
    }
    return UpstreamConversationRubric.model_validate(facts)


def _file(
    folder: str,
    name: str,
    source: str,
    data_dir: str | None,
) -> Path:
    located = locate(
        "mme_finance_texts",
        [f"{folder}/{name}|{name}|upstream/{name}|mme_finance/upstream/{name}"],
        source="auto" if source == "sample" else source,
        data_dir=data_dir,
        settings=Settings.from_environ(),
    )
    return located.files[name]


def _definition(path: Path, *names: str) -> Any:
    """Return a function of an authors' file, or a method by the names of its class and itself."""
    node: Any = _parse(path)
    for name in names:
        children = [
            child
            for child in node.body
            if getattr(
                child,
                "name",
                "",
            )
            == name
        ]
        if not children:
            function = ".".join(names)
            raise DataError(f"{path}: expected the function {function}, found none. {_REMEDY}")
        node = children[0]
    return node


def _parse(path: Path) -> ast.Module:
    try:
        return ast.parse(path.read_bytes())
    except (OSError, SyntaxError, ValueError) as error:
        raise DataError(f"{path}: expected a file of Python, got {error}. {_REMEDY}") from error
