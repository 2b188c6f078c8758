"""Several responses to a question; and logs of inspect_ai where it is not installed."""

import itertools
import json
import math
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
from cheats import edit_lines
from run_files import scored, write_run

from fin_tasks import report
from fin_tasks.errors import DataError


def test_pass_at_k_is_the_share_of_draws_with_a_right_response(tmp_path: Path) -> None:
    """Against all draws of k among the responses; an unscored response is not drawn."""
    right = {0: [1, 0, 0, 0], 1: [1, 1, 0], 2: [0, 0, 0, 0]}
    rows = scored(*(sum(of) / len(of) for of in right.values()), None)
    write_run(tmp_path, {"xfinbench_calc": rows})
    unscored = {"answer": None, "reason": "broken", "unscored": True}

    def change(lines: list[Any]) -> None:
        for line in lines:
            said = [{"answer": one} for one in right.get(line["doc_id"], [0] * 4)]
            said += [unscored] * (4 - len(said))
            line["filtered_resps"] = [[json.dumps(one) for one in said]]

    edit_lines(tmp_path, change)
    rows = report.read([tmp_path]).rows
    robust = rows[rows.scoring == "robust"].set_index("doc_id")
    for at, of in right.items():
        row = robust.loc[f"xfinbench_calc-{at}"]
        draws = list(itertools.combinations(of, 2))
        assert row["pass@2"] == pytest.approx(sum(map(max, draws)) / len(draws))
        expected = max(of) if len(of) == 4 else math.nan
        assert row["pass@4"] == pytest.approx(expected, nan_ok=True)
    assert rows.spread.iloc[0] == pytest.approx(0.5)
    unknown = rows[rows.acc.isna()][["pass@2", "pass@4", "spread"]]
    assert unknown.isna().all(axis=None), "its truth cannot be scored"


def test_more_than_a_hundred_responses_all_count(tmp_path: Path) -> None:
    write_run(tmp_path, {"xfinbench_calc": scored(1 / 128)})
    said = [[json.dumps({"answer": one, "reason": ""}) for one in range(128)]]
    edit_lines(
        tmp_path, lambda lines: [line.update(filtered_resps=said) for line in lines]
    )
    assert report.read([tmp_path]).rows["pass@64"].tolist() == pytest.approx([0.5, 0.5])


def test_the_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    with zipfile.ZipFile(tmp_path / "one.eval", "w"):
        pass
    with pytest.raises(DataError, match=r"pip install inspect-ai"):
        report.read([tmp_path])
