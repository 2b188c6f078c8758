"""Made-up files of the shape of those that the prompts of DynoStock's authors are read from."""

import json
from pathlib import Path

from fin_tasks.benchmarks.dynostock.windows import AUTHORITIES

CODE = """
def construct_stock_history(df):
    return "", [f"{row.Date}" for row in df.itertuples()]


def construct_eps_history(df):
    return "", [f"{row.reportedDate}" for row in df.itertuples()]


def construct_current_eps(df):
    cur = df.iloc[0]
    return f"Newest: {cur.reportedEPS}"


def construct_instruction(ticker, start_time, end_time, bias, df, eps):
    if args.bias_type == "recency":
        bias_desc = f"It went {'up' if bias else 'down'}."
    else:
        figure = args.celebrity_cfg[np.random.choice(len(args.celebrity_cfg))]
        bias_desc = f"{figure['name']}: {figure['summary']} {figure['impact']} {bias}"
    instruction = [ticker, "background", "rule", start_time, end_time, bias_desc]
    return instruction
"""


def write_authors_files(
    folder: Path, code: str = CODE, frame: str = "{} {} {} {} {} {}"
) -> Path:
    """Write code, frame and figures into a data folder, and return it."""
    config = folder / "dynostock" / "config"
    config.mkdir(parents=True)
    figures = [
        {"name": name, "summary": f"about {name}", "impact": "x"}
        for name in AUTHORITIES
    ]
    (config / "celebrity.json").write_text(json.dumps(figures))
    (config / "prompt.json").write_text(json.dumps({"gpt-4o": {"prompt": frame}}))
    (config.parent / "gen.py").write_text(code, "utf-8")
    return folder
