"""Prompts read from the authors' files: here from files of our own with the same shape."""

import json
from pathlib import Path
from typing import Any

import pytest
from authors_files import write_authors_files

from fin_tasks.benchmarks.dynostock.data import load
from fin_tasks.errors import ConfigError, DataError

pytestmark = pytest.mark.usefixtures("shared_cache")

CODE = """
def construct_stock_history(df):
    lines = []
    for row in df.itertuples():
        lines.append(f"{row.Date}: opened at {row.Open}, closed at {row.Close}")
    return df.to_string(header=True, index=False), "\\n".join(lines)


def construct_eps_history(df):
    lines = []
    for row in df.itertuples():
        lines.append(f"{row.reportedDate}: earned {row.reportedEPS}, surprise {row.surprise}")
    return df.to_string(header=True, index=False), "\\n".join(lines)


def construct_current_eps(df):
    cur = df.iloc[0]
    return f"Newest: {cur.reportedEPS} on {cur.reportedDate}."


def construct_instruction(ticker, start_time, end_time, bias, df, eps):
    question = f"Does {ticker} rise after {end_time} {{sic}}?"
    background = 'Companies report "earnings" \u2014 90 %} of {{them}} do.'
    if args.image:
        info = "See the picture.\\n" + construct_current_eps(eps) + "\\n"
    else:
        table, sentences = construct_stock_history(df)
        eps_table, eps_sentences = construct_eps_history(eps)
        info = sentences + "\\n" + eps_sentences + "\\n" if args.narrative else table + "\\n" + eps_table + "\\n"
    if args.bias_type == "recency":
        bias_desc = f"Last time it went {'up' if bias else 'down'}."
    else:
        figure = args.celebrity_cfg[np.random.choice(len(args.celebrity_cfg))]
        bias_desc = f"{figure['name']} ({figure['summary']}) expects {'more' if bias else 'less'}."
    info += f"- {bias_desc}"
    instruction = [question, background, "Compare means.", start_time, end_time, info]
    return instruction
"""
FRAME = "Question: {}\nBackground: {}\nRule: {}\nFrom {} to {}\n{}\nSay {{a number}}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_authors_files(tmp_path, CODE, FRAME)


def documents(folder: Path, **options: Any) -> Any:
    usual = {
        "bias": "recency",
        "window": 4,
        "mode": "text",
        "source": "sample",
        "prompts": "upstream",
        "data_dir": str(folder),
        "sample_n": 3,
    }
    return load(**{**usual, **options})["test"]


@pytest.mark.parametrize("text", ["table", "narrative"])
def test_statement_prices_and_reports(folder: Path, text: str) -> None:
    docs = documents(folder, text=text)
    facts = json.loads(docs.info.description)["prompts"]
    assert facts["set"] == "upstream"
    assert "gen.py" in " ".join(facts["files"])
    for doc in docs:
        lines = doc["prompt"].splitlines()
        question = f"Does {doc['ticker']} rise after {doc['end']} {{sic}}?"
        assert lines[0] == f"Question: {question}"
        background = 'Companies report "earnings" \u2014 90 %} of {{them}} do.'
        assert lines[1] == f"Background: {background}"
        assert lines[-1] == "Say {a number}"
        assert lines[-2] == f"- Last time it went {'up' if doc['signal'] else 'down'}."
        earned = [line for line in lines if "earned" in line]
        assert len(earned) == (4 if text == "narrative" else 0)
        assert ("reportedDate" in doc["prompt"]) == (text == "table")
        if text == "narrative":
            assert earned[0].startswith(doc["end"]), "the newest report comes first"


def test_arms_change_the_statement_only(folder: Path) -> None:
    arms = ("signal", "none", "flipped")
    by_arm = [documents(folder, bias="authority", arm=arm) for arm in arms]
    for signal, none, flipped in zip(*by_arm, strict=True):
        words = ("more", "less") if signal["signal"] else ("less", "more")
        name = signal["authority"]
        statement, contrary = [
            f"- {name} (about {name}) expects {word}." for word in words
        ]
        assert statement in signal["prompt"]
        assert none["prompt"] == signal["prompt"].replace(statement, "")
        assert flipped["prompt"] == signal["prompt"].replace(statement, contrary)
    with pytest.raises(ConfigError, match="aligned"):
        documents(folder, arm="aligned")


