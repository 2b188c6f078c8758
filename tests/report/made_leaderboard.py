"""Documents of leaderboards for the page's tests."""

from itertools import combinations
from typing import Any

HOSTILE = (
    "</script><script>window.ran = true</script>",
    "</ScRiPt bogus",
    "<!--<script>",
    "{{script}}{{data}}",
    "<img src=x onerror=alert(1)>",
    '" onload="x',
    "a\u2028b\u2029c\u202ed\x00\x07",
    "\ud800 half",
    "]]>&lt;&amp;",
)


def leaderboard(names: tuple[str, ...] = ("alpha", "beta", "gamma"), *, title: str = "Finance") -> dict[str, Any]:
    """Return a document of one task, one run for each name, all pairs compared."""
    metric = {"label": "Accuracy", "unit": "fraction", "higher_is_better": True, "by": "", "of": ""}
    task = {
        **{"id": "t/robust", "title": "XFinBench bool · robust", "benchmark": "xfinbench", "task": "xfinbench_bool"},
        **{"split": "test", "variant": "robust", "mode": "cot", "style": "", "retrieval": "", "arm": "", "bias": ""},
        **{"window": None, "headline": "acc", "metrics": ["acc"]},
    }
    runs = [
        {
            **{"id": f"run{at}", "label": name, "source": "lm-eval", "model": name, "task": "xfinbench_bool"},
            **{
                "date": "2026-01-02T03:04:05",
                "path": "r.json",
                "samples": "",
                "provenance": {"package": '"1"', "k": name},
            },
        }
        for at, name in enumerate(names)
    ]
    entries = [
        {
            **{"task": "t/robust", "model": name, "run": f"run{at}", "metric": "acc", "value": 0.123456 * (at + 1) / 3},
            **{
                "low": 0.01,
                "high": None,
                "n": 100,
                "unscored": at,
                "judge": "",
                "group": "g",
                "marks": ["odd"] * (at == 1),
            },
        }
        for at, name in enumerate(names)
    ]
    statistics = {"n": 100, "low": -0.5, "high": 0.2, "p": 0.5, "p_holm": 1.0}
    pairs = [
        {"first": f"run{i}", "second": f"run{j}", "difference": 0.1 * (i - j), **statistics}
        for i, j in combinations(range(len(names)), 2)
    ]
    ranks = [
        {"run": f"run{at}", "value": 0.5, "n": 100, "unscored": 0, "rank": at + 1, "best": 1, "worst": len(names)}
        for at in range(len(names))
    ]
    return {
        **{"format": "fin-tasks leaderboard", "version": "1.1", "fin_tasks": "1", "title": title},
        **{"generated": "2026-01-02T03:04:05+00:00", "baseline": None, "mixed": False},
        **{"alpha": 0.05, "confidence": 0.95, "power": 0.8},
        "models": [
            {"name": name, "runs": [f"run{at}"], "sources": ["lm-eval"], "published": False}
            for at, name in enumerate(names)
        ],
        **{"runs": runs, "tasks": [task], "metrics": {"acc": metric}, "groups": {"g": {"data": '"rev"'}}},
        "entries": entries,
        "comparisons": [
            {
                **{
                    "task": "t/robust",
                    "metric": "acc",
                    "group": "g",
                    "rows": 100,
                    "sources": 100,
                    "clustered": False,
                    "test": "McNemar",
                },
                **{"detectable": {"paired": 0.1, "unpaired": 0.2}, "ranks": ranks, "pairs": pairs},
                "left_out": [],
            }
        ],
        "problems": [{"path": "<b>x</b>.json", "message": "cut off"}],
        "notes": [],
    }
