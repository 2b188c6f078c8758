"""What papers print, beside runs."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import fmean, pstdev

import pytest
from made_results import shares, write_results

from fin_tasks.benchmarks.dynostock import published as bias_paper
from fin_tasks.benchmarks.dynostock.replay import replay, summary
from fin_tasks.errors import ConfigError
from fin_tasks.report.collect import collect
from fin_tasks.report.entry import Entry
from fin_tasks.report.old_leaderboard import document
from fin_tasks.report.published_entries import published
from fin_tasks.report.schema import check
from fin_tasks.report.tables import over_windows
from fin_tasks.settings import Settings

RECORDINGS = Path(__file__).resolve().parents[3] / "shared" / "data" / "dynostock" / "recordings"
NAMES = {
    "LLaVA-NeXT Mistral 7B": "llava-v1.6-mistral-7b-hf-4bit",
    "MobileVLM V2 7B": "MobileVLM_V2-7B-4bit",
    "GPT-4o": "gpt-4o",
}
NOT_THE_SAME = {("LLaVA-NeXT Mistral 7B", "acc_std"), ("LLaVA-NeXT Mistral 7B", "bias_index_std")}
RUNS = published()
ENTRIES = [entry for run in RUNS for entry in run.entries]


def of(**wanted: str) -> list[Entry]:
    return [entry for entry in ENTRIES if all(getattr(entry, name) == value for name, value in wanted.items())]


@pytest.mark.parametrize(
    ("wanted", "value"),
    [
        ({"model": "gpt-4o", "task": "xfinbench_text", "retrieval": "none", "split": "test", "metric": "acc"}, 0.636),
        ({"model": "human", "task": "xfinbench_mcq_visual", "metric": "acc"}, 0.811),
        ({"model": "o1", "task": "xfinbench_text", "metric": "acc_TU"}, 0.889),
        ({"model": "o1", "task": "financemath", "mode": "cot", "metric": "acc"}, 0.685),
        ({"model": "o1", "task": "bizbench_paper_quantity", "mode": "pot", "metric": "acc_err"}, 0.607),
        ({"model": "GPT-4o", "task": "mme_finance_en", "style": "", "metric": "score"}, 63.18),
        ({"model": "GPT-4o", "task": "mme_finance_en", "style": "may decline", "metric": "score_IC"}, 83.66),
        ({"model": "Qwen2VL-72B", "task": "mme_finance_zh", "metric": "score"}, 73.35),
        ({"model": "GPT-4o", "task": "dynostock_authority", "metric": "bias_index_std"}, 0.018),
        ({"model": "GPT-4o", "task": "dynostock_recency_w4", "metric": "bias_index"}, 1 / 42),
    ],
)
def test_figures_stand_where_our_tasks_put_theirs(wanted: dict[str, str], value: float) -> None:
    (entry,) = of(**wanted)
    assert entry.value == pytest.approx(value, abs=1e-6)
    assert (entry.source, entry.variant, entry.low, entry.high, entry.group) == ("published", "paper", None, None, "")


def test_a_figure_stands_once() -> None:
    keys = Counter(
        (e.model, e.benchmark, e.task, e.split, e.mode, e.style, e.retrieval, e.arm, e.metric) for e in ENTRIES
    )
    assert [key for key, count in keys.items() if count > 1] == []
    assert {entry.run for entry in ENTRIES} == {run.facts.id for run in RUNS}
    assert len(RUNS) == len({run.facts.id for run in RUNS})


def test_what_is_in_doubt_is_marked() -> None:
    (all_tasks,) = of(model="deepseek-chat", task="xfinbench_text", split="test", metric="acc")
    assert all_tasks.marks == ("in doubt: its tasks give 58.6",)
    swapped = of(model="Qwen2VL-2B", task="mme_finance_en", style="may decline", metric="score")
    assert swapped[0].marks == ("in doubt: tables 9 and 10 have the two models swapped",)
    (visual,) = of(model="gemini-1.5-pro", task="xfinbench_text", split="test", retrieval="none", metric="acc_SP")
    assert visual.marks == ("rows with a figure that name the capability count too",)
    (text,) = of(model="o1", task="xfinbench_text", split="test", retrieval="none", metric="acc_SP")
    assert text.marks == ()


def test_table_1_is_what_its_windows_give_but_for_what_has_a_note() -> None:
    differing = set()
    for model in NAMES:
        windows = [figure for figure in bias_paper.published(model=model, source="repository")]
        for metric in ("acc", "bias_index"):
            values = [figure.value for figure in windows if figure.metric == metric]
            assert len(values) == 5
            for name, found in ((metric, fmean(values)), (f"{metric}_std", pstdev(values))):
                (figure,) = bias_paper.published(model=model, bias="recency", window="", metric=name)
                if figure.value != round(found, 1):
                    differing.add((model, name))
                assert bool(figure.note) == ((model, name) in NOT_THE_SAME)
    assert differing == NOT_THE_SAME


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason=f"the authors' recordings are not at {RECORDINGS}")
def test_counts_by_window_are_those_of_the_recordings() -> None:
    files = {
        (file["model"], file["window"]): file for file in summary(replay([RECORDINGS])[0], parser="paper")["files"]
    }
    for figure in bias_paper.published(source="repository"):
        file = files[NAMES[figure.model], int(figure.window)]
        name = "accuracy" if figure.metric == "acc" else "bias_index"
        assert figure.value == pytest.approx(100 * file[name], abs=5e-5)
    assert len(bias_paper.published(source="repository")) == 2 * len(files)


def test_a_table_shows_what_is_printed_and_not_what_its_windows_give() -> None:
    tasks = [{"window": None}, {"window": None}, {"window": 4}, {"window": 8}]
    entries = [
        {"metric": metric, "value": value, "n": 100}
        for metric, value in (("acc", 0.57), ("acc_std", 0.041), ("acc", 0.5), ("acc", 0.6))
    ]
    cell = over_windows("acc")([(task, entry, "fraction") for task, entry in zip(tasks, entries, strict=True)])
    assert cell is not None
    assert (cell.value, cell.deviation, cell.windows) == (0.57, 0.041, 2)


def test_every_cell_of_the_file_is_sound() -> None:
    figures = bias_paper.published()
    keys = [(f.source, f.model, f.bias, f.window, f.metric) for f in figures]
    assert len(set(keys)) == len(keys), "no figure twice"
    for figure in figures:
        assert figure.source in ("paper", "repository") and figure.bias in ("recency", "authority")
        assert figure.window in ("", "4", "8", "12", "16", "20") and figure.model
        assert figure.metric in ("acc", "acc_std", "bias_index", "bias_index_std") and 0 <= figure.value <= 100
    with pytest.raises(ConfigError, match="expected one of recency, authority"):
        bias_paper.published(bias="hope")


def test_they_are_beside_runs_in_a_report_and_marked_as_such(tmp_path: Path) -> None:
    write_results(tmp_path / "r", "xfinbench_bool", shares([1.0, 0.0]))
    settings = replace(Settings.from_environ({}), cache_dir=tmp_path / "cache")
    found = collect([tmp_path / "r"], settings=settings)
    made = document(found)
    check(made)
    models = {model["name"]: model["published"] for model in made["models"]}
    assert models["gpt-4o"] is True
    assert models["made/model"] is False
    told = {mark for entry in found.entries if entry.source != "published" for mark in entry.marks}
    assert told
    assert all("the paper's figures over" in mark for mark in told)  # a made run has a few rows
    assert {run.source for run in collect([tmp_path / "r"], settings=settings, published=False).runs} == {"lm-eval"}
