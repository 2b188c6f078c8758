"""Made-up runs of several benchmarks, as collecting gives them: known scores, a paper's row, and a run that differs."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from fin_tasks.report.collect import Collected
from fin_tasks.report.entry import Entry, RunFacts, RunRead, Scores
from fin_tasks.report.runs import Problem

FACTS = {"data.revision": '"d1"', "prompts.sha256": '"aaaa"', "limit": "null"}
WINDOWS = (4, 8, 12)


def run(
    model: str,
    task: str,
    values: Mapping[str, Sequence[float]],
    *,
    benchmark: str = "xfinbench",
    variant: str = "robust",
    group: str = "g1",
    marks: tuple[str, ...] = (),
    source: str = "lm-eval",
    clusters: tuple[str, ...] | None = None,
    date: str = "2026-03-01T10:00:00",
    unit: str = "fraction",
    lower: Sequence[str] = ("bias_index", "no_answer"),
    **dimensions: str,
) -> RunRead:
    """A run of one task; `values` are of each row by metric, NaN where it does not apply or is unscored."""
    mean = {metric: float(np.nanmean(of)) for metric, of in values.items()}
    asked = "-".join([task, group, date, *dimensions.values()])
    name = f"{model}-{sha256(asked.encode()).hexdigest()[:12]}"
    facts = RunFacts(
        **{"id": name, "source": source, "model": model, "task": task, "date": date, "path": f"{model}/results.json"},
        samples="" if source == "published" else f"{model}/samples_{task}.jsonl",
        provenance={"data.revision": '"d1"', "model_args.dtype": '"bfloat16"'},
    )
    entries = tuple(
        Entry(
            **{"run": name, "source": source, "model": model, "benchmark": benchmark, "task": task},
            **{"variant": variant, "metric": metric, "value": value, "unit": unit, "group": group, "marks": marks},
            low=None if source == "published" else max(0.0, value - 0.1),
            high=None if source == "published" else value + 0.1,
            higher_is_better=metric not in lower,
            n=0 if source == "published" else int(np.sum(~np.isnan(values[metric]))),
            facts={**FACTS, "group": f'"{group}"'},
            **dimensions,
        )
        for metric, value in mean.items()
    )
    ids = tuple(f"row_{at}" for at in range(len(next(iter(values.values())))))
    rows = {metric: np.array(of, dtype=np.float32) for metric, of in values.items()}
    scores = {} if source == "published" else {variant: Scores(ids=ids, clusters=clusters, values=rows)}
    return RunRead(facts=facts, entries=entries, scores=scores, samples=None)


def answers(right: int, rows: int = 40, *, seed: int = 0) -> list[float]:
    """So many right answers in an order of their own."""
    return list(np.random.default_rng(seed).permutation([1.0] * right + [0.0] * (rows - right)))


def board() -> Collected:
    """Three models and a paper's over four benchmarks, one run over other data, a broken file, a hostile name."""
    models = {"alpha": 36, "beta": 30, "<b>gamma</b>|x": 6}
    read: list[RunRead] = []
    for seed, (model, right) in enumerate(models.items()):
        of = answers(right, seed=seed)
        half = [value if at % 2 else np.nan for at, value in enumerate(of)]
        other = [np.nan if at % 2 else value for at, value in enumerate(of)]
        tables = {"acc_em_table": half, "acc_em_no_table": other, "acc_err_table": half, "acc_err_no_table": other}
        kinds = {f"acc_{code}": half for code in ("TU", "TR", "FF", "SP", "NM")}
        shared = {"split": "test", "retrieval": "none"}
        for task in ("xfinbench_bool", "xfinbench_mcq"):
            read.append(run(model, task, {"acc": of, **kinds}, mode="cot", **shared))
        read.append(run(model, "xfinbench_calc", {"acc": of, **tables, **kinds}, mode="cot", **shared))
        read.append(run(model, "xfinbench_calc", {"acc": of, **tables}, mode="pot", **shared))
        marks = [100 * value for value in of]
        graded = {"score": marks, "score_OCR": marks, "score_type_table": marks}
        graded |= {"score_style_computer_screenshot": marks}
        pictures = tuple(f"picture {at // 2}" for at in range(40))
        named = {"benchmark": "mme_finance", "unit": "points", "judge": "gpt-4o, rubric 1"}
        read.append(run(model, "mme_finance_en", graded, clusters=pictures, **named))
        for bias in ("recency", "authority"):
            for window in WINDOWS:
                values = {"acc": of, "bias_index": [right / 40 - window / 100] * 40}
                read.append(run(model, f"dynostock_{bias}_w{window}", values, benchmark="dynostock", mode="image"))
    read.append(
        run(
            *("beta", "xfinbench_bool", {"acc": answers(20, seed=9)}),
            **{"mode": "cot", "split": "test", "retrieval": "none", "group": "g2", "date": "2026-04-01T10:00:00"},
            marks=("other data: revision d2",),
        )
    )
    paper = {"source": "published", "date": "", "group": "g1", "mode": "cot", "split": "test", "retrieval": "none"}
    read.append(run("gpt-4o", "xfinbench_bool", {"acc": [0.84]}, **paper))
    scored = {one.facts.id: one for one in read if one.facts.source != "published"}
    return Collected(
        entries=tuple(entry for one in read for entry in one.entries),
        runs=tuple(one.facts for one in read),
        problems=(Problem(str(Path("beta") / "results_broken.json"), "expected JSON, got the end of the file."),),
        notes=("2 samples files of other tasks left out.",),
        read=scored,
    )