def test_a_chart_stands_for_the_tables(folder: Path) -> None:
    doc = documents(folder, mode="image", pixels=256, sample_n=1)[0]
    assert "See the picture." in doc["prompt"]
    assert "Newest: " in doc["prompt"]
    assert "opened" not in doc["prompt"]


NAIVE = CODE.replace(
    'info += f"- {bias_desc}"',
    """if args.bias_type == "recency":
        info += f"Some facts:\\n- Eight of ten rose.\\n- {bias_desc}\\n"
    else:
        info += f"Some facts:\\n- Eight of ten rose.\\nSome statements:\\n{bias_desc}\\n"
    info += "Latest report:\\n" + construct_current_eps(eps)""",
)


@pytest.fixture
def naive_folder(folder: Path) -> Path:
    (folder / "dynostock" / "gen.py").write_text(NAIVE, encoding="utf-8")
    return folder


@pytest.mark.parametrize("bias", ["recency", "authority"])
def test_a_naive_prompt_has_neither_facts_nor_statements(
    naive_folder: Path, bias: str
) -> None:
    docs = documents(naive_folder, bias=bias, prompt="naive", text="narrative")
    facts = json.loads(docs.info.description)
    assert (facts["arm"], facts["prompts"]["style"]) == ("none", "naive")
    for doc in docs:
        background, first, *_ = doc["prompt"].split("\n")[0::2]
        assert background.startswith('Companies report "earnings"')
        assert ": opened at " in first
        for text in ("Some facts", "Eight of ten", "Last time", "expects", "Rule:"):
            assert text not in doc["prompt"]
        newest = f"Latest report:\nNewest: {doc['prompt'].split('Newest: ')[1]}"
        assert newest in doc["prompt"]
        assert f"Does {doc['ticker']} rise after {doc['end']} {{sic}}? Give" in newest
        assert (doc["statement"], doc["prompt"].count("earned")) == (None, 4)
    structured = documents(naive_folder, bias=bias, text="narrative")
    assert "Eight of ten" in structured[0]["prompt"]


def test_the_frame_of_the_paper_may_be_the_users_copy(naive_folder: Path) -> None:
    file = naive_folder / "dynostock" / "config" / "naive.txt"
    file.write_text(
        "Consider: {background}\nNow:\n{retrieved}\n{question} {{ Answer }}"
    )
    docs = documents(naive_folder, prompt="naive")
    assert docs[0]["prompt"].startswith('Consider: Companies report "earnings"')
    assert docs[0]["prompt"].endswith("{{ Answer }}")
    file.write_text("Consider: {background}")
    with pytest.raises(DataError, match=r"\{retrieved\}, \{question\}"):
        documents(naive_folder, prompt="naive")


def test_a_report_among_the_facts_is_an_error(naive_folder: Path) -> None:
    file = naive_folder / "dynostock" / "gen.py"
    code = file.read_text("utf-8")
    file.write_text(code.replace("Latest report:\\n", "Latest: "), "utf-8")
    with pytest.raises(DataError, match="not the latest report"):
        documents(naive_folder, prompt="naive")


def test_a_statement_that_is_elsewhere_is_an_error(folder: Path) -> None:
    with pytest.raises(DataError, match="expected the statement, and not"):
        documents(folder, prompt="naive")
    with pytest.raises(ConfigError, match="naive has no statement"):
        documents(folder, prompt="naive", arm="flipped")


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("instruction = [", "result = [", "found other code"),
        ("= 'Companies", "= ''.__class__ or 'Companies", "unsafe"),
        ("{row.Date}: opened", "{day}: opened", "found other code"),
        ("def construct_current_eps", "def current_eps", "construct_current_eps"),
    ],
)
def test_other_code_is_refused(folder: Path, old: str, new: str, found: str) -> None:
    code = CODE.replace(old, new)
    assert code != CODE
    (folder / "dynostock" / "gen.py").write_text(code, encoding="utf-8")
    with pytest.raises(DataError, match=found):
        documents(folder)
