"""Rubric packs: how a judge scores, as a file. `judges/README.md` says how to write one."""

import hashlib
import json
import re
import reprlib
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from fin_tasks.errors import ConfigError
from fin_tasks.resources import judges_dir

if TYPE_CHECKING:
    import yaml

__all__ = ["LAYOUT", "Example", "Rubric", "RubricCategory", "load_rubric", "rubric_names"]

LAYOUT = 2
"""Version of what `prompt` makes of a rubric; a change of its wording or order is another one."""

_SUFFIX = ".yaml"
_LARGEST = 512 * 1024
"""Bytes of a pack."""
_LONGEST = 20_000
"""Characters of a text in it."""
_MOST = 100
"""Categories, examples of one, temperatures, characters of a name."""
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_NOTHING_MORE = ("name", "version", "default_model", "description")
"""What tells people, and no judge."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A response as it is to be scored.

    Attributes:
        question: What was asked.
        reference: The reference answer.
        response: What a model wrote.
        score: What it deserves, on the rubric's scale.
    """

    question: str
    reference: str
    response: str
    score: int


@dataclass(frozen=True, kw_only=True)
class RubricCategory:
    """How the responses of one category are scored.

    Attributes:
        name: As in the items' `category`.
        title: What the judge is told the category is called, in the pack's language; the name where a pack says none.
        kind: How answers are graded, in a word of the pack's own; scores are averaged by it in reports.
        points: How points are given, as the judge reads it.
        requirements: How answers are to be written, as both the models and the judge read it.
        examples: Two responses with their scores.
    """

    name: str
    title: str
    kind: str
    points: str
    requirements: str
    examples: tuple[Example, ...]


@dataclass(frozen=True, kw_only=True)
class Rubric:
    """A scale, and what deserves which place on it.

    Attributes:
        name: The pack's name.
        version: The pack's own version.
        language: Of all its texts, and of what is said around them; `en`, `zh`, ...
        description: What it is for, to people.
        lowest: The lowest score.
        highest: The highest score.
        parser: How replies are read: `integer`, a whole number on the scale and nothing else.
        default_model: The judge to use where nobody names one.
        max_tokens: Tokens of a reply.
        temperatures: Of the first try and of those that follow while replies cannot be read.
        categories: By their names, in the file's order.
        sha256: Of everything that decides what a judge is told, the layout of prompts included.
    """

    name: str
    version: str
    language: str
    description: str
    lowest: int
    highest: int
    parser: Literal["integer"]
    default_model: str
    max_tokens: int
    temperatures: tuple[float, ...]
    categories: Mapping[str, RubricCategory] = field(hash=False)
    sha256: str

    @property
    def label(self) -> str:
        """Name and version, as results state them."""
        return f"{self.name}@{self.version}"

    def category(self, name: str) -> RubricCategory:
        """Return a category.

        Raises:
            ConfigError: The rubric has none of this name.
        """
        if name not in self.categories:
            raise ConfigError(
                f"rubric {self.name}: expected one of its categories ({', '.join(self.categories)}), got {name!r}. "
                "Correct the rows, or add the category to the rubric."
            )
        return self.categories[name]


def rubric_names() -> tuple[str, ...]:
    """Return the names of the packs that come with fin-tasks."""
    return tuple(sorted(path.stem for path in (judges_dir() / "old").glob(f"*{_SUFFIX}")))


def load_rubric(name_or_path: str | Path) -> Rubric:
    """Read a pack.

    Args:
        name_or_path: One of `rubric_names()`, or the path of a YAML file: text that ends in `.yaml` or `.yml` or has a
            slash in it is a path.

    Raises:
        ConfigError: There is no such pack, or something in it cannot be used; the message names the file and the key.
    """
    path = _path(name_or_path)
    try:
        state = path.stat()
        if not path.is_file():
            raise ConfigError(f"{path}: expected a file with a rubric, got something else. Name a YAML file.")
    except OSError as error:
        raise ConfigError(f"{path}: expected a file with a rubric, got {error.strerror}. Name another path.") from error
    if state.st_size > _LARGEST:
        raise ConfigError(f"{path}: expected at most {_LARGEST:,} bytes of rubric, got {state.st_size:,}. Shorten it.")
    return _load(path, (path.resolve(), state.st_mtime_ns, state.st_size))


