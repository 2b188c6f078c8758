"""Questions by a model, against a server on this machine with scripted replies."""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from case_files import rows
from chat_server import Answer, completion, serve
from typer.testing import CliRunner

from fin_tasks.benchmarks.xfinbench.construct import templates
from fin_tasks.benchmarks.xfinbench.construct.reading import is_verified, read_questions
from fin_tasks.benchmarks.xfinbench.construct.templates import load_templates
from fin_tasks.benchmarks.xfinbench.data import load
from fin_tasks.cli import app
from fin_tasks.errors import ConfigError, DataError, EndpointError

REAL_PROMPTS = (
    Path(__file__).resolve().parents[4] / "shared/data/xfinbench/construct_data/prompts"
)
SOURCE = {
    "source": "A textbook",
    "chapter": "3",
    "question": "What is 6 times 7?",
    "answer": "42",
    "kinds": "",
}
TRUE, FALSE = (
    "Statement: The product is 42.\nAnswer: True",
    "Statement: The product is 43.\nAnswer: False",
)
MCQ = "Generated Question: Which?\nChoices:\n(a) It is 42\n(b) It is 43\n(c) It is 44\nCorrect Answer: a"
CALCU = "**Generated Question 1:** What is the product? (Unit: dollar)\n**Answer:** 42"


PURPOSES = {
    "Make true statements": "statement_true",
    "Make false statements": "statement_false",
    "Make multiple-choice": "mcq",
    "Split it into calculation": "calcu",
    "statement is true?": "verify_true",
    "statement is false?": "verify_false",
    "right choice": "verify_mcq",
    "every figure that the calculation": "verify_calcu",
    "verify calcu": "verify_calcu",
    "First claim:": "pair",
}
GOOD_REPLIES = {
    "statement_true": TRUE,
    "statement_false": FALSE,
    "mcq": MCQ,
    "calcu": CALCU,
    "verify_mcq": "Q1: Yes\nQ2: Yes\nQ3: Yes\nQ4: Yes",
    "pair": "No",
}


def purpose_of(prompt: str) -> str:
    """Recognize a request by what our prompts say."""
    return next(purpose for mark, purpose in PURPOSES.items() if mark in prompt)


def number_in(prompt: str) -> int:
    """Return the number of the source that a request is about."""
    return int((re.findall(r"(?:source|store) (\d+)", prompt) or ["0"])[-1])


def good(prompt: str) -> str:
    purpose = purpose_of(prompt)
    reply = GOOD_REPLIES.get(purpose, "Yes, Yes")
    if purpose not in ("statement_true", "statement_false", "mcq", "calcu"):
        return reply
    context = f"There are 6 boxes with 7 dollars each in store {number_in(prompt)}."
    return f"Context: {context}\n{reply}"


def sources(n: int) -> list[dict[str, str]]:
    return [{"question": f"source {number}: what is 6 times 7?"} for number in range(n)]


def built_with(
    folder: Path, cases: Sequence[Mapping[str, str]], **options: str
) -> tuple[Any, list[dict[str, dict[str, Any]]]]:
    """Return the report of a build with a bad reply for each source, and the questions of each source by kind."""

    def say(prompt: str) -> str:
        case = cases[number_in(prompt)]
        return case["reply"] if purpose_of(prompt) == case["purpose"] else good(prompt)

    report, questions = build(folder, say, *sources(len(cases)), **options)
    by_source: list[dict[str, dict[str, Any]]] = [{} for _ in cases]
    for question in questions:
        number = int(question["id"].removeprefix("s").split("_")[0])
        by_source[number][question["kind"]] = question
    return report, by_source


def table(folder: Path, *rows: dict[str, str]) -> Path:
    path = folder / "qa.csv"
    pd.DataFrame(
        [{"id": f"s{place}", **SOURCE, **row} for place, row in enumerate(rows)]
    ).to_csv(path, index=False)
    return path


