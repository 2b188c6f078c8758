"""VLMEvalKit's rows as they are compared: what was asked and answered, from the files beside the scores."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from made_runs import write_run

from fin_tasks.report.compare import compare
from fin_tasks.report.comparison_files import item_rows

STYLES = ("computer screenshot", "mobile photograph")


def write_judged(folder: Path, points: list[int], *, truths: list[str] | None = None, category: Any = "OCR") -> None:
    """Four rows about two pictures, with the kit's prediction table."""
    folder.mkdir(parents=True)
    stem = f"{folder.name}_MMEFinance"
    lines = [
        {
            **{"index": str(at), "score": score, "failed": None, "category": category, "image_type": "K线图"},
            **{"image_style": STYLES[at % 2], "source": f"{at // 2}.png"},
        }
        for at, score in enumerate(points)
    ]
    (folder / f"{stem}_gpt-4o_items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / f"{stem}_gpt-4o_score.json").write_text(
        json.dumps({"dataset": "MMEFinance", "n": len(points), "overall": 20 * sum(points) / len(points)})
    )
    truths = truths or [f"truth {at}" for at in range(len(points))]
    table = {
        "index": range(len(points)),
        "question": [f"What is {at}?" for at in range(len(points))],
        "answer": truths,
        "prediction": [f"said {score}" for score in points],
    }
    pd.DataFrame(table).to_excel(folder / f"{stem}.xlsx", index=False)


def test_rows_have_question_truth_answer_and_groups(tmp_path: Path) -> None:
    write_judged(tmp_path / "a", [1, 2, 3, 4])
    write_judged(tmp_path / "b", [3, 2, 1, 5])
    found = compare([tmp_path / "a", tmp_path / "b"], variant="robust", by="image_style")
    (one,) = found.comparisons
    assert one.numbers.clusters == 2
    assert {style: numbers.n for style, numbers in one.by.items()} == {
        "computer screenshot": 2,
        "mobile photograph": 2,
    }
    first = next(item_rows(found))
    assert {name: first[name] for name in ("id", "question", "truth", "baseline_answer", "other_answer")} == {
        **{"id": "0", "question": "What is 0?", "truth": "truth 0"},
        **{"baseline_answer": "said 1", "other_answer": "said 3"},
    }
    assert one.baseline.variants["robust"]["0"].groups == {
        "category": ("OCR",),
        "image_type": ("K线图",),
        "image_style": ("computer screenshot",),
    }


def test_rows_of_another_truth_are_not_paired_but_a_spreadsheets_changes_are_none(tmp_path: Path) -> None:
    write_judged(tmp_path / "kit", [1, 2, 3, 4], truths=["7", "two\nlines", "other", "truth 3"])
    docs = [{"id": str(at), "ground_truth": of} for at, of in enumerate(("7.0", "two lines ", "truth 2", "truth 3"))]
    write_run(tmp_path / "lm", "mme_finance_en", [20.0] * 4, docs=docs, metric="score")
    for order in (("kit", "lm"), ("lm", "kit")):
        (one,) = compare([tmp_path / name for name in order], variant="robust").comparisons
        assert (one.numbers.n, one.numbers.unpaired_baseline, one.numbers.unpaired_other) == (3, 1, 1)


def test_rows_without_a_table_are_paired_by_id(tmp_path: Path) -> None:
    write_judged(tmp_path / "a", [1, 2, 3, 4])
    write_judged(tmp_path / "b", [3, 2, 1, 5])
    (tmp_path / "b" / "b_MMEFinance.xlsx").unlink()
    found = compare([tmp_path / "a", tmp_path / "b"], variant="robust")
    first = next(item_rows(found))
    assert (found.comparisons[0].numbers.n, first["truth"], first["other_answer"]) == (4, "truth 0", None)


