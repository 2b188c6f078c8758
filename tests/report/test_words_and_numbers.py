"""Small functions of reports, each shown by an example."""

from pathlib import Path

from run_files import scored, write_run

from fin_tasks import report
from fin_tasks.labels.vote import most_frequent
from fin_tasks.report.conditions import Conditions, conditions_of
from fin_tasks.report.entries import task_of
from fin_tasks.report.markdown import safe
from fin_tasks.report.model import benchmark_of, metric_of
from fin_tasks.report.published import figures
from fin_tasks.report.redact import without_secrets
from fin_tasks.report.site.page import task_name
from fin_tasks.stats.averages import over_responses


def test_names(tmp_path: Path) -> None:
    shown = (
        metric_of("acc_TU").label,
        metric_of("score_OCR").unit,
        metric_of("acc_odd").label,
    )
    assert shown == ("Terminology understanding", "points", "Acc odd")
    names = ("mme_finance_en", "xfinbench", "xfinbenchmark_x")
    assert [benchmark_of(name).name for name in names] == [
        "mme_finance",
        "xfinbench",
        "other",
    ]
    write_run(tmp_path, {"xfinbench_calc_pot": scored(1)})
    (asked,) = report.read([tmp_path]).runs[0].tasks
    assert conditions_of(asked)[:4] == ("xfinbench_calc", "test", "pot", "")
    conditions = Conditions(
        "dynostock_recency_w4", mode="text", retrieval="none", arm="signal"
    )
    named = task_name(task_of("dynostock", conditions, "paper", "acc"))
    assert (
        named
        == "DynoStock, latest event (recency), 4 reports, price tables, with the statement"
    )


def test_numbers() -> None:
    entries = [entry for entry, _, _ in figures(["xfinbench"])]
    assert next(entry.value for entry in entries if entry.model == "gpt-4o") == 0.84
    assert [most_frequent(scores) for scores in ([5, 5, 4], [1, 1, 3, 3])] == [5, 2]
    rows = [{"acc": 1.0, "ece": [[0.5, 1]]}, {"acc": 0.0, "ece": None}]
    assert over_responses(rows) == {"acc": 0.5, "ece": [[0.5, 1]]}


def test_texts_that_are_not_ours() -> None:
    assert (
        safe("<b>a|b</b> [x](http://y)") == r"&lt;b&gt;a\|b&lt;/b&gt; \[x\](http\://y)"
    )
    given = {
        "path": "/home/ann/m",
        "env": {"x": 1},
        "max_tokens": 5,
        "url": "http://a:pw@h/?key=k",
    }
    shown = {"path": "~/m", "max_tokens": 5, "url": "http://[removed]@h/?key=[removed]"}
    assert without_secrets(given) == shown
