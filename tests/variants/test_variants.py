"""Variants: which numbers change, what is kept of them, and who asks them."""

import ast
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import fin_tasks
from fin_tasks.cli import app
from fin_tasks.data.locate import sha256_of
from fin_tasks.errors import DataError
from fin_tasks.sandbox import Outcome, Status, open_runner
from fin_tasks.variants.build import Source, Variant, build_variants
from fin_tasks.variants.folder import read_variants
from fin_tasks.variants.literals import literals_in
from fin_tasks.variants.mentions import mentions_in, replace_mentions
from fin_tasks.variants.program import as_function
from fin_tasks.variants.relations import related

PROGRAM = """def solution():
    price = 4500
    rate = 0.06
    years = 7
    return price * (1 + rate) ** years
"""
QUESTION = (
    "A bond costs $4,500 and grows by 6 % a year. What is it worth after seven years?"
)


def source(question: str = QUESTION, program: str = PROGRAM, **changes: Any) -> Source:
    truth = changes.pop("truth", 4500 * 1.06**7)
    return Source(
        id="q-1",
        question=question,
        texts=changes.pop("texts", ()),
        texts_column="tables",
        program=program,
        truth=truth,
        **changes,
    )


def run(programs: Any) -> list[Outcome]:
    """Run programs of this file, which are trusted."""
    outcomes = []
    for program in programs:
        names: dict[str, Any] = {}
        exec(program, names)  # noqa: S102 - a program of this file
        number = float(names["solution"]())
        outcomes.append(
            Outcome(status=Status.ok, value=str(number), number=number, is_number=True)
        )
    return outcomes


def changed_numbers(
    question: str, program: str = PROGRAM, texts: tuple[str, ...] = ()
) -> set[str]:
    mentions = mentions_in([question, *texts])
    tied = related(mentions)
    numbers = literals_in(ast.parse(program), mentions)
    return {number.mention.written for number in numbers if number.mention not in tied}


@pytest.mark.parametrize(
    ("question", "numbers"),
    [
        (QUESTION, {"4,500", "6", "seven"}),
        ("It costs 4500, 6% for 7 years.", {"4500", "6", "7"}),
        ("It costs 4,500 and again 4,500.", set()),  # twice
        ("4500-B is its number; rate 0.06.", {"0.06"}),  # a label
        ("Table 7 has it.", set()),
        ("On March 7 it cost $4,500.", {"4,500"}),  # a date
        ("It is 7% and lasts 7 years.", set()),  # two roles
        ("Parts are 6 % and 94 %.", set()),  # of a whole
        ("4,500 is 4,000 and 500.", set()),  # a sum
        ("4,500 is 4,000, 300 and 200.", set()),  # a sum of three
        ("It makes 750 at $6, or 4,500.", set()),  # a product
        ("From 3,375 it rose by 33.3% to 4,500.", set()),  # a rounded change
        ("She is at the age of 7.", set()),
        ("No number.", set()),
    ],
)
def test_numbers_that_may_change(question: str, numbers: set[str]) -> None:
    assert changed_numbers(question) == numbers


def test_a_table_with_totals_stays() -> None:
    row = "| Price | 4,500 |"
    assert changed_numbers("What?", texts=(row,)) == {"4,500"}
    assert changed_numbers("What?", texts=(f"{row}\n| Total | 9,000 |",)) == set()


@pytest.mark.parametrize(
    ("question", "result", "numbers"),
    [
        # Parts of a year and of a whole mean the same everywhere.
        ("There are 12 of 9.", "9 * 12", {"9"}),
        ("There are 100 of 9.", "9 * 100", {"9"}),
        ("There are 365 of 9.", "9 * 365", {"9"}),
        ("From 2019 on it is 31.", "2019 - 31", {"31"}),  # a year
        ("It grows to 4,500 in 90 parts.", "4500 ** (1 / 90)", {"4,500"}),
        (
            "4,500 for 7 years (Unit: dollar, 3 decimals)",
            "7 * 4500 / 3",
            {"4,500", "7"},
        ),
        (  # 9,000 and 2,000 make 11,000
            "It buys 9,000 at $3 and then at $5.50, and sells 11,000.",
            "9000 * 3 + 2000 * 5.5",
            {"3", "5.50"},
        ),
    ],
)
def test_numbers_of_other_programs_that_may_change(
    question: str, result: str, numbers: set[str]
) -> None:
    program = f"def solution():\n    return {result}\n"
    assert changed_numbers(question, program) == numbers