@pytest.mark.parametrize("named", ["score", "items"])
def test_a_file_of_a_run_names_it(named: str, tmp_path: Path) -> None:
    write_judged(tmp_path / "a", [1, 2, 3, 4])
    write_judged(tmp_path / "b", [3, 2, 1, 5])
    ending = {"score": "score.json", "items": "items.jsonl"}[named]
    paths = [tmp_path / name / f"{name}_MMEFinance_gpt-4o_{ending}" for name in "ab"]
    (one,) = compare(paths, variant="robust").comparisons
    assert (one.baseline.model, one.other.model, one.numbers.n) == ("a", "b", 4)


def test_a_category_that_is_no_text_is_a_problem(tmp_path: Path) -> None:
    write_judged(tmp_path / "a", [1, 2, 3, 4])
    write_judged(tmp_path / "b", [3, 2, 1, 5], category={"x": 1})
    found = compare([tmp_path / "a", tmp_path / "b"], variant="robust")
    assert not found.comparisons
    assert ["doc.category: expected texts" in problem.message for problem in found.problems] == [True]


def write_read(folder: Path, answers: list[int]) -> None:
    """Windows of one ticker, all of which rose and suggest a fall."""
    folder.mkdir()
    stem = f"{folder.name}_DynoStock_Recency_W12"
    lines = []
    for at, answer in enumerate(answers):
        right = answer == 1
        read = {"answer": answer, "correct": right, "led": not right, "metrics": {"acc": float(right)}}
        lines.append({"index": f"w{at}", "response": "0.9", "source": "AAPL", "paper": read, "robust": read})
    (folder / f"{stem}_items.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    mean = sum(answers) / len(answers)
    score = {"dataset": "DynoStock_Recency_W12", "n": len(answers), "acc_paper": mean, "acc_robust": mean}
    (folder / f"{stem}_score.json").write_text(json.dumps(score))
    table = {"index": [f"w{at}" for at in range(len(answers))], "answer": ["1"] * len(answers)}
    pd.DataFrame({**table, "prediction": answers}).to_excel(folder / f"{stem}.xlsx", index=False)


def write_samples(folder: Path, answers: list[int]) -> Path:
    """The same windows as the task of lm-eval has them."""
    docs = [{"id": f"w{at}", "ticker": "AAPL", "window": 12, "truth": 1} for at in range(len(answers))]
    path = write_run(folder, "dynostock_recency_w12", [float(answer) for answer in answers], docs=docs)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        line["metrics"].append("bias_index")
        line.update(target="Final prediction: 1", bias_index=[line["acc"], 1 - line["acc"], 0.0])
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_answers_that_were_read_and_windows(tmp_path: Path) -> None:
    write_read(tmp_path / "a", [1, 0])
    write_read(tmp_path / "b", [0, 0])
    (one,) = compare([tmp_path / "a", tmp_path / "b"], variant="paper").comparisons
    row = one.baseline.variants["paper"]["w0"]
    assert (row.answer, row.truth, row.groups, row.source) == (1, "1", {"window": ("12",)}, "AAPL")


def test_windows_and_bias_indices_of_both_harnesses_are_the_same(tmp_path: Path) -> None:
    write_read(tmp_path / "kit", [1, 0, 1])
    write_samples(tmp_path / "lm", [0, 0, 1])
    for metric, rates, n in (("acc", (2 / 3, 1 / 3), 3), ("bias_index", (1.0, 1.0), 2)):
        (one,) = compare([tmp_path / "kit", tmp_path / "lm"], variant="paper", metric=metric).comparisons
        assert (one.numbers.baseline_rate, one.numbers.other_rate, one.numbers.n) == (
            pytest.approx(rates[0]),
            pytest.approx(rates[1]),
            n,
        )


@pytest.mark.parametrize("shares", ["1", [0.0, 1.0], [0.0, True, 0.0], [2.0, -1.0, 0.0], {"led": 1}])
def test_shares_that_are_none_are_a_problem(shares: Any, tmp_path: Path) -> None:
    write_read(tmp_path / "kit", [1, 0])
    path = write_samples(tmp_path / "lm", [0, 1])
    path.write_text(path.read_text().replace("[0.0, 1.0, 0.0]", json.dumps(shares)))
    found = compare([tmp_path / "kit", tmp_path / "lm"], variant="paper")
    assert ["bias_index: expected" in problem.message for problem in found.problems] == [True]
