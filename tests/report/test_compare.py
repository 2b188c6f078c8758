"""Comparing runs: pairs, tests, families, styles and knowledge, against scipy and statsmodels."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from run_files import PROVENANCE, scored, write_run
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from typer.testing import CliRunner

from fin_tasks import report
from fin_tasks.cli import app
from fin_tasks.errors import DataError
from fin_tasks.report.arms import arm_rows
from fin_tasks.report.compare import Comparisons, Options, compare

TASK = "financemath"


def draw(seed: int, n: int = 60, share: float = 0.5) -> list[float]:
    return (np.random.default_rng(seed).random(n) < share).astype(float).tolist()


def compared(*folders: Path, **more: Any) -> Comparisons:
    reports = {str(folder): report.read([folder]) for folder in folders}
    return compare(reports, Options(**more))


def models(folder: Path, *seeds: int, topics: bool = False, n: int = 60) -> list[Path]:
    docs = (
        [
            {"topic": ("Accounting", "Risk Management", "Economics")[at % 3]}
            for at in range(n)
        ]
        if topics
        else None
    )
    for seed in seeds:
        rows = scored(*draw(seed, n, 0.3 + 0.1 * seed))
        write_run(folder / f"m{seed}", {TASK: rows}, model=f"m{seed}", docs=docs)
    return [folder / f"m{seed}" for seed in seeds]


def test_pair_equals_statsmodels_and_a_sum_over_the_samples(tmp_path: Path) -> None:
    found = compared(*models(tmp_path, 1, 3))
    base, line = found.lines.to_dict("records")
    first, second = (np.array(draw(seed, share=0.3 + 0.1 * seed)) for seed in (1, 3))
    table = [
        [int(((first == a) & (second == b)).sum()) for b in (1, 0)] for a in (1, 0)
    ]
    assert (base["value"], line["value"]) == pytest.approx(
        (first.mean(), second.mean())
    )
    assert (base["against"], line["against"], line["pairs"]) == ("", "m1", 60)
    assert line["difference"] == pytest.approx((second - first).mean())
    assert line["p"] == pytest.approx(mcnemar(table, exact=True).pvalue)
    assert (line["gained"], line["lost"]) == (table[1][0], table[0][1])
    assert (line["difference_low"] > 0 or line["difference_high"] < 0) == (
        line["p"] < 0.05
    )


def test_shared_sources_are_tested_together(tmp_path: Path) -> None:
    docs = [{"ticker": f"T{at % 16}", "window": 4, "arm": "signal"} for at in range(64)]
    for seed in (1, 2):
        write_run(
            tmp_path / str(seed),
            {"dynostock_recency_w4": scored(*draw(seed, 64))},
            model=f"m{seed}",
            docs=docs,
        )
    line = compared(tmp_path / "1", tmp_path / "2").lines.iloc[1]
    assert line["test"] == "clustered t"


def test_third_model_changes_only_the_correction_between_the_first_two(
    tmp_path: Path,
) -> None:
    folders = models(tmp_path, 1, 3, 4, topics=True)
    two, three = (compared(*some, by="topic").lines for some in (folders[:2], folders))
    rest = three[three["run"] != "m4"].reset_index(drop=True)
    pd.testing.assert_frame_equal(
        two.drop(columns="p_holm"), rest.drop(columns="p_holm")
    )
    tested = three[three["p"].notna()]
    adjusted = multipletests(tested["p"], method="holm")[1]
    assert list(tested["p_holm"]) == pytest.approx(list(adjusted))


def test_all_tests_of_the_table_are_one_family(tmp_path: Path) -> None:
    lines = compared(*models(tmp_path, 1, 4, topics=True, n=90), by="topic").lines
    tested = lines[lines["against"] != ""]
    assert len(tested) == 4
    assert list(tested["p_holm"]) == pytest.approx(
        list(multipletests(tested["p"], method="holm")[1])
    )


def test_members_of_a_group_are_parts_of_it(tmp_path: Path) -> None:
    parts = ("xfinbench_bool", "xfinbench_mcq")
    for seed in (1, 2):
        tasks = {part: scored(*draw(seed + at, 30)) for at, part in enumerate(parts)}
        write_run(
            tmp_path / str(seed),
            tasks,
            model=f"m{seed}",
            groups={"xfinbench_text": parts},
        )
    lines = compared(tmp_path / "1", tmp_path / "2").lines
    tested = lines[lines["against"] != ""].set_index("task")
    assert tested["pairs"].to_dict() == {
        "xfinbench_text": 60,
        "xfinbench_bool": 30,
        "xfinbench_mcq": 30,
    }
    adjusted = multipletests(tested["p"], method="holm")[1]
    assert list(tested["p_holm"]) == pytest.approx(list(adjusted))


def test_lost_and_unscored_rows_are_left_out_and_said(tmp_path: Path) -> None:
    write_run(tmp_path / "a", {TASK: scored(1, 0, 1, 0, None, 1)}, model="a")
    write_run(tmp_path / "b", {TASK: scored(1, 1, 1, 0, 1)}, model="b")
    line = compared(tmp_path / "a", tmp_path / "b").lines.iloc[1]
    assert (line["pairs"], line["left_out"], line["n"]) == (4, 2, 5)
    assert line["difference"] == 0.25


def test_other_data_is_not_compared(tmp_path: Path) -> None:
    write_run(tmp_path / "a", {TASK: scored(1, 0)}, model="a")
    other = {"provenance": {**PROVENANCE, "split": "validation"}}
    write_run(tmp_path / "b", {TASK: scored(1, 0)}, model="b", metadata=other)
    found = compared(tmp_path / "a", tmp_path / "b")
    assert not found.lines["against"].any()
    assert any(
        "validation: a has no result to compare b with" in note for note in found.notes
    )
    newer = {
        "provenance": {
            **PROVENANCE,
            "data": {**PROVENANCE["data"], "revision": "newer"},
        }
    }
    write_run(tmp_path / "c", {TASK: scored(1, 0)}, model="c", metadata=newer)
    found = compared(tmp_path / "a", tmp_path / "c")
    assert not found.lines["against"].any()
    assert any("version of the data: newer" in note for note in found.notes)


def test_questions_of_an_unknown_split_are_not_the_test_set(tmp_path: Path) -> None:
    without = {name: fact for name, fact in PROVENANCE.items() if name != "split"}
    write_run(tmp_path / "a", {TASK: scored(1, 0)}, model="a")
    write_run(
        tmp_path / "b",
        {TASK: scored(1, 0)},
        model="b",
        metadata={"provenance": without},
    )
    found = compared(tmp_path / "a", tmp_path / "b")
    assert not found.lines["against"].any()


def test_newest_of_repeated_runs_counts(tmp_path: Path) -> None:
    write_run(tmp_path / "a", {TASK: scored(1, 1)}, model="a")
    write_run(
        tmp_path / "b" / "old",
        {TASK: scored(0, 0)},
        model="b",
        stamp="2026-01-01T10-00-00.1",
    )
    write_run(
        tmp_path / "b" / "new",
        {TASK: scored(1, 0)},
        model="b",
        stamp="2026-02-01T10-00-00.1",
    )
    found = compared(tmp_path / "a", tmp_path / "b")
    assert found.lines["value"].to_list() == [1.0, 0.5]
    assert any("newest" in note for note in found.notes)


def conditions(folder: Path) -> None:
    """Write one model's runs in four styles and with three kinds of knowledge."""
    for at, (mode, role) in enumerate(
        [("da", True), ("cot", False), ("cot", True), ("da", False)]
    ):
        own = {"provenance": {**PROVENANCE, "style": {"mode": mode, "role": role}}}
        write_run(
            folder / f"style{at}", {"xfinbench_bool": scored(*draw(at))}, metadata=own
        )
    for name in ("bm25", "oracle"):
        own = {
            "provenance": {
                **PROVENANCE,
                "style": {"mode": "cot", "role": True},
                "retrieval": {"condition": name},
            }
        }
        docs: list[dict[str, Any]] = [
            {
                "gold_terms": ["t1", "t2"] if at else [],
                "terms": [{"id": "t9"}, {"id": "t1"}],
            }
            for at in range(60)
        ]
        for doc in docs[::2] if name == "bm25" else []:
            doc["terms"] = [{"id": "t9"}]
        write_run(
            folder / name, {"xfinbench_bool": scored(*draw(7))}, metadata=own, docs=docs
        )


