"""The authors' own rubrics, read from files of the same shape as theirs, with texts of our own."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from figures import figures_of

from fin_tasks.benchmarks.mme_finance.score import (
    JudgedReading,
    read,
    read_points,
    rubric_named,
)
from fin_tasks.benchmarks.task_file import TaskFile
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.item import Item, Judged
from fin_tasks.judging.rubric import Rubric
from fin_tasks.report.samples import sample_of
from fin_tasks.report.verify.items import Options, Row
from fin_tasks.report.verify.scores import RecordedReplies, load_task

MMFIN = """
raise SystemExit('this file is never executed')

def other(line):
    return line

def build_mmfin_gpt4_prompt(line):
    rules = {'OCR': 'Same text: 5.', 'Not Applicable': 'Declined: 5.'}
    rows = {'OCR': ['1st | A | B | 0', '2nd | C | C | 5'], 'Not Applicable': ['1st | - | - | 5']}
    kind = line['task_category']
    reference = line['answer'].replace('<AND>', ' <AND> ').replace('<OR>', ' <OR> ')
    head = 'Give points.' + ' '
    if kind in rules:
        head = head + rules[kind]
    else:
        head = head + 'Any answer: 5.'
    table = '\\n'.join(['Question | Ground truth | Prediction | Correctness', '--- | --- | --- | ---'])
    examples = '\\n'.join(rows[kind]) if kind in rows else ''
    last = ' | '.join([line['question'], reference, line['prediction'], ''])
    gpt4_prompt = '\\n'.join([head, table, examples, last])
    return gpt4_prompt
