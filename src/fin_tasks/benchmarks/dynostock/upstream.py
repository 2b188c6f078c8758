"""The authors' prompts, word for word: their code is turned into a template at run time, and never executed."""

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from fin_tasks.data.documents import fill_fields, hash_of
from fin_tasks.data.locate import Located, locate
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

from ..authors_code import function_named, not_found
from .market import TABLES, Excerpt
from .prompts import Prompt
from .windows import Window

_FILES = ("config/prompt.json", "config/celebrity.json", "gen.py|upstream/gen.py")
_NAIVE_FILE = "config/naive.txt"
"""The frame of the naive prompt, if the user has copied it from the paper; the authors' files have none."""
_NAIVE_FRAME = """{background}

{retrieved}

{question} Give a probability from 0 to 1.

Thought: <your thoughts>
Prediction: <your answer>"""
_NAIVE_FIELDS = ("background", "retrieved", "question")
_NOT_NAIVE = ("some facts", "some statements")
"""The authors' headings of what the naive prompt leaves out."""
_ENTRY = "gpt-4o"
"""The model whose frame is used; those of other models only add a chat template and the place of the picture."""
_ROW_NAMES = {
    "construct_stock_history": "row",
    "construct_eps_history": "row",
    "construct_current_eps": "cur",
}
"""What the authors call a row in the functions that write a sentence about it."""

Values = Mapping[str, object]


class _Formatted(ast.NodeTransformer):
    """Write an f-string as a text with `.format`, which Jinja knows too."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        """Return the call of `.format` that gives the same text."""
        self.generic_visit(node)
        template = ""
        values: list[ast.expr] = []
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                template += "{}"
                values.append(part.value)
            else:
                template += ast.literal_eval(part).replace("{", "{{").replace("}", "}}")
        function = ast.Attribute(ast.Constant(template), "format", ast.Load())
        return ast.Call(function, values, [])


def _template_of(statements: Sequence[ast.stmt]) -> str:
    """Write assignments and branches as a template in Jinja's language; other statements are left out."""
    lines = []
    for statement in statements:
        if isinstance(statement, ast.If):
            lines += [
                f"{{% if {_expression(statement.test)} %}}",
                _template_of(statement.body),
                "{% else %}",
                _template_of(statement.orelse),
                "{% endif %}",
            ]
        elif isinstance(statement, ast.Assign):
            target = ast.unparse(statement.targets[0]).strip("()")
            lines.append(f"{{% set {target} = {_expression(statement.value)} %}}")
        elif isinstance(statement, ast.AugAssign):
            target = ast.unparse(statement.target)
            total = ast.BinOp(statement.target, statement.op, statement.value)
            lines.append(f"{{% set {target} = {_expression(total)} %}}")
    return "\n".join(lines)


def _expression(node: ast.expr) -> str:
    return ast.unparse(ast.fix_missing_locations(_Formatted().visit(node)))