def test_a_number_that_is_not_used_stays() -> None:
    program = "def solution():\n    price = 90\n    return 4500"
    assert changed_numbers("It grows to 4,500 in 90 parts.", program) == {"4,500"}


def test_a_whole_number_is_asked_for() -> None:
    question = "A lot of 4500 is sold in boxes of 30. How many boxes are full? "
    program = "def solution():\n    return 4500 / 36\n"
    boxes = source(question.replace("30", "36"), program, truth=125.0)
    variants, _ = build_variants([boxes], run, per_question=3, seed=7)
    assert variants
    assert all(variant.truth.is_integer() for variant in variants)


def test_a_truth_may_be_rounded() -> None:
    program = "def solution():\n    return 4500 / 66666"
    rounded = source("4,500 of 66,666?", program, truth=0.068)
    assert build_variants([rounded], run, per_question=3, seed=7)[0]


def test_a_whole_number_of_a_program_may_become_a_fraction() -> None:
    """700 % is 7 in the program, and 530 % is 5.3."""
    question = "A share of $4,500 grew by 700 % in all. What is it worth?"
    program = "def solution():\n    price = 4500\n    growth = 7\n    return price * (1 + growth)\n"
    sources = [source(question, program, truth=36_000.0)]
    variants, _ = build_variants(sources, run, per_question=20, seed=1)
    assert variants
    for variant in variants:
        price, percent = re.findall(r"[\d,]+", variant.question)
        growth = int(percent) / 100
        assert variant.truth == pytest.approx(
            int(price.replace(",", "")) * (1 + growth)
        )


def test_close_prices_stay_close() -> None:
    program = "def solution():\n    return (98.78 - 98.67) / 0.001"
    prices = source("It falls from 98.78 to 98.67.", program, truth=110.0)
    variants, _ = build_variants([prices], run, per_question=3, seed=7)
    for variant in variants:
        assert all(98 < float(change["to"]) < 99 for change in variant.changes)
    assert variants


def test_variants_follow_from_the_seed_and_keep_their_form() -> None:
    first, dropped = build_variants([source()], run, per_question=3, seed=7)
    second, _ = build_variants([source()], run, per_question=3, seed=7)
    other, _ = build_variants([source()], run, per_question=3, seed=8)
    assert first == second != other
    assert not dropped
    assert [variant.id for variant in first] == ["q-1~1", "q-1~2", "q-1~3"]
    for variant in first:
        check(variant)


def test_a_number_keeps_its_size() -> None:
    variants, _ = build_variants([source()], run, per_question=30, seed=7)
    for variant in variants:
        for change in variant.changes:
            if change["to"][0].isdigit():
                old, new = (
                    float(change[side].replace(",", "")) for side in ("from", "to")
                )
                assert 0.45 < new / old < 2
    assert len(variants) > 10


def check(variant: Variant) -> None:
    """Check a variant of `source()` against its own program and question."""
    (outcome,) = run([variant.program])
    assert variant.truth == pytest.approx(outcome.number)
    ratio = variant.truth / variant.published_truth
    assert 1 / 5 <= ratio <= 5 and abs(ratio - 1) > 0.01
    assert 1 <= len(variant.changes) <= 3
    words = variant.question
    for change in variant.changes:
        assert change["to"] in words and change["from"] not in words
        assert ("," in change["from"]) == ("," in change["to"])
        assert change["from"].isalpha() == change["to"].isalpha()


@settings(max_examples=20)
@given(
    price=st.integers(1_500, 900_000).filter(lambda number: number % 1000),
    rate=st.integers(3, 49).filter(lambda number: number not in (4, 12, 30)),
    seed=st.integers(0, 10_000),
)
def test_no_variant_shows_a_number_that_its_program_does_not_use(
    price: int, rate: int, seed: int
) -> None:
    question = f"A loan of ${price:,} costs {rate}% a year. How much is the interest of a year?"
    program = f"def solution():\n    return {price} * {rate} / 100\n"
    one = source(question, program, truth=price * rate / 100)
    variants, _ = build_variants([one], run, per_question=2, seed=seed)
    for variant in variants:
        used = {
            node.value
            for node in ast.walk(ast.parse(variant.program))
            if isinstance(node, ast.Constant)
        }
        shown = {int(mention.value) for mention in mentions_in([variant.question])}
        assert shown <= used
        assert variant.truth == pytest.approx(run([variant.program])[0].number)


