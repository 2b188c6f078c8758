"""Comparing runs: pairs, tests, families, styles and knowledge, against scipy and statsmodels."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import Result
from run_files import PROVENANCE, scored, write_models, write_run
from typer.testing import CliRunner

from fin_tasks import report
from fin_tasks.cli import app
from fin_tasks.errors import DataError
from fin_tasks.report.arms import arm_rows
from fin_tasks.report.compare import Comparisons, Options, compare

TASK = "financemath"
OLD = "2026-01-01T10-00-00"
BIASES = ("recency", "authority")
TOPICS = ("Accounting", "Risk Management", "Economics")


def draw(seed: int, n: int = 60, share: float = 0.5) -> list[float]:
    return (np.random.default_rng(seed).random(n) < share).astype(float).tolist()


def compared(*folders: Path, **more: Any) -> Comparisons:
    reports = {str(folder): report.read([folder]) for folder in folders}
    return compare(reports, Options(**more))


def models(folder: Path, *seeds: int, topics: bool = False, n: int = 60) -> list[Path]:
    docs = [{"topic": TOPICS[at % 3]} for at in range(n)] if topics else None
    rows = {f"m{seed}": scored(*draw(seed, n, 0.3 + 0.1 * seed)) for seed in seeds}
    return write_models(folder, rows, docs=docs)


def two_runs(
    folder: Path, first: dict[str, Any], second: dict[str, Any], **more: Any
) -> Comparisons:
    """Compare two models, whose runs are written with some options each."""
    for model, options in (("a", first), ("b", second)):
        tasks = {TASK: options.pop("rows", scored(1, 0))}
        write_run(folder / model, tasks, model=model, **options)
    return compared(folder / "a", folder / "b", **more)


def command(*words: object) -> Result:
    return CliRunner().invoke(app, ["compare", *map(str, words)])


def holm(lines: pd.DataFrame) -> list[float]:
    from statsmodels.stats.multitest import multipletests

    """Return what statsmodels says of the p-values of a table, which are one family."""
    return list(multipletests(lines["p"], method="holm")[1])


def test_pair_equals_statsmodels_and_a_sum_over_the_samples(tmp_path: Path) -> None:
    from statsmodels.stats.contingency_tables import mcnemar

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
    is_clear = line["difference_low"] > 0 or line["difference_high"] < 0
    assert is_clear == (line["p"] < 0.05)


def test_shared_sources_are_tested_together(tmp_path: Path) -> None:
    docs = [{"ticker": f"T{at % 16}", "window": 4, "arm": "signal"} for at in range(64)]
    rows = {f"m{seed}": scored(*draw(seed, 64)) for seed in (1, 2)}
    folders = write_models(tmp_path, rows, "dynostock_recency_w4", docs=docs)
    line = compared(*folders).lines.iloc[1]
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
    for lines, n_tests in ((two, 4), (three, 8)):
        tested = lines[lines["against"] != ""]
        assert len(tested) == n_tests
        assert list(tested["p_holm"]) == pytest.approx(holm(tested))


def test_members_of_a_group_are_parts_of_it(tmp_path: Path) -> None:
    """Groups of rows are shown of the whole alone."""
    parts = ("xfinbench_bool", "xfinbench_mcq")
    docs = [{"capabilities": ["TU"]}] * 30
    for seed in (1, 2):
        tasks = {part: scored(*draw(seed + at, 30)) for at, part in enumerate(parts)}
        options: dict[str, Any] = {"docs": docs, "groups": {"xfinbench_text": parts}}
        write_run(tmp_path / str(seed), tasks, model=f"m{seed}", **options)
    lines = compared(tmp_path / "1", tmp_path / "2", by="capability").lines
    tested = lines[lines["against"] != ""].set_index(["task", "group"])
    assert tested["pairs"].to_dict() == {
        ("xfinbench_text", ""): 60,
        ("xfinbench_text", "TU"): 60,
        ("xfinbench_bool", ""): 30,
        ("xfinbench_mcq", ""): 30,
    }
    assert list(tested["p_holm"]) == pytest.approx(holm(tested))


def test_lost_and_unscored_rows_are_left_out_and_said(tmp_path: Path) -> None:
    first = {"rows": scored(1, 0, 1, 0, None, 1)}
    line = two_runs(tmp_path, first, {"rows": scored(1, 1, 1, 0, 1)}).lines.iloc[1]
    assert (line["pairs"], line["left_out"], line["n"]) == (4, 2, 5)
    assert line["difference"] == 0.25


@pytest.mark.parametrize(
    ("provenance", "note"),
    [
        ({**PROVENANCE, "split": "validation"}, "validation: a has no result to"),
        ({**PROVENANCE, "data": {"revision": "new"}}, "version of the data: new"),
        # An unknown split is not the test set.
        ({"data": PROVENANCE["data"]}, "a has no result to compare b with"),
    ],
)
def test_other_data_is_not_compared(
    tmp_path: Path, provenance: dict[str, Any], note: str
) -> None:
    found = two_runs(tmp_path, {}, {"metadata": {"provenance": provenance}})
    assert not found.lines["against"].any()
    assert any(note in text for text in found.notes), found.notes


def test_newest_of_repeated_runs_counts(tmp_path: Path) -> None:
    write_run(tmp_path / "b", {TASK: scored(0, 0)}, model="b", stamp=OLD)
    found = two_runs(tmp_path, {"rows": scored(1, 1)}, {})
    assert found.lines["value"].to_list() == [1.0, 0.5]
    assert any("newest" in note for note in found.notes)


def test_a_model_in_two_folders_is_named_with_them(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("before", "after")]
    for folder in folders:
        write_run(folder, {TASK: scored(1, 0)}, model="m")
    names = [f"m ({folder})" for folder in folders]
    assert compared(*folders).lines["run"].to_list() == names


def test_styles_and_knowledge_of_one_model(tmp_path: Path) -> None:
    styles = (("da", True), ("cot", False), ("cot", True), ("da", False))
    for at, (mode, role) in enumerate(styles):
        style = {"style": {"mode": mode, "role": role}}
        tasks = {"xfinbench_bool": scored(*draw(at))}
        write_run(tmp_path / f"style{at}", tasks, provenance=style)
    for name in ("bm25", "oracle"):
        asked = {"mode": "cot", "role": True}
        facts = {"style": asked, "retrieval": {"condition": name}}
        tasks = {"xfinbench_bool": scored(*draw(7))}
        terms = [{"id": "t9"}, {"id": "t1"}]
        docs = [{"gold_terms": ["t1", "t2"], "terms": terms} for _ in range(60)]
        write_run(tmp_path / name, tasks, provenance=facts, docs=docs)
    lines = compared(tmp_path, factor="style").lines
    assert lines["run"].to_list()[0] == "cot"
    assert set(lines["run"]) == {"cot", "cot, no role", "da", "da, no role"}
    assert set(lines["against"]) == {"", "cot"}
    lines = compared(tmp_path, factor="knowledge").lines
    runs = lines.loc[lines["metric"] == "acc", "run"].to_list()
    assert runs == ["none", "bm25", "oracle"]


def test_unknown_metric_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="got acc, unscored"):
        compared(*models(tmp_path, 1, 2), metric="bleu")


def test_command_prints_writes_and_refuses(tmp_path: Path) -> None:
    folders = models(tmp_path, 1, 3, topics=True)
    out = tmp_path / "out"
    ran = command(*folders, "--by", "topic", "--out", out, "--json")
    lines = json.loads(ran.stdout)["lines"]
    assert (ran.exit_code, len(lines)) == (0, 8)
    suffixes = {path.suffix for path in out.iterdir()}
    assert suffixes == {".csv", ".tex", ".pdf", ".png"}
    p_values = [one["p"] for one in lines if one["p"] is not None]
    written = pd.read_csv(out / "compare.csv")["p"].dropna().to_list()
    assert written == pytest.approx(p_values)
    for options in (
        ["--by", "color"],
        ["--by", "style", "--by", "knowledge"],
        ["--scoring", "exact"],
        ["--by", "arm", "--metric", "acc"],
        ["--metric", "bias_index"],
    ):
        assert command(*folders, *options).exit_code > 0, options
    (samples,) = folders[0].glob("samples_*")
    samples.write_text("{")
    assert command(*folders).exit_code == 1


def test_effects_of_statements_stand_before_the_values_of_each_size(
    tmp_path: Path,
) -> None:
    """The arms have other window sizes; the mean stands behind the sizes of Table 1."""
    for arm, sizes in (("none", (4, 6)), ("signal", (4, 6, 16))):
        for size in sizes:
            docs = [{"ticker": f"T{at}", "arm": arm, "window": size} for at in range(8)]
            tasks = {
                f"dynostock_{bias}_w{size}": scored(*draw(size, 8)) for bias in BIASES
            }
            groups = {"dynostock_recency": [f"dynostock_recency_w{size}"]}
            folder = tmp_path / f"{arm}{size}"
            arms = {"arm": arm}
            write_run(folder, tasks, docs=docs, provenance=arms, groups=groups)
    words = [tmp_path, "--by", "arm"]
    assert "more rows: --all shows them." in command(*words).stdout
    out = tmp_path / "out"
    printed = command(*words, "--out", out, "--json").stdout
    assert list(out.glob("*.pdf"))
    lines = [
        (line["run"], line["group"])
        for line in json.loads(printed)["lines"]
        if line["metric"] == "acc" and line["heading"] == "recency, org/model"
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


def test_a_metric_that_the_baseline_lacks_is_a_note(tmp_path: Path) -> None:
    rows = [{"acc": 1.0, "f1": 0.5}, {"acc": 0.0, "f1": 1.0}]
    found = two_runs(tmp_path, {}, {"rows": rows}, metric="f1")
    assert found.lines["value"].to_list() == [0.75]
    assert any("a has no value of f1" in note for note in found.notes)


def test_runs_without_a_common_task_are_told_what_to_do(tmp_path: Path) -> None:
    modes = [{"provenance": {"mode": mode}} for mode in ("cot", "pot")]
    found = two_runs(tmp_path, *modes)
    assert "share no task under the same conditions" in found.notes[-1]
    assert "name several runs" not in " ".join(found.notes)


def test_styles_of_all_models_are_one_table_with_a_baseline_of_choice(
    tmp_path: Path,
) -> None:
    for model in ("m1", "m2"):
        for at, mode in enumerate(("cot", "da")):
            style = {"style": {"mode": mode, "role": True}}
            rows = {"xfinbench_bool": scored(*draw(at))}
            write_run(tmp_path / f"{model}{mode}", rows, model=model, provenance=style)
    printed = command(tmp_path, "--by", "style").stdout
    assert printed.count("Difference") == 1 and "m1, cot" in printed
    lines = compared(tmp_path, factor="style", baseline="da").lines
    assert lines["model"].to_list() == ["m1", "m1", "m2", "m2"]
    assert lines["against"].to_list() == ["", "da", "", "da"]
    with pytest.raises(DataError, match="expected one of cot, da, got 'pot'"):
        compared(tmp_path, factor="style", baseline="pot")


@pytest.mark.parametrize("width", [80, 120])
def test_tables_fit_the_terminal_without_cutting_numbers(
    tmp_path: Path, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = {"COLUMNS": str(width), "FORCE_COLOR": "1", "TERM": "xterm"}
    for name, value in terminal.items():
        monkeypatch.setenv(name, value)
    folders = models(tmp_path, 1, 3, topics=True)
    done = command(*folders, "--by", "topic")
    printed = re.sub(r"\x1b\[[\d;]*m", "", done.stdout)
    assert max(map(len, printed.splitlines())) <= width
    assert printed.count("Management") == 2
    number = r"[-+]?\d+\.\d"
    intervals = re.findall(rf"\[{number}…{number}\]", printed)
    assert len(intervals) == 8 + 4  # of values and of differences


def test_tables_spell_out_metrics_and_groups(tmp_path: Path) -> None:
    docs = [{"capabilities": ["TU"]}] * 4
    rows = [{"acc": 1.0, "acc_err": 1.0}] * 4
    folders = write_models(
        tmp_path, {"a": rows, "b": rows}, "xfinbench_calc", docs=docs
    )
    options = ("--by", "capability", "--metric", "acc_err")
    printed = command(*folders, *options).stdout
    assert "Accuracy" in printed
    assert "Terminology" in printed and "acc_err" not in printed
