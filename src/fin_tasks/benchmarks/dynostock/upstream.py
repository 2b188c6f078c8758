"""The authors' prompts, word for word: read from their repository at run time, parsed and never executed."""

import ast
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.data.locate import locate
from fin_tasks.data.source_text import Known, follow_statements, value_of
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

from .market import TABLES, Excerpt
from .prompts import Prompt, statement_direction
from .windows import Window

_FILES = ("config/prompt.json", "config/celebrity.json", "gen.py|upstream/gen.py")
_ENTRY = "gpt-4o"
"""The model whose frame is used; those of other models only add a chat template and the place of the picture."""


@dataclass(frozen=True, kw_only=True)
class UpstreamPrompts:
    """The authors' prompt and the code that fills it."""

    frame: str
    """The prompt with slots."""
    functions: dict[str, ast.FunctionDef]
    """The authors' functions, which fill the slots."""
    figures: dict[str, dict[str, str]]
    """The well-known figures of authority windows, by name."""
    facts: dict[str, object]

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
        direction = statement_direction(window, arm)
        variables = self._fill(excerpt, window, window.signal, text)
        user = self.frame.format(*variables["instruction"])
        statement = variables["bias_desc"]
        if direction is None:
            user = user.replace(f"- {statement}", "").replace(statement, "")
        elif direction != window.signal:
            flipped = self._fill(excerpt, window, direction, text)
            user = user.replace(statement, flipped["bias_desc"])
        return Prompt(system="", user=user, cue="")

    def _fill(
        self,
        excerpt: Excerpt,
        window: Window,
        signal: int,
        text: str | None,
    ) -> Known:
        """Return the variables of the authors' function `construct_instruction`, which fills the slots."""
        variables: Known = {
            "ticker": window.ticker,
            "start_time": str(window.start),
            "end_time": str(window.end),
            "bias": signal,
            "args.image": text is None,
            "args.narrative": text == "narrative",
            "args.bias_type": window.bias_type,
            "args.celebrity_cfg": [self.figures.get(window.authority)],
            "np.random.choice()": 0,
        }
        reports = _reports(excerpt)
        if text is None:
            (sentence,) = self._sentences(
                "construct_current_eps", "cur", reports.head(1)
            )
            variables["construct_current_eps()"] = sentence
        else:
            for name, table in (("stock", _prices(excerpt)), ("eps", reports)):
                function = f"construct_{name}_history"
                sentences = "\n".join(self._sentences(function, "row", table))
                variables[f"{function}()"] = (table.to_string(index=False), sentences)
        follow_statements(self.functions["construct_instruction"].body, variables)
        if "instruction" not in variables:
            raise _other_code("the variable instruction")
        return variables

    def _sentences(
        self,
        function: str,
        name: str,
        table: pd.DataFrame,
    ) -> list[str]:
        """Return the sentence for each row of a table by an authors' function, in which a row has this name."""
        rows = table.add_prefix(f"{name}.").to_dict("records")
        for node in ast.walk(self.functions[function]):
            if isinstance(node, ast.JoinedStr) and f"{name}." in ast.unparse(node):
                return [str(value_of(node, row)) for row in rows]
        raise _other_code(f"a sentence in {function}")


def _other_code(expected: str) -> DataError:
    return DataError(
        f"gen.py of DynoStock's authors: expected {expected}, found other code. "
        "Use prompts: house."
    )


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


def _text_of(value: Any) -> str:
    if pd.isna(value):
        return "None"
    if isinstance(value, pd.Timestamp):
        return f"{value:%Y-%m-%d}"
    return str(float(value)).removesuffix(".0")


def upstream_prompts(*, data_dir: Path | None, settings: Settings) -> UpstreamPrompts:
    """Read the authors' files: from the user's folder, else downloaded and checked against their pins."""
    located = locate(
        "dynostock",
        _FILES,
        data_dir=data_dir,
        settings=settings,
    )
    try:
        texts = {path.name: path.read_text("utf-8") for path in located.files.values()}
        functions = {}
        for node in ast.parse(texts["gen.py"]).body:
            if isinstance(node, ast.FunctionDef):
                functions[node.name] = node
        figures = json.loads(texts["celebrity.json"])
        return UpstreamPrompts(
            frame=json.loads(texts["prompt.json"])[_ENTRY]["prompt"],
            functions=functions,
            figures={figure["name"]: figure for figure in figures},
            facts={"set": "upstream", "style": "structured", **located.provenance()},
        )
    except (OSError, ValueError, SyntaxError, KeyError, TypeError) as error:
        raise DataError(
            f"{located.root}: expected the authors' prompt files, got others ({error!r})."
        ) from error