def test_styles_and_knowledge_of_one_model(tmp_path: Path) -> None:
    conditions(tmp_path)
    styles = compared(tmp_path, factor="style").lines
    assert styles["run"].to_list()[0] == "cot"
    assert set(styles["run"]) == {"cot", "cot, no role", "da", "da, no role"}
    assert set(styles["against"]) == {"", "cot"}
    knowledge = compared(tmp_path, factor="knowledge").lines
    assert knowledge.loc[knowledge["metric"] == "acc", "run"].to_list() == [
        "none",
        "bm25",
        "oracle",
    ]


def test_unknown_metric_names_those_there_are(tmp_path: Path) -> None:
    folders = models(tmp_path, 1, 2)
    with pytest.raises(DataError, match="got acc, unscored"):
        compared(*folders, metric="bleu")


def test_command_prints_writes_and_refuses(tmp_path: Path) -> None:
    folders = [str(one) for one in models(tmp_path, 1, 3, topics=True)]
    assert (
        "Accounting"
        in CliRunner().invoke(app, ["compare", *folders, "--by", "topic"]).output
    )
    out = tmp_path / "out"
    ran = CliRunner().invoke(
        app, ["compare", *folders, "--by", "topic", "--out", str(out), "--json"]
    )
    lines = json.loads(ran.stdout)["lines"]
    assert (ran.exit_code, len(lines)) == (0, 8)
    suffixes = {path.suffix for path in out.iterdir()}
    assert suffixes == {".csv", ".tex", ".pdf", ".png"}
    p_values = [one["p"] for one in lines if one["p"] is not None]
    assert pd.read_csv(out / "compare.csv")["p"].dropna().to_list() == pytest.approx(
        p_values
    )
    for by in (
        ["--by", "color"],
        ["--by", "style", "--by", "knowledge"],
        ["--scoring", "exact"],
        ["--by", "arm", "--metric", "acc"],
        ["--metric", "bias_index"],
    ):
        assert CliRunner().invoke(app, ["compare", *folders, *by]).exit_code > 0
    (
        tmp_path / "m1" / "samples_financemath_2026-03-01T10-00-00.123456.jsonl"
    ).write_text("{")
    assert CliRunner().invoke(app, ["compare", *folders]).exit_code == 1


