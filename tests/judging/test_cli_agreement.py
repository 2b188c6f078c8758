"""`fin-tasks agreement` on files as people have them."""

import csv
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from typer.testing import CliRunner

from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError

PEOPLE = {"1": (5, 5, 4), "2": (0, 0, 5), "3": (1, 2, 3), "4": (3, 3, 3), "5": (4, 4, 4), "6": (0, 1, 0)}
COMBINED = {"1": 5, "2": 0, "3": 2, "4": 3, "5": 4, "6": 0}
CATEGORIES = {"1": "OCR", "2": "OCR", "3": "Image Caption", "4": "Image Caption", "5": "OCR", "6": "Risk Warning"}


def write_people(path: Path, **more: str) -> Path:
    rows = [
        {"index": index, **{f"score_{n + 1}": score for n, score in enumerate(scores)}, **more}
        for index, scores in PEOPLE.items()
    ]
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in [list(rows[0]), *(list(row.values()) for row in rows)]:
            book.active.append(row)
        book.save(path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), delimiter="\t" if path.suffix == ".tsv" else ",")
            writer.writeheader()
            writer.writerows(rows)
    return path


def write_judge(path: Path, scores: dict[str, Any], **fields: Any) -> Path:
    fields = {"judge": "gpt-4o", "image": True, "rubric": "mme_finance_en@1", **fields}
    rows = [{"index": i, "score": s, "category": CATEGORIES.get(i, "OCR"), **fields} for i, s in scores.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(*arguments: str | Path) -> Any:
    done = CliRunner().invoke(app, ["agreement", *map(str, arguments)])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout) if "--json" in arguments else done.stdout


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".xlsx"])
def test_numbers_are_those_by_hand(tmp_path: Path, suffix: str) -> None:
    people = write_people(tmp_path / f"people{suffix}")
    judge = write_judge(tmp_path / "judge.jsonl", {**COMBINED, "3": 4, "6": None, "77": 3})
    found = run(people, judge, "--json")
    assert found["people"] | {"annotators": None} == {
        "annotators": None,
        "n": 6,
        "mode": 5,
        "mean": 1,
        "without_score": 0,
        "review": ["2"],
        "left_out": 0,
    }
    (one,) = found["judges"]
    assert (one["label"], one["n"], one["unscored"], one["missing"]) == ("gpt-4o, with picture", 5, 1, 0)
    assert one["mean_absolute_difference"] == pytest.approx(2 / 5)
    assert one["bias"] == pytest.approx(2 / 5)
    low, high = one["mean_absolute_difference_interval"]
    assert low == 0 < high
    assert one["objective"]["n"] == 3
    assert one["objective"]["mean_absolute_difference"] == 0
    assert one["objective"]["spearman"] == pytest.approx(1)
    assert one["subjective"]["n"] == 2
    assert one["subjective"]["mean_absolute_difference"] == 1
    assert found["rankings"] is None


def test_responses_to_be_reviewed_can_be_left_out(tmp_path: Path) -> None:
    people = write_people(tmp_path / "people.csv")
    judge = write_judge(tmp_path / "judge.jsonl", COMBINED)
    found = run(people, judge, "--leave-out-review", "--json", "--items", tmp_path / "items.jsonl")
    assert (found["people"]["left_out"], found["judges"][0]["n"]) == (1, 5)
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert [item["index"] for item in items if item["left_out"]] == ["2"]
    assert items[0]["people"] == {"score_1": 5, "score_2": 5, "score_3": 4}
    assert items[0]["judges"] == {"gpt-4o, with picture": 5}