def build(
    folder: Path, say: Callable[[str], str], *rows: dict[str, str], **options: str
) -> tuple[Any, Any]:
    """Return the report and the questions of a build whose model replies `say(prompt)`."""

    def answer(body: dict[str, Any]) -> Answer:
        return completion(say(body["messages"][-1]["content"]), usage=(100, 10))

    with serve(answer) as served:
        found = run(folder, served.base_url, table(folder, *(rows or [{}])), **options)
    if found.exception:
        raise found.exception
    lines = (folder / "own" / "questions.jsonl").read_text().splitlines()
    return json.loads(found.output), list(map(json.loads, lines))


def run(folder: Path, url: str, file: Path, **options: str | None) -> Any:
    """Run the command; an option without a value is a switch."""
    more = []
    for name, value in options.items():
        more += [f"--{name.replace('_', '-')}", *([] if value is None else [value])]
    command = ["build", "xfinbench", f"--from={file}", "--model=m", "--json"]
    command += [f"--base-url={url}", f"--out={folder / 'own'}", *more]
    return CliRunner().invoke(app, command)


def test_every_kind_is_made_and_used_at_once(tmp_path: Path) -> None:
    rows = sources(4)
    seen: list[str] = []
    options = {"verify_model": "other", "validation": "0.5"}
    report, questions = build(
        tmp_path, lambda prompt: seen.append(prompt) or good(prompt), *rows, **options
    )
    kept = {task: counts["kept"] for task, counts in report["rules"].items()}
    assert kept == {"bool": 8, "mcq": 4, "calcu": 4, "all": 16}
    assert report["dropped"] == 0
    assert report["splits"] == {"test": 8, "validation": 8}
    assert report["models"] == {"writer": "m", "verifier": "other"}
    assert len(seen) == 16 + 4 * (4 + 1)
    for prompt in seen:
        assert ("olution: 42" in prompt) == (purpose_of(prompt) != "pair")
    exercises: dict[str, set[str]] = {"test": set(), "validation": set()}
    for split, subset in product(exercises, ("bool", "mcq", "calc")):
        own = str(tmp_path / "own")
        (docs,) = load(subset=subset, split=split, data_dir=own).values()
        exercises[split] |= {name.split("_")[0] for name in docs["id"]}
        assert json.loads(docs.info.description)["left_out"] == {}
        for doc in docs:
            assert "with 7 dollars each in store" in doc["prompt"]
            if subset == "mcq":
                place = "ABC".index(doc["ground_truth"])
                assert doc["choices"][place] == "It is 42"
            if subset == "bool":
                assert doc["ground_truth"] == str(float("is 42" in doc["question"]))
    assert exercises["test"].isdisjoint(exercises["validation"])
    assert len(exercises["test"]) == 2
    assert build(tmp_path, good, *rows, **options)[1] == questions


def test_a_bad_reply_drops_its_question_only(tmp_path: Path) -> None:
    cases = rows("own_questions")
    report, by_source = built_with(tmp_path, cases)
    for case, questions in zip(cases, by_source, strict=True):
        (dropped,) = (one for one in questions.values() if one["dropped"])
        assert dropped["dropped"] == case["rule"], case["id"]
        assert case["reply"].splitlines()[-1] in dropped["why"]
        assert len(questions) == 4
    rules = Counter(case["rule"] for case in cases)
    assert report["rules"]["all"] == {"kept": 3 * len(cases), **rules}
    assert report["dropped_share"] == 0.25
    assert sum(report["splits"].values()) == 3 * len(cases)


def test_statements_that_give_each_other_away_are_dropped(tmp_path: Path) -> None:
    replies = {
        "statement_true": f"{TRUE}\n{TRUE.replace('The', 'Their')}",
        "pair": "Yes.",
    }

    def say(prompt: str) -> str:
        return replies.get(purpose_of(prompt)) or good(prompt)

    _, questions = build(tmp_path, say, {"kinds": "bool"})
    dropped = [one["kind"] for one in questions if one["dropped"] == "gives_away"]
    assert dropped == ["statement_false"]