def test_effects_of_statements_stand_before_the_values_of_each_size(
    tmp_path: Path,
) -> None:
    """The arms have other window sizes; the mean stands behind the sizes of Table 1."""
    for arm, sizes in (("none", (4, 6)), ("signal", (4, 6, 16))):
        metadata = {"provenance": {**PROVENANCE, "arm": arm}}
        for size in sizes:
            docs = [{"ticker": f"T{at}", "arm": arm, "window": size} for at in range(8)]
            tasks = {
                f"dynostock_{bias}_w{size}": scored(*draw(size, 8)) for bias in BIASES
            }
            folder = tmp_path / f"{arm}{size}"
            groups = {"dynostock_recency": [f"dynostock_recency_w{size}"]}
            write_run(folder, tasks, docs=docs, metadata=metadata, groups=groups)
    command = ["compare", str(tmp_path), "--by", "arm"]
    out = tmp_path / "out"
    assert CliRunner().invoke(app, [*command, "--out", str(out)]).exit_code == 0
    assert list(out.glob("*.pdf"))
    assert "more rows: --all shows them." in CliRunner().invoke(app, command).stdout
    printed = CliRunner().invoke(app, [*command, "--json"]).stdout
    lines = [
        (line["run"], line["group"])
        for line in json.loads(printed)["lines"]
        if line["metric"] == "acc" and line["heading"].startswith("recency")
    ]
    effect = "signal \N{MINUS SIGN} none"
    effects = [(effect, "4"), (effect, "6")]
    values = [("none", "4"), ("none", "6")]
    values += [("signal", size) for size in ("4", "16", "mean", "6")]
    assert lines == [*effects, *values]


def test_rows_without_a_window_size_are_no_arms(tmp_path: Path) -> None:
    docs = [{"ticker": "T", "arm": "signal"}] * 2
    write_run(tmp_path / "m", {"dynostock_recency": scored(1, 0)}, docs=docs)
    found = report.read([tmp_path / "m"])
    with pytest.raises(DataError, match="found none"):
        arm_rows(found, scoring="paper")


