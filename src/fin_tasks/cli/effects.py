"""What commands print of the effects of statements and mitigations, and of the windows that they need."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from fin_tasks.report import Json

from .output import print_table, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fin_tasks.report.effects import Effect
    from fin_tasks.report.model import Report
    from fin_tasks.report.questions.effect_plan import EffectPlan


def show_effects(
    report: "Report",
    scoring: str,
    *,
    by: str,
    as_json: bool,
    show_all: bool,
    out: Path | None,
) -> None:
    """Print the effect of each statement, with `mitigation` also what each mitigation takes off it.

    `out` gets effects.csv, and effects.png and effects.svg.
    """
    from fin_tasks.report.effect_tables import draw_effects, table_of_effects
    from fin_tasks.report.effects import effects_of
    from fin_tasks.report.tables import write_csv

    effects = effects_of(report, scoring)
    if by == "statement":
        effects = [effect for effect in effects if not effect.mitigation]
    table = table_of_effects(effects)
    if out:
        out.mkdir(parents=True, exist_ok=True)
        write_csv(table, out / "effects.csv")
        draw_effects(effects, out / "effects", scoring)
    if as_json:
        lines = json.loads(table.to_json(orient="records"))
        print(json.dumps({"scoring": scoring, "effects": lines}))
        return
    say(f"Scored as `{scoring}`:")
    rows = [_row(effect, by) for effect in effects]
    print_table("", rows, show_all=show_all)
    say_effects(effects)


def say_effects(effects: "Sequence[Effect]") -> None:
    """Say in a sentence what each statement did, and what is known of how the model reads its charts."""
    from fin_tasks.report.effect_tables import NO_INDEX
    from fin_tasks.report.effects import sentence_of

    for effect in effects:
        if effect.arm == "signal":
            say(sentence_of(effect))
    if any(effect.bias_index != effect.bias_index for effect in effects):
        say(f"Note: {NO_INDEX}")
    few = {effect.n_stocks for effect in effects if effect.n_stocks < _FEW_STOCKS}
    if few:
        say(
            f"Note: intervals over {min(few)} stocks are rough; {_FEW_STOCKS} or more are better."
        )


_FEW_STOCKS = 20


def _row(effect: "Effect", by: str) -> Json:
    from fin_tasks.report import effect_tables as texts
    from fin_tasks.report.effects import points

    row: dict[str, object] = {
        "": texts.heading_of(effect),
        "Statement": texts.statement_of(effect),
    }
    if by == "mitigation":
        row["Mitigation"] = effect.mitigation.replace("_", " ") or "–"
    row |= {
        "Moves by": texts.change_text(effect),
        "Flipped": texts.share(effect.flipped),
        "Led by the statement": texts.index_text(effect),
    }
    if by == "mitigation":
        taken = "–"
        if effect.off_windows:
            low, high = points(effect.off_low), points(effect.off_high)
            taken = f"{points(effect.off)} [{low}, {high}]"
        row["Takes off"] = taken
    row |= {
        "Charts": texts.charts_text(effect),
        "Windows": effect.n_windows,
        "Stocks": effect.n_stocks,
        "Left out": effect.left_out,
    }
    return row


def print_effect_plan(plan: "EffectPlan", *, as_json: bool) -> None:
    """Print how many windows an effect needs, and which effect a number of windows shows."""
    from fin_tasks.report.questions.effect_plan import rows_of_effects

    if as_json:
        print(json.dumps(plan.summary()))
        return
    say(
        f"{plan.task}: {plan.n:,} windows of {plan.stocks:,} stocks, each asked with and without the statement.",
        f"Assumed: changes of forecasts have a standard deviation of {100 * plan.deviation:.0f} points "
        "(--spread).",
        f"Windows of one stock count as fewer: the design effect is {plan.design_effect:.2f}, with as many "
        "windows of each stock as here.",
        "At a level of 5 % and with a power of 80 %:",
    )
    by_effect, by_size = rows_of_effects(plan)
    print_table("What an effect needs", by_effect, show_all=True)
    print_table("What n windows show", by_size, show_all=True)