"""
MMDU = '''
import nowhere
meta_prompt = """You grade a talk.
"""
question_begin_prompt = '(asked)'
reference_begin_prompt = '(right' + ')'
reference_end_prompt = '(/right)'
answers_begin_prompt = '(said)'
answers_end_prompt = '(/said)'
retries = nowhere.retries

def mmdu_score(question, truth, prediction):
    prompt = meta_prompt + question_begin_prompt + '\\n' + question + '\\n\\n'
    prompt += reference_begin_prompt + '\\n' + truth + '\\n' + reference_end_prompt + '\\n\\n'
    return prompt + answers_begin_prompt + '\\n' + prediction + '\\n' + answers_end_prompt
'''
ITEM = Item(
    question="Q?",
    answer="x<AND>y<OR>z",
    response="{mark} | 5",
    category="OCR",
    background="no",
)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "mmfin.py").write_text(MMFIN, "utf-8")
    return str(tmp_path)


def test_the_message(folder: str, tmp_path: Path) -> None:
    rubric = rubric_named("upstream", language="en", data_dir=folder)
    (picture := tmp_path / "a.jpg").write_bytes(b"\xff\xd8\xff...")
    (message,) = rubric.messages(replace(ITEM, picture=picture))
    text, image = message["content"]
    assert message["role"] == "user"
    assert text["text"] == (
        "Give points. Same text: 5.\nQuestion | Ground truth | Prediction | Correctness\n"
        "--- | --- | --- | ---\n1st | A | B | 0\n2nd | C | C | 5\n"
        "Q? | x <AND> y <OR> z | {mark} | 5 | "
    )
    assert image["image_url"]["url"].startswith("data:image/jpeg;base64,")
    (message,) = rubric.messages(replace(ITEM, category="Not Applicable", picture=None))
    assert "Give points. Declined: 5.\n" in message["content"][0]["text"]
    (message,) = rubric.messages(replace(ITEM, category="Image Caption"))
    assert message["content"][0]["text"] == (
        "Give points. Any answer: 5.\nQuestion | Ground truth | Prediction | Correctness\n"
        "--- | --- | --- | ---\n\nQ? | x <AND> y <OR> z | {mark} | 5 | "
    )
    assert read_points(rubric, Judged("x", ("3/5",)), "paper").answer == 5


def test_results_name_the_file(folder: str) -> None:
    rubric = rubric_named("upstream", language="en", data_dir=folder)
    sha256 = hashlib.sha256(MMFIN.encode()).hexdigest()
    assert rubric.facts()["rubric"] == f"mme_finance_upstream_en@{sha256[:12]}"
    Path(folder, "mmfin.py").write_text(MMFIN.replace("Give points.", "Grade."))
    other = rubric_named("upstream", language="en", data_dir=folder)
    assert other.facts()["rubric_sha256"] != rubric.facts()["rubric_sha256"]
    assert "Grade." in other.messages(ITEM)[0]["content"][0]["text"]


def test_what_is_refused(folder: str) -> None:
    for language, error in (("fr", ConfigError), ("zh", DataError)):
        with pytest.raises(error):
            rubric_named("upstream", language=language, data_dir=folder)
    Path(folder, "mmfin.py").write_text(
        "def build_mmfin_gpt4_prompt(line):\n    prompt = open('/etc/passwd').read()\n"
    )
    with pytest.raises(DataError, match="expected a prompt"):
        rubric_named("upstream", language="en", data_dir=folder).messages(ITEM)


# --- Conversations ---


def conversation_rubric(folder: str) -> Rubric:
    Path(folder, "mmdu.py").write_text(MMDU, "utf-8")
    return rubric_named("upstream", language="zh", part="multi_turn", data_dir=folder)


def test_the_message_about_a_turn(folder: str) -> None:
    rubric = conversation_rubric(folder)
    (message,) = rubric.messages(replace(ITEM, picture=Path("a.png")))
    assert message["role"] == "user"
    assert message["content"] == (
        "You grade a talk.\n(asked)\nQ?\n\n(right)\nx<AND>y<OR>z\n(/right)\n\n"
        "(said)\n{mark} | 5\n(/said)"
    )
    assert rubric.facts()["rubric"].startswith("mme_finance_upstream_mt_zh@")
    Path(folder, "mmdu.py").write_text(MMDU.replace("(/said)", "(end)"), "utf-8")
    other = rubric_named("upstream", language="zh", part="multi_turn", data_dir=folder)
    assert other.facts()["rubric_sha256"] != rubric.facts()["rubric_sha256"]
    Path(folder, "mmdu.py").write_text("meta_prompt = 'You grade.'", "utf-8")
    with pytest.raises(DataError, match="expected a text in question_begin_prompt"):
        rubric_named("upstream", language="zh", part="multi_turn", data_dir=folder)


def test_the_reply_about_a_turn(folder: str) -> None:
    """`robust` reads whole verdicts, which the judge may explain; `paper` each dimension by itself."""
    rubric = conversation_rubric(folder)
    points = dict.fromkeys(rubric.dimensions.values(), 7)
    assert rubric.score_of(f"Because. {points}") == dict.fromkeys(rubric.dimensions, 7)
    text = f"Because. { ({**points, 'Creativity': 'none', 'Overall Score': 12}) }"
    assert rubric.score_of(text) is None
    judged = Judged("x", (text,), "unread", rubric)
    doc = {"part": "multi_turn", "language": "zh", "na": False, "category": ""}
    reading = read(doc, judged, scoring="paper")
    assert isinstance(reading, JudgedReading)
    assert reading.scores is not None
    assert "creativity" not in reading.scores
    assert (reading.answer, reading.scores["richness"]) == (10, 7)
    assert not reading.judge_error
    assert read(doc, judged, scoring="robust").unscored


def test_a_run_is_verified_by_the_rubric_that_was_asked(folder: str) -> None:
    conversation_rubric(folder)
    metadata = {"rubric": "upstream", "data_dir": folder}
    step = TaskFile("mme_finance_mt_zh").judge_step(metadata)
    assert step is not None
    assert step.rubric.name == "mme_finance_upstream_mt_zh"
    task = load_task("mme_finance_mt_zh", Options({"source": "sample"}, n_rows=1))
    ((doc_id, doc),) = task.docs.items()
    points = dict.fromkeys(step.rubric.dimensions.values(), 8)
    line = {"doc": doc, "filter": "robust", "metrics": ["score"], "score": 80.0}
    reading = {"answer": 8, "replies": [f"Because. {points}"]}
    sample = sample_of("line 1", {**line, "filtered_resps": [[reading]]})
    row = Row(doc, ["Friday."], None, {"robust": sample})
    replies = RecordedReplies(task, step, {doc_id: row})
    ((judged,),) = replies.judge_responses([doc], [["Friday."]])
    for scoring in ("paper", "robust"):
        assert read(doc, judged, scoring=scoring).answer == 8


TURNS = {
    "{'Creativity': 7, 'Overall Score': 12, 'Richness': 'none'}": (7, 10, None),
    "It is {'Creativity': '8', 'Overall Score': -3, 'Richness': 4.9} so.": (8, 0, 4),
    "no dict": (None, None, None),
}
"""Replies, and the points of creativity, overall and richness that the authors read."""


@pytest.mark.parametrize("place", ["mmdu.py", "vlmeval/dataset/utils/mmdu.py"])
def test_a_conversation_is_judged_as_in_the_authors_file(
    tmp_path: Path, place: str
) -> None:
    """All is over all turns, Valid over those read."""
    file = tmp_path / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(MMDU, "utf-8")
    task = TaskFile("mme_finance_mt_zh")
    docs, _ = task.load({"source": "sample"})
    step = task.judge_step({"rubric": "upstream", "data_dir": str(tmp_path)})
    assert step is not None
    rows = []
    for doc, (text, points) in zip(docs, TURNS.items(), strict=False):
        item = step.item(doc, "So {it} is.")
        assert item is not None
        assert (item.question, item.answer) == (doc["question"], doc["answer"])
        assert item.response == "So {it} is."
        judged = Judged("So {it} is.", (text,), "", step.rubric)
        reading = read(doc, judged, scoring="paper")
        figures = figures_of("mme_finance", doc, [reading])
        names = ("score_creativity_read", "score_read", "score_richness_read")
        expected = [None if point is None else 10.0 * point for point in points]
        assert [figures[name] for name in names] == expected
        rows.append((figures["score"], figures["score_read"]))
    over_all = [row[0] for row in rows]
    valid = [row[1] for row in rows if row[1] is not None]
    assert sum(over_all) / len(rows) == pytest.approx((100 + 0 + 0) / 3)
    assert sum(valid) / len(valid) == 50
