"""`fin-tasks build`: make a data set for a benchmark."""

import json
from pathlib import Path
from typing import Literal

from fin_tasks.errors import ConfigError
from fin_tasks.report import Json
from fin_tasks.settings import Settings
from fin_tasks.workers import Engine, running_on

from .options import App, MarketFiles, show
from .variants import build_variants
from .xfinbench import build_xfinbench

app = App(no_args_is_help=True, help="Make a data set for a benchmark.")
app.command("variants")(build_variants)
app.command("xfinbench")(build_xfinbench)


@app.command("dynostock")
def build_dynostock(
    files: MarketFiles,
    tickers: str | None,
    from_recording: list[Path] | None,
    out: Path | None,
    as_json: bool,
    bias: str = "recency,authority",
    windows: str = "4,8,12,16,20",
    samples: int = 100,
    seed: int = 42,
    timing: Literal["paper", "strict"] = "paper",
    charts: bool = True,
    jobs: int = 1,
    engine: Engine = "local",
) -> None:
    """Find DynoStock's windows in market data and draw their charts. A second run draws only missing charts.

    The tasks find the set in its folder in the cache; a set in --out is named with metadata windows_dir.

    Example: fin-tasks build dynostock --sample --samples 0 --no-charts --out windows
    """
    from fin_tasks.benchmarks.dynostock import window_set as sets
    from fin_tasks.benchmarks.dynostock import windows as finding
    from fin_tasks.benchmarks.dynostock.data import chart_of
    from fin_tasks.benchmarks.dynostock.market import strict_timing
    from fin_tasks.charts.pool import draw_charts

    market = files.read(tickers)
    if timing == "strict":
        market = strict_timing(market)
    parameters: Json = {"tickers": tickers, "seed": seed, "timing": timing}
    missing: dict[str, str] = {}
    if from_recording:
        selection, missing = sets.rebuild_windows(market, from_recording, seed=seed)
        parameters["from_recording"] = sorted(path.name for path in from_recording)
    else:
        share = sets.SAMPLE_SHARE if files.sample else finding.SHARE
        biases = bias.replace(" ", "").split(",")
        try:
            sizes = [int(size) for size in windows.split(",")]
        except ValueError as error:
            raise ConfigError(
                f"--windows: expected sizes such as 4,8,12, got {windows!r}."
            ) from error
        selection = finding.find_windows(
            market, biases=biases, windows=sizes, seed=seed, share=share
        )
        selection = selection._replace(
            windows=sets.sampled(selection.windows, samples, seed=seed)
        )
        parameters |= {"biases": biases, "windows": sizes, "samples": samples}
    if not selection.windows:
        raise sets.no_windows(selection.counts, missing)
    name = "sample" if files.sample else "windows"
    folder = out or Settings.from_environ().cache_dir / "dynostock" / name
    window_set = sets.write_set(folder, selection, market, parameters=parameters)
    summary: Json = {
        **json.loads((folder / "manifest.json").read_bytes()),
        "folder": str(folder),
        "tickers": len(market.tickers),
        "not_rebuilt": missing,
    }
    if charts:
        drawing = (
            chart_of(window_set.market.excerpt(window.ticker, window.start, window.end))
            for window in window_set.windows
        )
        with running_on(engine):
            paths, drawn = draw_charts(drawing, window_set.charts, jobs=jobs)
        summary |= {"charts": len(set(paths)), "drawn": drawn}
    show(summary, as_json)


@app.command("mme_finance")
def build_mme_finance(
    out: Path | None,
    as_json: bool,
    n: int = 120,
    seed: int = 1,
    language: str = "en,zh",
) -> None:
    """Make new questions with pictures in MME-Finance's form, which need no judge.

    The folder is mme_finance/seed-SEED in the cache, else --out. Name it in lm_eval with metadata data_dir.

    Example: fin-tasks build mme_finance --n 12 --seed 7 --language en --out fresh
    """
    from fin_tasks.benchmarks.mme_finance.fresh.build import build_set

    folder = out or Settings.from_environ().cache_dir / "mme_finance" / f"seed-{seed}"
    languages = language.replace(" ", "").split(",")
    facts = build_set(folder, n=n, seed=seed, languages=languages)
    show({"folder": str(folder), **facts}, as_json)