def _path(name_or_path: str | Path) -> Path:
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or "/" in text or text.endswith((_SUFFIX, ".yml")):
        return Path(text).expanduser()
    if text not in rubric_names():
        raise ConfigError(
            f"rubric: expected one of {', '.join(rubric_names())}, or the path of a YAML file, got {text!r}."
        )
    return judges_dir() / "old" / f"{text}{_SUFFIX}"


@lru_cache(maxsize=16)
def _load(path: Path, _state: tuple[Path, int, int]) -> Rubric:
    """Read a pack; the file's place, time and size make a changed one a new one."""
    return _rubric(_Key(str(path), "", _parsed(path)))


def _parsed(path: Path) -> object:
    import yaml

    try:
        return yaml.load(path.read_text(encoding="utf-8-sig"), Loader=_loader())  # noqa: S506 - a SafeLoader
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        said = " ".join(str(error).split())[:300]
        raise ConfigError(
            f"{path}: expected YAML in UTF-8, got {type(error).__name__} ({said}). Correct it."
        ) from error


@lru_cache(maxsize=1)
def _loader() -> "type[yaml.SafeLoader]":
    import yaml

    class Strict(yaml.SafeLoader):
        """Refuses a key that stands twice: the first would be lost without a word."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
            if twice := [key for key in keys if keys.count(key) > 1]:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {twice[0]!r} stands twice", node.start_mark
                )
            return super().construct_mapping(node, deep)

    return Strict


@dataclass(frozen=True)
class _Key:
    """A value of the file and where it stands, so that whatever is wrong with it can be said with its place."""

    file: str
    at: str
    value: Any

    def wrong(self, expected: str, remedy: str = "Correct it") -> NoReturn:
        # what stands there may be huge, or refer to itself
        where = f"{self.file}: {self.at}" if self.at else self.file
        raise ConfigError(f"{where}: expected {expected}, got {reprlib.repr(self.value)}. {remedy}.")

    def entries(self, expected: str) -> "dict[str, _Key]":
        if not isinstance(self.value, dict):
            self.wrong(expected, "Write `key: value` lines there")
        for key in self.value:
            if not isinstance(key, str):
                _Key(self.file, self.at, key).wrong("keys that are texts", "Put it into quotes")
        before = f"{self.at}." if self.at else ""
        return {key: _Key(self.file, before + key, value) for key, value in self.value.items()}

    def record(self, *required: str, optional: tuple[str, ...] = ()) -> "dict[str, _Key]":
        keys = (*required, *optional)
        found = self.entries(f"the keys {', '.join(keys)}")
        for key, entry in found.items():
            if key not in keys:
                entry.wrong(f"no such key; there are {', '.join(keys)}", "Remove or rename it")
        for key in required:
            if key not in found:
                _Key(self.file, f"{self.at}.{key}" if self.at else key, None).wrong("a value", "Add the key")
        return found

    def items(self, expected: str) -> "list[_Key]":
        if not isinstance(self.value, list) or not 1 <= len(self.value) <= _MOST:
            self.wrong(expected, "Write a list there")
        return [_Key(self.file, f"{self.at}[{i}]", value) for i, value in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str) or not self.value.strip() or len(self.value) > _LONGEST:
            self.wrong(f"a text of 1 to {_LONGEST:,} characters", "Write one, in quotes if it looks like a number")
        return self.value.strip()

    def name(self) -> str:
        text = self.text()
        if len(text) > _MOST or not _NAME.fullmatch(text):
            self.wrong(f"a name of letters, digits, `_`, `.` and `-`, at most {_MOST}", "Shorten it")
        return text

    def whole(self, expected: str, accept: Callable[[int], bool]) -> int:
        if isinstance(self.value, bool) or not isinstance(self.value, int) or not accept(self.value):
            self.wrong(expected)
        return int(self.value)


def _rubric(file: _Key) -> Rubric:
    top = file.record(
        *("name", "version", "language", "scale", "parser", "default_model", "categories"),
        optional=("description", "max_tokens", "temperatures"),
    )
    scale = top["scale"].record("lowest", "highest")
    lowest = scale["lowest"].whole("a whole number from 0 to 99", lambda value: 0 <= value <= 99)
    highest = scale["highest"].whole(f"a whole number above {lowest}, up to 100", lambda value: lowest < value <= 100)
    if top["parser"].value != "integer":
        top["parser"].wrong("integer, the only parser there is")
    categories = top["categories"].entries("categories by their names")
    if not 1 <= len(categories) <= _MOST:
        top["categories"].wrong(f"1 to {_MOST} categories")
    rubric: dict[str, Any] = {
        "name": top["name"].name(),
        "version": top["version"].name(),
        "language": top["language"].name(),
        "description": top["description"].text() if "description" in top else "",
        "lowest": lowest,
        "highest": highest,
        "parser": "integer",
        "default_model": top["default_model"].text(),
        "max_tokens": _max_tokens(top.get("max_tokens")),
        "temperatures": _temperatures(top.get("temperatures")),
        "categories": {name: _category(name, entry, lowest, highest) for name, entry in categories.items()},
    }
    return Rubric(**rubric, sha256=_sha256(rubric))


def _category(name: str, entry: _Key, lowest: int, highest: int) -> RubricCategory:
    if not name.strip() or len(name) > _MOST or not name.isprintable():
        entry.wrong(f"a category's name, 1 to {_MOST} printable characters", "Rename it")
    keys = entry.record("kind", "points", "requirements", "examples", optional=("title",))
    examples = keys["examples"].items("a list of two examples")
    if len(examples) != 2:
        keys["examples"].wrong("two examples", "Show one response that deserves much and one that deserves little")
    return RubricCategory(
        name=name,
        title=keys["title"].text() if "title" in keys else name,
        kind=keys["kind"].name(),
        points=keys["points"].text(),
        requirements=keys["requirements"].text(),
        examples=tuple(_example(example, lowest, highest) for example in examples),
    )


def _example(entry: _Key, lowest: int, highest: int) -> Example:
    keys = entry.record("question", "reference", "response", "score")
    on_scale = f"a whole number from {lowest} to {highest}, as `scale` says"
    return Example(
        question=keys["question"].text(),
        reference=keys["reference"].text(),
        response=keys["response"].text(),
        score=keys["score"].whole(on_scale, lambda value: lowest <= value <= highest),
    )


def _max_tokens(entry: _Key | None) -> int:
    if entry is None:
        return 3
    return entry.whole("a whole number from 1 to 100,000", lambda value: 1 <= value <= 100_000)


def _temperatures(entry: _Key | None) -> tuple[float, ...]:
    if entry is None:
        return (0.0, 0.5, 1.0, 1.5, 2.0)
    values = entry.items("temperatures, one per try")
    for value in values:
        number = value.value
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 2:
            value.wrong("a number from 0 to 2")
    found = tuple(float(value.value) for value in values)
    if len(set(found)) < len(found):
        entry.wrong("temperatures that differ", "The same one would be answered from the replies that are kept")
    return found


def _sha256(rubric: Mapping[str, Any]) -> str:
    telling = {key: value for key, value in rubric.items() if key not in _NOTHING_MORE}
    telling["categories"] = [asdict(category) for category in rubric["categories"].values()]
    text = json.dumps({"layout": LAYOUT, **telling}, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