@dataclass(frozen=True, kw_only=True)
class AuthorsPrompt:
    """The authors' prompt with slots, and the templates that fill them.

    Attributes:
        frame: The prompt with a slot for each entry of the variable `instruction`.
        naive_frame: The naive prompt, with fields for the background, what is retrieved, and the question.
        instruction: Sets the variables `instruction` and `bias_desc`, the statement.
        sentences: Writes the sentence about a price or a report, by the name of the authors' function.
        figures: The well-known figures of authority windows, by name.
        facts: What the provenance says.
    """

    frame: str
    naive_frame: str
    instruction: Template
    sentences: Mapping[str, Template]
    figures: Mapping[str, Values]
    facts: Mapping[str, object]

    def ask(
        self,
        excerpt: Excerpt,
        window: Window,
        *,
        arm: str,
        text: str | None = None,
        frequency: str = "daily",
    ) -> Prompt:
        """Return the authors' prompt about a window; the arms `none` and `flipped` change nothing but its statement."""
        if window.signal is None or arm == "aligned" or frequency != "daily":
            raise ConfigError(
                "prompts upstream: expected the arm signal, none or flipped, and daily prices, "
                f"got {arm}, {frequency}. Use prompts: house."
            )
        directions = {
            "signal": window.signal,
            "flipped": 1 - window.signal,
            "none": None,
        }
        direction = directions[arm]
        with _telling_other_code():
            slots, statement = self._slots(excerpt, window, window.signal, text)
            user = self.frame.format(*slots)
            if direction is None:
                user = user.replace(f"- {statement}", "").replace(statement, "")
                statement = ""
            elif direction != window.signal:
                _, flipped = self._slots(excerpt, window, direction, text)
                user = user.replace(statement, flipped)
                statement = flipped
        return Prompt(
            system="", user=user, cue="", statement=statement, direction=direction
        )

    def ask_naively(
        self,
        excerpt: Excerpt,
        window: Window,
        *,
        arm: str,
        text: str | None = None,
        frequency: str = "daily",
    ) -> Prompt:
        """Return the naive prompt about a window: the authors' sentences without facts and statements."""
        if window.signal is None or arm != "none" or frequency != "daily":
            raise ConfigError(
                "prompt naive, prompts upstream: expected the arm none, and daily prices, "
                f"got {arm}, {frequency}. Use prompts: house."
            )
        with _telling_other_code():
            slots, statement = self._slots(excerpt, window, window.signal, text)
            question, background, *_, retrieved = slots
            (latest,) = self._sentences(
                "construct_current_eps", _reports(excerpt).head(1)
            )
        retrieved = _without_facts(retrieved)
        said = [line for line in statement.splitlines() if line.strip()]
        if latest not in retrieved or any(line in retrieved for line in said):
            raise DataError(
                "gen.py of DynoStock's authors: expected the statement, and not the latest report, below "
                f"one of the headings {' and '.join(_NOT_NAIVE)}. Use prompts: house."
            )
        user = fill_fields(
            self.naive_frame,
            question=question,
            background=background,
            retrieved=retrieved,
        )
        return Prompt(system="", user=user, cue="", statement="", direction=None)

    def facts_of(self, style: str) -> dict[str, object]:
        """Return what the provenance says about a style; the frame of the naive one is not the authors' file."""
        facts = {**self.facts, "style": style}
        if style == "naive":
            facts["frame"] = hash_of(self.naive_frame)
        return facts

    def _slots(
        self,
        excerpt: Excerpt,
        window: Window,
        signal: int,
        text: str | None,
    ) -> tuple[list[str], str]:
        """Return what the authors fill their frame with, from the question to what is retrieved, and the statement."""
        reports = _reports(excerpt)
        (current,) = self._sentences("construct_current_eps", reports.head(1))
        histories = {}
        for function, table in (
            ("construct_stock_history", _prices(excerpt)),
            ("construct_eps_history", reports),
        ):
            sentences = "\n".join(self._sentences(function, table))
            histories[function] = (table.to_string(index=False), sentences)
        variables: dict[str, Any] = {
            "ticker": window.ticker,
            "start_time": str(window.start),
            "end_time": str(window.end),
            "bias": signal,
            "args": {
                "image": text is None,
                "narrative": text == "narrative",
                "bias_type": window.bias_type,
                "celebrity_cfg": [self.figures.get(window.authority)],
            },
            "len": len,
            "str": str,
            # The only figure is that of the window.
            "np": {"random": {"choice": lambda _: 0}},
            "construct_current_eps": lambda *_: current,
            "construct_stock_history": lambda *_: histories["construct_stock_history"],
            "construct_eps_history": lambda *_: histories["construct_eps_history"],
        }
        filled: Any = self.instruction.make_module(variables)
        return list(map(str, filled.instruction)), str(filled.bias_desc)

    def _sentences(self, function: str, table: pd.DataFrame) -> list[str]:
        """Return the sentence about each row of a table by one of the authors' functions."""
        name = _ROW_NAMES[function]
        rows = table.to_dict("records")
        return [self.sentences[function].render({name: row}) for row in rows]


