"""The authors' own texts for model and judge, read from files of theirs that are parsed and never executed."""

import re
from pathlib import Path
from typing import Any

from pydantic import Field

from fin_tasks.data.locate import locate, sha256_of
from fin_tasks.data.pictures import picture_url
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.item import Item, Messages
from fin_tasks.judging.rubric import Rubric
from fin_tasks.settings import Settings

from ..authors_code import assigned_texts, not_found, parse_code
from ..request import Prompts
from .multi_turn import DIMENSIONS, OVERALL, dict_in
from .prompts import Wording
from .statements import Known, follow_statements

_PROMPT_CLASSES = {"en": "MMfin", "zh": "MMfin_CN"}
_JUDGE_FUNCTIONS = {"en": "build_mmfin_gpt4_prompt", "zh": "build_mmfin_gpt4_prompt_cn"}
_CONVERSATION = (
    "{meta_prompt}{question_begin_prompt}\n{question}\n\n"
    "{reference_begin_prompt}\n{answer}\n{reference_end_prompt}\n\n"
    "{answers_begin_prompt}\n{response}\n{answers_end_prompt}"
)
"""How the authors join their texts, which have these names in their file."""
_CONVERSATION_TEXTS = re.findall(r"{(\w+_prompt)}", _CONVERSATION)
_VERSION_DIGITS = 12  # of the hash of a file
_QUESTION = "\0question\0"
_BACKGROUND = "\0background\0"
"""Marks in place of the texts of a row, which show where the authors' code puts these texts."""


def wording_of(
    part: str,
    language: str,
    *,
    source: str,
    data_dir: str | Path | None,
) -> Wording:
    """Read the model's prompt from the authors' `image_vqa.py`, which is downloaded if needed.

    The authors have no texts around binary questions and conversations.
    """
    if part != "open":
        bare = Prompts(system="", user="{question}{context}", context="{context}")
        return Wording(bare, requirements={})
    path = _file("vlmeval/dataset", "image_vqa.py", source, data_dir)
    known: Known = {
        "isinstance()": False,
        "not pd.isna(line['background'])": True,
        "line['question']": _QUESTION,
        "line['task_category']": "OCR",
        "line['background']": _BACKGROUND,
    }
    function = _definition(path, _PROMPT_CLASSES[language], "build_prompt")
    follow_statements(function.body, known)
    prompt = known.get("prompt", "")
    requirements = known.get("format_prompt", {})
    marks = [_QUESTION, re.escape(requirements.get("OCR", "\0")), _BACKGROUND]
    parts = re.fullmatch("(.*?)".join(["", *marks, ""]), prompt, re.DOTALL)
    if parts is None:
        raise not_found(
            path, "build_prompt that joins role, question, requirements, background"
        )
    template = Prompts(
        system="",
        user=f"{parts[1]}{{question}}{parts[2]}{{requirements}}{{context}}",
        context=parts[3] + "{context}",
    )
    return Wording(template, requirements)


class UpstreamRubric(Rubric):
    """The authors' texts in one language: one user message, with a table whose last cell the judge fills in."""

    function: Any = Field(exclude=True)  # ast.FunctionDef
    source_sha256: str
    """Hash of the authors' file."""

    def messages(self, item: Item) -> Messages:
        """Return the message by which the authors ask a judge about an item; the picture comes last."""
        known: Known = {
            "line['question']": item.question,
            "line['answer']": item.answer,
            "line['prediction']": item.response,
            "line['task_category']": item.category,
        }
        follow_statements(self.function.body, known)
        text = known.get("gpt4_prompt")
        if not isinstance(text, str):
            raise DataError(
                "mmfin.py of MME-Finance's authors: expected a prompt, got none. "
                "Use the house rubric."
            )
        content: Messages = [{"type": "text", "text": text}]
        if item.picture:
            url = {"url": picture_url(item.picture)}
            content.append({"type": "image_url", "image_url": url})
        return [{"role": "user", "content": content}]


class UpstreamConversationRubric(Rubric):
    """The authors' texts about a turn of a conversation: one user message without a picture."""

    texts: Any
    """Texts by their names. Rubrics strip white space of every `str`, and these texts must keep it."""

    def messages(self, item: Item) -> Messages:
        """Return the message by which the authors ask a judge about a turn."""
        text = _CONVERSATION.format(**self.texts, **vars(item))
        return [{"role": "user", "content": text}]

    def score_of(self, reply: str) -> dict[str, int] | None:
        """Read the dict in a reply, which the authors let a judge explain; None unless it is complete."""
        return self.dimension_scores(dict_in(reply))


def upstream_rubric(
    part: str,
    language: str,
    *,
    source: str,
    data_dir: str | None,
) -> Rubric:
    """Return the authors' own rubric, in English or Chinese."""
    if language not in _JUDGE_FUNCTIONS:
        raise ConfigError(
            f"rubric upstream: expected the language en or zh, got {language!r}."
        )
    file_name = "mmdu.py" if part == "multi_turn" else "mmfin.py"
    path = _file("vlmeval/dataset/utils", file_name, source, data_dir)
    sha256 = sha256_of(path)
    version = sha256[:_VERSION_DIGITS]
    if part == "multi_turn":
        return _conversation_rubric(path, version, language)
    return UpstreamRubric(
        name=f"mme_finance_upstream_{language}",
        version=version,
        language=language,
        function=_definition(path, _JUDGE_FUNCTIONS[language]),
        source_sha256=sha256,
    )


def _conversation_rubric(
    path: Path,
    version: str,
    language: str,
) -> Rubric:
    texts = assigned_texts(path, parse_code(path), _CONVERSATION_TEXTS)
    titles = {name: name.replace("_", " ").title() for name in DIMENSIONS}
    return UpstreamConversationRubric(
        name=f"mme_finance_upstream_mt_{language}",
        version=version,
        language=language,
        parser="dimensions",
        highest=10,
        dimensions={**titles, OVERALL: "Overall Score"},
        max_tokens=1024,
        temperatures=(0.0,),
        texts={name: texts[name] for name in _CONVERSATION_TEXTS},
    )


def _file(
    folder: str,
    name: str,
    source: str,
    data_dir: str | Path | None,
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
    node: Any = parse_code(path)
    for name in names:
        children = [child for child in node.body if getattr(child, "name", "") == name]
        if not children:
            raise not_found(path, f"the function {'.'.join(names)}")
        node = children[0]
    return node
