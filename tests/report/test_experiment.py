"""Effects of statements on the same windows: forecasters whose effects are known."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from figures import figures_of
from matplotlib.axes import Axes

from fin_tasks.benchmarks.dynostock.score import read
from fin_tasks.report.experiment import (
    COLUMNS,
    by_window,
    compare_arms,
    notes_on_indices,
)
from fin_tasks.report.figures import draw_windows

GROUP = {
    "model": "m",
    "bias": "recency",
    "mode": "text",
    "setting": "a",
    "anonymized": False,
}


def rows(
    arm: str,
    forecast: Callable[[Any], Any],
    *,
    sizes: Any = (4,),
    n: int = 40,
    **group: Any,
) -> pd.DataFrame:
    """Rows of 20 tickers in which signals and truths come in all four combinations."""
    found = []
    for window, number in itertools.product(sizes, range(n)):
        signal = number % 2
        doc = {
            "window": window,
            "ticker": f"T{number % 20}",
            "signal": signal,
            "truth": number // 2 % 2,
            "statement": {"none": None, "signal": signal}.get(arm, 1 - signal),
            "bias_type": "recency",
        }
        reading = read(doc, str(forecast(doc)), scoring="paper")
        values = figures_of("dynostock", doc, [reading])
        row = {**GROUP, **group, "arm": arm, "doc_id": f"{window}-{number}"}
        row |= {**doc, **values}
        found.append({name: row.get(name) for name in COLUMNS})
    return pd.DataFrame(found)


def arms(*names: str, by: Any = 0.1, **options: Any) -> pd.DataFrame:
    """Rows of several arms, whose statements move forecasts alike."""
    return pd.concat([rows(name, towards(by), **options) for name in names])


def towards(by: float) -> Callable[[Any], float]:
    return lambda doc: (
        0.5 if doc["statement"] is None else 0.5 + by * (1 if doc["statement"] else -1)
    )


def effect(
    table: pd.DataFrame, contrast: str, measure: str, window: Any = 4
) -> dict[Any, Any]:
    place = ["contrast", "metric", "window"]
    lines = table.set_index(place).sort_index()
    key = (contrast.replace("-", "\N{MINUS SIGN}"), measure, window)
    (line,) = lines.loc[[key]].to_dict("records")
    return line


def test_a_model_that_every_statement_moves() -> None:
    found, notes = compare_arms(arms("signal", "none", "flipped", "aligned"))
    for contrast, sign in (("signal - none", 1), ("flipped - none", -1)):
        moved = effect(found, contrast, "signal_probability")
        assert moved["difference"] == pytest.approx(sign * 0.1)
        # Without a statement 0.5 is up, which the signal says in half of the windows.
        one = effect(found, contrast, "follows_signal")
        assert (one["pairs"], one["tickers"]) == (40, 20)
        assert one["difference"] == sign * 0.5
        assert one["p"] == pytest.approx(2**-19)
        # After that of signal - flipped, the smallest of four.
        assert one["p_holm"] == pytest.approx(3 * 2**-19)
        assert effect(found, contrast, "acc")["difference"] == 0
        assert effect(found, contrast, "bias_index")["difference"] == sign * 0.5
    assert notes == []


def test_tickers_are_resampled_whole() -> None:
    """All windows of a ticker move by the same amount, 0 to 0.19."""
    widths = []
    for n in (20, 200):
        own = [
            rows(arm, lambda doc: towards(int(doc["ticker"][1:]) / 100)(doc), n=n)
            for arm in ("signal", "none")
        ]
        found, _ = compare_arms(pd.concat(own))
        one = effect(found, "signal - none", "signal_probability")
        low, high = one["difference_low"], one["difference_high"]
        assert one["difference"] == pytest.approx(0.095) and low < 0.095 < high
        widths.append(high - low)
    assert widths == pytest.approx([2 * 1.96 * 0.0577 / 20**0.5] * 2, rel=0.1)


def test_windows_of_one_arm_and_without_forecast_are_counted() -> None:
    silent = rows("signal", lambda doc: "no idea" if doc["ticker"] == "T3" else 0.7)
    found, _ = compare_arms(pd.concat([silent, rows("none", towards(0), n=30)]))
    # 10 have no pair, 2 no forecast.
    for name, counts in (
        ("signal_probability", (28, 12)),
        ("follows_signal", (30, 10)),
    ):
        one = effect(found, "signal - none", name)
        assert (one["pairs"], one["left_out"]) == counts


def test_other_settings_are_not_paired_and_of_repeated_runs_the_last_counts() -> None:
    older, newer = rows("none", lambda doc: 0.0), rows("none", towards(0))
    effects, notes = compare_arms(
        pd.concat([newer, rows("signal", towards(0.2), setting="b")])
    )
    assert effects.empty and "no effect" in notes[-1]
    assert by_window(pd.concat([older, newer]))["signal_probability"].tolist() == [0.5]


def test_names_hidden_and_shown() -> None:
    hidden = rows("signal", towards(0.1), anonymized=True)
    found, _ = compare_arms(pd.concat([rows("signal", towards(0.3)), hidden]))
    contrast = "named - anonymized (signal)"
    one = effect(found, contrast, "signal_probability")
    assert one["difference"] == pytest.approx(0.2)
    assert effect(found, contrast, "follows_signal")["p_holm"] == 1


def test_table_1() -> None:
    table = arms("signal", "none", sizes=(4, 8))
    means = by_window(table).query("window == 'mean'").set_index("arm").loc["none"]
    assert (means["acc"], means["acc_std"]) == (0.5, 0.0)
    assert (means["bias_index"], means["n"]) == (0.5, 80)
    assert means["bias_index_low"] < 0.5 < means["bias_index_high"]


def test_eight_models_look_different(tmp_path: Path) -> None:
    """The paper's figures have eight models; each has a color, a marker and a line of its own."""
    one = rows("signal", towards(0.1), sizes=(4, 8), n=4)
    table = pd.concat([one.assign(model=f"model {number}") for number in range(8)])
    looks = []

    def remember(axes: Any, *arguments: Any, **options: Any) -> Any:
        drawn = errorbar(axes, *arguments, **options)
        line = drawn.lines[0]
        dashes = str(line._unscaled_dash_pattern)
        looks.append((line.get_color(), line.get_marker(), dashes))
        return drawn

    errorbar = Axes.errorbar
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Axes, "errorbar", remember)
        draw_windows(table, tmp_path, "paper")
    drawn = {file.name for file in tmp_path.iterdir()}
    assert drawn == {f"dynostock_recency_paper.{ending}" for ending in ("png", "svg")}
    of_left_panel = zip(*looks[:8], strict=True)
    assert [len(set(values)) for values in of_left_panel] == [8, 8, 8]


