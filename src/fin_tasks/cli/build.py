"""`fin-tasks build`: make a data set for a benchmark."""

import json
from pathlib import Path
from typing import Any, Literal

from fin_tasks.cli.options import Adjust, App, market_of, show
from fin_tasks.cli.variants import build_variants
from fin_tasks.cli.xfinbench import build_xfinbench
from fin_tasks.errors import ConfigError

app = App(help="Make a data set for a benchmark.")
app.command("variants")(build_variants)
app.command("xfinbench")(build_xfinbench)


@app.command("dynostock")
def build_dynostock(
    prices: Path | None = None,
    earnings: Path | None = None,
    sample: bool = False,
    adjust: Adjust = "none",
    tickers: str | None = None,
    bias: str = "recency,authority",
    windows: str = "4,8,12,16,20",
    samples: int = 100,
    seed: int = 42,
    timing: Literal["paper", "strict"] = "paper",
    from_recording: list[Path] | None = None,
    charts: bool = True,
    jobs: int = 1,
    engine: Literal["local", "ray"] = "local",
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Find DynoStock's windows in market data and draw their charts. A second run draws only missing charts.

    The tasks find the set in its folder in the cache; a set in --out is named with metadata windows_dir.

    Example: fin-tasks build dynostock --sample --samples 0 --no-charts --out windows
    """
    from pandas import json_normalize

    from fin_tasks.benchmarks.dynostock import window_set as sets
    from fin_tasks.benchmarks.dynostock import windows as finding
    from fin_tasks.benchmarks.dynostock.data import chart_of
    from fin_tasks.benchmarks.dynostock.market import strict_timing
    from fin_tasks.charts.pool import draw_charts
    from fin_tasks.settings import Settings

    market = market_of(prices, earnings, adjust=adjust, sample=sample, tickers=tickers)
    if timing == "strict":
        market = strict_timing(market)
    parameters: dict[str, Any] = {
        "adjust": adjust,
        "timing": timing,
        "tickers": tickers,
        "seed": seed,
    }
    missing: dict[str, str] = {}
    if from_recording:
        found, missing = sets.rebuild_windows(market, from_recording, seed=seed)
        parameters["from_recording"] = sorted(path.name for path in from_recording)
    else:
        share = sets.SAMPLE_SHARE if sample else finding.SHARE
        biases = bias.replace(" ", "").split(",")
        sizes = _sizes(windows)
        found = finding.find_windows(
            market, biases=biases, windows=sizes, seed=seed, share=share
        )
        found = found._replace(windows=sets.sampled(found.windows, samples, seed=seed))
        parameters |= {
            "biases": biases,
            "windows": sizes,
            "samples": samples,
            "share": float(share),
        }
    if not found.windows:
        raise sets.no_windows(found.counts, missing)
    folder = out or Settings.from_environ().cache_dir / "dynostock" / (
        "sample" if sample else "windows"
    )
    made = sets.write_set(folder, found, market, parameters=parameters)
    summary: dict[str, Any] = json.loads(
        (folder / "manifest.json").read_text(encoding="utf-8")
    )
    summary |= {
        "folder": str(folder),
        "tickers": len(market.tickers),
        "not_rebuilt": dict(sorted(missing.items())),
    }
    if charts:
        shown = made.windows
        excerpts = (
            made.market.excerpt(item.ticker, item.start, item.end) for item in shown
        )
        drawing = map(chart_of, excerpts)
        paths, drawn = draw_charts(
            drawing, made.charts, jobs=jobs, engine=engine, total=len(shown)
        )
        summary |= {"charts": len(set(paths)), "drawn": drawn}
    if not as_json:
        counts = json_normalize(summary["counts"]).to_dict("records")
        summary |= {"counts": counts, "files": None, "parameters": None}
    show(summary, as_json=as_json)


def _sizes(text: str) -> list[int]:
    """Read the window sizes of --windows."""
    sizes = []
    for size in text.split(","):
        if not size.strip().isdecimal():
            raise ConfigError(
                f"--windows: expected sizes such as 4,8,12, got {size!r}."
            )
        sizes.append(int(size))
    return sizes


@app.command("mme_finance")
def build_mme_finance(
    n: int = 120,
    seed: int = 1,
    language: str = "en,zh",
    prices: Path | None = None,
    out: Path | None = None,
    as_json: bool = False,
) -> None:
    """Make new questions with pictures in MME-Finance's form, which need no judge.

    The folder is mme_finance/seed-SEED in the cache, else --out. Name it in lm_eval with metadata data_dir.

    Example: fin-tasks build mme_finance --n 12 --seed 7 --language en --out fresh
    """
    from fin_tasks.benchmarks.mme_finance.fresh.build import build_set
    from fin_tasks.settings import Settings

    folder = out or Settings.from_environ().cache_dir / "mme_finance" / f"seed-{seed}"
    languages = [name.strip() for name in language.split(",")]
    counts = build_set(folder, n=n, seed=seed, languages=languages, prices=prices)[
        "counts"
    ]
    show(
        {"folder": str(folder), "n": n, "seed": seed, "counts": counts}, as_json=as_json
    )
