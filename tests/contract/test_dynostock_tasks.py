"""The real lm-eval on DynoStock's tasks and groups, with a model that answers from the document."""

import json
import re
import statistics
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chat_server import completion, serve
from in_process import run, samples, saved
from typer.testing import CliRunner

from fin_tasks.benchmarks.dynostock.market import sample_market
from fin_tasks.benchmarks.dynostock.window_set import write_set
from fin_tasks.benchmarks.dynostock.windows import FoundWindows, find_windows
from fin_tasks.cli import app

SIZES = (4, 8, 12, 16, 20)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three windows of each size, with truths and signals of our choice."""
    folder = tmp_path_factory.mktemp("windows")
    windows = find_windows(sample_market(), biases=["recency"], windows=[4]).windows
    facts = [
        (size, int(place * 4 < size), place % 2) for size in SIZES for place in range(3)
    ]
    made = [
        replace(
            window,
            window=size,
            truth=truth,
            signal=signal,
            id=f"made-{size}-{window.end}",
        )
        for window, (size, truth, signal) in zip(windows, facts, strict=False)
    ]
    write_set(
        folder,
        FoundWindows(made),
        sample_market(),
        parameters={"made": True},
    )
    return folder


def test_a_group_shows_plain_means(folder: Path) -> None:
    options: dict[str, Any] = {
        "source": "auto",
        "windows_dir": str(folder),
        "frequency": "monthly",
        "arm": "flipped",
    }
    found = run(
        "dynostock_recency_text",
        answer=lambda doc: "It rose by 3.5%.\nFinal prediction: 0.8",
        **options,
    )
    for scoring in ("paper", "robust"):
        rows = [found["results"][f"dynostock_recency_w{size}_text"] for size in SIZES]
        for metric in ("acc", "bias_index"):
            values = [row[f"{metric},{scoring}"] for row in rows]
            group = found["groups"]["dynostock_recency_text"][f"{metric},{scoring}"]
            assert len(set(values)) > 1 and group == pytest.approx(
                statistics.mean(values)
            )
    facts = found["configs"]["dynostock_recency_w4_text"]["metadata"]["provenance"]
    assert (facts["arm"], facts["data"]["origin"]) == ("flipped", "windows")
    (first, *_) = samples(found, "dynostock_recency_w12_text")
    assert first["doc"]["statement"] == 1 - first["doc"]["signal"]
    assert json.loads(first["filtered_resps"][0][0])["probability"] == 0.8


def test_a_model_that_sees(folder: Path) -> None:
    options: dict[str, Any] = {
        "source": "auto",
        "windows_dir": str(folder),
        "pixels": 256,
    }

    def follow(doc: Mapping[str, Any]) -> str:
        return f"Final prediction: {doc['statement']}"

    found = run("dynostock_recency_w8", answer=follow, sees=True, **options)
    wrong = [
        sample
        for sample in samples(found, "dynostock_recency_w8")
        if sample["acc"] == 0
    ]
    assert (
        wrong and found["results"]["dynostock_recency_w8"]["bias_index,robust"] == 1.0
    )
    assert all(Path(sample["doc"]["chart"]).is_file() for sample in wrong)


@pytest.mark.parametrize(
    ("place", "order"),
    [("first", ["image_url", "text"]), ("last", ["text", "image_url"])],
)
def test_an_api_gets_the_chart_before_or_behind_the_text(
    folder: Path, place: str, order: list[str]
) -> None:
    options = {"source": "auto", "windows_dir": str(folder), "pixels": 256}
    with serve(lambda _: completion("Final prediction: 0.7")) as served:
        found = run("dynostock_recency_w4", served=served, picture=place, **options)
    asked = [body["messages"][-1]["content"] for body in served.bodies]
    assert len(asked) == len(samples(found, "dynostock_recency_w4")) == 3
    for content in asked:
        assert [part["type"] for part in content] == order
        assert not any("<image>" in part.get("text", "") for part in content)


def test_the_effect_of_a_statement_from_lm_eval_to_the_command(
    tmp_path: Path, folder: Path
) -> None:
    """The model says 0.9 or 0.1 as the statement does, and 0.6 without one."""

    def follow(doc: Mapping[str, Any]) -> str:
        said = doc["statement"]
        return f"Final prediction: {0.6 if said is None else 0.9 if said else 0.1}"

    for arm in ("signal", "none"):
        options: dict[str, Any] = {
            "source": "auto",
            "windows_dir": str(folder),
            "frequency": "monthly",
            "arm": arm,
        }
        found = run(
            "dynostock_recency_w4_text",
            "dynostock_recency_w8_text",
            answer=follow,
            **options,
        )
        saved(found, tmp_path / arm, model="m")
    command = ["compare", str(tmp_path), "--scoring", "robust", "--by"]
    printed = CliRunner().invoke(
        app, [*command, "arm", "--out", str(tmp_path / "out")], env={"COLUMNS": "150"}
    )
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert printed.exit_code == 0
    assert written >= {"compare.csv", "compare.tex"}
    assert {Path(name).suffix for name in written} == {".csv", ".tex", ".pdf", ".png"}
    said = json.loads(CliRunner().invoke(app, [*command, "arm", "--json"]).stdout)
    effects = {
        (one["metric"], one["group"]): one["difference"]
        for one in said["lines"]
        if one["against"]
    }
    # signals 0, 1, 0, so P(signal) is 0.9 with the statement and 0.4, 0.6, 0.4 without
    assert effects["signal_probability", "mean"] == pytest.approx(0.9 - 1.4 / 3)
    assert (
        effects["follows_signal", "4"] == pytest.approx(2 / 3)
        and "+43.3" in printed.stdout
    )
    # size 4 has the truths 1, 0, 0: 2 wrong of 2 follow the signal with it, and 1 of 2 without;
    # size 8 has the truths 1, 1, 0: 1 of 1 follows it, and none of 1
    assert (effects["bias_index", "4"], effects["bias_index", "8"]) == (0.5, 1.0)
    assert effects["bias_index", "mean"] == 0.75 and "+75.0" in printed.stdout
    windows = json.loads(
        CliRunner().invoke(app, [*command, "window", "--json"]).stdout
    )["lines"]
    assert {(one["run"], one["group"]): one["n"] for one in windows}[
        "none", "mean"
    ] == 6


def test_recall_of_prices() -> None:
    """Right is a close within 1 %, whatever else the response says; nothing of the prices is shown."""
    off_by = {0: 1.009, 1: 1.011, 2: 0.991}

    def remember(doc: Mapping[str, Any]) -> str:
        place = int(doc["ticker"] == "IBM") + 2 * int(doc["ticker"] == "MSFT")
        return (
            f"Back then, in 2 ways.\nFinal answer: ${doc['truth'] * off_by[place]:.3f}"
        )

    found = run("dynostock_recall", answer=remember, after="2011-06")
    rows = samples(found, "dynostock_recall")
    for row in rows:
        doc = row["doc"]
        assert row["acc"] == float(doc["ticker"] != "IBM")
        assert doc["ticker"] in doc["prompt"] and doc["title"][-10:] in doc["prompt"]
        assert f"{doc['truth']:.0f}" not in doc["prompt"].replace(
            doc["title"][-10:], ""
        )
    assert {row["doc"]["ticker"] for row in rows} == {"AAPL", "IBM", "MSFT"}
    silent = run("dynostock_recall", answer=lambda doc: "I do not know.", sample_n=2)
    assert silent["results"]["dynostock_recall"]["no_answer,robust"] == 1.0


def build(*options: str) -> dict[str, Any]:
    result = CliRunner().invoke(
        app,
        ["build", "dynostock", "--sample", "--json", *options],
        catch_exceptions=False,
    )
    return dict(json.loads(result.stdout))


def test_build(tmp_path: Path) -> None:
    out = f"--out={tmp_path}"
    options = "--no-charts --windows 4 --bias recency --samples 5 --tickers ibm,AAPL"
    made = build(*options.split(), out)
    (count,) = made["counts"]
    assert count["candidates"] == count["found"] + count["unbiased"] + sum(
        count["dropped"].values()
    )
    assert (made["windows"], count["kept"], made["tickers"]) == (5, 5, 2)
    few = (
        *["--windows", "20", "--samples", "1", "--tickers", "IBM", "--bias", "recency"],
        out,
    )
    first, again = build(*few), build(*few)
    assert first["drawn"] == first["charts"] == again["charts"] > again["drawn"] == 0


def test_sizes_that_cannot_be_used_and_an_empty_set_are_explained(
    tmp_path: Path,
) -> None:
    def error(options: str) -> str:
        command = ["build", "dynostock", "--sample", "--no-charts", f"--out={tmp_path}"]
        return str(CliRunner().invoke(app, [*command, *options.split()]).exception)

    assert "got '4,x'" in error("--windows 4,x")
    assert "from 3 reports" in error("--windows 2")
    assert "herd" in error("--bias herd")
    assert "--sample" in error("--prices x")
    said = error("--windows 40 --tickers MSFT")
    assert re.search(r"found none: \d+ dropped: the past does not mislead", said)
    assert "_" not in said and not re.search("[a-z]-[a-z]", said)
    assert "as many reports" in error("--windows 90")
    assert not (tmp_path / "manifest.json").exists()