def test_the_mean_is_over_the_sizes_of_table_1() -> None:
    """Each size counts once. Sizes 6 and 10 move otherwise, and stand behind the mean."""
    of_arm = {}
    for arm in ("signal", "none"):
        used = [arms(arm, by=0.3, n=60), arms(arm, by=0.1, sizes=(20,), n=20)]
        of_arm[arm] = pd.concat([*used, arms(arm, by=0.4, sizes=(6, 10))])
    table = by_window(of_arm["signal"])
    assert table["window"].tolist() == [4, 20, "mean", 6, 10]
    by_size = table.set_index("window")["signal_probability"]
    assert by_size["mean"] == pytest.approx(0.7) and by_size[6] == pytest.approx(0.9)
    assert table.set_index("window")["n"]["mean"] == 80
    found, _ = compare_arms(pd.concat(of_arm.values()))
    mean = effect(found, "signal - none", "signal_probability", "mean")
    assert mean["difference"] == pytest.approx(0.2), "not 0.25, the pooled one"
    assert (mean["pairs"], mean["tickers"]) == (80, 20)
    follows = effect(found, "signal - none", "follows_signal", "mean")
    assert pd.isna(follows["p"]), "a test is of one size"
    alone = by_window(rows("none", towards(0), sizes=(6, 10)))
    assert alone["window"].tolist() == [6, 10]


def test_without_a_wrong_forecast_there_is_no_bias_index() -> None:
    """At size 4 every forecast is right, at size 8 those that a statement leads are wrong."""
    parts = [
        rows("signal", lambda doc: doc["truth"], sizes=(4,)),
        rows("signal", towards(0.3), sizes=(8,)),
        rows("none", towards(0), sizes=(4, 8)),
    ]
    table = by_window(pd.concat(parts))
    of_signal = table[table["arm"] == "signal"].set_index("window")
    assert of_signal.loc[4].filter(like="bias_index").isna().all()
    assert of_signal["bias_index"].tolist()[1:] == [1.0, 0.5]
    assert of_signal["bias_index_low"]["mean"] < 0.5
    (note,) = notes_on_indices(table)
    assert (
        note.startswith("m, recency, text, signal: no forecast is wrong")
        and "4" in note
    )
    found, notes = compare_arms(pd.concat(parts))
    small, mean = (
        effect(found, "signal - none", "bias_index", size) for size in (4, "mean")
    )
    assert pd.isna(small["difference"]) and pd.isna(small["difference_low"])
    assert mean["difference"] == pytest.approx(0.5 - 0.5)
    assert "no difference at window sizes 4" in notes[-1]
    right = by_window(rows("signal", lambda doc: doc["truth"], sizes=(4, 8)))
    assert right["bias_index"].isna().all() and right["acc"].eq(1).all()