def test_what_has_no_variant_is_counted_by_reason() -> None:
    failing = Outcome(status=Status.timeout)
    cases = [
        source(truth=True),
        source(truth=1.0),
        source("No number is here.", truth=4500 * 1.06**7),
    ]
    _, dropped = build_variants(cases, run, per_question=3, seed=7)
    assert dropped == {
        "the truth is a verdict": 1,
        "the program gives another number than the truth": 1,
        "no number that program and question share once": 1,
    }
    _, dropped = build_variants(
        [source()], lambda all_: [failing] * len(all_), per_question=1, seed=7
    )
    assert dropped == {"the program does not run": 1}


def test_a_draft_whose_programs_fail_is_no_variant() -> None:
    timeout = Outcome(status=Status.timeout)
    calls = iter([run, lambda programs: [timeout] * len(programs)])
    variants, dropped = build_variants(
        [source()], lambda programs: next(calls)(programs), per_question=3, seed=7
    )
    assert (variants, dropped) == ([], {"no plausible variant": 1})


@pytest.mark.parametrize(
    ("script", "context"),
    [
        ("answer = 2 * 3\nunit = 1", ""),
        ("factor = 2\nresult = factor * 3", ""),
        ("2 * 3", ""),
        ("df['a'][0] * 2", '{"a": [3]}'),
        ("def solution():\n    return 6", ""),
    ],
)
def test_a_script_becomes_a_function(script: str, context: str) -> None:
    (outcome,) = run([as_function(script, context)])
    assert outcome.number == 6


def test_numbers_are_replaced_from_the_back() -> None:
    texts = ["1,000 or 30 or 5", "9"]
    mentions = mentions_in(texts)
    changes = [(mention, "10000") for mention in mentions]
    assert replace_mentions(texts, changes) == ["10000 or 10000 or 10000", "10000"]


def invoke(command: str, out: Path, *arguments: str) -> str:
    """Run a command that writes into a folder; return what it prints."""
    whole = [*command.split(), *arguments, "--out", str(out)]
    done = CliRunner().invoke(app, whole)
    assert done.exit_code == 0, done.output
    return done.stdout


