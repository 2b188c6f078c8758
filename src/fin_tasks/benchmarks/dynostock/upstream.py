"""The authors' prompts, word for word: read from their repository at run time, parsed and never executed."""

import ast
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from fin_tasks.benchmarks.dynostock.market import Market, shown_prices
from fin_tasks.benchmarks.dynostock.market_files import ALPHA_VANTAGE
from fin_tasks.benchmarks.dynostock.prompts import Prompt, statement_direction
from fin_tasks.benchmarks.dynostock.windows import Window
from fin_tasks.data.locate import locate
from fin_tasks.data.source_text import follow_statements, value_of
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.settings import Settings

_FILES = ("config/prompt.json", "config/celebrity.json", "gen.py|upstream/gen.py")
_ENTRY = "gpt-4o"  # of `prompt.json`; other models' frames add but a chat template and the place of the picture


@dataclass(frozen=True, kw_only=True)
class UpstreamPrompts:
    """The frame, the functions that fill it, and the figures of authority by name."""

    frame: str
    functions: dict[str, ast.FunctionDef]
    figures: dict[str, dict[str, str]]
    facts: dict[str, Any]

    def ask(
        self,
        market: Market,
        window: Window,
        *,
        arm: str,
        text: str | None = None,
        frequency: str = "daily",
    ) -> Prompt:
        """Ask about a window as the authors do; the arms `none` and `flipped` change their statement only."""
        if window.signal is None or arm == "aligned" or frequency != "daily":
            raise ConfigError(
                "prompts upstream: expected a recency or authority window, the arm signal, none or flipped, and daily "
                f"prices, got {window.bias_type}, {arm}, {frequency}. Use prompts: house."
            )
        found = self._fill(market, window, window.signal, text)
        user, said = self.frame.format(*found["instruction"]), found["bias_desc"]
        direction = statement_direction(window, arm)
        if direction is None:
            user = user.replace(f"- {said}" if f"- {said}" in user else said, "")
        elif direction != window.signal:
            user = user.replace(said, self._fill(market, window, direction, text)["bias_desc"])
        return Prompt(system="", user=user, cue="")

    def _fill(
        self, market: Market, window: Window, signal: int, text: str | None
    ) -> dict[str, Any]:
        """Fill the slots as `construct_instruction` does; return its variables."""
        known: dict[str, Any] = {
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
        # the authors showed EPS as in the files
        reports = market.reports_between(
            window.ticker, window.start, window.end, as_seen=False
        ).iloc[::-1]
        names = [*ALPHA_VANTAGE.items()][:-1]
        table = pd.DataFrame(
            {name: [_written(value) for value in reports[ours]] for name, ours in names}
        )
        if text is None:
            known["construct_current_eps()"] = self._sentence(
                "construct_current_eps", "cur", table.iloc[0].to_dict()
            )
        else:
            history = shown_prices(market, window.ticker, window.start, window.end)
            prices = pd.DataFrame({"Date": history.index.strftime("%Y-%m-%d")})
            prices = prices.assign(
                **{name: history[name.lower()].to_numpy() for name in ("Open", "Close")}
            )
            for what, shown in (("stock", prices), ("eps", table)):
                told = [
                    self._sentence(f"construct_{what}_history", "row", row)
                    for row in shown.to_dict("records")
                ]
                known[f"construct_{what}_history()"] = (
                    shown.to_string(header=True, index=False),
                    "\n".join(told),
                )
        follow_statements(self.functions["construct_instruction"].body, known)
        if "instruction" not in known:
            raise DataError(
                "gen.py of DynoStock's authors: expected sentences, found other code. Use prompts: house."
            )
        return known

    def _sentence(self, function: str, name: str, row: dict[str, Any]) -> str:
        """Write the sentence that a function of the authors writes for one row."""
        told = [
            node for node in ast.walk(self.functions[function]) if isinstance(node, ast.JoinedStr)
        ]
        sentence = next(node for node in told if f"{name}." in ast.unparse(node))
        return str(value_of(sentence, {f"{name}.{field}": value for field, value in row.items()}))


def upstream_prompts(*, data_dir: Path | None, settings: Settings) -> UpstreamPrompts:
    """Read the authors' files: from the user's folder, else downloaded and checked against their pins."""
    found = locate("dynostock", _FILES, data_dir=data_dir, settings=settings)
    paths = {path.name: path for path in found.files.values()}
    try:
        frames = json.loads(paths["prompt.json"].read_text(encoding="utf-8"))
        figures = json.loads(paths["celebrity.json"].read_text(encoding="utf-8"))
        tree = ast.parse(paths["gen.py"].read_text(encoding="utf-8"))
        return UpstreamPrompts(
            frame=frames[_ENTRY]["prompt"],
            functions={node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)},
            figures={figure["name"]: figure for figure in figures},
            facts={"set": "upstream", "style": "structured", **found.provenance()},
        )
    except (OSError, ValueError, SyntaxError, KeyError, TypeError) as error:
        raise DataError(
            f"{found.root}: expected the authors' prompt files, got others ({error!r})."
        ) from error


def _written(value: Any) -> str:
    """Write a figure or day as Alpha Vantage does."""
    if pd.isna(value):
        return "None"
    return (
        f"{value:%Y-%m-%d}"
        if isinstance(value, pd.Timestamp)
        else str(float(value)).removesuffix(".0")
    )