def test_numbers_and_cut_replies() -> None:
    reply = "Context: None\n"
    for answer in ("-1.50", "1/8", ".5", "1/0", "7"):
        reply += f"Question: {answer}?\nAnswer: {answer}\n"
    questions = read_questions("s", "calcu", reply, "house", is_cut=True, seed=0)
    assert [(question.answer, question.dropped) for question in questions] == [
        ("-1.50", ""),
        ("0.125", ""),
        (".5", ""),
        ("1/0", "not_a_number"),
        ("7", "incomplete"),
    ]
    assert questions[0].row()["question"] == "-1.50?"


def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    """A process that is killed in the middle, and a server that fails, lose no reply."""
    killed: list[subprocess.Popen[bytes]] = []
    refused: list[Any] = []

    def answer(body: dict[str, Any]) -> Answer:
        if len(served.bodies) >= 30:
            killed[0].kill()
        if len(served.bodies) >= 40 and not refused:
            refused.append(body)
            return 400, {}, {"error": {"message": "no"}}
        return completion(good(body["messages"][-1]["content"]), usage=(100, 10))

    with serve(answer, pause=0.01) as served:
        file = table(tmp_path, *sources(6))
        options = {"from": file, "model": "m", "base-url": served.base_url}
        options["out"] = tmp_path / "own"
        command = [sys.executable, "-m", "fin_tasks", "build", "xfinbench"]
        command += [f"--{name}={value}" for name, value in options.items()]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        killed.append(subprocess.Popen(command, **quiet))
        assert killed[0].wait(60) != 0
        assert not (tmp_path / "own").exists()
        first = len(served.bodies)
        failed = run(tmp_path, served.base_url, tmp_path / "qa.csv")
        assert isinstance(failed.exception, EndpointError)
        found = run(tmp_path, served.base_url, tmp_path / "qa.csv")
        report = json.loads(found.output)
        asked = Counter(json.dumps(body["messages"]) for body in served.bodies)
    assert first < 50 and report["rules"]["all"] == {"kept": 24}
    assert len(asked) == 6 * (4 + 4 + 1)
    # What was under way at the kill and at the failure is asked again.
    assert sum(asked.values()) - len(asked) <= 2 * 16


def test_the_authors_prompts_are_read_from_their_folder(tmp_path: Path) -> None:
    upstream = yaml.safe_load(
        Path(templates.__file__).with_name("upstream.yaml").read_text()
    )
    theirs = tmp_path / "prompts"
    for purpose, text in load_templates().texts.items():
        for their_field, our_field in upstream["fields"].items():
            if our_field != "{context}" or purpose == "pair":
                text = text.replace(our_field, f"{{{their_field}}}")
        path = theirs / upstream["files"][purpose]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"AUTHORS $\\frac{{a}}{{b}}$\\n{text}")
    seen: list[str] = []
    report, _ = build(
        tmp_path,
        lambda prompt: seen.append(prompt) or good(prompt),
        upstream_prompts=str(theirs),
    )
    assert report["rules"]["all"] == {"kept": 4}
    assert report["prompts"]["set"] == "upstream"
    assert len(seen) == 4 + 4 + 1
    assert SOURCE["question"] in seen[0]
    for prompt in seen:
        assert prompt.startswith("AUTHORS $\\frac{a}{b}$\\n")
        assert "orig_" not in prompt and "statement_" not in prompt
    file = theirs / "verify" / "calcu.txt"
    file.write_text("{orig_ques}")
    message = r"calcu\.txt: expected a template with {source_answer}, "
    with pytest.raises(ConfigError, match=message):
        load_templates(theirs)
    file.unlink()
    with pytest.raises(ConfigError, match=r"calcu\.txt: .* got No such file"):
        load_templates(theirs)


