"""Rubrics: YAML files with the judge's prompt and the way to read its replies. `docs/judge.md` explains them."""

import hashlib
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from fin_tasks.answers.text import strip_reasoning
from fin_tasks.data.documents import fill_fields
from fin_tasks.data.pictures import picture_url
from fin_tasks.errors import ConfigError
from fin_tasks.resources import folder_of
from fin_tasks.yaml_file import read_yaml

from .item import Facts, Item, Messages

Text = Annotated[str, Field(min_length=1, max_length=20_000)]
TokenLimit = Annotated[int, Field(ge=1, le=100_000)]


class _Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, str_strip_whitespace=True
    )


class Example(_Strict):
    """A response and the score that it deserves."""

    question: Text
    answer: Text
    response: Text
    score: int | Text


class Category(_Strict):
    """The rules for one category of questions; `points` names an entry of the rubric's `points`."""

    title: Text
    kind: Text
    """A word for readers of the file; nothing depends on it."""
    points: Text
    requirements: str = ""
    """How to answer; the model is told this too."""
    examples: list[Example] = []


class Rubric(_Strict):
    """A judge's instructions, and the way to read its replies.

    Subclasses say how the judge is asked: by the texts of a YAML file, or by those of a benchmark's authors.
    """

    name: Text
    version: Text
    language: Text
    description: str = ""
    parser: Literal["integer", "dimensions", "text"] = "integer"
    lowest: int = 0
    highest: int = 5
    dimensions: dict[str, Text] = {}
    """The judge's word for each dimension, by our name for it; empty if a reply is one score."""
    max_tokens: TokenLimit = 3
    reasoning_max_tokens: TokenLimit = 4096
    """For judges that reason before they reply."""
    temperatures: tuple[float, ...] = Field(
        default=(0.0, 0.5, 1.0, 1.5, 2.0), strict=False, min_length=1, max_length=20
    )
    """One for each try."""

    def facts(self) -> Facts:
        """Return what results say about the rubric.

        The hash is that of everything that can change a score: the judge's instructions and the way to read its
        replies.
        """
        fields = self.model_dump(exclude={"name", "version", "description"})
        text = json.dumps(fields, sort_keys=True)
        return {
            "rubric": f"{self.name}@{self.version}",
            "rubric_sha256": hashlib.sha256(text.encode()).hexdigest(),
            "temperatures": list(self.temperatures),
            "max_tokens": self.max_tokens,
        }

    def messages(self, item: Item) -> Messages:
        """Return the chat messages that ask the judge about an item; the picture comes last.

        Raises:
            ConfigError: The rubric has no such category.
            EndpointError: The picture cannot be sent.
        """
        raise NotImplementedError

    def score_of(self, reply: str) -> int | dict[str, int] | None:
        """Read one reply; return None unless it is a score and nothing else."""
        text = strip_reasoning(reply).strip()
        if self.dimensions:
            json_text = text.removeprefix("```json").strip("`\n ")
            with suppress(ValueError, RecursionError):
                if re.fullmatch(r"\{[^{}]*\}", json_text):
                    return self.dimension_scores(json.loads(json_text))
            return None
        if re.fullmatch(r"0|[1-9][0-9]{0,2}", text) is None:
            return None
        score = int(text)
        return score if self.lowest <= score <= self.highest else None

    def accepts(self, reply: str) -> bool:
        """Return whether a reply can be read, so that the judge is not asked again."""
        if self.parser == "text":
            return bool(strip_reasoning(reply).strip())
        return self.score_of(reply) is not None

    def dimension_scores(self, points: Mapping[str, object]) -> dict[str, int] | None:
        """Return the scores by our names of the dimensions; None unless all are integers of the scale."""
        scores = {}
        for name, title in self.dimensions.items():
            score = points.get(title)
            if type(score) is not int or not self.lowest <= score <= self.highest:
                return None
            scores[name] = score
        return scores


class YamlRubric(Rubric):
    """A rubric from a YAML file.

    Names in braces in `message` stand for parts: `{points}`, `{requirements}`, `{examples}`, `{category}`,
    `{question}`, `{background}`, `{answer}`, `{response}`, and `{mark}`. The mark is a hash of the question, the
    background, the answer and the response. No text can contain its own hash, so none of them can imitate the lines
    with the mark that stand around it.
    """

    system: Text
    message: Text
    example: str = ""
    """How an example is written in the message."""
    points: dict[str, Text]
    """Rules for points, by a name that categories use."""
    categories: dict[str, Category] = Field(min_length=1, max_length=100)

    @model_validator(mode="after")
    def _check(self) -> "YamlRubric":
        for category in self.categories.values():
            name = category.points
            if name not in self.points:
                raise ValueError(
                    f"points: expected an entry {name!r}, which a category names"
                )
        if self.message.count("{mark}") < 2 or "{response}" not in self.message:
            raise ValueError(
                "message: expected {response} between two lines with {mark}"
            )
        if self.highest <= self.lowest:
            raise ValueError("highest: expected more than lowest")
        if (self.parser == "dimensions") != bool(self.dimensions):
            raise ValueError(
                "dimensions: expected some for the parser of that name only"
            )
        if self.dimensions and "overall" not in self.dimensions:
            raise ValueError("dimensions: expected one with the name overall")
        return self

    def messages(self, item: Item) -> Messages:
        """Return the chat messages that ask the judge about an item; the picture comes last."""
        category = self.categories.get(item.category)
        if category is None:
            known = ", ".join(self.categories)
            raise ConfigError(
                f"rubric {self.name}: expected one of its categories ({known}), "
                f"got {item.category!r}."
            )
        texts = {
            "question": item.question,
            "answer": item.answer,
            "background": item.background or "-",
            "response": strip_reasoning(item.response).strip(),
        }
        mark = hashlib.sha256(json.dumps(list(texts.values())).encode()).hexdigest()
        examples = []
        for number, example in enumerate(category.examples, start=1):
            fields = {"number": str(number)}
            for name, value in example.model_dump().items():
                fields[name] = str(value)
            examples.append(fill_fields(self.example, **fields))
        parts = {
            "category": category.title,
            "points": self.points[category.points],
            "mark": mark[:32],
            "requirements": category.requirements or "-",
            "examples": "\n\n".join(examples),
            **texts,
        }
        text = fill_fields(self.message, **parts)
        # A judge that sees no pictures may refuse a list.
        content: str | Messages = text
        if item.picture:
            url = {"url": picture_url(item.picture)}
            content = [
                {"type": "text", "text": text},
                {"type": "image_url", "image_url": url},
            ]
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": content},
        ]


def load_rubric(name_or_path: str | Path) -> YamlRubric:
    """Read a rubric of the package by its name, or one from a YAML file; ConfigError if it cannot be used."""
    return read_yaml(
        name_or_path,
        YamlRubric,
        expected="a file with a rubric as docs/judge.md explains it",
        folder=folder_of("judges"),
    )