BIASES = ("recency", "authority")


def test_a_metric_that_the_baseline_lacks_is_a_note(tmp_path: Path) -> None:
    write_run(tmp_path / "a", {TASK: scored(1, 0)}, model="a")
    write_run(
        tmp_path / "b",
        {TASK: [{"acc": 1.0, "f1": 0.5}, {"acc": 0.0, "f1": 1.0}]},
        model="b",
    )
    found = compared(tmp_path / "a", tmp_path / "b", metric="f1")
    assert found.lines["value"].to_list() == [0.75]
    assert any("a has no value of f1" in note for note in found.notes)


def test_runs_without_a_common_task_are_told_what_to_do(tmp_path: Path) -> None:
    for mode in ("cot", "pot"):
        metadata = {"provenance": {**PROVENANCE, "mode": mode}}
        write_run(tmp_path / mode, {TASK: scored(1, 0)}, model="m", metadata=metadata)
    found = compared(tmp_path / "cot", tmp_path / "pot")
    assert "share no task under the same conditions" in found.notes[-1]
    assert "name several runs" not in " ".join(found.notes)


def test_one_run_has_no_figure(tmp_path: Path) -> None:
    (folder,) = models(tmp_path, 1)
    out = tmp_path / "out"
    done = CliRunner().invoke(app, ["compare", str(folder), "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert {path.name for path in out.iterdir()} == {"compare.csv", "compare.tex"}


def test_styles_of_all_models_are_one_table_with_a_baseline_of_choice(
    tmp_path: Path,
) -> None:
    for model in ("m1", "m2"):
        for at, mode in enumerate(("cot", "da")):
            metadata = {
                "provenance": {**PROVENANCE, "style": {"mode": mode, "role": True}}
            }
            rows = {"xfinbench_bool": scored(*draw(at))}
            write_run(tmp_path / f"{model}{mode}", rows, model=model, metadata=metadata)
    printed = (
        CliRunner().invoke(app, ["compare", str(tmp_path), "--by", "style"]).stdout
    )
    assert printed.count("Difference") == 1 and "m1, cot" in printed
    found = compared(tmp_path, factor="style", baseline="da")
    assert found.lines["model"].to_list() == ["m1", "m1", "m2", "m2"]
    assert found.lines["against"].to_list() == ["", "da", "", "da"]
    with pytest.raises(DataError, match="expected one of cot, da, got 'pot'"):
        compared(tmp_path, factor="style", baseline="pot")


def test_the_baseline_may_be_any_run(tmp_path: Path) -> None:
    found = compared(*models(tmp_path, 1, 2), baseline="m2")
    assert found.lines[["run", "against"]].to_numpy().tolist() == [
        ["m2", ""],
        ["m1", "m2"],
    ]


@pytest.mark.parametrize("width", [80, 120])
def test_tables_fit_the_terminal_without_cutting_numbers(
    tmp_path: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = {"COLUMNS": str(width), "FORCE_COLOR": "1", "TERM": "xterm"}
    for name, value in terminal.items():
        monkeypatch.setenv(name, value)
    folders = [str(folder) for folder in models(tmp_path, 1, 3, topics=True)]
    done = CliRunner().invoke(app, ["compare", *folders, "--by", "topic"])
    printed = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
    assert max(map(len, printed.splitlines())) <= width
    assert printed.count("Management") == 2
    number = r"[-+]?\d+\.\d"
    intervals = re.findall(rf"\[{number}…{number}\]", printed)
    assert len(intervals) == 8 + 4  # of values and of differences


def test_tables_spell_out_metrics_and_groups(tmp_path: Path) -> None:
    docs = [{"capabilities": ["TU"]}] * 4
    for model in ("a", "b"):
        rows = [{"acc": 1.0, "acc_err": 1.0}] * 4
        write_run(tmp_path / model, {"xfinbench_calc": rows}, model=model, docs=docs)
    command = ["compare", str(tmp_path / "a"), str(tmp_path / "b")]
    command += ["--by", "capability", "--metric", "acc_err"]
    printed = CliRunner().invoke(app, command).stdout
    assert "Accuracy" in printed
    assert "Terminology" in printed and "acc_err" not in printed