def _without_facts(retrieved: str) -> str:
    """Return what is retrieved without the sections of facts and statements.

    A section begins with a line that ends in a colon; a section that stays is kept as it is.
    """
    kept = []
    is_kept = True
    for line in retrieved.splitlines():
        if line.rstrip().endswith(":"):
            is_kept = line.strip(": ").lower() not in _NOT_NAIVE
        if is_kept:
            kept.append(line)
    return "\n".join(kept).strip("\n")


@contextmanager
def _telling_other_code() -> Iterator[None]:
    """Say in one sentence that the authors' code is not the code that we know."""
    try:
        yield
    except (TemplateError, AttributeError, TypeError, IndexError, ValueError) as error:
        raise DataError(
            "gen.py of DynoStock's authors: expected code that sets instruction and bias_desc, "
            f"found other code ({error}). Use prompts: house."
        ) from error


def authors_prompt(*, data_dir: Path | None, settings: Settings) -> AuthorsPrompt:
    """Read the authors' files: from the user's folder, else downloaded and checked against their pins."""
    located = locate(
        "dynostock",
        _FILES,
        data_dir=data_dir,
        settings=settings,
    )
    files = {path.name: path for path in located.files.values()}
    environment = SandboxedEnvironment(undefined=StrictUndefined)
    try:
        code = files["gen.py"]
        sentences = {}
        for function, name in _ROW_NAMES.items():
            sentence = _sentence_about(code, function, name)
            sentences[function] = environment.from_string(f"{{{{ {sentence} }}}}")
        instruction = _template_of(function_named(code, "construct_instruction").body)
        figures = json.loads(files["celebrity.json"].read_text("utf-8"))
        frames = json.loads(files["prompt.json"].read_text("utf-8"))
        return AuthorsPrompt(
            frame=frames[_ENTRY]["prompt"],
            naive_frame=_naive_frame(located),
            instruction=environment.from_string(instruction),
            sentences=sentences,
            figures={figure["name"]: figure for figure in figures},
            facts={"set": "upstream", "style": "structured", **located.provenance()},
        )
    except (OSError, ValueError, KeyError, TypeError, TemplateError) as error:
        raise DataError(
            f"{located.root}: expected the authors' prompt files, got others ({error!r})."
        ) from error


def _naive_frame(located: Located) -> str:
    """Return the frame of the naive prompt: the user's copy of the paper's, else ours."""
    if located.origin != "data_dir" or not located.matches(_NAIVE_FILE):
        return _NAIVE_FRAME
    (path,) = located.matches(_NAIVE_FILE)
    frame = path.read_text("utf-8").strip("\n")
    missing = [name for name in _NAIVE_FIELDS if f"{{{name}}}" not in frame]
    if missing:
        raise DataError(
            f"{path}: expected the fields {{{'}, {'.join(missing)}}} in the frame of the naive prompt, found none."
        )
    return frame


def _sentence_about(code: Path, function: str, name: str) -> str:
    """Return the text in an authors' function that speaks of a row with this name."""
    for node in ast.walk(function_named(code, function)):
        if isinstance(node, ast.JoinedStr) and f"{name}." in ast.unparse(node):
            return _expression(node)
    raise not_found(code, f"a sentence in {function}")


def _prices(excerpt: Excerpt) -> pd.DataFrame:
    days = excerpt.prices.index.strftime("%Y-%m-%d")
    prices = excerpt.prices[["open", "close"]].set_axis(days)
    return prices.reset_index().rename(columns=str.capitalize)


def _reports(excerpt: Excerpt) -> pd.DataFrame:
    """Return reports as Alpha Vantage writes them, newest first."""
    columns = {}
    for name, column in TABLES["alpha_vantage"].items():
        columns[name] = [_text_of(value) for value in excerpt.filed[column][::-1]]
    return pd.DataFrame(columns)


def _text_of(value: pd.Timestamp | float) -> str:
    if pd.isna(value):
        return "None"
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d}"
    return str(float(value)).removesuffix(".0")