@pytest.mark.skipif(
    not REAL_PROMPTS.is_dir(), reason="the authors' prompts are not here"
)
def test_the_authors_real_folder_works(tmp_path: Path) -> None:
    def say(prompt: str) -> str:
        is_writer = prompt.rstrip().endswith(SOURCE["answer"])
        return CALCU if is_writer else "Q1: Yes\nQ2: Yes"

    options = {"upstream_prompts": str(REAL_PROMPTS), "rules": "paper"}
    report, (question,) = build(tmp_path, say, {"kinds": "calcu"}, **options)
    assert (report["kept"], report["rule_set"]) == (1, "paper")
    assert question["answer"] == "42"
    for purpose, text in load_templates(REAL_PROMPTS).texts.items():
        assert "{orig_" not in text, purpose


@pytest.mark.parametrize(
    ("reply", "verified"),
    [
        ("Q1: Yes\nQ2: Yes", True),
        ("Q1: Yes", True),
        ("1. Yes", True),
        ("Q1 and Q2: Yes", True),
        ("Q1-Q4: Yes", True),
        ("Yes", True),
        ("1. Yes, there is no doubt.\n2. Yes", True),
        ("Q1: Yes\nQ2: Unclear", False),
        ("Yes, No", False),
        ("1. Yes 2. No", False),
        ("I cannot say.", False),
        ("", False),
    ],
)
def test_a_question_is_verified_by_yes(reply: str, verified: bool) -> None:
    assert is_verified(reply) is verified


LONG = "It is 44, or 45, or perhaps 46, or more than that"


def test_the_rules_of_the_paper(tmp_path: Path) -> None:
    replies = [
        ("calcu", CALCU.replace("42", "45-3"), ""),
        ("calcu", CALCU.replace("42", "1/8"), ""),
        ("calcu", CALCU.replace("42", "42 dollars"), "not_a_number"),
        ("mcq", MCQ.replace("It is 44", LONG), "choice_length"),
        ("mcq", MCQ.replace("\n(c) It is 44", ""), "choices"),
        ("verify_mcq", "Yes, as you know.", "verification"),
        ("verify_mcq", "It cannot be said.", "verification"),
        ("verify_mcq", "No", "verification"),
        ("verify_mcq", "NO", ""),
    ]
    cases = [{"purpose": purpose, "reply": reply} for purpose, reply, _ in replies]
    report, by_source = built_with(tmp_path, cases, rules="paper")
    assert report["rule_set"] == "paper"
    for (purpose, reply, rule), questions in zip(replies, by_source, strict=True):
        dropped = {kind: one["dropped"] for kind, one in questions.items()}
        assert dropped.pop(purpose.removeprefix("verify_")) == rule, reply
        assert set(dropped.values()) == {""}
        if purpose == "calcu" and not rule:
            assert f"**Answer:** {questions['calcu']['answer']}" in reply


def test_how_the_paper_asks(tmp_path: Path) -> None:
    """No system message, no temperature; the choices are mixed only after the check."""
    bodies: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> Answer:
        bodies.append(body)
        return completion(good(body["messages"][-1]["content"]))

    with serve(answer) as served:
        file = table(tmp_path, *sources(5))
        done = run(tmp_path, served.base_url, file, rules="paper")
    assert json.loads(done.output)["kept"] == 20
    for body in bodies:
        assert "temperature" not in body
        (message,) = body["messages"]
        assert message["role"] == "user"
        purpose = purpose_of(message["content"])
        if purpose == "verify_mcq":
            choices = "(a) It is 42\n(b) It is 43\n(c) It is 44\nRight choice: a\n"
            assert choices in message["content"]
    made = (tmp_path / "own" / "questions.jsonl").read_text(encoding="utf-8")
    right = set()
    for question in map(json.loads, made.splitlines()):
        if question["kind"] == "mcq":
            letter = question["answer"]
            assert question["choices"]["ABC".index(letter)] == "It is 42"
            right.add(letter)
        if question["kind"].startswith("statement"):
            is_true = question["kind"] == "statement_true"
            assert question["answer"] == str(float(is_true))
    assert len(right) > 1


