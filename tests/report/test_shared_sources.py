"""Shared sources: exercises, documents and files are told from what samples files hold, whatever the prompt."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from made_runs import write_run

from fin_tasks.benchmarks.bizbench import data as bizbench
from fin_tasks.benchmarks.xfinbench import data as xfinbench
from fin_tasks.report.row_scores import read_scores
from fin_tasks.report.samples import read_samples
from fin_tasks.report.sources import SOURCES, exercise, question_of

REAL = Path(__file__).resolve().parents[3] / "shared" / "data"
DROP = "Marlow Tea plans to float new shares and asks three underwriters to bid for the issue."


def docs(**options: Any) -> list[dict[str, Any]]:
    (found,) = xfinbench.load(**{"source": "sample", **options}).values()
    return list(found)


def asked(question: str, *, before: str = "", behind: str = " Reason step by step.", **fields: Any) -> dict[str, Any]:
    return {"prompt": f"{before}Question: {question}\n\nWork out the number asked for.{behind}", "figure": "", **fields}


@pytest.mark.parametrize("options", [{}, {"style": "da"}, {"knowledge": "oracle"}, {"blank_image": True}], ids=str)
@pytest.mark.parametrize("subset", ["bool", "mcq", "calc"])
def test_the_question_is_found_behind_whatever_stands_before_it(subset: str, options: dict[str, Any]) -> None:
    plain = {doc["id"]: question_of(doc) for doc in docs(subset=subset)}
    assert all(plain.values())
    assert not any(text.startswith(("Statement", "Question", "<image>", "\n")) for text in plain.values())
    found = {doc["id"]: exercise(question_of(doc)) for doc in docs(subset=subset, **options)}
    assert found == {name: exercise(text) for name, text in plain.items()}


def test_questions_of_an_exercise_fall_together_and_others_do_not() -> None:
    of = SOURCES["xfinbench"]
    same = [
        asked(f"{DROP}\nHow much does it raise?"),
        asked(f"{DROP.upper()} What does one share fetch?", behind=""),
        asked(f"  {DROP}Which bid wins?", before="Terms:\n\nIncome Statement: what is earned.\n\n"),
        asked(
            "\\begin{table}[h!] \\centering \\begin{tabular}{|l|r|} \\hline Marlow Tea & plans to & float new shares"
        ),
    ]
    assert len({of(doc) for doc in same}) == 1
    tables = [
        asked(f"\\begin{{table}}[h] \\centering \\begin{{tabular}}{{lr}} {cells}") for cells in ("A & 1", "B & 2")
    ]
    begin_alike = [asked("Consider the difference between shares and bonds."), asked("Consider the difference of two.")]
    others = [asked("Marlow Tea pays a dividend. How much?"), *tables, *begin_alike]
    assert len({of(doc) for doc in [same[0], *others]}) == 1 + len(others)


def test_a_figure_comes_before_the_exercise_and_folders_do_not_count() -> None:
    of = SOURCES["xfinbench"]
    assert of(asked(DROP, figure="/here/7.png")) == of(asked("Another.", figure="C:\\there\\7.png")) == "7.png"
    assert of({"figure": "", "prompt": "no marker at all"}) == of({"figure": None}) == of({"prompt": 3}) == ""


@pytest.mark.parametrize(("part", "mode"), [("finknow", "cot"), ("codetatqa", "pot"), ("secnum", "cot")])
def test_rows_over_one_document_share_it_and_rows_without_stand_alone(part: str, mode: str) -> None:
    of = SOURCES["bizbench"]
    (found,) = bizbench.load(part=part, mode=mode, source="sample").values()
    names: dict[str, set[str]] = {}
    for doc in found:
        assert bool(of(doc)) == doc["prompt"].startswith("Document:\n")
        names.setdefault(doc["prompt"].rpartition("\n\nQuestion: ")[0], set()).add(of(doc))
    assert all(len(several) == 1 for several in names.values())
    assert len(set.union(*names.values())) == len(names)


def test_documents_are_told_apart_by_their_last_line() -> None:
    of = SOURCES["bizbench"]
    table = "Document:\nSales | 40\n\nQuestion: none here\n\nCosts | 31\n\n"
    one, other = ({"prompt": f"{table}Question: {text}?\n\nGo on."} for text in ("How much", "Why"))
    assert of(one) == of(other) != of({"prompt": table.replace("31", "32") + "Question: How much?\n\nGo on."})
    code = {"prompt": f"{table}Finish this Python function:\n\ndef solution():\n\nReply with one code block."}
    assert of(code) == of(one)
    assert of({"prompt": "Document:\nwithout an end"}) == of({}) == ""


@pytest.mark.parametrize(("task", "benchmark"), [("xfinbench_calc", "xfinbench"), ("financemath", "financemath")])
def test_samples_files_have_it_without_a_field_of_its_own(task: str, benchmark: str, tmp_path: Path) -> None:
    texts = [f"{DROP} Part {part}." for part in "abc"] + ["An orchard of Pell & Daughters bears 40 crates. Value it."]
    rows = [asked(text, id=f"row_{at}", ground_truth="1") for at, text in enumerate(texts)]
    path = write_run(tmp_path, task, [1.0, 0.0, 1.0, 1.0], docs=rows)
    sources = [row.source for row in read_samples(path, source=SOURCES.get(benchmark))["paper"].values()]
    clusters = read_scores(path, benchmark).variants["paper"].clusters
    if benchmark == "financemath":
        assert (sources, clusters) == ([""] * 4, None)
        return
    assert Counter(sources) == {exercise(texts[0]): 3, exercise(texts[3]): 1}
    assert clusters == tuple(sources)


@pytest.mark.skipif(not (REAL / "xfinbench" / "validation_set.csv").is_file(), reason=f"no validation set in {REAL}")
def test_the_validation_set_has_as_many_exercises_as_is_said() -> None:
    found: Counter[str] = Counter()
    alike: Counter[str] = Counter()
    for subset in ("bool", "mcq", "calc"):
        own = docs(subset=subset, source="data_dir", data_dir=str(REAL), split="validation")
        found.update(SOURCES["xfinbench"](doc) for doc in own)
        alike.update(question_of(doc)[:120] for doc in own)
    assert sum(found.values()) == 978
    assert (len(found), sum(n for n in found.values() if n > 1), max(found.values())) == (556, 674, 7)
    assert sum(n for n in alike.values() if n > 1) < 674  # what a longer beginning would miss
    assert found[exercise("Teardrop Inc. wishes to expand its facilities by issuing new equity.")] == 6
