"""Samples files: what is read from them, and what strangers may have put into them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from made_runs import document, sample

from fin_tasks.errors import DataError
from fin_tasks.report import samples
from fin_tasks.report.samples import read_samples


def write(path: Path, *lines: Any) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def line(number: int = 0, value: float | None = 1.0, variant: str = "paper", **changed: Any) -> dict[str, Any]:
    return {**sample(document(number), value, variant, number), **changed}


def test_rows_have_values_answers_and_groups(tmp_path: Path) -> None:
    found = read_samples(
        write(tmp_path / "s.jsonl", line(0), line(1, None), line(0, 0.0, "robust"), line(1, 0.5, "robust"))
    )
    assert list(found) == ["paper", "robust"]
    assert found["paper"]["row_0"].values == {"acc": 1.0, "unscored": 0.0}  # no acc_stderr, which is acc again
    assert found["paper"]["row_1"].values == {"acc": None, "unscored": 1.0}
    assert found["robust"]["row_1"].values["acc"] == 0.5
    assert found["paper"]["row_0"].answer == "yes"
    assert found["paper"]["row_1"].groups == {"capability": ("TR", "NM")}
    assert found["paper"]["row_1"].truth == "1"


def test_ids_may_be_numbers_and_groups_single_texts(tmp_path: Path) -> None:
    docs = [{"question_id": 7, "topic": "Bonds"}, {"id": "8", "part": "fincode", "topic": ""}]
    rows = read_samples(write(tmp_path / "s.jsonl", *(line(doc=doc) for doc in docs)))["paper"]
    assert rows["7"].groups == {"topic": ("Bonds",)}
    assert rows["8"].groups == {"part": ("fincode",)}
    picture = {"id": "9", "category": "OCR", "image_type": "K线图", "image_style": "手机拍摄"}
    rows |= read_samples(write(tmp_path / "t.jsonl", *(line(doc=doc) for doc in (picture, {"id": "10", "window": 4}))))[
        "paper"
    ]
    assert rows["9"].groups == {**{"category": ("OCR",), "image_type": ("K线图",), "image_style": ("手机拍摄",)}}
    assert rows["10"].groups == {"window": ("4",)}
    assert rows["7"].truth == "it is 0"  # lm-eval's target, where the document has no truth of its own


@pytest.mark.parametrize(
    ("filtered", "answer"),
    [
        ([[json.dumps({"answer": "B"}), json.dumps({"answer": None})]], ["B", None]),
        ([{"answer": 2.5}], 2.5),
        (["not json"], None),
        ([["[1]"]], None),
        (None, None),
        ("text", None),
    ],
)
def test_answers_are_read_where_there_are_any(filtered: Any, answer: Any, tmp_path: Path) -> None:
    assert read_samples(write(tmp_path / "s.jsonl", line(filtered_resps=filtered)))["paper"]["row_0"].answer == answer


def test_values_that_are_no_numbers_are_no_metrics_of_rows(tmp_path: Path) -> None:
    odd = line(metrics=["acc", "index", "gone"], index=[1, 0], gone=float("nan"))
    assert read_samples(write(tmp_path / "s.jsonl", odd))["paper"]["row_0"].values == {"acc": 1.0, "gone": None}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([line(0), json.dumps(line(1))[:80]], "line 2: expected JSON"),
        (["[1, 2]"], "line 1: expected an object"),
        (["[" * 100_000], "line 1: expected JSON"),
        ([line(filter=None)], "line 1, filter: expected a filter's name, got None"),
        ([line(doc="x")], "line 1, doc: expected an object, got 'x'"),
        ([line(doc={"id": True})], "line 1, doc.id: expected a text or whole number, got True"),
        ([line(doc={})], "line 1, doc.id: expected a text or whole number, got None"),
        ([line(doc={"id": "a", "capabilities": [1]})], "line 1, doc.capabilities: expected texts"),
        ([line(metrics="acc")], "line 1, metrics: expected a list of names"),
        ([line(metrics=["acc", "lost"])], "line 1: expected a value of the metric 'lost'"),
        ([line(acc=float("inf"))], "line 1, acc: expected a finite number"),
        ([line(acc=10**400)], "line 1, acc: expected a finite number"),
        ([line(0), line(0)], "line 2, doc.id: expected each document once per filter, got 'row_0' twice"),
        ([line(0), line(1), line(0, 1.0, "robust")], "the same documents under every filter, got paper 2, robust 1"),
        ([], "expected at least one document, found none"),
        (["", "  "], "expected at least one document, found none"),
    ],
)
def test_malformed_files_are_named_with_line_and_field(lines: list[Any], expected: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        read_samples(write(tmp_path / "s.jsonl", *lines))
    assert expected in str(caught.value)
    assert str(tmp_path / "s.jsonl") in str(caught.value)
    assert len(str(caught.value)) < 800


def test_files_and_lines_have_a_largest_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "s.jsonl", line(0), line(1, padding="x" * 3000))
    monkeypatch.setattr(samples, "MAX_LINE", 2000)
    with pytest.raises(DataError, match="line 2: expected at most 2,000 bytes, got more"):
        read_samples(path)
    monkeypatch.setattr(samples, "MAX_SAMPLES", 100)
    with pytest.raises(DataError, match="expected at most 100 bytes, got "):
        read_samples(path)


def test_a_file_that_is_not_there_or_not_text_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="expected a readable file"):
        read_samples(tmp_path / "gone.jsonl")
    (tmp_path / "s.jsonl").write_bytes(b'{"a": "\xff"}\n')
    with pytest.raises(DataError, match="line 1: expected JSON"):
        read_samples(tmp_path / "s.jsonl")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(["doc", "filter", "metrics", "acc", "filtered_resps", "target", "unscored"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150, deadline=None)
@given(changed=st.dictionaries(FIELDS, JSON, max_size=3), cut=st.integers(0, 900))
def test_any_content_is_read_or_refused(changed: dict[str, Any], cut: int, tmp_path: Path) -> None:
    text = json.dumps({**line(), **changed})
    path = write(tmp_path / "s.jsonl", text[: len(text) - cut] if cut > 600 else text)
    try:
        found = read_samples(path)
    except DataError as error:
        assert str(path) in str(error)
    else:
        assert all(row.id for rows in found.values() for row in rows.values())