def test_one_statement_of_a_pair_is_dropped_from_the_larger_side(
    tmp_path: Path,
) -> None:
    """The first two statements are one too many; of as many true and false ones the lot decides."""
    numbers = [(3, 1), (1, 3), (1, 1)]

    def say(prompt: str) -> str:
        place = number_in(prompt)
        n_true, n_false = numbers[place]
        purpose = purpose_of(prompt)
        if purpose == "statement_true":
            true = [TRUE.replace("42", f"42 in case {n}") for n in range(n_true)]
            return "\n".join([f"Context: Of the true ones in store {place}.", *true])
        if purpose == "statement_false":
            false = [FALSE.replace("43", f"43 in case {n}") for n in range(n_false)]
            return "\n".join(["Context: Of the false ones.", *false])
        if purpose == "pair":
            assert prompt.startswith("Facts of an exercise: Of the true ones")
            return "Perhaps." if prompt.count("in case 0") == 2 else "No."
        return good(prompt)

    rows = [{**row, "kinds": "bool"} for row in sources(3)]
    _, questions = build(tmp_path, say, *rows, rules="paper")
    kept: dict[str, Counter[str]] = {}
    for question in questions:
        if not question["dropped"]:
            kept.setdefault(question["id"][:2], Counter())[question["kind"]] += 1
    assert kept["s0"] == {"statement_true": 2, "statement_false": 1}
    assert kept["s1"] == {"statement_true": 1, "statement_false": 2}
    assert kept["s2"].total() == 1


def test_replies_that_cannot_be_used_are_asked_for_again(tmp_path: Path) -> None:
    useless = {"calcu": "I am sorry.", "verify_true": "Hm."}
    asked: list[str] = []

    def answer(body: dict[str, Any]) -> Answer:
        prompt = body["messages"][-1]["content"]
        asked.append(purpose_of(prompt))
        return completion(useless.get(asked[-1]) or good(prompt))

    file = table(tmp_path, {})
    with serve(answer) as served:
        first = json.loads(run(tmp_path, served.base_url, file).output)
        assert first["rules"]["all"] == {"kept": 2, "no_question": 1, "verification": 1}
        useless.clear()
        asked.clear()
        assert json.loads(run(tmp_path, served.base_url, file).output) == first
        assert not asked
        again = json.loads(run(tmp_path, served.base_url, file, ask_again=None).output)
        assert (again["kept"], again["dropped"]) == (4, 0)
        new = {"calcu", "verify_true", "verify_calcu", "pair"}
        assert set(asked) == new and len(asked) == len(new)
        asked.clear()
        run(tmp_path, served.base_url, file, ask_again=None)
        assert not asked


def test_a_build_that_keeps_nothing_is_an_error(tmp_path: Path) -> None:
    file = table(tmp_path, {})
    with serve(lambda body: completion("I am sorry.")) as served:
        done = run(tmp_path, served.base_url, file)
    assert done.exit_code == 1 and "got 4 that were all dropped" in done.stderr
    report = json.loads(done.stdout)
    assert (report["kept"], report["dropped"], report["dropped_share"]) == (0, 4, 1.0)
    assert len((tmp_path / "own" / "questions.jsonl").read_text().splitlines()) == 4


@pytest.mark.parametrize("row", [{"answer": " "}, {"id": "s1"}, {"kinds": "bool;calc"}])
def test_a_table_that_cannot_be_used_is_refused(
    tmp_path: Path, row: dict[str, str]
) -> None:
    with pytest.raises(
        DataError, match=r"qa\.csv(, row [12])?(, \w+.*, got|: expected exercises)"
    ):
        build(tmp_path, good, row, {"id": "s1"})