def test_judges_stand_side_by_side_with_and_without_pictures(tmp_path: Path) -> None:
    people = write_people(tmp_path / "people.csv")
    seeing = write_judge(tmp_path / "seeing.jsonl", COMBINED)
    blind = write_judge(tmp_path / "blind.jsonl", {**COMBINED, "1": 0}, image=False)
    again = write_judge(tmp_path / "again.jsonl", {**COMBINED, "1": 1})
    found = run(people, seeing, blind, again, "--json", "--plot", tmp_path / "plot.png")
    labels = [one["label"] for one in found["judges"]]
    assert labels == ["gpt-4o, with picture (seeing)", "gpt-4o, without picture", "gpt-4o, with picture (again)"]
    assert len(found["between_judges"]) == 3
    assert found["between_judges"][0]["mean_absolute_difference"] == pytest.approx(5 / 6)
    assert (tmp_path / "plot.png").stat().st_size > 5000
    assert (tmp_path / "plot.svg").is_file()
    shown = run(people, seeing, blind, again)
    assert "To be reviewed" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_models_rank_differently(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    lines = ["index,model,rater_a,rater_b"]
    lines += [f"{at},{model},{score},{score}" for model, score in (("good", 4), ("bad", 2)) for at in range(4)]
    people.write_text("\n".join(lines) + "\n")
    # several models in one file, and a file per model, come to the same
    good = write_judge(tmp_path / "good.jsonl", dict.fromkeys("0123", 1), model="good")
    bad = write_judge(tmp_path / "bad.jsonl", dict.fromkeys("0123", 3), model="bad")
    found = run(people, good, bad, "--json")
    assert len(found["judges"]) == 1
    assert found["judges"][0]["n"] == 8
    rankings = found["rankings"]
    assert rankings["means"]["people"] == {"good": 4.0, "bad": 2.0}
    assert rankings["swaps"] == [
        {"first": "people", "second": "gpt-4o, with picture", "models": ["good", "bad"], "kept": 1.0}
    ]
    assert rankings["correlations"][0]["kendall"] == pytest.approx(-1)
    assert "people: good above bad" in run(people, good, bad)


def test_one_side_may_leave_out_the_only_model(tmp_path: Path) -> None:
    people = write_people(tmp_path / "people.csv")
    named = write_judge(tmp_path / "named.jsonl", COMBINED, model="m")
    assert run(people, named, "--json")["judges"][0]["n"] == 6
    two = tmp_path / "two.jsonl"
    two.write_text(named.read_text() + named.read_text().replace('"m"', '"other"'))
    with pytest.raises(DataError, match=r"several models \(m, other\)"):
        run(people, two, "--json")


def test_lists_of_scores_and_named_columns(tmp_path: Path) -> None:
    listed = tmp_path / "listed.jsonl"
    listed.write_text("".join(json.dumps({"index": i, "scores": s}) + "\n" for i, s in PEOPLE.items()))
    judge = write_judge(tmp_path / "judge.jsonl", COMBINED)
    assert run(listed, judge, "--json")["people"]["annotators"] == ["scores[0]", "scores[1]", "scores[2]"]
    odd = tmp_path / "odd.csv"
    odd.write_text("index,Ann,Bo,Cy\n1,5,5,\n2,,,\n")
    found = run(odd, judge, "--annotators", "Ann, Bo,Cy", "--json")
    assert (found["people"]["n"], found["people"]["without_score"]) == (1, 1)
    with pytest.raises(DataError, match="expected a column per annotator"):
        run(odd, judge)


@pytest.mark.parametrize(
    ("people", "judge", "message"),
    [
        ("index,score_1\n1,good\n", '{"index": "1", "score": 3}', "score_1: expected a score"),
        ("index,score_1\n1,3\n1,4\n", '{"index": "1", "score": 3}', "line 3: expected each response once"),
        ("index,score_1\n1,3\n", '{"index": "1", "prediction": "x"}', "a field score"),
        ("index,score_1\n1,3\n", '{"index": "2", "score": 3}', "none in common"),
        ("index,score_1\n1,3\n", '{"index": "1", "score": true}', "score: expected a score"),
        ("index,score_1\n,3\n", '{"index": "1", "score": 3}', "expected an index"),
        ("index,score_1\n1,\n", '{"index": "1", "score": 3}', "got none in 1 rows"),
    ],
)
def test_what_cannot_be_used_is_named(tmp_path: Path, people: str, judge: str, message: str) -> None:
    (tmp_path / "people.csv").write_text(people)
    (tmp_path / "judge.jsonl").write_text(judge + "\n")
    with pytest.raises(DataError, match=message):
        run(tmp_path / "people.csv", tmp_path / "judge.jsonl", "--json")


def test_a_file_twice_and_a_plot_nowhere(tmp_path: Path) -> None:
    people = write_people(tmp_path / "people.csv")
    judge = write_judge(tmp_path / "judge.jsonl", COMBINED)
    with pytest.raises(ConfigError, match="each file once"):
        run(people, judge, judge)
    with pytest.raises(ConfigError, match="--plot"):
        run(people, judge, "--plot", tmp_path / "none" / "plot.png")


def test_columns_that_are_no_annotators_do_not_count(tmp_path: Path) -> None:
    judge = write_judge(tmp_path / "judge.jsonl", COMBINED)
    people = tmp_path / "people.csv"
    lines = ["index,score_1,score_2,score_3,score_mean,human_final,reviewer_comment"]
    lines += [f"{index},{a},{b},{c},9,9,odd" for index, (a, b, c) in PEOPLE.items()]
    people.write_text("\n".join(lines) + "\n")
    assert run(people, judge, "--json")["people"]["annotators"] == ["score_1", "score_2", "score_3"]
    # people's columns beside a judge's own score
    added = tmp_path / "added.jsonl"
    rows = [json.loads(line) for line in judge.read_text().splitlines()]
    for row in rows:
        row |= dict(zip(("annotator_a", "annotator_b"), PEOPLE[row["index"]], strict=False))
    added.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run(added, judge, "--json")["people"]["annotators"] == ["annotator_a", "annotator_b"]
    two = tmp_path / "two.csv"
    two.write_text("index,score_1,score_2,rater_1,rater_2\n1,1,2,3,4\n")
    with pytest.raises(DataError, match="with --annotators"):
        run(two, judge)


def test_a_row_per_annotator(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    lines = [f"{index},{who},{score}" for index, of in PEOPLE.items() for who, score in zip("abc", of, strict=True)]
    people.write_text("\n".join(["index,annotator,score", *lines]) + "\n")
    judge = write_judge(tmp_path / "judge.jsonl", COMBINED)
    wide = run(write_people(tmp_path / "wide.csv"), judge, "--json")
    long = run(people, judge, "--json")
    assert long["people"].pop("annotators") == ["a", "b", "c"]
    wide["people"].pop("annotators")
    assert long == wide
    people.write_text(people.read_text() + "1,a,3\n")
    with pytest.raises(DataError, match="one score of a for index '1'"):
        run(people, judge)


def test_annotators_that_are_not_there_are_named(tmp_path: Path) -> None:
    people = write_people(tmp_path / "people.csv")
    judge = write_judge(tmp_path / "judge.jsonl", COMBINED)
    with pytest.raises(DataError, match="none called score_9"):
        run(people, judge, "--annotators", "score_1,score_2,score_9")


@pytest.mark.parametrize("missing", ["", "nan", "NaN", "None", "-", "N/A"])
def test_missing_scores_and_indices_as_pandas_writes_them(tmp_path: Path, missing: str) -> None:
    people = tmp_path / "people.csv"
    people.write_text(f"Index;score_1;score_2\n1.0;5;{missing}\n2.0;{missing};0\n")
    judge = write_judge(tmp_path / "judge.jsonl", {"1": 5, "2": 0})
    found = run(people, judge, "--json")
    assert found["judges"][0]["n"] == 2
    assert found["judges"][0]["mean_absolute_difference"] == 0


@pytest.mark.parametrize("names", [("OCR", "IC"), ("ocr", "Image caption"), ("文字识别", "图像描述")])
def test_categories_are_known_without_a_rubric(tmp_path: Path, names: tuple[str, str]) -> None:
    people = tmp_path / "people.csv"
    people.write_text(f"index,score_1,task_category\n1,5,{names[0]}\n2,3,{names[1]}\n3,3,Poetry\n")
    judge = tmp_path / "judge.jsonl"
    judge.write_text("".join(json.dumps({"index": i, "score": 3}) + "\n" for i in (1, 2, 3)))
    (one,) = run(people, judge, "--json")["judges"]
    assert (one["objective"]["n"], one["subjective"]["n"], one["unknown_kind"]) == (1, 1, 1)
    assert "1 in neither part" in run(people, judge)


def test_a_file_says_the_kind_itself(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    judge = write_judge(tmp_path / "judge.jsonl", COMBINED)
    people.write_text("index,score_1,kind\n1,5,Subjective\n3,3,Objective\n5,4,unanswerable\n")
    (one,) = run(people, judge, "--json")["judges"]
    assert (one["objective"]["n"], one["subjective"]["n"]) == (2, 1)  # whatever the rubric says of their categories
    people.write_text("index,score_1,kind\n1,5,other\n")
    with pytest.raises(DataError, match=r"kind: expected one of .*, got 'other'"):
        run(people, judge)


def test_two_scales_are_doubted(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("index,score_1\n1,100\n2,20\n")
    judge = write_judge(tmp_path / "judge.jsonl", COMBINED)
    assert "Is it one scale?" in run(people, judge, "--json")["notes"][0]
    assert run(write_people(tmp_path / "fine.csv"), judge, "--json")["notes"] == []


def test_a_judge_called_people_is_not_people(tmp_path: Path) -> None:
    people = tmp_path / "human.csv"
    people.write_text("index,model,score_1\n1,a,5\n1,b,1\n")
    judge = tmp_path / "people.jsonl"
    judge.write_text('{"index": 1, "score": 1, "model": "a"}\n{"index": 1, "score": 2, "model": "b"}\n')
    found = run(people, judge, "--json")
    assert set(found["rankings"]["means"]) == {"people", "people (judge)"}


def test_files_of_two_models_need_people_to_name_them(tmp_path: Path) -> None:
    people = write_people(tmp_path / "people.csv")
    one = write_judge(tmp_path / "one.jsonl", COMBINED, model="a")
    other = write_judge(tmp_path / "other.jsonl", COMBINED, model="b", judge="another")
    with pytest.raises(DataError, match=r"several models \(a, b\)"):
        run(people, one, other)


def test_messages_are_about_scores(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("row,score_1\n1,5\n")
    with pytest.raises(DataError, match="expected people's scores"):
        run(people, write_judge(tmp_path / "judge.jsonl", COMBINED))


def run_both(*arguments: str | Path) -> tuple[Any, str]:
    done = CliRunner().invoke(app, ["agreement", *map(str, arguments), "--json"])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout), done.stderr


@pytest.mark.parametrize("names", ["A,B,C", "Alice,Bob,Carol", "h1,h2,h3", "张三,李四,王五"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_columns_with_the_names_of_people(tmp_path: Path, names: str, suffix: str) -> None:
    judge = write_judge(tmp_path / "judge.jsonl", COMBINED)
    people = tmp_path / f"people{suffix}"
    rows = [dict(zip(names.split(","), scores, strict=True)) for scores in PEOPLE.values()]
    rows = [{"index": at, "task_category": "OCR", **row, "mean": 2.5} for at, row in zip(PEOPLE, rows, strict=True)]
    if suffix == ".csv":
        lines = [",".join(map(str, cells)) for cells in (rows[0], *(row.values() for row in rows))]
        people.write_text("\n".join(lines) + "\n", encoding="utf-8")
    else:
        people.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found, told = run_both(people, judge)
    assert found["people"]["annotators"] == names.split(",")
    assert all(name in told for name in names.split(",")), told
    assert "--annotators" in told
    assert run_both(people, judge, "--annotators", names)[1] == "", "said only where it was not asked for"


def test_columns_that_tell_of_the_row_are_nobodys_scores(tmp_path: Path) -> None:
    head = "Index,Model,A,B,C,Image Type,difficulty,Confidence,asked-on,date"
    rows = [f"{at},m,{a},{b},{c},table,1,2,Monday,2026-01-0{at}" for at, (a, b, c) in PEOPLE.items()]
    (tmp_path / "people.csv").write_text("\n".join((head, *rows)) + "\n")
    found, told = run_both(tmp_path / "people.csv", write_judge(tmp_path / "judge.jsonl", COMBINED))
    assert found["people"]["annotators"] == ["A", "B", "C"]
    assert "A, B, C" in told


@pytest.mark.parametrize(
    "table",
    [
        "index,A,B\n1,6,2\n2,1,3\n",  # beyond the scale
        "index,A,remark\n1,3,good\n2,1,bad\n",  # no scores
        "index,A\n1,3\n2,1\n",  # may be anything
        "index,A,B,score_1,rater_1\n1,3,2,1,1\n",  # some names say so, others do not
        "index,A,B,raw\n1,3,2,1\n",  # a judge's
    ],
)
def test_columns_that_may_be_something_else_are_not_taken(tmp_path: Path, table: str) -> None:
    judge = write_judge(tmp_path / "judge.jsonl", COMBINED)
    (tmp_path / "people.csv").write_text(table)
    with pytest.raises(DataError, match="with --annotators"):
        run(tmp_path / "people.csv", judge)


def test_without_a_known_scale_no_columns_are_taken(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("index,A,B\n1,3,2\n2,1,1\n")
    judge = write_judge(tmp_path / "judge.jsonl", COMBINED, rubric="own@1")
    with pytest.raises(DataError, match="with --annotators"):
        run(tmp_path / "people.csv", judge)
