"""The four styles side by side: numbers against plain computation, and what is missing or left out."""

from pathlib import Path
from typing import Any

import pytest
from made_runs import document, write_run
from scipy.stats import binomtest

from fin_tasks.benchmarks.xfinbench.prompts import STYLES
from fin_tasks.errors import DataError
from fin_tasks.report.sensitivity import Cell, Group, as_object, collect

RIGHT = {"cot_role": 30, "da_role": 18, "cot": 27, "da": 20}  # of 40


def write_style(folder: Path, style: str, task: str, values: list[float | None], **more: Any) -> Path:
    used = STYLES[style]
    facts = {"style": {"mode": used.mode, "role": used.role}, **more.pop("provenance", {})}
    return write_run(folder / style, task, values, provenance=facts, **more)


def values(right: int, n: int = 40) -> list[float | None]:
    return [float(place < right) for place in range(n)]


def cell(group: Group, style: str, task: str) -> Cell:
    (found,) = [c for c in group.cells if (c.style, c.task) == (style, task)]
    return found


@pytest.fixture
def complete(tmp_path: Path) -> Path:
    for style, right in RIGHT.items():
        write_style(tmp_path, style, "xfinbench_bool", values(right))
        write_style(tmp_path, style, "xfinbench_mcq", [*values(right // 4, 10), None])
    return tmp_path


def test_the_table_of_a_complete_study(complete: Path) -> None:
    (group,) = collect([complete], variant="paper").groups
    assert group.tasks == ("all", "xfinbench_bool", "xfinbench_mcq")
    assert not group.missing
    assert [c.style for c in group.cells if c.task == "all"] == list(RIGHT)
    first = cell(group, "cot_role", "xfinbench_bool")
    assert (first.accuracy, first.n, first.unscored, first.difference) == (0.75, 40, 0, None)
    wilson = binomtest(30, 40).proportion_ci(method="wilson")
    assert first.interval is not None
    assert (first.interval.low, first.interval.high) == pytest.approx((wilson.low, wilson.high))
    assert cell(group, "da", "xfinbench_mcq").unscored == 1
    whole = cell(group, "da_role", "all")
    assert (whole.n, whole.unscored) == (50, 1)
    assert whole.accuracy == pytest.approx((18 + 4) / 50)
    assert whole.difference is not None
    assert whole.difference.difference == pytest.approx((18 + 4 - 30 - 7) / 50)
    assert whole.difference.p == pytest.approx(binomtest(0, 15).pvalue)
    assert group.spread["xfinbench_bool"] == pytest.approx((30 - 18) / 40)


def test_a_missing_style_is_named_and_has_no_total(complete: Path) -> None:
    for path in (complete / "da").glob("samples_xfinbench_mcq*"):
        path.unlink()
    (group,) = collect([complete], variant="paper").groups
    assert group.missing == {"da": ("xfinbench_mcq",)}
    assert {c.task for c in group.cells if c.style == "da"} == {"xfinbench_bool"}
    for path in (complete / "cot_role").glob("samples_*"):
        path.unlink()
    (group,) = collect([complete], variant="paper").groups
    assert group.missing["cot_role"] == ("xfinbench_bool", "xfinbench_mcq")
    assert all(c.difference is None for c in group.cells)


def test_direct_answer_tasks_count_as_the_style(tmp_path: Path) -> None:
    docs = [document(n) for n in range(4)]
    write_style(tmp_path, "cot_role", "xfinbench_bool", values(1, 4), docs=docs)
    write_style(tmp_path, "da_role", "xfinbench_bool_da", values(3, 4), docs=docs)
    (group,) = collect([tmp_path], variant="paper").groups
    assert group.tasks == ("xfinbench_bool",)
    difference = cell(group, "da_role", "xfinbench_bool").difference
    assert difference is not None
    assert (difference.n, difference.gained) == (4, 2)


def test_models_conditions_and_settings_are_groups_of_their_own(tmp_path: Path) -> None:
    write_style(tmp_path, "cot", "xfinbench_bool", values(2, 4))
    write_style(tmp_path, "cot", "xfinbench_bool_bm25", values(2, 4))
    write_style(tmp_path / "b", "cot", "xfinbench_bool", values(2, 4), model="m/b")
    write_style(tmp_path / "c", "da", "xfinbench_bool", values(2, 4), limit=4.0)
    found = collect([tmp_path], variant="paper")
    groups = found.groups
    assert len(found.notes) == 1
    assert found.notes[0].endswith("as they differ in limit (none, 4.0).")
    assert {(g.model, g.condition, g.limit) for g in groups} == {
        ("made/model", "none", None),
        ("made/model", "bm25 (top 3, ties paper)", None),
        ("m/b", "none", None),
        ("made/model", "none", 4.0),
    }


@pytest.mark.parametrize("harness", ["lm_eval_version", "vlmeval_version"])
def test_the_version_of_a_harness_does_not_part_the_styles(tmp_path: Path, harness: str) -> None:
    for place, style in enumerate(STYLES):
        write_style(tmp_path, style, "xfinbench_bool", values(2, 4), **{harness: f"0.{place}"})
    found = collect([tmp_path], variant="paper")
    (group,) = found.groups
    assert (dict(group.missing), found.notes) == ({}, ())


def test_what_retrieval_found_does_not_part_the_tasks(tmp_path: Path) -> None:
    for style in STYLES:
        for task, rows in (("xfinbench_bool_bm25", ["a"]), ("xfinbench_mcq_bm25", ["b", "c"])):
            write_style(tmp_path, style, task, values(2, 4), found={"rows_with_more_terms": rows})
    found = collect([tmp_path], variant="paper")
    (group,) = found.groups
    assert group.tasks == ("all", "xfinbench_bool", "xfinbench_mcq")
    assert not group.missing
    assert not found.notes


def test_programs_and_other_benchmarks_are_left_out_and_named(complete: Path) -> None:
    write_run(complete, "xfinbench_calc_pot", [1.0], provenance={"style": {"mode": "pot", "role": True}})
    write_run(complete, "financemath", [1.0])
    found = collect([complete], variant="paper")
    assert len(found.groups) == 1
    assert any("a program has no style but the role" in note for note in found.notes)
    assert any("only XFinBench has styles" in note for note in found.notes)


def test_runs_over_other_data_are_not_put_beside_each_other(tmp_path: Path) -> None:
    old = write_style(tmp_path, "cot", "xfinbench_bool", values(1, 4), provenance={"data": {"revision": "d0"}})
    write_style(tmp_path, "cot_role", "xfinbench_bool", values(2, 4), date="2026-05-01T10-00-00.000001")
    found = collect([tmp_path], variant="paper")
    assert [c.style for c in found.groups[0].cells] == ["cot_role"]
    assert any(note.startswith(f"{old}: left out, its data differ") for note in found.notes)


def test_the_split_a_sample_was_asked_by_does_not_part_the_styles(tmp_path: Path) -> None:
    for style, split in [("cot_role", "test"), ("da", "validation")]:
        facts = {"split": split, "data": {"revision": "d1", "origin": "sample"}}
        write_style(tmp_path, style, "xfinbench_bool", values(2, 4), provenance=facts)
    found = collect([tmp_path], variant="paper")
    (group,) = found.groups
    assert {c.style for c in group.cells if c.task == "xfinbench_bool"} == {"cot_role", "da"}
    assert not found.notes


def test_rows_asked_several_times_have_an_interval(tmp_path: Path) -> None:
    write_style(tmp_path, "cot", "xfinbench_bool", [0.5, 0.25, 1.0, 0.75])
    (group,) = collect([tmp_path], variant="paper").groups
    found = cell(group, "cot", "xfinbench_bool")
    assert found.interval is not None
    assert 0.1 <= found.interval.low < 0.625 < found.interval.high <= 1


def test_json_has_every_style_with_fractions(complete: Path) -> None:
    found = as_object(collect([complete], variant="robust"))
    (group,) = found["groups"]
    assert found["reference"] == "cot_role"
    assert len(group["styles"]) == 12
    assert {row["style"] for row in group["styles"]} == set(STYLES)
    assert group["styles"][0]["accuracy"] == pytest.approx(37 / 50)
    assert group["styles"][-1]["against_reference"]["n"] == 10


def test_nothing_to_collect_says_how_to_run(tmp_path: Path) -> None:
    write_run(tmp_path, "financemath", [1.0])
    with pytest.raises(DataError, match=r"Arguments for lm-eval after -- run them"):
        collect([tmp_path], variant="paper")
