"""The authors' own rubric, read from a file of the same shape as theirs."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from fin_tasks.benchmarks.mme_finance.paper import read_verdict
from fin_tasks.benchmarks.mme_finance.upstream import rubric_named
from fin_tasks.errors import ConfigError, DataError
from fin_tasks.judging.item import Item, Judged, Reply
from fin_tasks.judging.rubric import load_rubric

FILE = '''
import os
os.remove(__file__)

def build_mmfin_gpt4_prompt(line):
    question = line['question']
    gt = str(line['answer'])
    prediction = str(line['prediction'])
    prompt = """
Role.
"""
    if line['task_category'] == 'OCR' or line['task_category'] == 'Entity Recognition':
        prompt += """
Objective.
"""
    if line['task_category'] == 'Not Applicable':
        prompt += """
Unanswerable.
"""
    prompt += 'Requirements: '
    format_prompt = {
        'OCR':'One word.\\n',
        'Not Applicable':'Say so.',
    }
    prompt += format_prompt[line['task_category']] if line['task_category'] in format_prompt else ''
    prompt += """
Question | Truth | Prediction | Correctness
--- | --- | --- | ---
"""
    example_prompt1 = {'OCR':'a | b | c | 0 ', 'Not Applicable':'d | e | f | 5 '}
    prompt += example_prompt1[line['task_category']] if line['task_category'] in example_prompt1 else ''
    gpt4_prompt = prompt + '\\n' + ' | '.join(
        [question, gt.replace('<AND>', ' <AND> ').replace('<OR>', ' <OR> '), prediction, ''])
    return gpt4_prompt
'''
ITEM = Item(
    question="Q?", answer="x<AND>y<OR>z", response="{mark} | 5", category="OCR", background="no"
)
REAL = (
    Path(__file__).resolve().parents[4]
    / "shared"
    / "data"
    / "mme_finance"
    / "upstream"
    / "mmfin.py"
)


@pytest.fixture
def folder(tmp_path: Path) -> str:
    (tmp_path / "mmfin.py").write_text(FILE, "utf-8")
    return str(tmp_path)


def test_the_message(folder: str, tmp_path: Path) -> None:
    rubric = rubric_named("upstream", language="en", data_dir=folder)
    (picture := tmp_path / "a.jpg").write_bytes(b"\xff\xd8\xff...")
    (message,) = rubric.messages(replace(ITEM, picture=picture))
    text, image = message["content"]
    assert message["role"] == "user"
    assert text["text"] == (
        "\nRole.\n\nObjective.\nRequirements: One word.\n\nQuestion | Truth | Prediction | Correctness\n"
        "--- | --- | --- | ---\na | b | c | 0 \nQ? | x <AND> y <OR> z | {mark} | 5 | "
    )
    assert image["image_url"]["url"].startswith("data:image/jpeg;base64,")
    (message,) = rubric.messages(replace(ITEM, category="Not Applicable", picture=None))
    assert "Unanswerable.\nRequirements: Say so." in message["content"][0]["text"]
    assert read_verdict(rubric, Judged("x", (Reply(text="3/5", temperature=0),))).score == 5


def test_results_name_the_file(folder: str) -> None:
    rubric = rubric_named("upstream", language="en", data_dir=folder)
    before, sha256 = rubric.sha256, hashlib.sha256(FILE.encode()).hexdigest()
    assert rubric.label == f"mme_finance_upstream_en@{sha256[:12]}"
    Path(folder, "mmfin.py").write_text(FILE.replace("Role.", "Other role."), "utf-8")
    other = rubric_named("upstream", language="en", data_dir=folder)
    assert other.sha256 != before
    assert "Other role." in other.messages(ITEM)[0]["content"][0]["text"]


def test_what_is_refused(folder: str) -> None:
    for language, error in (("fr", ConfigError), ("zh", DataError)):
        with pytest.raises(error):
            rubric_named("upstream", language=language, data_dir=folder)
    Path(folder, "mmfin.py").write_text(
        "def build_mmfin_gpt4_prompt(line):\n    prompt = open('/etc/passwd').read()\n"
    )
    with pytest.raises(DataError, match="expected a prompt"):
        rubric_named("upstream", language="en", data_dir=folder).messages(ITEM)


@pytest.mark.skipif(not REAL.is_file(), reason="the authors' file is not here")
@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_authors_file(language: str) -> None:
    rubric = rubric_named("upstream", language=language, data_dir=str(REAL.parent))
    for category in load_rubric("mme_finance_en").categories:
        (message,) = rubric.messages(replace(ITEM, category=category))
        text = message["content"][0]["text"]
        assert text.endswith("\nQ? | x <AND> y <OR> z | {mark} | 5 | ")
        assert text.count(" | ") >= 3 + 2 * 3 + 4  # the head, two examples and the row