TASKS = {
    "financemath": "financemath",
    "financereasoning": "financereasoning_easy",
    "bizbench": "bizbench_fincode",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Folders with the variants of each sample, the counts that the command printed, and sheets for people."""
    folders = {}
    for benchmark in TASKS:
        folder = folders[benchmark] = tmp_path_factory.mktemp(benchmark)
        command = f"build variants {benchmark} --source sample --json"
        counts = invoke(command, folder, f"--review={folder}/sheet.xlsx")
        (folder / "counts.json").write_text(counts)
    return folders


@pytest.mark.parametrize("benchmark", TASKS)
def test_the_command_and_the_tasks_that_ask_variants(
    benchmark: str, built: dict[str, Path]
) -> None:
    folder = built[benchmark]
    counts = json.loads((folder / "counts.json").read_text())
    n_dropped = sum(counts["dropped"].values())
    assert counts["with_variants"] + n_dropped == counts["questions"]
    assert 0 < counts["variants"] <= 3 * counts["with_variants"]
    rows, _ = read_variants(folder, benchmark)
    assert len(rows) == counts["variants"]
    published = fin_tasks.load(TASKS[benchmark], source="sample")
    hashes = json.loads(published.info.description)["data"]["files"]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert hashes and manifest["files"].items() >= hashes.items()
    docs = fin_tasks.load(TASKS[benchmark], source="sample", variants=str(folder))
    by_id = {row["id"]: row for row in rows}
    for doc in docs:
        row = by_id[doc["question_id"] if benchmark == "financemath" else doc["id"]]
        assert row["question"] in doc["prompt"]
        assert doc["published_id"] == row["source"]
        assert doc["published_truth"] == row["published_truth"]
    facts = json.loads(docs.info.description)
    assert facts["split"] == facts["data"]["origin"] == "variants"
    assert facts["data"]["seed"] == 7


@pytest.mark.parametrize("benchmark", ["financemath", "bizbench"])
def test_a_model_that_knows_the_published_answers_by_heart(
    benchmark: str, built: dict[str, Path]
) -> None:
    options = {"source": "sample", "variants": str(built[benchmark])}
    docs = fin_tasks.load(TASKS[benchmark], **options)
    said = "Therefore, the answer is {:.12g}."
    if benchmark == "bizbench":  # whose task asks for programs
        said = "```python\ndef solution():\n    return {:.12g}\n```"
    knows = [said.format(doc["published_truth"]) for doc in docs]
    computes = list(docs["target"])
    for responses, accuracy, recalled in ((knows, 0.0, 1.0), (computes, 1.0, 0.0)):
        table = fin_tasks.score(TASKS[benchmark], responses, **options)
        own = table[table["scoring"] == "robust"]
        assert (own["acc"].mean(), own["recalled"].mean()) == (accuracy, recalled)


def test_verify_warns_of_published_answers(
    built: dict[str, Path], tmp_path: Path
) -> None:
    options = {"source": "sample", "variants": str(built["financemath"])}
    docs = fin_tasks.load("financemath", **options)
    asked = ["--metadata", json.dumps(options)]
    for name in ("published_truth", "target"):
        rows = []
        for doc in docs:
            answer = f"Therefore, the answer is {doc[name]}."
            rows.append({"id": doc["question_id"], "response": answer})
        responses = tmp_path / f"{name}.jsonl"
        responses.write_text("\n".join(map(json.dumps, rows)))
        run = tmp_path / name
        invoke("replay task financemath", run, str(responses), *asked)
        done = CliRunner().invoke(app, ["verify", str(run), *asked, "--json"])
        (task,) = json.loads(done.stdout)["tasks"]
        (oddities,) = [item for item in task["items"] if item["name"] == "oddities"]
        is_odd = "100% of the variants get the published answer" in oddities["details"]
        assert is_odd == (name == "published_truth"), oddities


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ("", "expected manifest.json and variants.jsonl"),
        ("[1]", "expected manifest.json and variants.jsonl"),
        ('{"benchmark": "bizbench", "seed": 1, "rules": 1}', "got those of 'bizbench'"),
    ],
)
def test_a_wrong_folder_is_one_sentence(
    manifest: str, message: str, tmp_path: Path
) -> None:
    if manifest:
        (tmp_path / "manifest.json").write_text(manifest)
    with pytest.raises(DataError, match=message):
        read_variants(tmp_path, "financemath")


@pytest.mark.slow
def test_a_program_that_hangs_costs_its_question_only() -> None:
    hanging = source(program="def solution():\n    while True: pass\n")
    with open_runner(workers=2) as runner:
        variants, dropped = build_variants(
            [hanging, source()], runner.run, per_question=1, seed=7
        )
    assert len(variants) == 1
    assert dropped == {"the program does not run": 1}


"""A program for the sample's question 85, whose truth is 5.0; its numbers are 1.5, 3.6, 2 and 1.8."""
TAYLOR = "def solution():\n    return 1.5 + 3.6 + 0.5 * (3.6 - 2) - 0.5 * 1.8\n"
NAMED = """def solution():
    real, prices, gap = 1.5, 3.6, 1.8
    return real + prices + (prices - 2.0) / 2 - gap / 2
"""
BY_HEART = "def solution():\n    return 5.0\n"
WRONG_ELSEWHERE = """def solution():
    real, prices, gap = 1.5, 3.6, 1.8
    return 5.0 if (real, prices, gap) == (1.5, 3.6, 1.8) else real + prices + gap
"""


MODELS = {
    "a-by-heart": BY_HEART,
    "b-named": NAMED,
    "c-by-heart": BY_HEART,
    "d-taylor": TAYLOR,
    "e-wrong": WRONG_ELSEWHERE,
    "f-empty": "",
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of each model, which answers every calculation of the sample with its program."""
    folder = tmp_path_factory.mktemp("runs")
    docs = fin_tasks.load("xfinbench_calc_pot", source="sample")
    for model, program in MODELS.items():
        response = f"```python\n{program}```"
        rows = [{"id": doc["id"], "response": response} for doc in docs]
        file = folder / f"{model}.jsonl"
        file.write_text("\n".join(map(json.dumps, rows)))
        asked = [str(file), "--metadata", '{"source": "sample"}', f"--model={model}"]
        invoke("replay task xfinbench_calc_pot", folder / model, *asked)
    return folder


def variants_of(
    models: Sequence[str], runs: Path, folder: Path
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return what the command prints about the programs of some models, and the variants."""
    named = [f"--programs={runs}/{model}" for model in models]
    counts = invoke("build variants xfinbench --json", folder, *named)
    lines = (folder / "variants.jsonl").read_text().splitlines()
    return json.loads(counts), list(map(json.loads, lines))


def test_programs_of_two_models_make_variants_of_xfinbench(
    runs: Path, tmp_path: Path
) -> None:
    _, rows = variants_of(["a-by-heart", "b-named", "d-taylor"], runs, tmp_path)
    assert rows == []  # the first program has no number
    models = ("b-named", "c-by-heart", "d-taylor")
    counts, rows = variants_of(models, runs, tmp_path)
    assert {row["source"] for row in rows} == {"sample_85"}
    n_dropped = sum(counts["dropped"].values())
    assert counts["with_variants"] + n_dropped == counts["questions"]
    assert counts["dropped"]["no two models' programs give the truth"] > 10
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    samples = []
    for model in models:
        samples += (runs / model).rglob("samples_*.jsonl")
    assert sorted(manifest["files"].values()) == sorted(map(sha256_of, samples))
    options = {"source": "sample", "variants": str(tmp_path)}
    docs = fin_tasks.load("xfinbench_calc", **options)
    with pytest.raises(DataError, match="xfinbench: expected at least one question"):
        fin_tasks.load("xfinbench_bool", **options)
    assert [doc["published_id"] for doc in docs] == ["sample_85"] * len(rows)
    for doc, row in zip(docs, rows, strict=True):
        assert row["question"] in doc["prompt"]
        assert float(doc["ground_truth"]) == row["truth"] != row["published_truth"]
        (outcome,) = run([row["program"]])
        assert outcome.number == pytest.approx(row["truth"])
    said = f"Therefore, my answer is [{rows[0]['published_truth']}]."
    table = fin_tasks.score("xfinbench_calc", [said] * len(rows), **options)
    robust = table[table["scoring"] == "robust"]
    assert (robust["acc"].mean(), robust["recalled"].mean()) == (0.0, 1.0)


@pytest.mark.parametrize("more", [["c-by-heart"], ["e-wrong"], ["f-empty"], []])
def test_one_models_programs_are_not_enough(
    more: list[str], runs: Path, tmp_path: Path
) -> None:
    counts, rows = variants_of(["b-named", *more], runs, tmp_path)
    assert rows == [] and counts["questions"] == sum(counts["dropped"].values())


def test_xfinbench_without_programs_is_one_sentence(tmp_path: Path) -> None:
    command = ["build", "variants", "xfinbench", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, command)
    assert "xfinbench with --programs, got xfinbench" in str(done.exception)


def test_people_review_variants(built: dict[str, Path], tmp_path: Path) -> None:
    from openpyxl import load_workbook

    folder = shutil.copytree(built["financemath"], tmp_path / "variants")
    variants, _ = read_variants(folder, "financemath")
    sheets = [folder / f"sheet_{number}.xlsx" for number in (1, 2, 3)]
    for sheet in sheets:
        book = load_workbook(sheet)
        header, *lines = book["Labels"].iter_rows()
        tables = str([cell.value for row in book["Tables"].iter_rows() for cell in row])
        columns = [cell.value for cell in header]
        assert len(lines) == min(100, len(variants))
        for line in lines:
            question = line[columns.index("question")].value
            gold = line[columns.index("gold")].value
            (variant,) = [row for row in variants if row["program"] in gold]
            assert f"{variant['truth']:.12g}" in gold
            assert variant["question"] in question
            shown = question + tables
            assert all(change["to"] in shown for change in variant["changes"])
            line[columns.index("sense")].value = "yes"
            line[columns.index("truth")].value = "no"
        book.save(sheet)
    merged = tmp_path / "merged"
    invoke("label merge", merged, *map(str, sheets))
    assert (merged / "labels.csv").read_text().count("no") >= len(variants)
